/* version_chain_path - states before and after each step, at one path or in one file. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/after_image.h"
#include "core/journal/history/version_chain.h"
#include "core/journal/journal.h"

/*
 * Concurrent steps form a cluster: it is unknown which of them was at a path first. One of them
 * was, and its before-state is the state that the steps before the cluster left: the after-state of
 * the last of those to end. Both states are in the steps' summaries; for paths that a step touched
 * and did not change, in its after-images.
 */

struct chain {
	struct change_side *found; /* by the steps of the last cluster; heap */
	size_t n_found;
	struct change_side *then; /* by those of the cluster after it; heap */
	size_t n_then;
	struct change_side left; /* by the cluster, at its end */
	struct change_side last; /* by the newest */
	uint64_t ended;
	unsigned cluster, turn;
	unsigned changed, placed;   /* the turn and the cluster that last changed it */
	unsigned recorded;	    /* the turn whose records tell what was found, as found[0] */
	unsigned there;		    /* the turn whose records tell that something was */
	bool has_left, left_now;    /* that is known; from the step that is looked at */
	bool has_last, past_last;   /* that is known; another cluster was there before it */
	bool mentioned;		    /* a step of the cluster has a record for this path, whose
				     * directory was renamed later */
	bool known;		    /* all that is there is sure */
	bool spoken;		    /* one of the steps has changed it, or may have */
	bool links, then_links;	    /* in it, in `then`, is one name of several of a file */
	bool returns, then_returns; /* somebody's work comes back there with one of them */
	bool image;  /* some of it, or of `then`, is: how many names the file had is not in it */
	bool broken; /* an external edit lies between two steps */
	bool edited; /* perhaps: the file may have been changed through another hard link */
};

/* The one of that path; made if there is none. Valid until the next call. */
struct chain *chain_get(struct chains *c, const char *key);
/* A step of the cluster found that there. */
void chain_saw(struct chain *one, const struct change_side *before);
/* The step in place left that there. */
void chain_gave(const struct chains *c, struct chain *one, const struct change_side *after);
/* The step in place was there; if its cluster is another, the one before it is closed. */
void chain_goes_on(const struct chains *c, struct chain *one);
/* What the cluster left, with what the one after it found. */
void chain_compare(struct chain *one);
void chain_done(struct chain *one); /* frees what is in it */

/* ---- version_chain_inode.c: the same of files that have several names */

void chain_file_found(struct chains *c, const struct change *change, const char *name);
void chain_file_left(struct chains *c, const struct change *change, const char *name);
void chain_file_seen(struct chains *c, const struct post *p, const struct change_side *seen,
		     const char *name);
void chain_files_forget(struct chains *c); /* not all of the cluster is known */
void chain_files_compare(struct chains *c);
void chain_files_done(struct chains *c);
