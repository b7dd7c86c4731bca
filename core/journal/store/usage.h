/* usage - counts the bytes that a store and its steps hold. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/util.h"

struct journal;
struct object;

uint64_t store_holds(const struct journal *j);		       /* of the store */
uint64_t store_holds_beside_steps(const struct journal *j);    /* without its kept steps */
uint64_t store_held(const struct journal *j, const char *dir); /* of a step's directory */
/* Returns the sum of of() over the entries of a directory of the store. */
uint64_t store_holds_below(const struct journal *j, const char *where,
			   uint64_t (*of)(const struct journal *j, const char *name));
uint64_t store_weigh(int dirfd, const char *name); /* one file; 0: it does not exist */
uint64_t store_weigh_object(const struct object *o);
struct held { /* the file "held" of a kept step */
	uint64_t bytes;
	bool packed;	 /* nothing is left to compress */
	uint64_t *slots; /* slots with copies; heap */
	size_t n;
};
int usage_held_write(int stepdir, const struct held *h) MUST_USE;
int usage_held_read(int stepdir, struct held *h) MUST_USE;
uint64_t usage_held_files(int stepdir); /* bytes of its logs, summary and images */
