/* current_name - translates a path in a step's records into the current path of its object. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/util/path_set.h"

struct renames;
struct undo_log;

struct chain_step {		    /* one step, possibly of a cluster of concurrent ones */
	unsigned cluster;	    /* number of its cluster, not 0 */
	bool alone;		    /* the cluster has one step */
	bool turned;		    /* see struct summary */
	uint64_t first, last;	    /* numbers of its records */
	uint64_t ended;		    /* when the step ended; grows with time */
	uint64_t end;		    /* when it ended, as a sequence number; 0: unknown */
	const struct undo_log *log; /* the step's */
	int dir;		    /* the step's directory */
};

/* Life: a zeroed struct with its moves -> current_names_step() ... -> current_names_done(). */
struct current_names {
	const struct renames *moves; /* of all steps */
	struct chain_step now;
	struct path_set said; /* paths in its records, on demand; number i: said_at[i] */
	uint64_t *said_at;
};
void current_names_step(struct current_names *c, const struct chain_step *step);
void current_names_done(struct current_names *c);

/*
 * Returns the current key of the object that was at the path right after record seq. If a rename
 * replaced a directory above the path, so that it no longer exists, returns its last name with that
 * rename's number: current_name_gone(). Heap strings.
 */
char *current_name_of(const struct current_names *c, uint64_t seq, int root, const char *path)
	MUST_USE;
char *current_name_gone(const char *key, uint64_t move) MUST_USE;
bool current_name_is_gone(const char *key);

/* The current keys of the objects at a path of the step's summary, before and after the step. Heap;
 * NULL if unknown. */
struct current_name {
	char *found, *left;
};
/* current_name_find() returns false if neither is known: then current_name_any() lists the
 * candidates. That returns false if there are too many. */
bool current_name_find(struct current_names *c, int root, const char *path,
		       struct current_name *ret) MUST_USE;
bool current_name_any(const struct current_names *c, int root, const char *path,
		      struct path_set *ret) MUST_USE;
void current_name_done(struct current_name *called);
