/* journal - undo for one working folder: steps, their write-ahead logs, rollback, redo, recovery.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/err.h"
#include "core/base/buf.h"

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
 * Log. A shared mapping: a record survives SIGKILL without a system call. Each has a length, a
 * sequence number and a checksum; a torn tail is cut. On file systems that do not write in place
 * (btrfs) a store through a mapping could end in SIGBUS on a full disk: there records are written,
 * two calls each.
 *
 * Capture, once per inode and step. Create: "was not there". Unlink: the inode is renamed into the
 * store, one call captures and performs. First write: reflink, else copy. Rename: two names.
 * Metadata: mode, owner, times, extended attributes. A file that is open for writing when a step
 * begins is kept then (step/open_files.h), and compared byte by byte at the step's end: a store
 * through a mapping changes no time in a dirty page, and none at all on tmpfs.
 *
 * Commit. After-images and a summary are written; one rename of open/<id> to steps/<id> commits.
 * A step that changed several folders has a part in each store, under one id, with a file `parts`
 * that names the folders; the rename in the first of them commits all.
 *
 * Undo compares the folder with the after-images. A difference is an external edit: a conflict,
 * named, nothing touched; or settled: --keep-mine leaves its records out, --merge writes the file
 * anew with libgit2, --force captures it and goes on. Between several steps each one's before-state
 * is compared with the after-state of the step before it (history/version_chain.h). Then the
 * records are applied backwards. What they replace is captured by the same means: the redo log.
 *
 * A progress marker makes a rollback resumable: the next start finishes or reverts it. An open step
 * is rolled back at the next start. Mode bits that the rollback borrows, to read a file or enter a
 * directory that its owner may not, are noted before (fs/borrow_mode.c). A reserve of disk space
 * lets a rollback work on a full disk. Everything is restored beneath the folder's descriptor,
 * following no link.
 *
 * A rollback over several stores is decided by the first store of the file `joint`: its `rollback`
 * is written last and removed last. Whoever finds `joint` opens the others and goes on, or goes
 * back if nothing was decided.
 *
 * The past is read by following a path through the renames of later logs (history/path_index*.c).
 * The first record that captured the path's bytes has them; if none did, they are in the folder, if
 * its file still has the modification time that the last step left (history/inode_history.h).
 * Single paths are restored by ordinary, captured operations, as a step of their own.
 *
 * Limits. The oldest steps go, by one rename into trash/. Of a step that was concurrent with one
 * that stays, log and images remain in beside/, so that undo still asks about what both changed. A
 * step that outgrows its own limit goes on without records: a mark says from where.
 *
 * With journal_options.durable a record is synced before its operation; calls that wait at the same
 * time share a sync (log/group_commit.h). After a reboot the records of operations that never
 * reached the disk are removed before anything is rolled back (rollback/power_loss.c).
 */
struct journal;
struct obj;
struct step;

#define JOURNAL_VERSION 2

/* How much is kept, and how safely. Zeros: everything, for as long as the machine does not fail. */
struct journal_options {
	bool durable;	    /* survive power loss: a sync for each record */
	bool off;	    /* keep nothing: no step can be undone */
	uint64_t size;	    /* bytes of the whole store, 0: unlimited */
	uint64_t step_size; /* bytes that one step copies, 0: unlimited; never above size */
	size_t steps;	    /* how many are kept, 0: unlimited */
};

/*
 * Temporary files of somebody outside, whose names tell that they are about to take a protected
 * one (config.lock of git's). A rollback neither moves nor changes such a file, and says so: the
 * records in question are left out of it.
 */
struct journal_saves {
	/* Is this regular file at this absolute path one, and made by none of those inside? */
	bool (*is_theirs)(void *data, const char *path, const struct obj *o);
	/* A rollback has put this file there. */
	void (*placed)(void *data, const char *path, const struct obj *o);
};

