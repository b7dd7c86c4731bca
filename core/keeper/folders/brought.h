/* brought - fingerprints the objects that a rename or link brings to a protected name. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "core/journal/op.h"

struct folder;

/*
 * An answer for one call holds only for the objects that the user could inspect. `object` is a
 * fingerprint that changes with the object: inode and ctime of a file, every entry of a directory
 * that comes to a protected name, the target of a symbolic link. `settled`: no process has one of
 * these files open for writing, and all of them could be inspected.
 *
 * Life: plain data. Not thread-safe.
 */
#define BROUGHT_MAX   2000  /* inspected entries of a directory; with more it is not settled */
#define BROUGHT_A_SEC 20000 /* inspected entries per second: every caller waits meanwhile */

struct brought {
	char object[200]; /* "": there is no object, or no question yet */
	bool settled;
};

/* The objects of a call that waits for an answer. Kept by the door meanwhile. */
struct asked {
	struct brought to;   /* gets the new name */
	struct brought back; /* gets the old one, by an exchange */
	bool stale;	     /* the object changed before the answer */
};

/* Fingerprints the object at `from`, which will take the name `path` (absolute). */
void brought_look(struct folder *f, const struct at *from, const char *path, struct brought *ret);
/* Fingerprints a symbolic link that will be made at `at`, and its target. */
void brought_look_target(struct folder *f, const char *target, const struct at *at,
			 const char *path, struct brought *ret);
/* Returns whether the object of the question is unchanged and no process can write to it. Also true
 * without a question. */
bool brought_is_same(const struct brought *asked, const struct brought *now);
/*
 * Notes that the object has taken the name with the permission of the user. From then on its files
 * are protected under all of their names, and so are the targets of its links.
 */
void brought_placed(struct folder *f, const struct at *at, const char *path);
