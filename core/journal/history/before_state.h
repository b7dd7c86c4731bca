/* before_state - what a step found, by its own records. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "core/journal/util/path_set.h"

struct caller;

/*
 * A summary has each path once, with what was there when the step first spoke of it. Where the step
 * moves directories one path may be several objects' in turn, and what it found of the later ones
 * is only in its records.
 */
enum told_what {
	TOLD_OF,   /* the step spoke of it */
	TOLD_MADE, /* nothing was there */
	TOLD_SIDE, /* this was */
	TOLD_FILE, /* a file that it moved on and did not change, so it has left it so elsewhere */
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

/* Of all that the step in place speaks of while directories above are moved, whatever came of it.
 */
void told_load(const struct caller *c, struct tolds *ret);
/* What is TOLD_FILE with that number; NAMES_NONE. */
size_t told_moved(const struct tolds *t, uint64_t ino);
/* Not every record tells how long the file was. */
bool told_same(const struct change_side *told, const struct change_side *other);
void told_done(struct tolds *t);