struct journal_spec {
	const char *folder;    /* absolute, clean, no symlinks */
	const char *state_dir; /* $XDG_STATE_HOME/cordon, absolute; store falls back to
				  folder/.cordon */
	bool read_only;	       /* look only: no lock, no recovery */
	struct journal *with;  /* another folder's of this session, or NULL: steps may span both */
	bool upkeep;	       /* lock, no recovery: for journal_prune() alone */
	struct journal_options options;
	/*
	 * A session: the limits are applied when it begins, and nothing goes by them as long as it
	 * lasts. What those inside do must not push out what they, or others before them, have
	 * done. journal_is_full() then says that no new step is to begin. settled: nor when it
	 * begins.
	 */
	bool lasting, settled;
	/* Does the policy let nobody inside put an object of this type (S_IFMT; 0: of any type) at
	 * this absolute path unasked? NULL: it lets them put one anywhere. A rollback never gives
	 * such a name a file that somebody may still write to (core/journal/step/guarded.h). Lives
	 * as long as the journal. */
	bool (*guards)(void *data, const char *path, mode_t type);
	const struct journal_saves *saves; /* NULL: nobody outside saves that way */
	void *guards_data;		   /* of both */
};

/* Where the store of this folder is or would be. Heap string. */
int journal_store_path(char **ret, const struct journal_spec *spec, struct err *err) MUST_USE;

/*
 * -EBUSY:     another cordon holds the store (err names its pid).
 * -EPROTO:    a store of another version or directory. A session (lasting, not settled) puts that
 *             history aside and begins a new one.
 * -EBADMSG:   damaged; err says where and what to do.
 * Opening for writing recovers an open step first; *ret_recovered (may be NULL) counts its paths.
 */
int journal_open(struct journal **ret, const struct journal_spec *spec, size_t *ret_recovered,
		 struct err *err) MUST_USE;
/* True if opening this journal, or another one of the session, rolled back an interrupted step or
 * finished or reverted an interrupted undo. */
bool journal_was_mended(const struct journal *j);
/* Gives up the lock and the mapping of the store. Afterwards j may only be closed, or left to
 * exit(). */
void journal_release(struct journal *j);
void journal_close(struct journal *j); /* open steps stay open on disk; NULL is a no-op */
/* Folders of a session have an order: moves j behind all others that were opened with `first`. */
void journal_move_last(struct journal *j, struct journal *first);
/* Several folders' histories as one, for reading; those that have none are left out. -ENOENT: none
 * has. */
int journal_open_all(struct journal **ret, const char *const *folders, const char *state_dir,
		     struct err *err) MUST_USE;
void journal_close_all(struct journal *j); /* j and its siblings; NULL is a no-op */
/* Throw the whole history away (after the human confirmed) and start an empty store. */
int journal_discard(const struct journal_spec *spec, struct err *err) MUST_USE;

/*
 * A folder that was renamed has its history under its old name. 1: *ret_was (heap) is that name;
 * 0: there is none, or it has one under its own. Never true of a copy or a clone.
 */
int journal_find_moved(const struct journal_spec *spec, char **ret_was, struct err *err) MUST_USE;
/*
 * Takes that history over, or else the newest that was put aside in the folder's own store;
 * *ret_was as above. What the folder has under its name is put aside. -ENOENT: there is none;
 * -EEXIST: the folder is still there under the old name; -EBUSY: a cordon works with it;
 * -EOPNOTSUPP: a step, or a rollback that was interrupted, has parts in other folders; -EPROTO: it
 * is of another version.
 */
int journal_adopt(const struct journal_spec *spec, char **ret_was, struct err *err) MUST_USE;
/* Is it the directory whose history this is, not another one in its place? */
bool journal_is_folders(const struct journal *j);
/* A history of another directory of this name, or of another version, is put aside. */
bool journal_has_aside(const struct journal *j);

