/* place - the target of a path argument: a folder's directory and a name, or a path outside. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "core/keeper/folders/folder.h"

struct ldoor;

struct place {
	struct folder *folder; /* NULL: outside every folder */
	struct at at;
	bool known;   /* st describes the last component */
	bool recent;  /* at.dirfd is borrowed from resolve.c, which opened it for an earlier call */
	bool kept;    /* seen may be changed as it is; no other component has been looked up */
	bool object;  /* reached through a descriptor or a magic link, not by a name */
	bool orphan;  /* an open file without a name: at.dirfd is its O_PATH descriptor */
	bool gone;    /* resolving ended in a directory that was removed */
	bool special; /* outside and not a file at all: a pipe, a socket, a terminal */
	bool nested;  /* outside, on a mount that was made inside */
	struct stat st;
	int fd;	  /* owned: at.dirfd, when it is not borrowed */
	int seen; /* owned: the object through the caller's mounts, when the walk went there */
	char dir[PATH_MAX];
	char text[PATH_MAX]; /* outside: absolute, as the caller sees it */
	char walk[2][2 * PATH_MAX];
};

void place_done(struct place *p); /* closes its descriptors */
/* Writes the absolute path of a place, for comparison and reports. */
void place_text(const struct place *p, char *out, size_t size);
/* Without mounts: returns whether the place is in the sandbox's own directory. */
bool place_is_own(const struct ldoor *d, const struct place *p);
/* folder_outside() about a place that is outside; 0: the floor answers. */
int place_outside(struct ldoor *d, const struct caller *c, const struct place *p);
/* Converts the result of place_outside() to a handler's result. 1 (the place has just become part
 * of a folder) becomes DOOR_AGAIN. */
int place_granted(int got);
/* Returns whether a file without a name may be changed through its descriptor. */
bool place_orphan_is_kept(const struct caller *c, const struct place *p);
