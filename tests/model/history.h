/* history - predicts the tree after an undo or redo, from copies taken at every boundary. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tests/model/model.h"

/* Trees are texts of tests/support/tree.h; NULL: unknown (between steps that overlapped). */
struct rung { /* a kept step */
	int64_t id;
	int cluster; /* overlapping steps have the same number */
	long begun, ended;
	char *before, *after;
	bool gap;    /* the tree before it is not the one that the step below left */
	bool torn;   /* its process died, so its records may be incomplete */
	bool halted; /* the process that rolled it back died, too */
	bool loose;  /* except times of directories: an overlapping step was dropped */
	bool left;   /* an overlapping step was pruned: changes by both stay */
};

struct undone { /* the steps that one redo brings back */
	struct rung *rungs;
	size_t n;
	char *pre, *post; /* trees before and after the undo */
	long when;
	bool unsure; /* it may be two rollbacks, one after the other */
	bool whole;  /* it left out a locked directory's content, whoever made that */
};

struct edit { /* an external edit */
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
	long forced;	/* time of the last rollback with flags */
	long edited;	/* time of the last external change */
	bool contested; /* a rollback went over an external edit: others may meet it again */
	bool left_out;	/* a redo left something out, a part of which may be gone */
	bool murky;	/* a step was rolled back while another had its file open */
	bool halted;	/* the last recovery was killed, and continued by the next */
	bool pair;	/* two folders: a step without changes in one leaves times there */
	struct edit *edits;
	size_t n_edits;
	long poked; /* when an agent's open file was last written outside all steps */
};

void history_done(struct history *h);
void rung_add(struct history *h, struct rung r); /* takes the trees over */
struct rung *rung_find(struct history *h, int64_t id);
void redo_clear(struct history *h);
/* Drops groups without a step in the list. Returns false if a part of a group is in the list. */
bool redo_sync(struct history *h, const int64_t *ids, size_t n);

/* The expected result of an undo of n, or of a redo. */
struct expected {
	size_t n;	       /* steps */
	char *tree;	       /* exactly this tree; NULL: unknown. Owned */
	bool loose;	       /* except times of directories */
	bool may_refuse;       /* there was an external edit */
	bool may_differ;       /* an open file was written in the meantime */
	long since;	       /* later writers are external */
	const char *from, *to; /* the change, if known: every path follows it or stays */
};
void expect_undo(const struct history *h, size_t n, const char *now, struct expected *e);
void expect_redo(const struct history *h, const char *now, struct expected *e);
/* Records the undo: steps change sides. */
void history_undone(struct history *h, size_t n, const char *pre, const char *post, unsigned flags);
/* undone: the remaining steps to redo; with two folders the model cannot predict which were
 * dropped. */
void history_redone(struct history *h, const char *pre, const char *post, unsigned flags,
		    const int64_t *undone, size_t n);
/* Drops the oldest steps, so that n are left. */
void history_pruned(struct history *h, size_t n);
/* Records steps that died and were rolled back by the recovery. begun: start of the first one. */
void history_recovered(struct history *h, const int64_t *ids, size_t n, long begun,
		       const char *post);
bool history_has_undone(const struct history *h, int64_t id);
/* Splits the last rollback if a part of it was redone, and it may have been two. */
void redo_split(struct history *h, const int64_t *kept, size_t n);
bool in_list(const int64_t *ids, size_t n, int64_t id);

/* edits.c: records an external edit between these two trees. */
void edits_note(struct history *h, const char *before, const char *after);
/* Returns whether all external edits after `since` that are in `now` are in the result of an
 * unforced rollback. */
bool edits_kept(const struct history *h, long since, const char *now, const char *result,
		bool quiet);

/* edits.c */
bool trees_equal_loosely(const char *a, const char *b); /* except times of directories */
/* Returns whether each path that changed from `from` to `to`, without an external edit, changed
 * from `now` to `to`, and all others stayed. If not, prints a reason on stderr unless quiet. */
bool tree_carried(const char *from, const char *to, const char *now, const char *result,
		  bool quiet);
/* Returns whether all differences between from and now are as in now, except files that may be
 * merged. */
bool tree_kept(const char *from, const char *now, const char *result, bool merged, bool quiet);

/* restored.c: single paths of one step that were restored. */
struct restored {
	const char *before, *after; /* trees before and after the step */
	const char *pre, *result;   /* the restore; result is not known yet: NULL */
	const char *path;
	bool quiet;
};
/* Returns whether the restore must succeed: the step's changes are unchanged, and there is one
 * below the path. */
bool restore_is_due(const struct restored *r);
/* Returns whether the step's changes at the path are as before the step, and the rest as before the
 * restore. Also true if that cannot be decided: a directory was moved or locked. */
bool tree_restored(const struct restored *r);
