/* rollback - undo, redo and restore: plans, conflicts, progress; rollbacks whose redo was saved. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

struct barrier;
struct journal;

enum undo_kind {
	UNDO_BACK,  /* the newest n kept steps */
	UNDO_REDO,  /* the steps of the newest rollback */
	UNDO_PATHS, /* single paths of one step: journal_restore_plan() */
};

enum {			    /* flags: how to treat a path that was edited from outside */
	UNDO_FORCE = 1,	    /* overwrite it; redo restores the edit */
	UNDO_KEEP_MINE = 2, /* leave those paths out */
	UNDO_MERGE = 4,	    /* three-way merge of text files; other paths as above */
	UNDO_CROSS = 8,	    /* do not stop at a barrier; the flags above imply it */
	/* UNDO_BACK changes granted places, too; without the flag they stay as they are. A redo
	 * restores all that its undo changed, in granted places as well. */
	UNDO_ALL_PLACES = 16,
};
#define UNDO_SETTLES (UNDO_FORCE | UNDO_KEEP_MINE | UNDO_MERGE | UNDO_CROSS)

enum undo_fate { /* what happens to a conflict under the plan's flags */
	FATE_STOPS,
	FATE_FORCED,
	FATE_KEPT,   /* skipped; also paths without a conflict that depend on a skipped one */
	FATE_MERGED, /* both sides' changes, without overlap */
	FATE_MARKED, /* merged with conflict markers: only with UNDO_FORCE, else it stops */
};

struct undo_entry {
	int root;
	char *path;
	char what; /* 'A' is created, 'D' removed, 'M' changed, 'R' renamed to `other` */
	char *other;
	char *base; /* absolute path of the root that the path belongs to; NULL: j's folder */
	bool later; /* UNDO_PATHS: later steps changed it, not its entries alone: that goes, too */
	bool conflict; /* an external edit changed it, or: */
	bool beside;   /* a conflict with a concurrent step that is not rolled back */
	bool linked;   /* changed through another hard link of the file, not at this path */
	bool lost;     /* not changed: the unprotected step did not capture its before-state */
	bool own;      /* its root belongs to the folder: see journal_add_root() */
	enum undo_fate fate;
	char *why;		  /* why the requested merge is impossible; or NULL */
	struct undo_merge *merge; /* the merge; from journal_plan() only, else NULL */
};

/* The content of one merged path of the plan: now, and after the rollback. */
struct undo_merge {
	char *now, *then; /* NUL-terminated as well */
	size_t now_len, then_len;
};

struct undo_plan {
	enum undo_kind kind;
	size_t n;
	unsigned flags; /* as the caller gave them */
	bool brief;	/* entries has the conflicts only */
	int64_t *ids;	/* the steps, newest first */
	size_t n_ids;
	struct undo_entry *entries;
	size_t n_entries, n_conflicts;
	size_t n_paths; /* of all entries: a plan that was sent holds only the first ones */
	size_t n_stops; /* conflicts that the flags do not settle */
	struct barrier *barriers; /* the barriers that it would cross, newest first */
	size_t n_barriers;
	uint64_t seal; /* hash of the merged contents; never 0 */
};

int journal_plan(struct journal *j, enum undo_kind kind, size_t n, unsigned flags,
		 struct undo_plan **ret, struct err *err) MUST_USE;
void undo_plan_free(struct undo_plan *p);

/* Returns whether the path is left unchanged because it lies in a granted place and UNDO_ALL_PLACES
 * was not given. */
bool undo_entry_elsewhere(const struct undo_plan *p, const struct undo_entry *e);

/* Returns whether journal_undo() would refuse the plan. */
bool undo_plan_stops(const struct undo_plan *p);

