/* activity - the rows of the model as a human reads them: one for an object and a command, with
 * counts, at a level of detail. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/hash.h"
#include "core/session/model.h"

/*
 * Life:  zeroed -> activity_set() -> activity_update() after each change of the model ->
 *        activity_done(). A model that goes back in time (a replay) starts it anew.
 * Cost:  each row is looked at once; rows that the model has dropped take their items along.
 */
enum activity_level {
	ACTIVITY_PLAIN,	  /* one row an object and command; git's own files as one, refusals too */
	ACTIVITY_STAYS,	  /* of those, the project's files that are still there, and decisions */
	ACTIVITY_DECIDED, /* what was asked about, allowed or refused */
	ACTIVITY_ALL,	  /* each row of the model */
	ACTIVITY_LEVELS
};

struct activity_item {
	char *key;	      /* "" : its own */
	uint64_t first, last; /* of the rows it stands for: their seq; the last one is drawn */
	int64_t began_us, ended_us; /* wall clock */
	size_t rows;		    /* how many */
	size_t objects;		    /* different ones, of a group; else 0 */
	bool gone;   /* its file was removed, or got another name, by the same step */
	bool hidden; /* counted in a group, and not shown itself */
	bool shown;  /* by level and filter */
	enum {
		MATCH_UNKNOWN,
		MATCH_YES,
		MATCH_NO,
	} match; /* its last row and the filter */
	UT_hash_handle hh;
};

struct activity {
	enum activity_level level;
	const char *folder; /* borrowed: what lies elsewhere does not stay; NULL: all does */
	const char *filter; /* borrowed; activity_filter() after each change of it */
	struct activity_item *by_key;
	struct activity_item **items; /* in the order of their first rows */
	size_t n, cap;
	size_t *shown; /* indexes of items */
	size_t n_shown, cap_shown;
	bool stale; /* shown is to be made anew */
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
/* The row that is drawn for it; NULL: the model does not have it any more. */
const struct row *activity_row(const struct model *m, const struct activity_item *item);
const char *activity_level_words(enum activity_level level);
/* Does it stand for several objects? r: its row. A refusal that no other is like does not. */
bool activity_is_group(const struct activity_item *item, const struct row *r);
/* Of git's own files: where ".git" ends in the path; else 0. */
size_t activity_git_dir(const char *path);
