/* txn - the transaction of an undo or redo of steps: all or nothing, resumable, reversible. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/rename_list.h"
#include "core/journal/journal.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

struct mover { /* one step on its way */
	char *dir;
	struct side undo, redo;
	bool arrived; /* its directory lies where it was to go */
	bool foreign; /* it was a process that died who moved it: no log is open here */
};

struct txn {
	struct journal *j;
	bool redo, back, recover;
	bool quiet;   /* the thread that tidies up is held */
	bool crashed; /* a torn tail is no damage */
	struct roll roll;
	struct mover *list;
	size_t n;
	struct remedy remedy; /* of conflicts; written into the file with the rest */
	struct group drops;   /* redo: what it ends, e.g. "redo/12" */
	size_t done, total;
};

/* The file "rollback". -ENOENT: no transaction. */
int txn_write(const struct txn *t) MUST_USE;
int txn_read(struct txn *t, struct group *dirs) MUST_USE;
int txn_open(struct txn *t, const struct group *dirs) MUST_USE;
void txn_done(struct txn *t);
/* The log that is emptied, and the one that is filled. */
struct side *txn_from(const struct txn *t, struct mover *m);
struct side *txn_to(const struct txn *t, struct mover *m);
/* The step whose last record (of the log that is emptied, or of either) is the newest. */
struct mover *txn_newest(struct txn *t, bool either);
/* After power loss: remove records whose operations never reached the disk (power_loss.c). */
int txn_settle_lost(struct txn *t) MUST_USE;
/* Empty the logs in the transaction's direction. */
int txn_move(struct txn *t, const struct undo_progress *progress) MUST_USE;
/* -EBADMSG: an object that the steps would restore is missing. (check_objects.c) */
int txn_check_objects(const struct txn *t, struct err *err) MUST_USE;
/* At its end: files at guarded names that somebody may still write to are replaced by a copy. */
int txn_renew(struct txn *t) MUST_USE;
/* Space that moving may take. */
off_t room_for(struct txn *t);
uint64_t inodes_for(struct txn *t);
bool inodes_are_free(const struct journal *j, uint64_t n); /* with what is set aside */
/* Then: merged files take their places; failed merges leave nothing behind. */
int txn_place(struct txn *t) MUST_USE;
/* Restores the permissions of directories that replay_unlock.c opened. */
int txn_give_back(struct txn *t) MUST_USE;
/* Directories that a dead process had opened, for borrowed_dirs.h. */
int txn_recall_loans(struct txn *t) MUST_USE;
/* New post-images (txn_after_images.c); the directories to their places (or home again); the end of
 * the transaction. */
int txn_look(struct txn *t) MUST_USE;
int txn_carry(struct txn *t) MUST_USE;
void txn_carry_home(struct txn *t);
int txn_end(struct txn *t) MUST_USE;
/*
 * Finds the undone steps that these redos, which are open and not begun, make unredoable. They are
 * added to the given transactions; for stores without one, a transaction is appended to list and *n
 * is increased. (redo_drop.c)
 */
int drops_find(struct txn *list, size_t *n) MUST_USE;
/* When the last of its steps that have not arrived began, as a number of the store. */
uint64_t txn_last_began(const struct txn *t);
int txn_drop(struct txn *t) MUST_USE; /* that, once all has arrived */
/* A step of this store that began at that number is about to be kept as it stands: what that ends.
 */
int undone_drop_before(struct journal *j, uint64_t begin) MUST_USE;
/* Some step is at its place already, and so are its files: there is no way but on. */
bool txn_arrived(const struct txn *t);
/*
 * All of these, for the transactions of several stores as for one; an error or a cancel turns all
 * of them round, once. The first is the one that decides, see joint.c.
 */
int txns_run(struct txn *list, size_t n, const struct undo_progress *progress, struct err *err)
	MUST_USE;
/* txn_look() to txn_end() alone. */
int txns_arrive(struct txn *list, size_t n) MUST_USE;
/* Write the files of these new transactions: from then on they are under way, all or none. */
int txns_begin(struct txn *list, size_t n) MUST_USE;
/* Finish what a dead process left of a rollback in several stores. 0 also when there is none. */
int joint_recover(struct journal *j, struct err *err) MUST_USE;

/* ---- which steps (select.c) --------------------------------------------------------------------
 */

struct share { /* of one store */
	struct journal *j;
	struct group dirs; /* newest first */
};

struct pick {
	struct share list[PARTS_MAX];
	size_t n;
	struct journal *guests[PARTS_MAX]; /* opened for their parts */
	size_t n_guests;
};

/* The session's newest n steps, or the rollback that was made last; with all their parts. */
int pick_steps(struct journal *j, enum undo_kind kind, size_t n, unsigned flags, struct pick *ret,
	       struct err *err) MUST_USE;
void pick_done(struct pick *p);

/* What the rollback of open steps has left out: to the human, and to *why of the step with these
 * paths. (plan_open.c) */
void plan_open_tell(struct txn *t);
bool plan_open_has(struct touches *of, const char *key); /* that path, or a directory above it */
void plan_open_why(const struct txn *t, struct touches *of, char **why);
void txn_tell(const struct txn *t); /* by journal_news(): of one that a dead process had begun */
/* What was done in a place that is not known any more would be begun to be undone, and not ended.
 */
bool txn_knows_roots(struct journal *j, const struct wal *log);
/* Names in a log: as they were, and as they are after directories above them moved. */
void txn_names(struct names *set, const struct wal *log, const struct moves *moves);