int journal_folder_fd(const struct journal *j); /* O_PATH directory; borrowed */
int journal_store_fd(const struct journal *j);	/* borrowed */
/* (dev, ino) of the store directory when it lies inside the folder, else {0, 0}. */
void journal_store_inode(const struct journal *j, dev_t *dev, ino_t *ino);

#define PRUNE_ALL SIZE_MAX

struct journal_prune {	   /* the oldest steps, until all that is set holds */
	uint64_t size;	   /* bytes of the store */
	size_t steps;	   /* that stay */
	int64_t before_us; /* those that ended before (wall clock), and older ones */
	size_t at_least;   /* so many, whatever the rest says */
	size_t spare;	   /* the newest ones, that go in no case */
	bool look_only;
	bool later; /* what goes stays in trash/ for now */
	/* how many went, or would */
	size_t n;
	int64_t first, last;
};

int journal_prune(struct journal *j, struct journal_prune *p) MUST_USE;

/*
 * What a human should hear: a step that goes on unprotected, old steps that had to go. Words, one
 * line, escaped; heap, NULL when there is nothing new. Ask after each operation and commit.
 */
char *journal_news(struct journal *j) MUST_USE;
/* There is something among it for who looks at no console, too: to be asked before. */
bool journal_urges(const struct journal *j);

/*
 * There may be something to compress or to throw away: in a thread of its own, at low priority,
 * until journal_close(). Ask after commits; not in a process that forks.
 */
int journal_tidy(struct journal *j) MUST_USE;

/*
 * With options.durable, calls that wait at the same time share a sync. An operation of a step that
 * may wait gives -JOURNAL_WAITS in place of syncing: nothing was changed. Once several have,
 * journal_gather_sync() brings what they will record to the disk; then each is called again in
 * their order, with the step not allowed to wait, and journal_gather_end() ends it. If the sync
 * fails, each call finds out for itself. For j and its siblings.
 */
#define JOURNAL_WAITS 4097 /* no errno */
void step_may_wait(struct step *s, bool may);
int journal_gather_sync(struct journal *j) MUST_USE;
void journal_gather_end(struct journal *j);

/* size, step_size and steps of o, for j and its siblings: what is full is found out when a step
 * ends. */
void journal_set_limits(struct journal *j, const struct journal_options *o);

/* ---- places outside the folder -------------------------------------------------------------- */

/* Root 0 is the folder. A granted directory elsewhere gets the next number, kept in each log. */
int journal_add_root(struct journal *j, const char *path, struct err *err) MUST_USE;

/* ---- steps ---------------------------------------------------------------------------------- */

enum step_kind {
	STEP_COMMAND,
	STEP_AMBIENT, /* outside every command; id is negative */
	STEP_API,
};

/*
 * The new step's id is chosen here: positive and growing, negative for ambient ones. Files that an
 * earlier step opened for writing and that still have a writer are captured again, now.
 */
int journal_begin(struct journal *j, enum step_kind kind, const char *command, struct step **ret,
		  struct err *err) MUST_USE;
/*
 * The same step in another folder: one part of it in each journal (struct journal_spec, `with`),
 * all with one id. What commit, abort and the functions on a step do, they do to every part.
 */
int journal_begin_part(struct journal *j, struct step *of, struct step **ret, struct err *err)
	MUST_USE;
struct step *step_part(struct step *s, const struct journal *j); /* NULL: none there */
/* A better name for an open step, known since the exec that follows its first change. */
void step_set_command(struct step *s, const char *command);
/*
 * Something of this step could not be captured (raw bytes, one line): rolling it back will not give
 * the whole state before it. Kept in the log at once and in the summary; several reasons are
 * joined.
 */
void step_mark_incomplete(struct step *s, const char *why);
const char *step_why(const struct step *s); /* "" unless marked; borrowed */
/* Its processes have ended: marks what is known only then. journal_commit() does it as well. */
void step_settle(struct step *s);
int64_t step_id(const struct step *s);
size_t step_paths(const struct step *s); /* paths touched so far */
/* No process that could have a file open for writing is left: nothing need be looked for. */
void journal_no_writers(struct journal *j);
/* Keep post-images, write the summary, publish with one rename. 0: it changed nothing in the end
 * and is gone; else it is kept: how many paths it changed in the end, at least 1. */
