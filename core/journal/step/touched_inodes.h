/* touched_inodes - the inodes that an open step has records about, or created. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/fs/object.h"

enum {
	KNOWN_CREATED = 1,
	KNOWN_CONTENT = 2,
	KNOWN_META = 4,
	KNOWN_OPENED = 8, /* for writing, in this step */
	KNOWN_SHUT = 16,  /* nobody writes to it any more; whoever watches has not seen that yet */
};

struct known {
	uint64_t ino;
	int64_t btime_ns;
	uint64_t generation; /* as in struct obj */
	uint64_t hash;	     /* of all the content that was kept, if it may change unseen; or 0 */
	uint32_t dev;	     /* dev_pack() */
	uint32_t flags : 5;  /* KNOWN_* */
	uint32_t first : 27; /* as it was when it was kept: number + 1 in firsts; 0: it had no other
				name then */
};

/* Life: a zeroed struct is empty -> known_done(). Pointers into it die with the next change. */
struct known_set {
	struct known *list;
	uint32_t n, cap;
	uint32_t *slots; /* open addressing; index + 1 */
	size_t n_slots;	 /* a power of two, or 0 */
	struct obj *firsts;
	uint32_t n_firsts;
};

struct known *known_find(const struct known_set *k, uint32_t dev, uint64_t ino); /* of any birth */
struct known *known_learn(struct known_set *k, const struct obj *o, unsigned flags);
void known_drop(struct known_set *k, struct known *one);
const struct obj *known_first(const struct known_set *k, const struct known *one); /* or NULL */
void known_done(struct known_set *k);
