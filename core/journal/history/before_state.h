/* before_state - the state of each path before a step, from the step's records. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history.h"
#include "core/journal/util/path_set.h"

struct current_names;

/*
 * A summary has each path once, with its state before the step's first record about it. If the step
 * renames directories, several objects may have the same path in turn; the before-state of the
 * later ones is only in the records.
 */
enum before_what {
	BEFORE_RECORDED, /* the step has a record for it */
	BEFORE_ABSENT,	 /* the path did not exist */
	BEFORE_SIDE,	 /* it had the state `side` */
	/* A file that the step renamed and did not change: its state before the step equals its
	 * state at the new path. */
	BEFORE_RENAMED,
};

struct before_state {
	enum before_what what;
	struct change_side side;
	uint64_t ino;
};

/* Life: a zeroed struct is empty -> before_states_load() -> before_states_done(), which leaves it
 * so. */
struct before_states {
	struct path_set keys; /* current keys; number i: that of list[i] */
	struct before_state *list;
	struct before_file *files; /* hash, by inode */
};

/* Loads the before-state of each path that the current step has a record for while a directory
 * above it is renamed. */
void before_states_load(const struct current_names *c, struct before_states *ret);
/* Returns the index of the BEFORE_RENAMED with that inode number, or PATH_SET_NONE. */
size_t before_states_moved(const struct before_states *t, uint64_t ino);
/* Returns whether the states are equal; a record may lack the file's size. */
bool before_state_same(const struct change_side *recorded, const struct change_side *other);
void before_states_done(struct before_states *t);