int journal_commit(struct step *s, int exit_status, struct err *err) MUST_USE;
/* Roll an open step back (a torn start) and drop it. */
int journal_abort(struct step *s, struct err *err) MUST_USE;
/* Roll an open step back as if it had been kept and undone: redo has it. Others may be open: what
 * they found of it comes back where they are rolled back later. On failure the step is kept as it
 * stands where that could be done (err says it); s is gone. */
int journal_roll_back(struct step *s, struct err *err) MUST_USE;

/* May the open step be rolled back as it stands: no file that it opened is still written, and no
 * new file has to take the place of one that somebody may still write to? -EBUSY: no, err says why.
 */
int journal_check_held(struct step *s, struct err *err) MUST_USE;
/* Is all that the open step has changed as it left it, as far as that is known? -ESTALE: something
 * was edited from outside, which a rollback would leave out; err names it. */
int journal_check_edited(struct step *s, struct err *err) MUST_USE;
/* This process lives: to be called every two seconds while a step is open, and at the end. After a
 * crash, what is later than the last call by more than that was edited from outside. */
void journal_live(struct journal *j);
/*
 * What is still open for writing and no other open step's is this step's from now on, as if its
 * own processes had opened it; how many files that are. Asked again: how many still are.
 */
size_t step_adopt_writers(struct step *s);

/*
 * The limits are reached (journal_spec.lasting), in j or its siblings: whoever goes on in an open
 * step keeps what is there. A hundred times as many steps as are kept are allowed to one session.
 */
bool journal_is_full(const struct journal *j);
struct journal_pruned { /* what the limits took, ever */
	int64_t last;	/* the newest of these steps */
	size_t n;
	int64_t us; /* wall clock, of the last time */
};
bool journal_pruned(const struct journal *j, struct journal_pruned *ret);

/* What an operation takes away of what was there before its step began. */
enum loss {
	LOSS_DELETE,	/* a name, and what it named */
	LOSS_OVERWRITE, /* the content of a file: first opening for writing in this step, or cut */
	LOSS_REPLACE,	/* what another file is renamed over */
	LOSS_BEYOND,	/* what the limits leave no room for, once it cannot be undone */
	LOSS_KINDS,
};

/*
 * Asked before the operation, when it is known that it takes something away; size is the file's. A
 * negative result is the operation's, and nothing has been changed. NULL: nobody asks.
 */
typedef int (*step_on_loss)(void *data, enum loss what, uint64_t size);
void step_ask_before(struct step *s, step_on_loss fn, void *data);
/* Of LOSS_BEYOND, too: from now on the step keeps all that it takes away, whatever the limits. */
void step_raise(struct step *s);

/* ---- history -------------------------------------------------------------------------------- */

struct step_info {
	int64_t id;
	enum step_kind kind;
	int64_t began_us, ended_us; /* wall clock */
	int exit_status;	    /* wait(2)-decoded: code, or 128+signal */
	bool incomplete;	    /* could not be captured whole; `why` says it */
	bool elsewhere;	   /* it changed granted places alone, and nothing in a working folder */
	char *unprotected; /* the first path whose change was not captured, nor later ones; or NULL
			    */
	size_t created, modified, deleted, renamed;
	char *command;	/* */
	char *why;	/* NULL unless incomplete */
	char **folders; /* all that it changed, NULL-terminated; NULL: this one alone */
};

/* Newest first, of all folders of the session: a step that changed several comes once. undone: the
 * steps that redo would bring back. */
int journal_list(struct journal *j, bool undone, struct step_info **ret, size_t *ret_n,
		 struct err *err) MUST_USE;
void step_info_free(struct step_info *list, size_t n);

