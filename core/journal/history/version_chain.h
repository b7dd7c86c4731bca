/* version_chain - detects external edits between steps. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/before_state.h"
#include "core/journal/history/current_name.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

struct change;
struct change_side;
struct after_image;
struct chain;

/* Life: a zeroed struct with the caller's moves is empty -> chains_done(). */
struct chains {
	struct current_names caller;
	struct path_set keys; /* number i: that of list[i] */
	struct chain *list;
	size_t cap;
	struct found_file *files;      /* hash, by inode */
	bool some_gone;		       /* some keys are current_name_gone() */
	unsigned turn;		       /* number of the step that is added */
	struct before_states recorded; /* of the current step */
	struct u64_set written;	       /* files that the current step wrote; on demand */
	bool has_written;
	bool blind, was_blind; /* the current cluster's changes are unknown; a newer one's are */
	bool several;	       /* there is more than one cluster */
};

/* The steps come newest first, each with its changes and then its images; chains_end() is the end.
 */
void chains_step(struct chains *c, const struct chain_step *step);
void chains_change(struct chains *c, const struct change *change);
void chains_left(struct chains *c, const struct after_image *p);
/* Adds a step whose paths are unknown: edits before and after it cannot be told apart, so each path
 * counts as edited. */
void chains_gap(struct chains *c);
void chains_end(struct chains *c);

enum chain_state {
	CHAIN_WHOLE,
	CHAIN_BROKEN, /* changed externally between two steps */
	CHAIN_EDITED, /* the same, unless a step wrote to the inode through another hard link */
};
/* key: the path's current name, or its last name if it no longer exists. */
enum chain_state chains_judge(const struct chains *c, const char *key);
/* Returns whether the path is known to have existed (or, !exists, not to have existed) before the
 * first of the steps. */
bool chains_began(const struct chains *c, const char *key, bool exists);
/* Gets the after-state of the last step that touched the path. Returns false if it is unknown. */
bool chains_last(const struct chains *c, const char *key, struct change_side *ret);
void chains_done(struct chains *c);
