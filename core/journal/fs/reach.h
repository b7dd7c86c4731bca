/* reach - through directories of ours that may not be searched, for as long as a look takes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "core/base/util.h"

struct journal;
struct obj;
struct spot;

/* Life: a zeroed struct -> way_look(), way_lend() -> way_close(), soon and in the same thread. */
struct way {
	struct way_dir {
		int fd;
		mode_t was;
	} * list;
	size_t n;
};

/* spot_look(), and where that is in the way it is opened first. What is not ours stays unseen. */
int way_look(struct journal *j, struct way *w, int root, const char *path, struct spot *at,
	     struct obj *o) MUST_USE;
/* The same, and closed again, where only what is there matters. */
int way_see(struct journal *j, int root, const char *path, struct obj *o) MUST_USE;
/* The directory itself as well; 0 also where that is none. */
int way_lend(struct journal *j, struct way *w, const struct spot *at, mode_t bits) MUST_USE;
void way_close(struct journal *j, struct way *w);