/* Newest first: steps of j's own store that a process had open when it died. The next start rolls
 * them back. None while a session runs. */
int journal_interrupted(struct journal *j, struct step_info **ret, size_t *ret_n, struct err *err)
	MUST_USE;

/* Which of the listed steps (as from journal_list()) touched one of these paths of the folder, or
 * something below it? Renames are followed from the newest step back. touched[i] belongs to
 * list[i]. */
int journal_touched(struct journal *j, const struct step_info *list, size_t n,
		    const char *const *paths, size_t n_paths, bool *touched, struct err *err)
	MUST_USE;

/*
 * Where sessions and turns begin. A turn is what the agent did since the human last said something
 * to it; a session begins one, too. Kept in the first folder's store.
 */
struct turn_mark {
	int64_t after; /* steps with a greater number, whatever its sign, are of it or a later one
			*/
	int64_t us;    /* wall clock */
	bool session;
	bool batch;  /* of a session: nobody speaks to its agent, so it has no turns */
	char *agent; /* of a session; else NULL */
	char *words; /* the prompt, cut, if an agent's hook or protocol told it; else NULL */
};

/* agent NULL: a turn of the session, which is none if nothing happened since the last. words: its
 * prompt, or NULL. */
int journal_add_turn(struct journal *j, const char *agent, bool batch, const char *words,
		     struct err *err) MUST_USE;
/* Names the newest mark, which began without words. */
int journal_name_turn(struct journal *j, const char *words, struct err *err) MUST_USE;
int journal_turns(struct journal *j, struct turn_mark **ret, size_t *ret_n, struct err *err)
	MUST_USE; /* oldest first; those of j's own store */
const struct turn_mark *turn_mark_of(const struct turn_mark *list, size_t n,
				     int64_t step); /* NULL: not known */
void turn_marks_free(struct turn_mark *list, size_t n);

/* What one step did to one path, net. */
enum change_kind {
	CHANGE_CREATED,
	CHANGE_MODIFIED, /* content, or type, or metadata alone */
	CHANGE_DELETED,
	CHANGE_RENAMED, /* and perhaps modified */
};

struct change_side {
	bool exists;
	mode_t mode; /* type and all 12 bits */
	uid_t uid;
	gid_t gid;
	uint64_t size, ino;
	int64_t mtime_ns;
};

struct change {
	enum change_kind kind;
	struct journal *in; /* the folder's, one of the session's */
	char *base; /* NULL: the folder that was asked; else the path's own root, absolute */
	int root;
	char *path;	/* relative to the root, raw bytes */
	char *old_path; /* CHANGE_RENAMED, else NULL */
	struct change_side before, after;
	bool linked; /* the file had other names: it may have changed under those */
};

/*
 * Of a step that is being committed: each change that it comes to, in every folder (base is set
 * where the path is not one of the first folder's), then whether it has a better name than the one
 * that it was given (NULL: no; borrowed until journal_commit() returns). A commit that fails and is
 * tried again tells anew.
 */
struct step_witness {
	void (*begin)(void *data);
	void (*change)(void *data, const struct change *c); /* valid during the call */
	const char *(*name)(void *data);
};
void step_watch_end(struct step *s, const struct step_witness *w, void *data);

/* Does a step that is kept or undone lack something, in any of its folders? */
bool journal_is_incomplete(struct journal *j, int64_t id);
int journal_changes(struct journal *j, int64_t id, struct change **ret, size_t *ret_n,
		    struct err *err) MUST_USE;
void change_free(struct change *list, size_t n);

/*
 * The bytes of a change's path before (after = false) or after the step: from the step itself, from
 * the next later step that touched it, or from the folder. Symbolic links give their target.
 * -ESTALE when the state after the step is nowhere any more (changed from outside).
 * *ret_fd: a readable descriptor at offset 0, owned by the caller.
 */
