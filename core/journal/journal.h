/* journal - undo for one working folder: steps, write-ahead logs, rollback, redo, recovery. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * A journal is a store of steps. A step is a log of inverse operations, each written before its
 * operation is performed (core/journal/op.h performs them), applied backwards to undo.
 *
 * Life:     journal_open() -> journal_begin()/op_*()/journal_commit() ... -> journal_close().
 * Owner:    the keeper, in its one thread; `cordon log` and `cordon diff` open read-only.
 * Store:    <store>/version lock open/<id>/ steps/<id>/ redo/<id>/; one for each folder, on the
 *           folder's own mount: below $XDG_STATE_HOME/cordon, else .cordon/ in the folder (inside
 *           the sandbox its name shows and nothing of it opens). A store that does not name the
 *           folder's inode and birth time came with the folder (a clone, an archive): not used.
 * Crash:    SIGKILL between any two instructions leaves a state that journal_open() repairs.
 *
 * Theory of operation.
 *
 * Log. A shared mapping: a record survives SIGKILL without a system call. Each record has a length,
 * a sequence number and a checksum; a torn tail is cut off. On file systems that do not write in
 * place (btrfs) a store through a mapping could end in SIGBUS on a full disk: there each record is
 * written, by two calls.
 *
 * Capture, once per inode and step. Create: the record says that the path did not exist. Unlink:
 * the inode is renamed into the store; one call captures and performs. First write: reflink, else
 * copy. Rename: two names. Metadata: mode, owner, times, extended attributes. If a file is open
 * for writing when a step begins, it is captured at once (step/open_files.h), and compared byte by
 * byte at the step's end: a store through a mapping changes no time in a dirty page, and none at
 * all on tmpfs.
 *
 * Commit. After-images and a summary are written; one rename of open/<id> to steps/<id> commits.
 * A step that changed several folders has a part in each store, under one id, with a file `parts`
 * that names the folders. Each part is committed by its own rename, after all are ready.
 *
 * Undo compares the folder with the after-images. A difference is an external edit and a conflict:
 * undo names it and changes nothing, or a flag settles it: --keep-mine skips its records, --merge
 * merges the file with libgit2, --force captures the edit and goes on. Of several steps, each is
 * compared where it ended: the records of the newer ones are reversed in a virtual tree before
 * (history/virtual_tree.h). Then the records are applied backwards. The state that they replace is
 * captured by the same means, in the redo log.
 *
 * A progress marker makes a rollback resumable: the next start finishes or reverts it. An open step
 * is rolled back at the next start. A rollback adds mode bits to read a file or enter a directory
 * whose owner lacks them; a note is written before (store/borrow_mode.c). A reserve of disk space
 * lets a rollback work on a full disk. Everything is restored beneath the folder's descriptor,
 * following no link.
 *
 * A rollback over several stores is one transaction in each: all are checked, all begin, then they
 * are applied. After a crash each store finishes or reverts its own, so a step may be undone in one
 * folder and not in another. The lists say so, and undo or redo takes the part that is there.
 *
 * The past is read in a virtual tree, too, which keeps what each name held at every moment
 * (history/past.h). The next record that captured the object's bytes has them. If none did, they
 * are where the object lies, if the file still has the modification time that the last step left.
 * Single paths are restored by ordinary, captured operations, as a step of their own.
 *
 * Limits. Pruning removes the oldest steps, by one rename into trash/. If a pruned step was
 * concurrent with a kept one, its log and images remain in beside/, so that undo still finds the
 * paths that both changed. A step that outgrows its own limit goes on without records: a mark says
 * from where.
 *
 * Nothing is synced. After a reboot the newest records may be of operations that never reached the
 * disk; these are removed before anything is rolled back (rollback/last_record.c).
 */
struct journal;
struct object;

#define JOURNAL_VERSION 2

