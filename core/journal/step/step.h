/* step - an open step: the inodes and paths it touched; begin and abort. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/step_summary.h"
#include "core/journal/log/capture.h"
#include "core/journal/op.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/util/u64_set.h"

struct step {
	struct journal *j;
	struct step *next;
	struct step *part; /* ring: the same step in other journals */
	struct side side;
	int64_t id;
	enum step_kind kind;
	int64_t began_us;
	char *command;
	char *why;		   /* what it lacks, or NULL */
	char *bare;		   /* from this path on nothing is captured; NULL: everything is */
	bool warned;		   /* that it is nearly full */
	bool raised;		   /* the limits do not hold for it */
	uint64_t held;		   /* bytes of its objects */
	uint64_t copied;	   /* bytes of them, and in the log, that were copied */
	struct unkept *unkept;	   /* see unkept.h; or NULL */
	uint64_t *copies, *clones; /* slots with the content of a file */
	size_t n_copies, n_clones;
	bool made;			    /* its directory exists: something was recorded */
	bool moved;			    /* a directory has another name now */
	bool carried;			    /* by another step, too, while this one runs */
	bool tangled;			    /* a step that ran at the same time touched the same */
	bool leaving;			    /* a file is captured as it leaves a guarded name */
	bool may_wait;			    /* see JOURNAL_WAITS */
	bool noted;			    /* a restore: what it places is in placed.h */
	bool careful;			    /* a rename replaces the file that it has kept */
	const struct obj *only;		    /* and nothing but this, as it is: else -ESTALE */
	unsigned free_names;		    /* renames in a row that found their new name free */
	bool spares;			    /* an abort leaves alone what others still write to */
	uint64_t began_with;		    /* the last record of such files; 0: there were none */
	const struct step_witness *witness; /* of the first part; or NULL */
	void *witness_data;
	step_on_loss on_loss;
	void *on_loss_data;
	struct known_set known;
	struct touches touches;
	struct numbers came_from; /* inodes of the first n_came_from of these (attribution.c) */
	size_t n_came_from;
	struct alias *aliases; /* hash, see hard_links.c */
};

int step_make(struct step *s) MUST_USE; /* its directory, before the first record */
/* What the first record says: id, kind, begin, command (heap). False: it is not there. */
bool step_read_head(const struct wal *undo, struct step_info *ret);
/* What processes of earlier steps write to files that were open when it began stays, should it be
 * aborted: for steps that are not a command's. */
void step_spare(struct step *s);
void step_drop(struct step *s); /* out of its journal's list and its ring; frees it */
/*
 * Is this change to be captured, with so many bytes? What is copied counts against
 * journal.step-size, what is moved into the store against journal.size alone. 1: yes; 0: the step
 * is unprotected, perhaps from this change on: perform it and record nothing; or the operation's
 * result, as nobody has allowed that.
 */
int step_protects(struct step *s, const char *op, const char *path, uint64_t bytes, bool copied)
	MUST_USE;
bool step_has_room(const struct step *s, uint64_t bytes, bool copied);
/* Asks before the step goes beyond its limits. 1: there is room after all; 0: it may go on without;
 * or the operation's result. */
int step_go_beyond(struct step *s, uint64_t bytes, bool copied) MUST_USE;
void step_holds_more(struct step *s, uint64_t bytes, bool copied);
void step_unprotect(struct step *s, const char *op, const char *path, uint64_t bytes);
uint64_t step_limit(const struct journal *j); /* of what is copied; 0: none */
int held_note(struct step *s) MUST_USE;	      /* at its commit */
/* Join the words of a REC_MARK to *why. False: they are there already. */
bool mark_join(char **why, const char *words);
/* Drops files that nobody has open for writing any more. True: one of this step's is still open. */
bool step_prune_writers(struct step *s);
/* Captures files that a process of an earlier step still has open: what it writes now belongs to
 * this step. */
int step_keep_writers(struct step *s, struct err *err) MUST_USE;
struct known *step_known(const struct step *s,
			 const struct obj *o); /* until the next step_learn() */
struct known *step_learn(struct step *s, const struct obj *o, unsigned flags);
void step_unlearn(struct step *s, const struct obj *o); /* the inode dies */
/* Does another open step hold records about this inode? */
bool step_shared(const struct step *s, const struct obj *o);
void step_took(struct step *s, const struct obj *o); /* the inode is in its store now */
/* The step gave the inode a further hard link: path is one of the names. (hard_links.c) */
void alias_note(struct step *s, const struct obj *o, int root, const char *path);
/* The inode was changed: touches its other names. */
void alias_use(struct step *s, const struct obj *o);
bool alias_has(const struct step *s, const struct obj *o); /* it has noted one */
void aliases_free(struct step *s);
/* An operation is about to take away the name or content of the object: asks on_loss(). 0, or the
 * operation's result. */
