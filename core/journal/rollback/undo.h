/* undo - undo and redo: selects the steps, plans, and runs the transaction. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/after_image.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/version_chain.h"
#include "core/journal/step/step.h"
#include "core/journal/util/u64_set.h"

/* ---- settling conflicts (excluded_records.c, merge.c, resolution.c)
 * -------------------------------------------
 */

/* Directories of steps below the store, e.g. "steps/12". */
struct group {
	char **dirs;
	size_t n;
};
void group_add(struct group *g, char *dir); /* takes it over */
void group_done(struct group *g);

struct emptied { /* the logs that a rollback will apply */
	const struct group *dirs;
	const struct wal *logs; /* of each, the one that will be emptied */
	const struct moves *moves;
	const struct chains *chains;
};

/* ret: records to skip so that the paths in *left stay unchanged; paths that depend on those are
 * added to *left. False: the dependencies are too intricate. */
bool skip_build(struct journal *j, const struct emptied *e, struct names *left,
		struct numbers *ret);
/* Will the path be a regular file after the rollback, if no record is skipped? False if unsure.
 * (predicted_result.c) */
bool outcome_is_file(struct journal *j, const struct emptied *e, int root, const char *path);

struct merged { /* a file that gets its content after the rollback */
	int root;
	char *now, *path; /* its name before, and when it is done */
	struct buf external, text;
	bool clean;    /* without conflict markers */
	mode_t mode;   /* somebody else's, with its type; or 0 */
	uint64_t slot; /* of the newest step */
};

struct remedy {
	struct numbers skips; /* records that are left out */
	struct merged *merges;
	size_t n_merges;
	/* Every path in conflict: replaced, so that a redo of the rollback restores it; or kept. */
	struct names replaced, kept;
};

/* Writes it as lines of text; reads one line: 1, or 0 for a line of another kind. */
void remedy_put(struct buf *b, const struct remedy *m);
int remedy_get(const char *line, struct remedy *m) MUST_USE;

void remedy_done(struct remedy *m);
void merged_done(struct merged *m);
/* Fill in the barriers that the plan crosses: those after its steps that meet a path of theirs. */
int barriers_crossed(struct journal *j, struct undo_plan *p, const struct emptied *e) MUST_USE;
/* The changes of the plan's steps, in the order of the rollback. */
struct story {
	struct summary *sums;
	size_t n;
	struct posts left; /* what all of them left */
	bool redo;
};
int story_load(struct journal *j, const struct undo_plan *p, const struct group *dirs,
	       struct story *ret) MUST_USE;
void story_done(struct story *s);
/* Returns 0 and *ret, or 1 and *why if the file cannot be merged. */
int merge_make(struct journal *j, const struct story *s, int root, const char *path,
	       struct merged *ret, const char **why, struct err *err) MUST_USE;
/* The file has the bytes, the mode and the owner already that the rollback would bring back. */
bool merge_is_there(struct journal *j, const struct story *s, int root, const char *path);
/* Decides each conflict of the plan, and finds the records to skip and files to merge. */
int remedy_find(struct journal *j, struct undo_plan *p, const struct emptied *logs,
		struct remedy *ret, struct err *err) MUST_USE;

/* Leaves out every conflict of the plan. -ELOOP: that cannot be had. */
int remedy_keep(struct journal *j, struct undo_plan *p, const struct emptied *logs,
		struct remedy *ret) MUST_USE;

/* ---- applying a log backwards (replay.c, undo.c) -----------------------------------------------
 */

/* Undoes the last record of `from` and appends its inverse to `to`. Returns 1, or 0 if `from` is
 * empty. */
int apply_pop(struct side *from, struct side *to) MUST_USE;
/* Skips the last record of `from`: moves it to `to` unchanged. idle: it was skipped before, too. */
int apply_skip(struct side *from, struct side *to, bool idle) MUST_USE;
/* The slot's file (of either side) replaces the regular file at path and gets its metadata. */
int apply_merged(struct side *to, const struct merged *m) MUST_USE;
/* After a crash: the newest record may be logged but not performed. forward: from is the log of a
 * step that was still open. */
int apply_settle(struct side *from, struct side *to, bool forward) MUST_USE;

/* The plan for these steps of one store, of the same kind and flags as `like`; and what it takes.
 */
int plan_store(struct journal *j, const struct group *dirs, const struct undo_plan *like,
	       struct undo_plan **ret, struct remedy *remedy, struct err *err) MUST_USE;
/*
 * The same for open steps, which have no after-images (plan_open.c): the conflicts are what was
 * edited from outside, all of them kept. last_sign_ns: the process died, and what is later than
 * this was edited; 0: it lives.
 */
int plan_open(struct journal *j, const struct group *dirs, int64_t last_sign_ns,
	      struct undo_plan **ret, struct remedy *remedy) MUST_USE;
/* Of a process that died with these steps open, in nanoseconds of ctime: before their logs are
 * opened. */
int64_t open_last_sign(struct journal *j, const struct group *dirs);
/* Finishes or reverts an interrupted rollback, and rolls back open steps of a dead process. */
int undo_recover(struct journal *j, size_t *ret_paths, struct err *err) MUST_USE;
/* Retries a rollback that could be neither finished nor reverted (a full disk, say); no step may
 * begin before. */
int undo_unstick(struct journal *j, struct err *err) MUST_USE;
/* Roll one open step back into redo/, as that rollback: all parts of a step as the same. The spared
 * records are left out. */
int undo_open_step(struct journal *j, const char *dir, const struct roll *roll,
		   const struct numbers *spared, struct err *err) MUST_USE;
/* Paths that the steps of the group (logs: those to be applied) share with a concurrent step that
 * is not rolled back. (concurrent.c) */
int overlap_find(struct journal *j, const struct group *group, const struct wal *logs,
		 struct names *ret, struct err *err) MUST_USE;
uint64_t overlap_began(const struct wal *undo); /* as a number of the store; 0: not known */
uint64_t overlap_ended(int stepdir);		/* of a kept one; UINT64_MAX: not known */
#define ROLLBACK_FILE "rollback"
#define JOINT_FILE    "joint" /* of one in several stores */
