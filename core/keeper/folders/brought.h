/* brought - what a rename or a link brings to a protected name, so that an answer is about that. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "core/journal/op.h"

struct folder;

/*
 * An answer for once is about what its human could look at. `object` is the same text for the same
 * object as long as nothing was done to it: a file by its inode and time of change, a directory
 * with every entry below it that comes to a protected name, a symbolic link with what it leads to.
 * `settled`: nobody has one of these files open for writing, and all of them could be looked at.
 *
 * Life: plain data. Not thread-safe.
 */
#define BROUGHT_MAX   2000  /* entries of a directory that are looked at; not settled beyond */
#define BROUGHT_A_SEC 20000 /* of all that are asked about: everybody waits meanwhile */

struct brought {
	char object[200]; /* "": nothing is there, or nothing was asked about yet */
	bool settled;
};

/* What a call that is asked about brings. Kept by the door while the human thinks. */
struct asked {
	struct brought to;   /* to the new name */
	struct brought back; /* to the old one, by an exchange */
	bool stale;	     /* it was not the same when the answer came */
};

/* What `from` brings to `path`, absolute. */
void brought_look(struct folder *f, const struct at *from, const char *path, struct brought *ret);
/* The same for a symbolic link that is to be made at `at`. */
void brought_look_target(struct folder *f, const char *target, const struct at *at,
			 const char *path, struct brought *ret);
/* Whether what was asked about is there unchanged, and nobody can write to it. True also if nothing
 * was asked about. */
bool brought_is_same(const struct brought *asked, const struct brought *now);
/*
 * It has taken the name, with the leave of its human. From now on its files are protected under all
 * of their names, and so is what its links lead to.
 */
void brought_placed(struct folder *f, const struct at *at, const char *path);
