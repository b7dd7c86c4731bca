/* current_name - translates a path in a step's records into the current path of its object. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/util/path_set.h"

struct moves;
struct wal;

struct chain_step {	       /* or a cluster of those that overlapped in time */
	unsigned cluster;      /* its number, not 0 */
	bool alone;	       /* it is one step */
	bool turned;	       /* see struct summary */
	uint64_t first, last;  /* numbers of its records */
	uint64_t ended;	       /* of the step; grows with time */
	uint64_t end;	       /* as a number of a record; 0: that is not known */
	const struct wal *log; /* the step's */
	int dir;	       /* and its directory */
};

/* Life: a zeroed struct with its moves -> called_step() ... -> caller_done(). */
struct caller {
	const struct moves *moves; /* of all steps */
	struct chain_step now;
	struct names said; /* paths in its records, once that was asked; number i: said_at[i] */
	uint64_t *said_at;
};
void called_step(struct caller *c, const struct chain_step *step);
void caller_done(struct caller *c);

/*
 * The current key of the object that was at the path right after record seq. If the path no longer
 * exists, because a rename replaced a directory above it, this is its last name with that rename's
 * number: called_gone(). Heap strings.
 */
char *called_now(const struct caller *c, uint64_t seq, int root, const char *path) MUST_USE;
char *called_gone(const char *key, uint64_t move) MUST_USE;
bool called_is_gone(const char *key);

/* The current keys of the objects at a path of the step's summary, before and after the step. Heap;
 * NULL if unknown. */
struct called {
	char *found, *left;
};
/* called_find() returns false if neither is known: then called_any() lists the candidates. That
 * returns false if there are too many. */
bool called_find(struct caller *c, int root, const char *path, struct called *ret) MUST_USE;
bool called_any(const struct caller *c, int root, const char *path, struct names *ret) MUST_USE;
void called_done(struct called *called);
