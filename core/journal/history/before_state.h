/* before_state - the state of each path before a step, from the step's records. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "core/journal/util/path_set.h"

struct caller;

/*
 * A summary has each path once, with its state before the step's first record about it. If the step
 * renames directories, several objects may have the same path in turn; the before-state of the
 * later ones is only in the records.
 */
enum told_what {
	TOLD_OF,   /* the step has a record for it */
	TOLD_MADE, /* the path did not exist */
	TOLD_SIDE, /* it had the state `side` */
	TOLD_FILE, /* a file that the step renamed and did not change: its state before the step
		    * equals its state at the new path */
};

struct told {
	enum told_what what;
	struct change_side side;
	uint64_t ino;
};

/* Life: a zeroed struct is empty -> told_load() -> told_done(), which leaves it so. */
struct tolds {
	struct names keys; /* as they are called now; number i: that of list[i] */
	struct told *list;
	struct told_file *files; /* hash, by inode */
};

/* Of each path that the current step has a record for while a directory above it is renamed. */
void told_load(const struct caller *c, struct tolds *ret);
/* Index of the TOLD_FILE with that inode number, or NAMES_NONE. */
size_t told_moved(const struct tolds *t, uint64_t ino);
/* Equal states, except that a record may lack the file's size. */
bool told_same(const struct change_side *told, const struct change_side *other);
void told_done(struct tolds *t);
