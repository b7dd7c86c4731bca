/* fs_stream - translates events of FSEvents: a changed path, a directory to list, or lost events.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/buf.h"
#include "core/journal/journal.h"
#include "core/os/fsevents.h"

/*
 * FSEvents reports marks and not calls: all changes of a path within a moment are one event with
 * the marks of all, in no order, and the path may have become another file meanwhile. So each event
 * makes the caller look at the path. The file there shows whether the path is gone; the marks only
 * exclude kinds of change. Both names of a rename come as separate events. For a directory that was
 * renamed into the tree there are no events about its entries: it is listed.
 *
 * Makes no system calls. The caller examines the path, lists the directory and decides.
 */
struct fs_stream_ops {
	void *data; /* passed to all */
	/* Returns the type of the file at this path (S_IFMT), or 0 if there is none. */
	mode_t (*look)(void *data, const char *path);
	/* type: as look() returned it. made: the path may be new. */
	void (*changed)(void *data, const char *path, enum seen_what what, bool made, mode_t type);
	/* A path below this directory changed, or the directory is new (made). */
	void (*scan)(void *data, const char *dir, bool made);
	/* Events were lost: any path may have changed. Called after the rest of the batch. */
	void (*lost)(void *data);
	/* A watched directory, or one above it, was renamed or removed. */
	void (*root_changed)(void *data, const char *path);
};

/* Takes one batch, in the order of arrival. The caller owns the paths. A path that is NULL or not
 * absolute counts as lost. */
void fs_stream_take(const struct fs_stream_ops *ops, const struct os_fs_event *list, size_t n);