/* How much is kept. Zeros: everything. */
struct journal_options {
	bool off;	    /* keep nothing: no step can be undone */
	uint64_t size;	    /* bytes of the whole store; 0: unlimited */
	uint64_t step_size; /* bytes that one step copies, 0: unlimited; never above size */
	size_t steps;	    /* how many are kept, 0: unlimited */
};

/*
 * Temporary files of programs outside, whose names show that they will be renamed to a protected
 * name (config.lock of git). A rollback neither moves nor changes such a file: it skips the records
 * about it, and says so.
 */
struct journal_saves {
	/* Returns whether this regular file is such a file and no process inside created it. path
	 * is absolute. */
	bool (*is_theirs)(void *data, const char *path, const struct object *o);
	/* Called after a rollback has placed this file. */
	void (*placed)(void *data, const char *path, const struct object *o);
};

struct journal_spec {
	const char *folder; /* absolute, clean, no symlinks */
	/* $XDG_STATE_HOME/cordon, absolute; the store falls back to folder/.cordon. */
	const char *state_dir;
	bool read_only;	      /* no lock, no recovery, no change */
	int pid;	      /* the process that others may be told to end; 0: this one */
	struct journal *with; /* another folder's of this session, or NULL: steps may span both */
	/* Another folder of the session is opened next. The last one drops the undone steps that
	 * can no longer be redone: they may have parts in any. */
	bool followed;
	bool upkeep; /* lock, no recovery: for journal_prune() alone */
	struct journal_options options;
	/*
	 * lasting: a session. journal_prune_on() applies the limits to the steps that there are
	 * when it begins, and nothing removes later ones while it lasts: new steps of the agent
	 * must not push out older steps. Instead, journal_is_full() says that few new steps may
	 * begin. settled: the limits are not applied at the beginning either.
	 */
	bool lasting, settled;
	/* Returns whether the policy guards this absolute path: without a question, no process
	 * inside may put an object of this type (S_IFMT; 0: any type) there. NULL: no path is
	 * guarded. A rollback never gives a guarded name a file that another process may still
	 * write to (core/journal/step/guarded.h). Valid as long as the journal. */
	bool (*guards)(void *data, const char *path, mode_t type);
	const struct journal_saves *saves; /* NULL: no such files */
	void *guards_data;		   /* for the callbacks of both */
};

/* Sets *ret to the path of this folder's store, which need not exist; heap. */
int journal_store_path(char **ret, const struct journal_spec *spec, struct err *err) MUST_USE;

/*
 * Opens a journal. Opening for writing first rolls back an interrupted step and finishes or reverts
 * an interrupted undo; *ret_recovered (may be NULL) counts the paths.
 *   -EBUSY:     another cordon holds the store (err names its pid).
 *   -EPROTO:    a store of another version or directory. A session (lasting, not settled) puts that
 *               history aside and begins a new one.
 *   -EBADMSG:   damaged; err says where and what to do.
 */
int journal_open(struct journal **ret, const struct journal_spec *spec, size_t *ret_recovered,
		 struct err *err) MUST_USE;
/* Returns whether opening this journal, or another one of the session, rolled back an interrupted
 * step or finished or reverted an interrupted undo. */
bool journal_was_mended(const struct journal *j);
/* Says whether this session goes on for long: then others that want the store are refused soon,
 * rather than wait a second for its end. Opening says no. */
void journal_stays(struct journal *j, bool stays);
/* Gives up the lock and the mapping of the store. Afterwards j may only be closed, or left to
 * exit(). */
void journal_release(struct journal *j);
void journal_close(struct journal *j); /* open steps stay open on disk; NULL is a no-op */
/* Folders of a session have an order: moves j behind all others that were opened with `first`. */
void journal_move_last(struct journal *j, struct journal *first);
/* Opens the histories of several folders as one, for reading. Skips folders without a history.
 * Returns 0, or -ENOENT if no folder has one. */
int journal_open_all(struct journal **ret, const char *const *folders, const char *state_dir,
		     struct err *err) MUST_USE;
