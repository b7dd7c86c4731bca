/* content - an object's content and metadata before or after a step, and where they are stored. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"

struct buf;
struct change;
struct change_side;
struct err;
struct journal;

struct content_origin {
	int fd;		 /* readable bytes of a file or a link's target, at offset 0; or -1 */
	int slots;	 /* directory of the step's objects, or -1; owned */
	char slot[24];	 /* the object itself, in slots, if slots is not -1 */
	struct buf meta; /* attributes_read() of it; empty: unknown */
	char *present;	 /* its path in the folder, if no later step captured it; or NULL */
	int64_t damaged; /* -ESTALE: this damaged step may have had it; or 0 */
};

#define AUTO_CONTENT_ORIGIN CLEANUP(content_origin_done)
#define CONTENT_ORIGIN_NONE                                                                        \
	{                                                                                          \
		.fd = -1, .slots = -1, .meta = BUF_INIT                                            \
	}
void content_origin_done(struct content_origin *o);

/* Finds the content before or after a step. -ESTALE: it no longer exists, because of an external
 * edit. */
int content_origin_find(struct journal *j, int64_t id, const struct change *c, bool after,
			struct content_origin *ret, struct err *err) MUST_USE;
/* Does the same without a word; past_get() may be older than the store. whole: also the metadata
 * and the slot; else the bytes only. -ESTALE: see above, or ret->damaged. (content_find.c) */
int content_find(struct journal *j, int64_t id, const struct change *c, bool after, bool undone,
		 bool whole, struct content_origin *ret) MUST_USE;
bool content_has_bytes(const struct change_side *s);
/* Opens a file for reading, or puts a link's target into memory. */
int content_open(struct journal *j, int dirfd, const char *name) MUST_USE;
/* Returns whether the step was unprotected: it outgrew its limits, or undo is off. */
bool content_unprotected(int stepdir);
/* Returns how many hard links of this inode are objects of the indexed steps. */
size_t content_slots_of(struct journal *j, uint64_t ino);