int journal_content(struct journal *j, int64_t id, const struct change *c, bool after, int *ret_fd,
		    struct err *err) MUST_USE;

/*
 * What lies at a path now: relative to j's folder, or absolute in one of the session's. *ret_fd: as
 * above, or -1 where it has no bytes. Follows no link.
 */
int journal_present(struct journal *j, const char *path, struct change_side *ret, int *ret_fd,
		    struct err *err) MUST_USE;

enum seen_what { /* of a directory's entry */
	SEEN_MADE,
	SEEN_GONE,
	SEEN_NAMED, /* it took this name */
	SEEN_MOVED, /* nobody knows what happened */
	SEEN_META,
	SEEN_CLOSED, /* by somebody who had it open for writing */
};

/*
 * Was this change made by somebody else than the steps' processes? What a running step changed as
 * well is in conflict from now on. since_ns (wall clock): bytes that are older were seen before.
 */
bool journal_is_foreign(struct journal *j, const char *path, enum seen_what what, int64_t since_ns);
/* How many files were found closed by their last writer so far. More closings of them may be
 * queued, as the steps' own. When all that was queued then is judged, journal_all_seen() ends that:
 * who closes them from then on is somebody else. */
uint64_t journal_count_shut(const struct journal *j);
void journal_all_seen(struct journal *j);
/* From now on whoever watches tells each event by itself and in order (not where the system joins
 * them): of what the steps did themselves it is known then what will be told. */
void journal_expect_events(struct journal *j);
/* Events were lost, or others come than before: what the journal expects to be told may not be. */
void journal_expect_nothing(struct journal *j);
/* On: what rollbacks and restores change from now on counts as the steps' own. Off: forget that. */
void journal_own(struct journal *j, bool on);

/*
 * A program outside has put a file, or a directory, at this guarded name (journal_spec.guards) of
 * the folder. Each file there, and at guarded names below it, that those inside have open for
 * writing, or that an open step has changed or made and has another name of, is replaced by a copy,
 * as a step of its own: so many, or a negative errno. Nothing is done about what is_theirs() says
 * was put there with the human's leave. remember() is told of any other file of several names.
 */
struct journal_filled {
	bool (*is_theirs)(void *data, const char *path, const struct obj *o);
	void (*remember)(void *data, const char *path, int dirfd, const char *name);
	void (*before)(void *data); /* that step begins: the edit itself comes before it */
	void *data;
};
int journal_renew_guarded(struct journal *j, const char *path, const struct journal_filled *by,
			  struct err *err) MUST_USE;
/* Grows with each rename of a directory, even one that fails. */
uint64_t journal_dir_moves(const struct journal *j);
/* Every path that does not look as the steps left it. */
int journal_rescan(struct journal *j, void (*on)(void *data, const char *path), void *data)
	MUST_USE;

/*
 * A barrier: the folder was edited from outside. A rollback of the step before it stops there
 * unless told otherwise: what was edited may build on what would go away.
 */
struct barrier {
	int64_t first_us, last_us; /* wall clock */
	size_t count;		   /* of paths, at least */
	char **paths;		   /* the first of them, relative to the folder, raw bytes */
	size_t n_paths;
	int64_t after; /* the step before it, kept, undone or running */
};

/* Edits that were seen just now; joined to the newest barrier if no step ended since. 1: noted, 0:
 * nothing has been recorded that a rollback could take away. */
int journal_add_barrier(struct journal *j, const char *const *paths, size_t n, struct err *err)
	MUST_USE;
int journal_barriers(struct journal *j, struct barrier **ret, size_t *ret_n, struct err *err)
	MUST_USE; /* newest first */
/* The same of all folders of the session; paths of the others are absolute. */
int journal_barriers_all(struct journal *j, struct barrier **ret, size_t *ret_n, struct err *err)
	MUST_USE;
struct barrier barrier_copy(const struct barrier *b) MUST_USE;
void barrier_done(struct barrier *b);
void barrier_free(struct barrier *list, size_t n);

