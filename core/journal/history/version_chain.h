/* version_chain - did each step find what those before it had left? Else somebody else was there
 * between.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/before_state.h"
#include "core/journal/history/current_name.h"
#include "core/journal/util/u64_set.h"

struct change;
struct change_side;
struct post;

/* Life: a zeroed struct with the caller's moves is empty -> chains_done(). */
struct chains {
	struct caller caller;
	struct names keys; /* number i: that of list[i] */
	struct chain *list;
	size_t cap;
	struct found_file *files; /* hash, by inode */
	bool some_gone;		  /* some keys are called_gone() */
	unsigned turn;		  /* of the step */
	struct tolds told;	  /* by the step in place */
	struct numbers written;	  /* files, by the step in place; once that was asked */
	bool has_written;
	bool blind, was_blind; /* nothing is known of what the cluster did; of a newer one */
	bool several;	       /* there is more than one */
};

/* The steps come newest first, each with its changes and then its images; chains_end() is the end.
 */
void chains_step(struct chains *c, const struct chain_step *step);
void chains_change(struct chains *c, const struct change *change);
void chains_left(struct chains *c, const struct post *p);
/* A step was here that may not tell where: between it and another one anything may have happened,
 * so it is asked about each path. */
void chains_gap(struct chains *c);
void chains_end(struct chains *c);

enum chain_state {
	CHAIN_WHOLE,
	CHAIN_BROKEN, /* somebody else was at the path between two of them */
	CHAIN_EDITED, /* the same if no step changed the file that lies there by another name */
};
/* Of a path as it is called now, or was as long as it was there. */
enum chain_state chains_judge(const struct chains *c, const char *key);
/* Was this there (nothing, or not) before the first of the steps? False: or that is not known. */
bool chains_began(const struct chains *c, const char *key, bool exists);
/* What the last of the steps to be there left; false: that is not known. */
bool chains_last(const struct chains *c, const char *key, struct change_side *ret);
void chains_done(struct chains *c);