void journal_close_all(struct journal *j); /* j and its siblings; NULL is a no-op */
/* Removes the whole history (after the user confirmed) and starts an empty store. */
int journal_discard(const struct journal_spec *spec, struct err *err) MUST_USE;
/* Removes a store that holds no record and that no process has locked. Returns whether the folder
 * has no store afterwards. */
bool journal_unmake(const struct journal_spec *spec);
/* Removes the claims of processes that have ended (see store/claim.h). A process that confined
 * itself after it had opened a journal cannot remove its own. */
void journal_forget_claims(const char *state_dir);
/* Returns the bytes of the store in this directory, as journal.size counts them, with the histories
 * that were put aside. Takes no lock. */
uint64_t journal_store_bytes(const char *store);

/*
 * Finds the history of a folder that was renamed, which is stored under its old name. Returns 1 and
 * the old name in *ret_was (heap), or 0 if there is none or the folder has a history under its
 * present name. Returns 0 for a copied or cloned folder.
 */
int journal_find_moved(const struct journal_spec *spec, char **ret_was, struct err *err) MUST_USE;
/*
 * Takes that history over, or else the newest history that was put aside in the folder's own store;
 * *ret_was as above. The history under the folder's present name is put aside. -ENOENT: there is
 * none; -EEXIST: a folder still exists under the old name; -EBUSY: a cordon works with it;
 * -EOPNOTSUPP: a step has parts in other folders; -EPROTO: it is of
 * another version.
 */
int journal_adopt(const struct journal_spec *spec, char **ret_was, struct err *err) MUST_USE;
/* Returns whether the folder is still the directory that this history is about, not another one at
 * the same path. */
bool journal_is_folders(const struct journal *j);
/* Returns whether the store has a history that was put aside: of another directory of this name, or
 * of another version. */
bool journal_has_aside(const struct journal *j);
/* Returns whether there is nothing to undo, redo or finish, and no session runs. */
bool journal_is_empty(const struct journal *j);

int journal_folder_fd(const struct journal *j); /* O_PATH directory; borrowed */
int journal_store_fd(const struct journal *j);	/* borrowed */
/* Returns dev and inode of the store directory if it lies inside the folder, else 0 and 0. */
void journal_store_inode(const struct journal *j, dev_t *dev, ino_t *ino);

/*
 * Returns new messages for the user (a step goes on unprotected, old steps were removed), as one
 * escaped line; heap, NULL if there are none. Call it after each operation and commit.
 */
char *journal_news(struct journal *j) MUST_USE;
/* Returns whether one of these messages must also reach a user who has no console open. Call it
 * before journal_news(). */
bool journal_urges(const struct journal *j);

/* Sets size, step_size and steps of o for j and its siblings. They are checked when a step ends. */
void journal_set_limits(struct journal *j, const struct journal_options *o);
/*
 * Returns whether the limits are reached (journal_spec.lasting) in j or a sibling: then the caller
 * should begin few new steps or go on in an open one, so that older steps stay. One session may
 * have a hundred times journal.steps steps. Steps are kept whole until the store has twice
 * journal.size.
 */
bool journal_is_full(const struct journal *j);

/* ---- places outside the folder -------------------------------------------------------------- */

/* Adds a root and returns its number. Root 0 is the folder; a directory elsewhere gets the next
 * number, which log records name. own: the root belongs to the folder, as the repository of a
 * linked worktree does, and a rollback changes both. Otherwise it is a granted place, and a
 * rollback changes it only with UNDO_ALL_PLACES. */
int journal_add_root(struct journal *j, const char *path, bool own, struct err *err) MUST_USE;
/* Protects a store inside the folder from `git clean -fdx` of that repository. The folder is a
 * linked worktree or a checkout of it, as the repository itself says. Best effort: errors go to the
 * log. */
void journal_hide_store(const struct journal *j, const char *common);

/* The rest of the journal, one subject each. */
#include "core/journal/edits.h"
#include "core/journal/history.h"
#include "core/journal/rollback.h"
#include "core/journal/steps.h"
#include "core/journal/turns.h"
#include "core/journal/upkeep.h"