/*
 * A rollback that replaced what a human had written (UNDO_FORCE, or what the repair after a crash
 * cannot know), and whose redo a later change has ended: it was saved. Newest first; those of
 * j's own folder.
 */
struct saved_redo {
	uint64_t number; /* of the rollback */
	int64_t us;	 /* its time, wall clock; of a repair: when that session began */
	int64_t step;	 /* the newest of its steps, and the command of that */
	char *command;	 /* or NULL */
	char **paths;	 /* of files as they were before it, relative to the folder, raw */
	size_t n_paths;
	bool more; /* there are more */
};
int journal_saved_redos(struct journal *j, struct saved_redo **ret, size_t *ret_n, struct err *err)
	MUST_USE;
void saved_redos_free(struct saved_redo *list, size_t n);
/* What lay at the path before that rollback. *ret_fd: a readable descriptor at offset 0. */
int journal_saved_redo_open(struct journal *j, uint64_t number, const char *path, int *ret_fd,
			    struct err *err) MUST_USE;

/* ---- undo and redo -------------------------------------------------------------------------- */

enum undo_kind {
	UNDO_BACK,  /* the newest n steps that are not undone */
	UNDO_REDO,  /* the rollback that was made last */
	UNDO_PATHS, /* single paths of one step: journal_restore_plan() */
};

enum {			    /* flags: what to do where somebody else changed a path since */
	UNDO_FORCE = 1,	    /* go over it; what is replaced can be had back with redo */
	UNDO_KEEP_MINE = 2, /* leave those paths out */
	UNDO_MERGE = 4,	    /* three ways, where both sides are text; the rest as above */
	UNDO_CROSS = 8,	    /* do not stop at a barrier; each of the others implies it */
	/* UNDO_BACK changes granted places, too; without it they stay as they are. A redo brings
	 * back what its undo took away, wherever that was. */
	UNDO_ALL_PLACES = 16,
};
#define UNDO_SETTLES (UNDO_FORCE | UNDO_KEEP_MINE | UNDO_MERGE | UNDO_CROSS)

enum undo_fate { /* of a conflict, with the flags of the plan */
	FATE_STOPS,
	FATE_FORCED,
	FATE_KEPT,   /* left out; also paths without a conflict that hang together with one */
	FATE_MERGED, /* both sides' changes, without a conflict between them */
	FATE_MARKED, /* merged with conflict markers: only with UNDO_FORCE, else it stops */
};

struct undo_entry {
	int root;
	char *path;
	char what;     /* 'A' comes back, 'D' goes away, 'M' changes, 'R' is renamed to `other` */
	char *other;   /* */
	char *base;    /* NULL: the folder that was asked; else the path's own root, absolute */
	bool later;    /* UNDO_PATHS: later steps changed it, and what they did goes with it */
	bool conflict; /* someone else changed it since, or: */
	bool beside;   /* a conflict with a step that ran at the same time and stays */
	bool linked;   /* changed by another name of the file, and not what lies there */
	bool lost;     /* what was there before is not kept, the step went on unprotected; stays */
	enum undo_fate fate;
	char *why;		  /* a merge was asked for and cannot be had; NULL */
	struct undo_merge *merge; /* from journal_plan() alone: what is merged; else NULL */
};

/* What a merge makes of one path of the plan: what is there now, and what will be. */
struct undo_merge {
	char *now, *then; /* NUL-terminated as well */
	size_t now_len, then_len;
};

struct undo_plan {
	enum undo_kind kind;
	size_t n;
	unsigned flags; /* what it was asked for with */
	bool brief;	/* entries: conflicts alone */
	int64_t *ids;	/* the steps, newest first */
	size_t n_ids;
	struct undo_entry *entries;
	size_t n_entries, n_conflicts;
	size_t n_paths;		  /* of all entries: a plan that was sent has the first of them */
	size_t n_stops;		  /* conflicts that the flags do not settle */
	struct barrier *barriers; /* that would be crossed, newest first */
	size_t n_barriers;
	uint64_t seal; /* of what is merged, byte for byte; never 0 */
};

