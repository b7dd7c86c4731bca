/* play - one sequence under way: the worker, the history, the steps that are open. */
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
	char *failure; /* the first one's words */
	char *now;     /* the tree when last looked at */
	struct {
		int64_t id; /* 0: none is open */
		long begun;
	} open[WHO_MAX];
	/* steps that overlap, from the first begin to the last end */
	struct {
		char *before;
		long since;
		int64_t kept[LIST_MAX];
		long begun[LIST_MAX];
		size_t n_kept, n_begun;
		bool unknown; /* one of several was rolled back */
	} cluster;
	unsigned kills, kill_seed;
	size_t parts; /* of the step that is dropped now, in as many stores */
	/* A kill left a step or a rollback in one of two folders: the sequence ends. */
	bool apart;
};

void fail(struct game *g, const char *fmt, ...) PRINTF_LIKE(2, 3);
char *look(const struct game *g);
/* The tree now must be this. */
void must_be(struct game *g, const char *want, bool loose, const char *when);
void check_lists(struct game *g);
/* The store is sound, and its steps changed what the trees show. (audit.c) */
void audit(struct game *g);
bool any_open(const struct game *g);
void cluster_close(struct game *g);
void ended(struct game *g, unsigned who, bool kept);

/* rollback.c */
void play_undo(struct game *g, const struct act *a);
void play_redo(struct game *g, const struct act *a);
void play_restore(struct game *g, const struct act *a);
/* After a rollback with flags: is somebody else's work still there? */
void check_settled(struct game *g, const struct expected *e, unsigned flags, const char *pre,
		   const char *what);
/* A restore was made: of the right paths, to the right state. */
void check_restored(struct game *g, const struct act *a, const char *pre);
/* Returns whether a step or a rollback is in one of the two folders and not in the other, where it
 * was, too. apart.c */
bool is_apart(const struct game *g);
/* Each folder by itself is as before (pre) or after (post; NULL: not known), undo and redo reach
 * both ends, and the sequence is over. */
void play_apart(struct game *g, const char *pre, const char *post);
/* What came of an act that was killed. crash.c */
void crashed(struct game *g, const struct act *a, const char *pre);
/* Before a step is dropped: crashed() asks how far that came. */
void drop_begins(struct game *g, int64_t id);
