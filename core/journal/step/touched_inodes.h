/* touched_inodes - the inodes that an open step has records about, or created. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct object;

enum {
	TOUCHED_CREATED = 1,
	TOUCHED_CONTENT = 2,
	TOUCHED_META = 4,
	TOUCHED_OPENED = 8, /* for writing, in this step */
	/* It has no writer, but the watcher has not reported its close yet. */
	TOUCHED_SHUT = 16,
	/* An external program has changed it, perhaps through another hard link. */
	TOUCHED_EDITED = 32,
	TOUCHED_ALL = 63,
};

struct touched_inode {
	uint64_t ino;
	int64_t btime_ns;
	uint64_t generation; /* as in struct object */
	uint64_t hash;	     /* of all captured content, if that may change unseen; or 0 */
	uint32_t dev;	     /* object_pack_dev() */
	uint32_t flags : 6;  /* TOUCHED_* */
	/* Index + 1 in firsts: the state when it was captured, if it had several hard links; else
	 * 0. */
	uint32_t first : 26;
};

/* Life: a zeroed struct is empty -> touched_inodes_done(). Pointers into it die with the next
 * change. */
struct touched_inodes {
	struct touched_inode *list;
	uint32_t n, cap;
	uint32_t *slots; /* open addressing; index + 1 */
	size_t n_slots;	 /* a power of two, or 0 */
	struct object *firsts;
	uint32_t n_firsts;
};

/* Returns the entry with this number, even if its birth time differs; or NULL. */
struct touched_inode *touched_inodes_find(const struct touched_inodes *k, uint32_t dev,
					  uint64_t ino);
struct touched_inode *touched_inodes_learn(struct touched_inodes *k, const struct object *o,
					   unsigned flags);
void touched_inodes_drop(struct touched_inodes *k, struct touched_inode *one);
const struct object *touched_inodes_first(const struct touched_inodes *k,
					  const struct touched_inode *one); /* or NULL */
void touched_inodes_done(struct touched_inodes *k);
