/* history - what the tree must look like after an undo or redo, by copies taken at every boundary.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tests/model/model.h"

/* Trees are texts of tests/support/tree.h; NULL: not known (between steps that overlapped). */
struct rung { /* a step that is kept */
	int64_t id;
	int cluster; /* steps of one number overlapped in time */
	long begun, ended;
	char *before, *after;
	bool gap;    /* what lay before it is not what the step below left */
	bool torn;   /* its process died, so it may not tell all that it did */
	bool halted; /* as did who rolled it back: the rest of that looked at what was left */
	bool loose;  /* but for times of directories: a step at the same time was dropped */
	bool left;   /* one that overlapped with it has been pruned: what both did stays */
};

struct undone { /* what one redo brings back */
	struct rung *rungs;
	size_t n;
	char *pre, *post; /* trees before and after the undo */
	long when;
	bool unsure; /* it may be two rollbacks, one after the other */
	bool whole;  /* it left out what lay in a locked directory, whosever that was */
};

struct edit { /* of somebody else */
	char hash[17];
	long when;
};

struct history {
	struct rung kept[LIST_MAX]; /* in the order of their numbers */
	size_t n_kept;
	struct undone redo[LIST_MAX]; /* the last is on top */
	size_t n_redo;
	int clusters; /* numbers given so far */
	long clock;
	long forced;	/* when a rollback last went by flags */
	long edited;	/* when somebody else last changed something */
	bool contested; /* a rollback went over somebody's work: others may meet it again */
	bool left_out;	/* a redo left something out, of which a part may have gone since */
	bool murky;	/* a step was rolled back while another held what it had made */
	bool halted;	/* the last recovery was killed and gone on with */
	bool pair;	/* two folders: of a step that left nothing in one, its times stay there */
	struct edit *edits;
	size_t n_edits;
	long poked; /* when an agent's open file was last written outside of every step */
};

void history_done(struct history *h);
void rung_add(struct history *h, struct rung r); /* takes the trees */
struct rung *rung_find(struct history *h, int64_t id);
void redo_clear(struct history *h);
/* Groups none of whose steps is in the list are gone; false: a part of one is. */
bool redo_sync(struct history *h, const int64_t *ids, size_t n);

/* What an undo of n, or a redo, must lead to. */
struct expected {
	size_t n;	       /* steps */
	char *tree;	       /* exactly this; NULL: not known. Owned */
	bool loose;	       /* but for times of directories */
	bool may_refuse;       /* somebody else was there */
	bool may_differ;       /* an open file was written meanwhile */
	long since;	       /* whoever wrote later is somebody else */
	const char *from, *to; /* the change, where that is known: every path follows it or stays */
};
void expect_undo(const struct history *h, size_t n, const char *now, struct expected *e);
void expect_redo(const struct history *h, const char *now, struct expected *e);
/* It happened: steps change sides. */
void history_undone(struct history *h, size_t n, const char *pre, const char *post, unsigned flags);
/* undone: what is left to be redone; with two folders it is not told which of it had to go. */
void history_redone(struct history *h, const char *pre, const char *post, unsigned flags,
		    const int64_t *undone, size_t n);
/* The oldest steps have gone, so that n are left. */
void history_pruned(struct history *h, size_t n);
/* Steps that died and were rolled back by the recovery; the first of them began then. */
void history_recovered(struct history *h, const int64_t *ids, size_t n, long begun,
		       const char *post);
bool history_has_undone(const struct history *h, int64_t id);
/* If a part of the last rollback has come back, and that may be: it was one of two. */
void redo_split(struct history *h, const int64_t *kept, size_t n);
bool in_list(const int64_t *ids, size_t n, int64_t id);

/* edits.c: between these two trees somebody wrote something. */
void edits_note(struct history *h, const char *before, const char *after);
/* What was written since then and was there is there after an unforced rollback. */
bool edits_kept(const struct history *h, long since, const char *now, const char *result,
		bool quiet);

/* compare.c */
bool trees_equal_loosely(const char *a, const char *b); /* times of directories do not count */
/* Each path that from -> to changed and nobody else did went from now to to; all others stayed.
 * False: words on stderr unless quiet. */
bool tree_carried(const char *from, const char *to, const char *now, const char *result,
		  bool quiet);
/* Whatever differs between from and now is as in now, but for files that may have been merged. */
bool tree_kept(const char *from, const char *now, const char *result, bool merged, bool quiet);

/* restored.c: single paths of one step, brought back. */
struct restored {
	const char *before, *after; /* the step */
	const char *pre, *result;   /* the restore; result is not known yet: NULL */
	const char *path;
	bool quiet;
};
/* Nothing that the step changed has changed since, and there is something below the path: so it
 * must not be refused. */
bool restore_is_due(const struct restored *r);
/* All that the step changed there is as it was before it, and the rest as it was before the
 * restore. True also where that cannot be told: a directory was moved or locked. */
bool tree_restored(const struct restored *r);
