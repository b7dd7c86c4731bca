/* content - an object's content and metadata before or after a step, and where they are stored. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "core/journal/store/store.h"

struct origin {
	int fd;		 /* readable bytes of a file or a link's target, at offset 0; or -1 */
	int slots;	 /* directory of the step's objects, or -1; owned */
	char slot[24];	 /* the object's own inode lies there when slots is not -1 */
	struct buf meta; /* meta_read() of it; empty: not known */
	char *present;	 /* its place in the folder, when no step has taken it away; or NULL */
	int64_t damaged; /* -ESTALE, because of this step; or 0 */
};

#define AUTO_ORIGIN CLEANUP(origin_done)
#define ORIGIN_NONE                                                                                \
	{                                                                                          \
		.fd = -1, .slots = -1, .meta = BUF_INIT                                            \
	}
void origin_done(struct origin *o);

/* -ESTALE: nowhere any more, changed from outside. */
int origin_find(struct journal *j, int64_t id, const struct change *c, bool after,
		struct origin *ret, struct err *err) MUST_USE;
/* The step outgrew its limit, or nothing was to be kept. */
bool origin_unprotected(int stepdir);
/* Of the names of this inode, how many lie in the objects of the steps that are indexed? */
size_t origin_slots_of(struct journal *j, uint64_t ino);
