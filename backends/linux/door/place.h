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
	bool recent;  /* at.dirfd is resolve.c's, opened for an earlier call */
	bool kept;    /* seen may be changed as it is, so no name was looked up */
	bool object;  /* reached by a descriptor or a magic link, not by name */
	bool orphan;  /* an open file without a name: at.dirfd is its O_PATH descriptor */
	bool gone;    /* resolving ended in a removed directory */
	bool special; /* outside, and not in a file tree: a pipe, a socket, a terminal */
	bool nested;  /* outside, on a mount that was made inside */
	struct stat st;
	int fd;	  /* owned: at.dirfd if it is not borrowed */
	int seen; /* owned: the object through the caller's mounts, if walked to */
	char dir[PATH_MAX];
	char text[PATH_MAX]; /* outside: absolute, as the caller sees it */
	char walk[2][2 * PATH_MAX];
};

void place_done(struct place *p); /* closes its descriptors */
/* Writes the absolute path of a place, for comparison and reports. */
void place_text(const struct place *p, char *out, size_t size);
/* Without mounts: returns whether the place is in the sandbox's own directory. */
bool place_is_own(const struct ldoor *d, const struct place *p);
/* Calls folder_outside() for a place that is outside. Returns 0 if the floor answers. */
int place_outside(struct ldoor *d, const struct caller *c, const struct place *p);
/* Converts the result of place_outside() to a handler's result. 1 (the place has just become part
 * of a folder) becomes DOOR_AGAIN. */
int place_granted(int got);
/* Returns whether a file without a name may be changed through its descriptor. */
bool place_orphan_is_kept(const struct caller *c, const struct place *p);