int journal_plan(struct journal *j, enum undo_kind kind, size_t n, unsigned flags,
		 struct undo_plan **ret, struct err *err) MUST_USE;
void undo_plan_free(struct undo_plan *p);

/* It stays as it is because it lies in a granted place, and UNDO_ALL_PLACES was not given. */
bool undo_entry_elsewhere(const struct undo_plan *p, const struct undo_entry *e);

/* Would journal_undo() refuse it? */
bool undo_plan_stops(const struct undo_plan *p);

struct undo_progress {
	/* Once, before anything is changed or the undo refused for its conflicts: what would
	 * change, without merged texts. Valid during the call. NULL: it was shown before. */
	void (*planned)(void *data, const struct undo_plan *plan);
	/* done of total operations; return false to cancel: everything is put back first. */
	bool (*tick)(void *data, size_t done, size_t total);
	void *data;
	uint64_t seal; /* of the plan that was shown: what it merged is written, or -ESTALE; 0: any
			*/
};

/*
 * All or nothing, logged like a step, everything replaced is kept in the redo record.
 * -ESTALE with conflicts unless flags settle them; -ECANCELED after a cancel; -EBUSY while a step
 * is open.
 */
int journal_undo(struct journal *j, enum undo_kind kind, size_t n, unsigned flags,
		 const struct undo_progress *progress, struct err *err) MUST_USE;
/*
 * Would it change granted places? *ret: some record of its steps is about one. UNDO_BACK without
 * UNDO_ALL_PLACES never does.
 */
int journal_reaches(struct journal *j, enum undo_kind kind, size_t n, unsigned flags, bool *ret,
		    struct err *err) MUST_USE;
/*
 * Bring single paths (files, or directories with all that the step changed in them) back to what
 * they were before one step, as a step of its own: it can be undone. Relative to j's folder, or
 * absolute in any of the step's folders or granted places; all in one of them (else -EINVAL).
 * What later steps did to them goes as well, and is kept as what the restore replaced. -ENOENT: the
 * step changed none of them; -ESTALE with conflicts unless forced.
 */
int journal_restore(struct journal *j, int64_t id, const char *const *paths, unsigned flags,
		    struct err *err) MUST_USE;
/* What that would change; ids has the step alone. */
int journal_restore_plan(struct journal *j, int64_t id, const char *const *paths, unsigned flags,
			 struct undo_plan **ret, struct err *err) MUST_USE;
/*
 * Take one hunk (from 1, in the step's diff of that file) back out of the file as it is now, as a
 * step of its own. -ESTALE: the same lines were edited since; -EALREADY: it is as it was before.
 */
int journal_restore_hunk(struct journal *j, int64_t id, const char *path, unsigned hunk,
			 struct err *err) MUST_USE;

/* ---- looking after the store ------------------------------------------------------------------
 */

struct journal_sound {
	size_t steps, records, objects;
	size_t damages;
};

/* -EBADMSG: say() was told of each damage, one line, escaped. j may be read-only. */
int journal_verify(struct journal *j, void (*say)(void *data, const char *words), void *data,
		   struct journal_sound *ret, struct err *err) MUST_USE;

struct journal_record { /* valid during the call */
	int64_t step;
	const char *where; /* open, steps, redo */
	const char *log;   /* undo, redo */
	const char *type;
	bool linked, swapped, directory, in_log;
	uint64_t seq, src, slot, ino, ino2;
	int root, root2;
	const char *path, *path2; /* raw */
	struct span kept;	  /* metadata, perhaps with bytes */
};

/* id 0: of all steps, oldest first. */
int journal_dump(struct journal *j, int64_t id,
		 void (*fn)(void *data, const struct journal_record *r), void *data,
		 struct err *err) MUST_USE;
