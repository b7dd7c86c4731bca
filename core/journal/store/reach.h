/* reach - looks at a path below this user's directories that lack search permission. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "core/base/util.h"

struct journal;
struct object;
struct spot;

/* Life: a zeroed struct -> reach_look(), reach_open() -> reach_close(), soon and in the same
 * thread. */
struct reach {
	struct reach_dir {
		int fd;
		mode_t was;
	} * list;
	size_t n;
};

/* Like root_look(), after adding permissions where needed. An object below another user's locked
 * directory stays OBJECT_UNSEEN. */
int reach_look(struct journal *j, struct reach *w, int root, const char *path, struct spot *at,
	       struct object *o) MUST_USE;
/* Does the same, and restores the permissions before it returns. */
int reach_see(struct journal *j, int root, const char *path, struct object *o) MUST_USE;
/* Adds permissions to the directory itself; returns 0 also if it is no directory. */
int reach_open(struct journal *j, struct reach *w, const struct spot *at, mode_t bits) MUST_USE;
void reach_close(struct journal *j, struct reach *w);
