/* upkeep - looks after a store: removes old steps, compresses, verifies, dumps. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"

struct journal;

#define PRUNE_ALL SIZE_MAX

struct journal_prune {	   /* removes the oldest steps until all these limits hold */
	uint64_t size;	   /* bytes of the store */
	size_t steps;	   /* at most so many steps stay */
	int64_t before_us; /* steps that ended before it (wall clock) go, with all older ones */
	size_t at_least;   /* so many steps go, whatever the other limits say */
	size_t spare;	   /* so many of the newest steps stay in any case */
	bool look_only;
	bool note; /* record it for journal_pruned() */
	/* Result: how many steps went, or would go. */
	size_t n;
	int64_t first, last;
};

int journal_prune(struct journal *j, struct journal_prune *p) MUST_USE;
/*
 * Applies the limits to the steps that a session (journal_spec.lasting) found, in j and its
 * siblings, in parts: in each of them about one step is read, or goes. Returns whether any are
 * left. PRUNE_REST does all of them: call it before an undo or a restore, and at the end.
 */
bool journal_prune_on(struct journal *j, size_t parts);
#define PRUNE_REST SIZE_MAX

struct journal_pruned { /* all steps that were ever pruned with `note` */
	int64_t last;	/* the newest of these steps */
	size_t n;
	int64_t us; /* wall clock, of the last time */
};
bool journal_pruned(const struct journal *j, struct journal_pruned *ret);

/*
 * Compresses files and empties the trash if there is work, in a thread of low priority that runs
 * until journal_close() at most. Call it after commits; not in a process that forks.
 */
int journal_tidy(struct journal *j) MUST_USE;

struct journal_sound {
	size_t steps, records, objects;
	size_t damages;
};

/* Checks the store. Calls say() for each damage, with one escaped line, and returns -EBADMSG if
 * there is any. j may be read-only. */
int journal_verify(struct journal *j, void (*say)(void *data, const char *words), void *data,
		   struct journal_sound *ret, struct err *err) MUST_USE;

struct journal_record { /* valid during the call */
	int64_t step;
	const char *where; /* open, steps, redo */
	const char *log;   /* undo, redo */
	const char *type;
	bool linked, swapped, directory, in_log;
	uint64_t seq, src, slot, ino, ino2;
	int root, root2;
	const char *path, *path2; /* raw */
	struct span kept;	  /* metadata, perhaps with bytes */
};

/* Calls fn for each record of a step; id 0: of all steps, oldest first. */
int journal_dump(struct journal *j, int64_t id,
		 void (*fn)(void *data, const struct journal_record *r), void *data,
		 struct err *err) MUST_USE;
