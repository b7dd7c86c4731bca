/* fs_stream - what events of FSEvents mean: a change of a path, a look at a directory, or a loss.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/buf.h"
#include "core/journal/journal.h"
#include "core/os/fsevents.h"

/*
 * FSEvents does not tell calls but marks: all that happened to a path within a moment is one event
 * whose marks add up, in no order, and the path may be another file by now. So every event is a
 * reason to look: what is there says whether the path is gone; the marks only say what cannot have
 * happened. Both names of a rename come as events of their own, and of a directory that came by one
 * nothing below is told: it is listed.
 *
 * Pure: no call of the system's. The caller looks, lists and judges.
 */
struct fs_stream_ops {
	void *data; /* handed to all */
	/* The type of what is at this path now (S_IFMT), 0: nothing. */
	mode_t (*look)(void *data, const char *path);
	/* type: as look() gave it. made: it was perhaps not there before. */
	void (*changed)(void *data, const char *path, enum seen_what what, bool made, mode_t type);
	/* Something below this directory changed, or all of it is new (made). */
	void (*scan)(void *data, const char *dir, bool made);
	/* Which paths changed nobody knows. After the rest of the batch. */
	void (*lost)(void *data);
	/* A watched directory, or one above it, has another name or none. */
	void (*root_changed)(void *data, const char *path);
};

/* One batch, in the order that it came. Paths are borrowed; one that is NULL or not absolute counts
 * as lost. */
void fs_stream_take(const struct fs_stream_ops *ops, const struct os_fs_event *list, size_t n);
