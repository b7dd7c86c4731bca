/* version_chain_path - states before and after each step, at one path or in one file. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history.h"

struct chains;
struct after_image;

/*
 * Concurrent steps form a cluster: it is unknown which of them was at a path first. One of them
 * was, and its before-state is the state that the steps before the cluster left: the after-state of
 * the last of those to end. Both states are in the steps' summaries; for paths that a step touched
 * and did not change, in its after-images.
 */

struct chain {
	struct change_side *found; /* before-states of the current cluster's steps; heap */
	size_t n_found;
	struct change_side *then; /* before-states of the cluster after it; heap */
	size_t n_then;
	struct change_side left; /* after-state of the cluster */
	struct change_side last; /* after-state of the newest cluster */
	uint64_t ended;
	unsigned cluster, turn;
	/* The last turn that changed it, and the cluster of that, or 0 if it is one step. */
	unsigned changed, placed;
	unsigned recorded;	  /* the turn whose records have the before-state, as found[0] */
	unsigned there;		  /* the turn whose records show that the path existed */
	bool has_left, left_now;  /* `left` is known; it is from the current step */
	bool has_last, past_last; /* `last` is known; the newest cluster is closed */
	/* A step of the cluster has a record for this path, whose directory was renamed later. */
	bool mentioned;
	bool known;		/* the states are complete */
	bool spoken;		/* one of the steps changed it, or may have */
	bool links, then_links; /* the file in it, or in `then`, has several hard links */
	/* Undoing its steps, or those of the cluster after it, restores an external edit. */
	bool returns, then_returns;
	/* Some states come from after-images, which lack the number of hard links. */
	bool image;
	bool broken; /* an external edit lies between two steps */
	bool edited; /* perhaps: the file may have been changed through another hard link */
};

/* Returns the chain of that path; creates it if it is missing. Valid until the next call. */
struct chain *chain_get(struct chains *c, const char *key);
/* Adds a before-state of a step of the cluster. */
void chain_saw(struct chain *one, const struct change_side *before);
/* Sets the after-state of the current step. */
void chain_gave(const struct chains *c, struct chain *one, const struct change_side *after);
/* Notes that the current step touched the path. If it begins another cluster, closes the newer
 * one. */
void chain_goes_on(const struct chains *c, struct chain *one);
/* Compares the cluster's after-state with the before-states of the cluster after it. */
void chain_compare(struct chain *one);
void chain_done(struct chain *one); /* frees its content */

/* ---- version_chain_inode.c: the same for files with several hard links ---- */

void chain_file_found(struct chains *c, const struct change *change, const char *name);
void chain_file_left(struct chains *c, const struct change *change, const char *name);
void chain_file_seen(struct chains *c, const struct after_image *p, const struct change_side *seen,
		     const char *name);
/* Forgets the current states, because the cluster's changes are unknown. */
void chain_files_forget(struct chains *c);
void chain_files_compare(struct chains *c);
void chain_files_done(struct chains *c);
