/* undo - undo and redo: selects the steps, plans, and runs the transaction. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/after_image.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

struct renames;
struct roll;
struct capture;
struct summary;
struct undo_plan;
struct undo_log;
struct err;

/* ---- settling conflicts (excluded_records.c, merge.c, resolution.c) ---- */

struct emptied { /* the logs that a rollback will apply */
	const struct names *dirs;
	const struct undo_log *logs; /* of each step, the log that will be emptied */
	const struct renames *moves;
	/* Paths whose edited object is not the one that now has the name; or NULL. */
	const struct path_set *moved_edits;
};

/* Finds the records to skip so that the paths in *left stay unchanged, and adds paths that depend
 * on those to *left. Returns false if the dependencies are too intricate. */
bool excluded_build(struct journal *j, const struct emptied *e, struct path_set *left,
		    struct u64_set *ret);

struct merged { /* a file that gets its content after the rollback */
	int root;
	char *now, *path; /* its name before, and after the rollback */
	struct buf external, text;
	bool clean;	  /* without conflict markers */
	mode_t mode;	  /* the external edit's mode, with its type; or 0 */
	int64_t mtime_ns; /* the external edit's time, if all of the text is its own; or 0 */
	uint64_t slot;	  /* in the newest step's objects */
};

struct resolution {
	struct u64_set skips; /* records that are skipped */
	struct merged *merges;
	size_t n_merges;
	/* Every path in conflict: replaced, so that a redo of the rollback restores it; or kept. */
	struct path_set replaced, kept;
};

/* Writes the resolution as lines of text; reads one line and returns 1, or 0 for another kind of
 * line. */
void resolution_put(struct buf *b, const struct resolution *m);
int resolution_get(const char *line, struct resolution *m) MUST_USE;

void resolution_done(struct resolution *m);
void merge_file_done(struct merged *m);
/* Fills in the barriers that the plan crosses: those after its steps that name a path of the steps.
 * (plan_barriers.c) */
int plan_barriers(struct journal *j, struct undo_plan *p, const struct emptied *e) MUST_USE;
/* The changes of the plan's steps, in the order of the rollback. */
struct story {
	struct summary *sums;
	size_t n;
	struct after_images left; /* the images that all of them left */
	bool redo;
};
int merge_story_load(struct journal *j, const struct undo_plan *p, const struct names *dirs,
		     struct story *ret) MUST_USE;
void merge_story_done(struct story *s);
/* Returns 0 and *ret, or 1 and *why if the file cannot be merged. */
int merge_make(struct journal *j, const struct story *s, int root, const char *path,
	       struct merged *ret, const char **why, struct err *err) MUST_USE;
/* Returns whether the file already has the bytes, mode and owner that the rollback would
 * restore. */
bool merge_is_there(struct journal *j, const struct story *s, int root, const char *path);
/* Decides each conflict of the plan, and finds the records to skip and files to merge. */
int resolution_find(struct journal *j, struct undo_plan *p, const struct emptied *logs,
		    struct resolution *ret, struct err *err) MUST_USE;

/* Keeps every conflict of the plan. -ELOOP: the dependencies are too intricate. */
int resolution_keep(struct journal *j, struct undo_plan *p, const struct emptied *logs,
		    struct resolution *ret) MUST_USE;

/* ---- applying a log backwards (replay_record.c, undo.c)
 * -----------------------------------------------
 */

/* Undoes the last record of `from` and appends its inverse to `to`. Returns 1, or 0 if `from` is
 * empty. */
int replay_record(struct capture *from, struct capture *to) MUST_USE;
/* Skips the last record of `from`: moves it to `to` unchanged. idle: it was skipped before, too. */
int replay_skip(struct capture *from, struct capture *to, bool idle) MUST_USE;
/* Replaces the regular file at the merge's path by the slot's file, which gets its metadata. */
int replay_merged(struct capture *to, const struct merged *m) MUST_USE;
/* Settles the newest record after a crash: it may be logged but not performed. forward: from is the
 * log of a step that was still open. */
int last_record_settle(struct capture *from, struct capture *to, bool forward) MUST_USE;
/* After a reboot: removes the newest records of a step that was still open whose operations never
 * reached the disk. last_sign_ns: see open_last_sign(); 0: unknown. */
int last_record_drop_lost(struct capture *s, int64_t last_sign_ns) MUST_USE;

/* Makes the plan for these steps of one store, of the same kind and flags as `like`, and its
 * resolution. */
int plan_store(struct journal *j, const struct names *dirs, const struct undo_plan *like,
	       struct undo_plan **ret, struct resolution *remedy, struct err *err) MUST_USE;
/*
 * Makes the plan for open steps, which have no after-images (plan_open.c): the conflicts are the
 * external edits, and all are kept. last_sign_ns: the process died, and a later change is an
 * external edit; 0: the process lives.
 */
int plan_open(struct journal *j, const struct names *dirs, int64_t last_sign_ns,
	      struct undo_plan **ret, struct resolution *remedy) MUST_USE;
/* Finds the last sign of life of the process that died with these steps open, in nanoseconds, to be
 * compared with a ctime. Call it before their logs are opened. */
int open_last_sign(struct journal *j, const struct names *dirs, int64_t *ret) MUST_USE;
/* Finishes or reverts an interrupted rollback, and rolls back open steps of a dead process. */
int undo_recover(struct journal *j, size_t *ret_paths, struct err *err) MUST_USE;
/* Drops the undone steps that can no longer be redone (redo_drop.c), once all folders are open. */
int recover_redo(struct journal *j, struct err *err) MUST_USE;
/* Retries a rollback that could be neither finished nor reverted (a full disk, say); no step may
 * begin before. */
int recover_unstick(struct journal *j, struct err *err) MUST_USE;
/* Rolls one open step back into redo/, as that rollback; all parts of a step with the same roll.
 * The spared records are skipped. */
int recover_open_step(struct journal *j, const char *dir, const struct roll *roll,
		      const struct u64_set *spared, struct err *err) MUST_USE;
