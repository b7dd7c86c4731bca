/* chain - did each step find what those before it had left? Else somebody else was there between.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/store/names.h"

struct change;
struct post;

/* Life: a zeroed struct is empty -> chains_done(). */
struct chains {
	struct names keys; /* number i: that of list[i] */
	struct chain *list;
	size_t cap;
	struct found_file *files; /* hash, by inode */
	unsigned cluster, step;
	uint64_t ended;
};

/*
 * The steps come newest first, each with its changes and then its images. cluster: a number, not 0,
 * that those have in common that overlapped in time; ended: grows with time.
 */
void chains_step(struct chains *c, unsigned cluster, uint64_t ended);
void chains_change(struct chains *c, const struct change *change);
void chains_left(struct chains *c, const struct post *p, bool sure);
void chains_gap(struct chains *c); /* a step was here that may not tell where */

enum chain_state {
	CHAIN_WHOLE,
	CHAIN_BROKEN, /* somebody else was at the path between two of them */
	CHAIN_EDITED, /* the same if no step changed the file that lies there by another name */
};
enum chain_state chains_judge(const struct chains *c, const char *key);
void chains_done(struct chains *c);
