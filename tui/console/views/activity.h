/* activity - groups the model's rows into items with counts, at a level of detail. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/hash.h"
#include "core/session/model.h"
#include "tui/console/views/activity_procs.h"

/*
 * Life: zeroed -> activity_set() -> activity_update() after each change of the model ->
 *       activity_done(). A model that goes back in time (a replay) resets it.
 * Cost: each row is read once; items are dropped with the model's rows.
 */
enum activity_level {
	/* A row for each object and command. Git's own files, many files of one directory, similar
	 * refusals, and the processes of a command are one row each. */
	ACTIVITY_PLAIN,
	ACTIVITY_STAYS,	  /* of these, files of the project that still exist, and decisions */
	ACTIVITY_DECIDED, /* questions, grants and refusals */
	ACTIVITY_ALL,	  /* every row of the model */
	ACTIVITY_LEVELS
};

struct activity_item {
	char *key; /* "": the item has one row only */
	/* seq of its first and last row; drawn is the last one, of a command the first. */
	uint64_t first, last;
	int64_t began_us, ended_us; /* wall clock */
	size_t rows;		    /* number of rows */
	size_t objects;		    /* of a group: number of distinct objects; else 0 */
	size_t removed;		    /* of a directory: deleted files */
	size_t children;	    /* of a command: programs run by its processes */
	struct activity_item *dir;  /* of a file: item of its directory in the same step */
	char *below;		    /* of a directory item: its path */
	bool gone;		    /* removed or renamed by its step; or answered */
	bool moved;		    /* renamed: the row of the new name represents it */
	bool hidden;		    /* counted in a group, and not shown itself */
	bool commit;		    /* of git's own files: those of a commit */
	bool shown;		    /* by level and filter */
	enum {
		MATCH_UNKNOWN,
		MATCH_YES,
		MATCH_NO,
	} match; /* whether its last row passes the filter */
	UT_hash_handle hh;
};

struct activity {
	enum activity_level level;
	const char *folder; /* borrowed: ACTIVITY_STAYS shows files inside; NULL: all */
	const char *filter; /* borrowed; call activity_filter() after each change */
	struct activity_item *by_key;
	struct procs procs;
	const char *agent;	      /* its name; "": unknown */
	struct activity_item **items; /* in the order of their first rows */
	size_t n, cap;
	size_t *shown; /* indexes of items */
	size_t n_shown, cap_shown;
	bool stale; /* shown must be rebuilt */
	uint64_t seen_seq, purged_seq;
	bool (*matches)(void *data, const struct row *r); /* the filter */
	void *data;
};

void activity_done(struct activity *a);
/* Resets it. */
void activity_set(struct activity *a, enum activity_level level);
void activity_filter(struct activity *a, const char *filter);
void activity_update(struct activity *a, const struct model *m);
const struct activity_item *activity_at(const struct activity *a, size_t i); /* or NULL */
/* Returns the row that is drawn for the item; NULL: the model has dropped it. */
const struct row *activity_row(const struct model *m, const struct activity_item *item);
const char *activity_level_words(enum activity_level level);
/* Returns whether the item represents several objects. r: its row. A single refusal is no group. */
bool activity_is_group(const struct activity_item *item, const struct row *r);
/* Returns whether the item represents a directory in which one step touched ACTIVITY_MANY files. */
#define ACTIVITY_MANY 20
bool activity_is_dir(const struct activity_item *item);
/* Returns the length of the path up to and with ".git", for git's own files; else 0. */
size_t activity_git_dir(const char *path);
