/* activity - groups the model's rows into items with counts, at a level of detail. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/hash.h"
#include "core/session/model.h"
#include "tui/console/views/activity_procs.h"

/*
 * Life:  zeroed -> activity_set() -> activity_update() after each change of the model ->
 *        activity_done(). A model that goes back in time (a replay) starts it anew.
 * Cost:  each row is looked at once; rows that the model has dropped take their items along.
 */
enum activity_level {
	ACTIVITY_PLAIN, /* one row an object and command; git's own files as one, many files of one
			 * directory, refusals, and the processes of a command, too */
	ACTIVITY_STAYS, /* of these, the project's files that still exist, and decisions */
	ACTIVITY_DECIDED, /* questions, grants and refusals */
	ACTIVITY_ALL,	  /* each row of the model */
	ACTIVITY_LEVELS
};

struct activity_item {
	char *key; /* "" : its own */
	/* seq of its first and last row; the last one is drawn, of a command the first. */
	uint64_t first, last;
	int64_t began_us, ended_us; /* wall clock */
	size_t rows;		    /* number of rows */
	size_t objects;		    /* of a group: number of different objects; else 0 */
	size_t removed;		    /* of a directory: deleted files */
	size_t children;	    /* of a command: programs that its processes ran */
	struct activity_item *dir;  /* of a file: the item of its directory in the same step */
	char *below;		    /* of such a directory: its path */
	bool gone;		    /* its file was removed or renamed by the same step */
	bool moved;		    /* renamed, that is: the row of the new name represents it */
	bool hidden;		    /* counted in a group, and not shown itself */
	bool shown;		    /* by level and filter */
	enum {
		MATCH_UNKNOWN,
		MATCH_YES,
		MATCH_NO,
	} match; /* its last row and the filter */
	UT_hash_handle hh;
};

struct activity {
	enum activity_level level;
	const char *folder; /* borrowed: ACTIVITY_STAYS shows files inside; NULL: all */
	const char *filter; /* borrowed; activity_filter() after each change of it */
	struct activity_item *by_key;
	struct procs procs;
	const char *agent;	      /* its name; "": unknown */
	struct activity_item **items; /* in the order of their first rows */
	size_t n, cap;
	size_t *shown; /* indexes of items */
	size_t n_shown, cap_shown;
	bool stale; /* shown must be made anew */
	uint64_t seen_seq, purged_seq;
	bool (*matches)(void *data, const struct row *r); /* the filter */
	void *data;
};

void activity_done(struct activity *a);
/* Starts anew. */
void activity_set(struct activity *a, enum activity_level level);
void activity_filter(struct activity *a, const char *filter);
void activity_update(struct activity *a, const struct model *m);
const struct activity_item *activity_at(const struct activity *a, size_t i); /* NULL: no such */
/* Returns the row that is drawn for it; NULL: the model has dropped it. */
const struct row *activity_row(const struct model *m, const struct activity_item *item);
const char *activity_level_words(enum activity_level level);
/* Returns whether it represents several objects. r: its row. A single refusal is no group. */
bool activity_is_group(const struct activity_item *item, const struct row *r);
/* Returns whether it represents a directory in which one step touched ACTIVITY_MANY files. */
#define ACTIVITY_MANY 20
bool activity_is_dir(const struct activity_item *item);
/* Returns where ".git" ends in the path of one of git's own files; else 0. */
size_t activity_git_dir(const char *path);