struct undo_progress {
	/* Called once, before anything is changed or the undo is refused because of conflicts. plan
	 * has no merged texts and is valid during the call. NULL: the plan was shown before. */
	void (*planned)(void *data, const struct undo_plan *plan);
	/* Reports done of total operations. Return false to cancel: the undo is reverted first. */
	bool (*tick)(void *data, size_t done, size_t total);
	void *data;
	/* Seal of the plan that was shown: if the merged contents would differ, the undo fails with
	 * -ESTALE. 0: any plan. */
	uint64_t seal;
};

/*
 * Runs an undo or redo: all or nothing, logged like a step; the redo log keeps all that it
 * replaces. -ESTALE with conflicts unless flags settle them; -ECANCELED after a cancel; -EBUSY
 * while a step is open.
 */
int journal_undo(struct journal *j, enum undo_kind kind, size_t n, unsigned flags,
		 const struct undo_progress *progress, struct err *err) MUST_USE;
/*
 * Sets *ret if journal_undo() could change granted places: a record of its steps names one.
 * UNDO_BACK without UNDO_ALL_PLACES never does.
 */
int journal_reaches(struct journal *j, enum undo_kind kind, size_t n, unsigned flags, bool *ret,
		    struct err *err) MUST_USE;
/*
 * Restores single paths (files, or directories with all that the step changed in them) to their
 * state before one step, as a step of its own: it can be undone. Paths are relative to j's folder,
 * or absolute in any of the step's folders or granted places; all in one of them (else -EINVAL).
 * Later steps' changes to the paths are reverted, too, and captured like all that the restore
 * replaces. -ENOENT: the step changed none of them; -ESTALE with conflicts unless forced.
 */
int journal_restore(struct journal *j, int64_t id, const char *const *paths, unsigned flags,
		    struct err *err) MUST_USE;
/* Plans that restore; ids has only that step. */
int journal_restore_plan(struct journal *j, int64_t id, const char *const *paths, unsigned flags,
			 struct undo_plan **ret, struct err *err) MUST_USE;
/*
 * Reverts one hunk (from 1, in the step's diff of that file; 0: its mode and owner) in the present
 * file, as a step of its own. -ESTALE: the same lines were edited later; -EALREADY: they already
 * are as before the step.
 */
int journal_restore_hunk(struct journal *j, int64_t id, const char *path, unsigned hunk,
			 struct err *err) MUST_USE;

/* ---- saved redos ------------------------------------------------------------------------------
 */

/*
 * The redo of a rollback that replaced the user's edits (UNDO_FORCE), or may have (the recovery
 * after a crash cannot tell), or that left files as the user has them (UNDO_KEEP_MINE). When a
 * later change makes it unredoable, it is saved. Or versions of files that were edited from outside
 * between two changes of one step (history/overwritten.h).
 */
struct saved_redo {
	uint64_t number; /* of the rollback */
	int64_t us;	 /* wall clock; of a recovery: when the interrupted session began */
	int64_t step;	 /* its newest step, and the command of that step */
	char *command;	 /* or NULL */
	char **paths;	 /* saved files, as they were before the rollback; a file that it
			  * left is as before the steps. Relative, raw */
	size_t n_paths;
	bool more;	  /* more paths than these */
	bool overwritten; /* by the step, while it ran; there was no rollback */
};
int journal_saved_redos(struct journal *j, struct saved_redo **ret, size_t *ret_n, struct err *err)
	MUST_USE;
void saved_redos_free(struct saved_redo *list, size_t n);
/* Returns the number of what the step overwrote at the path; 0: nothing is saved. */
uint64_t journal_saved_of(struct journal *j, int64_t step, const char *path);
/* Opens the file at the path as it was before that rollback or, if the rollback left it, before the
 * steps. Of several versions that a step overwrote, passes over the `newer` newest ones. *ret_fd: a
 * readable descriptor at offset 0, owned by the caller. -ENOENT: there is no such version. */
int journal_saved_redo_open(struct journal *j, uint64_t number, const char *path, size_t newer,
			    int *ret_fd, struct err *err) MUST_USE;
