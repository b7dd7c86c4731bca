/* txn - the transaction of an undo or redo of steps: all or nothing, resumable, reversible. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/log/capture.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/parts.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/siblings.h"
#include "core/journal/util/names.h"

struct renames;
struct touched_paths;

struct mover { /* one step of the transaction */
	char *dir;
	struct capture undo, redo;
	bool arrived;  /* its directory is at its new place */
	bool foreign;  /* a dead process moved it: no log is open here */
	uint64_t next; /* number of the record that txn_move() takes next from its log; 0: none */
};

struct txn {
	struct journal *j;
	bool redo, back, recover;
	bool quiet;	      /* background_hold() was called */
	bool crashed;	      /* after a crash: a torn tail is no damage */
	int64_t last_sign_ns; /* open_last_sign() of the steps; 0: unknown */
	struct roll roll;
	struct mover *list;
	size_t n;
	struct resolution remedy; /* of conflicts; part of the file */
	size_t done, total;
};

/* The file "rollback". -ENOENT: no transaction. */
int txn_write(const struct txn *t) MUST_USE;
int txn_read(struct txn *t, struct names *dirs) MUST_USE;
int txn_open(struct txn *t, const struct names *dirs) MUST_USE;
void txn_done(struct txn *t);
/* Return the log that is emptied, and the log that is filled. */
static inline struct capture *txn_from(const struct txn *t, struct mover *m)
{
	return t->redo == t->back ? &m->undo : &m->redo;
}

static inline struct capture *txn_to(const struct txn *t, struct mover *m)
{
	return t->redo == t->back ? &m->redo : &m->undo;
}

/* Returns the step whose last record (of the log that is emptied, or of either) is the newest. */
struct mover *txn_newest(struct txn *t, bool either);
/* Empties the logs in the transaction's direction. */
int txn_move(struct txn *t, const struct undo_progress *progress) MUST_USE;
/* Checks the objects that the steps would restore. -EBADMSG: one is missing. (check_objects.c) */
int txn_check_objects(const struct txn *t, struct err *err) MUST_USE;
/* At the end: replaces files at guarded names that a process may still write to by copies. */
int replay_renew(struct txn *t) MUST_USE;
/* Puts merged files in place or, if the transaction was turned round, removes them. */
int txn_place(struct txn *t) MUST_USE;
/* Restores the permissions of directories that replay_unlock.c opened. */
int unlock_give_back(struct txn *t) MUST_USE;
/* Loads the directories to which a dead process had added permissions, for borrowed_dirs.h. */
int unlock_recall(struct txn *t) MUST_USE;
/* Writes new after-images (txn_after_images.c); moves the directories to their places (or back);
 * ends the transaction. */
int txn_look(struct txn *t) MUST_USE;
int txn_carry(struct txn *t) MUST_USE;
int txn_end(struct txn *t) MUST_USE;
/* Drops the undone steps that can no longer be redone, the newest first, in all stores of the
 * session. Call it when a redo has arrived, and at a start once all stores are open. (redo_drop.c)
 */
int redo_drop_over(struct journal *j) MUST_USE;
/* Returns whether a step is already at its place, with its files: the transaction cannot turn
 * round. */
bool txn_arrived(const struct txn *t);

/* ---- all of it (txn_run.c) ---------------------------------------------------------------------
 */

/* Writes the files of these new transactions, one for each store: all begin, or none. */
int txns_begin(struct txn *list, size_t n) MUST_USE;
/* Runs all of the above. An error or a cancel turns all of them round, once, unless one has
 * arrived. */
int txns_run(struct txn *list, size_t n, const struct undo_progress *progress, struct err *err)
	MUST_USE;
int txns_arrive(struct txn *list, size_t n) MUST_USE; /* txn_look() to txn_end() alone */

/* ---- which steps (select.c) --------------------------------------------------------------------
 */

struct share { /* the steps of one store */
	struct journal *j;
	struct names dirs; /* newest first */
};

struct selected_steps {
	struct share list[PARTS_MAX];
	size_t n;
	struct journal *guests[PARTS_MAX]; /* opened for a part of the steps */
	size_t n_guests;
};

/* Selects the session's newest n steps, or those of the newest rollback, with all their parts. */
int select_steps(struct journal *j, enum undo_kind kind, size_t n, unsigned flags,
		 struct selected_steps *ret, struct err *err) MUST_USE;
void select_steps_done(struct selected_steps *p);

/* Names the paths that the rollback of open steps skipped: to the user, or in *why of the step with
 * these paths. (plan_open.c) */
void plan_open_tell(struct txn *t);
void plan_open_why(const struct txn *t, struct touched_paths *of, char **why);
/* Tells the user of a transaction that a dead process had begun (journal_news()). */
void txn_tell(const struct txn *t);
/* Returns whether all roots of the log's records are known: else an undo could not be finished. */
bool txn_knows_roots(struct journal *j, const struct undo_log *log);
/* Adds the names in a log, as recorded and as they are after renames of directories above them. */
void txn_names(struct path_set *set, const struct undo_log *log, const struct renames *moves);