int step_lose(struct step *s, enum loss what, int root, const char *path, const struct obj *o)
	MUST_USE;
bool step_touch(struct step *s, int root, const char *path, const struct obj *before);
void step_touch_attrs(struct step *s, int root, const char *path); /* its metadata changed */
/* Marks s and other open steps that share paths with it: concurrent steps depend on each other, so
 * none is dropped, even if it changed nothing in the end. */
void step_tangle(struct step *s);
/* Marks other open steps that share paths with s as incomplete: s is about to be rolled back, and
 * they captured its changes as their before-state. */
void step_untangle(struct step *s);
void step_free(struct step *s);
/* Somebody else has changed this path of its: a rollback leaves it out (plan_open.c). */
void step_note_edit(struct step *s, const char *key);
/* Notes files at its paths that no step has put there, also where nothing is watched. */
void step_find_edits(struct step *s);
void own_step(struct step *s); /* its paths, while that is asked for */
/* Content and metadata of an existing file are about to change. */
#define STEP_FULL 1 /* its limit leaves no room for that content: nothing was done */
int step_try_content(struct step *s, int root, const char *path, int dirfd, const char *name,
		     const struct obj *o) MUST_USE;
/* may_spare: perhaps nothing is written, see unkept.h. */
int step_keep_content(struct step *s, int root, const char *path, int dirfd, const char *name,
		      const struct obj *o, bool may_spare) MUST_USE;
/* By what is stored through a mapping: see step.c. */
bool step_may_change_unseen(const struct step *s, int dirfd, const struct obj *o);
/* The same even if the step has kept or made that inode before. */
int step_keep_again(struct step *s, int root, const char *path, int dirfd, const char *name,
		    const struct obj *o) MUST_USE;

/* ---- onto the disk (durability.c): nothing is done unless the journal is durable
 * --------------------
 */

int side_sync(struct side *s) MUST_USE; /* its records */
/* The same for the operation whose records begin at mark, or -JOURNAL_WAITS: cut the log there. */
int step_sync(struct step *s, size_t mark) MUST_USE;
/* The same before something is made in a directory, if that is needed. */
int step_sync_in(struct step *s, int dirfd, size_t mark) MUST_USE;
int step_sync_parts(struct step *s) MUST_USE;

/* ---- steps that have ended (list.c, redo_stack.c)
 * -------------------------------------------------
 */

int64_t step_ended(const struct journal *j, const char *dir); /* wall clock */
bool step_is_damaged(int r); /* what a function on its files gave */
/* Why a step's files cannot be read, in words that name it and say what can be done.
 * -EBADMSG: it is damaged, or a file is missing. */
int step_unread(struct err *err, int r, const char *id);
bool step_is_gone(const struct journal *j, const char *dir); /* thrown away, or moved, meanwhile */
/* What one store knows of a step; journal_changes() asks all of the session's. */
int history_changes(struct journal *j, int64_t id, struct change **ret, size_t *ret_n,
		    struct err *err) MUST_USE;
int history_find(struct journal *j, int64_t id, bool *undone, struct err *err) MUST_USE;
/* After an error of a reader's: is it that, or has the writer thrown the step away meanwhile (said
 * in err)? */
bool history_has(struct journal *j, int64_t id, struct err *err);
/*
 * Committing a step empties redo/ (redo_stack.c). redo_doom() announces it before the commit, in
 * all journals of the session, and sets j->doomed where there is something; redo_end() does it
 * after the commit. redo_settle(): a process died in between.
 */
int redo_doom(struct journal *j, const struct step *by) MUST_USE;
int redo_end(struct journal *j) MUST_USE;
int redo_settle(struct journal *j) MUST_USE;

/* ---- one step in several folders (commit.c)
 * ------------------------------------------------------
 */

#define PARTS_MAX  16 /* more folders than a session may have */
#define PARTS_FILE "parts"

/*
 * The folders that a step changed, when it changed more than one: kept in each part's directory.
 * The first is where the step is decided: committed there, it is committed.
 */
struct folders {
	char *list[PARTS_MAX];
	size_t n;
};

/* 0 also when there is no such file (n 0). */
int folders_load(int dirfd, const char *name, struct folders *ret) MUST_USE;
int parts_load(int stepdir, struct folders *ret) MUST_USE;
void folders_free(struct folders *f);
/* This part is about to be made: tell those that are. */
int parts_announce(struct step *s) MUST_USE;
/* A part that was to be committed when its process died. 1: the step was kept where it is decided,
 * so this part is, too, or has gone if it came to nothing; 0: it is to be rolled back. */
int parts_settle(struct journal *j, const char *dir) MUST_USE;
/* Does that folder's store keep this very step? */
bool parts_kept(struct journal *j, const char *folder, int64_t id, int64_t began_us);
