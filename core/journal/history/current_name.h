/* current_name - the name of now, of what a step calls by the name that it had then. */
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
 * A key of what was at the path right after that record. Where nothing is by that name any more, as
 * a directory was moved to where one above it had been, it is the last name and that move's number:
 * called_gone(). Heap strings.
 */
char *called_now(const struct caller *c, uint64_t seq, int root, const char *path) MUST_USE;
char *called_gone(const char *key, uint64_t move) MUST_USE;
bool called_is_gone(const char *key);

/* Of what the step found at a path that its summary speaks of, and of what it left there. Heap, or
 * NULL: nobody knows. */
struct called {
	char *found, *left;
};
/* False: neither is known, but it is one of called_any(), unless those are too many: false. */
bool called_find(struct caller *c, int root, const char *path, struct called *ret) MUST_USE;
bool called_any(const struct caller *c, int root, const char *path, struct names *ret) MUST_USE;
void called_done(struct called *called);
