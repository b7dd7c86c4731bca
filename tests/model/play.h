/* play - the state of a running sequence: the worker, the history, the open steps. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tests/model/history.h"
#include "tests/model/worker.h"

struct game {
	const struct setting *set;
	struct worker w;
	struct history h;
	uint64_t seed;
	size_t turn; /* index of the act */
	bool quiet, failed;
	char *failure; /* message of the first failure */
	char *now;     /* the last read tree */
	struct {
		int64_t id; /* 0: not open */
		long begun;
	} open[WHO_MAX];
	/* overlapping steps, from the first begin to the last end */
	struct {
		char *before;
		long since;
		int64_t kept[LIST_MAX];
		long begun[LIST_MAX];
		size_t n_kept, n_begun;
		bool unknown; /* one of several was rolled back */
	} cluster;
	unsigned kills, kill_seed;
	size_t parts; /* number of stores with the step that is being dropped */
	/* A kill left a step or a rollback in one of two folders: the sequence ends. */
	bool apart;
};

void fail(struct game *g, const char *fmt, ...) PRINTF_LIKE(2, 3);
char *look(const struct game *g);
/* Checks the current tree. */
void must_be(struct game *g, const char *want, bool loose, const char *when);
void check_lists(struct game *g);
/* Checks that the store is sound, and lists the changes in the trees. (audit.c) */
void audit(struct game *g);
bool any_open(const struct game *g);
void cluster_close(struct game *g);
void ended(struct game *g, unsigned who, bool kept);

/* rollback.c */
void play_undo(struct game *g, const struct act *a);
void play_redo(struct game *g, const struct act *a);
void play_restore(struct game *g, const struct act *a);
/* Checks after a rollback with flags that external edits are still there. */
void check_settled(struct game *g, const struct expected *e, unsigned flags, const char *pre,
		   const char *what);
/* Checks a restore: the right paths, in the right state. */
void check_restored(struct game *g, const struct act *a, const char *pre);
/* Returns whether a step or a rollback is in only one of the two folders that had it. apart.c */
bool is_apart(const struct game *g);
/* Checks each folder alone: as before (pre) or after (post; NULL: unknown), and undo and redo reach
 * both ends. Ends the sequence. */
void play_apart(struct game *g, const char *pre, const char *post);
/* Handles an act that was killed. crash.c */
void crashed(struct game *g, const struct act *a, const char *pre);
/* Called before a step is dropped: crashed() needs the state before. */
void drop_begins(struct game *g, int64_t id);
