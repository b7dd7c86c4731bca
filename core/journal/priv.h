/* priv - what the files of core/journal share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/hash.h"
#include "core/journal/journal.h"
#include "core/journal/log/wal.h"
#include "core/journal/op.h"
#include "core/journal/store/object.h"
#include "core/journal/post/chain.h"
#include "core/journal/step/known.h"
#include "core/journal/store/names.h"
#include "core/journal/store/numbers.h"
#include "core/journal/post/net.h"
#include "core/journal/post/post.h"
#include "core/journal/log/intent.h"
#include "core/journal/store/stream.h"
#include "core/journal/step/touch.h"

/* ---- directories that were renamed (moves.c) --------------------------------------------------
 */

struct move { /* of a directory */
	uint64_t seq;
	int root, root2;
	char *from, *to;
	bool both; /* they changed places */
};

struct moves {
	struct move *list;
	size_t n;
};

void moves_add(struct moves *m, const struct wal *log);
/* Only those that the rollback which wrote the log has made. */
void moves_add_made(struct moves *m, const struct wal *log);
void moves_sort(struct moves *m); /* after the last of these */
void moves_done(struct moves *m);
/* A path right after record seq: where it lies now. *path is a heap string. True: elsewhere. */
bool moves_touch(const struct moves *m, int root, const char *path); /* it lies in one of them */
bool moves_follow(const struct moves *m, uint64_t seq, int *root, char **path);
/* The other way: what lies at a path now, and where that was right after record seq. */
void moves_back(const struct moves *m, uint64_t seq, int *root, char **path);

/* ---- the store (store.c) ----------------------------------------------------------------------
 */

struct root {
	char *path;
	int fd; /* -1 until it is used */
};

#define STATE_MAGIC "cordonS1"

struct state { /* the file "state" */
	char magic[8];
	uint64_t next_seq;
	uint64_t next_id;
	uint64_t reserved_seq; /* numbers below it may have been given */
	uint64_t boot;	       /* of the machine, when the store was last found in order */
	uint64_t tidied;       /* steps of lower numbers have nothing left to be compressed */
	uint64_t session_us; /* when the last session began (wall clock) that may have left steps */
	uint64_t spare[1];
};

struct writer {		 /* an inode that was opened for writing and may still be */
	uint64_t key[2]; /* dev, ino */
	int64_t btime_ns;
	char **names; /* "<root>/path", the newest last; some may not be there now */
	size_t n_names;
	bool shut; /* nobody writes any more; it leaves the list when no event is queued */
	struct writer *prev_shut, *next_shut; /* in journal.shut */
	UT_hash_handle hh;
};

struct tidy;

struct journal {
	char *folder, *store_path, *state_dir;
	struct journal *kin; /* ring of the session's journals, the first one opened is first */
	uint64_t session_us; /* when the first of the ring was opened (wall clock) */
	bool dull;	     /* tmpfs: a write through a mapping changes no time */
	bool read_only;
	bool inside;   /* the store lies in the folder */
	bool told_off; /* that nothing is recorded was said */
	struct journal_options options;
	bool rebooted;	     /* since the store was last open: the disk may lack what came last */
	struct tidy *tidy;   /* the thread, or NULL */
	char *news;	     /* for journal_news() */
	int64_t evict_below; /* steps of a rollback under way begin here; 0: none */
	bool doomed; /* what can be redone goes when the step that is being committed is kept */
	bool stuck;  /* a rollback went neither forth nor back: nothing else until it does */
	dev_t store_dev;
	ino_t store_ino;
	int store, lock;
	int state_fd;
	int room;	     /* the file "room", see room.c */
	bool room_short;     /* it is not as large as it should be */
	struct state *state; /* what the file says, but for the numbers given since */
	bool ids_given;	     /* that the file does not know of */
	struct root *roots;
	int n_roots;
	uint64_t dirs_turn; /* how often a directory got another name */
	struct names own;   /* changed by ourselves a moment ago (whose.c) */
	bool owning;
	uint64_t dir_moves;
	struct step *open;	/* list, newest first */
	struct writer *writers; /* hash */
	struct writer *shut;	/* list, of them */
	size_t writers_enough;	/* from here on those that are shut leave it (writer.c) */
	struct trails *trails;	/* for reading the past (trail.h), or NULL */
	/* the parent directory that was resolved last */
	int near_root, near_fd;
	char *near_path;
	char *near_gone; /* for spot_look() alone */
};

/* journal_open(), perhaps without finishing what a dead process left. */
int store_open(struct journal **ret, const struct journal_spec *spec, bool recover,
	       size_t *ret_recovered, struct err *err) MUST_USE;

/* The log of a step that has ended, to be read only. */
int log_look(const struct journal *j, struct wal *log, int dirfd, const char *name) MUST_USE;

/* kin.c */
void kin_join(struct journal *j, struct journal *first); /* behind the last of first's ring */
void kin_leave(struct journal *j);
/* The journal of that folder: 0, one of j's kin; 1, opened now: the caller closes it. */
int kin_get(struct journal *j, const char *folder, bool recover, struct journal **ret,
	    struct err *err) MUST_USE;

/* The next number. store_seq_keep() sees to it that none is given twice, come what may: before a
 * record has one. */
uint64_t store_seq(struct journal *j);
int store_seq_keep(struct journal *j) MUST_USE;
/* state.c */
int state_load(struct journal *j) MUST_USE;
int state_save(struct journal *j) MUST_USE;
void state_leave(struct journal *j); /* at the end, while the lock is held */
void root_add(struct journal *j, const char *path);
int roots_load(struct journal *j) MUST_USE;
int store_root_fd(struct journal *j, int root);
void store_forget_near(struct journal *j);
int store_drop_undone(struct journal *j, const char *dir) MUST_USE; /* to trash/; its images stay */
/*
 * What can be redone goes when a step is kept (stale.c): announced before that is decided, in j and
 * all its kin (sets j->doomed where there is something), done after. Settle: a process died in
 * between.
 */
int redo_doom(struct journal *j, const struct step *by) MUST_USE;
int redo_end(struct journal *j) MUST_USE;
int redo_settle(struct journal *j) MUST_USE;
/* Those that were undone before a step began that is kept now, in j and its kin. */
int stale_drop(struct journal *j) MUST_USE;
bool store_empty_trash(struct journal *j);	      /* false: there was nothing in it */
int store_trash(struct journal *j, const char *name); /* move a directory of the store there */
/* Names of a directory's entries, sorted by number; heap array of heap strings. */
int store_names(const struct journal *j, const char *dir, char ***ret, size_t *ret_n) MUST_USE;
void store_names_free(char **names, size_t n);
int store_open_dir(const struct journal *j, const char *name) MUST_USE; /* below the store */

/* ---- limits (limits.c) ------------------------------------------------------------------------
 */

void journal_say(struct journal *j, const char *fmt, ...) PRINTF_LIKE(2, 3);
uint64_t store_holds(const struct journal *j); /* bytes */
int store_fit(struct journal *j) MUST_USE;     /* into the limits */
/* After an error: did the oldest step make room? Then it is worth trying again. */
bool store_relieve(struct journal *j, int why);
int64_t step_ended(const struct journal *j, const char *dir); /* wall clock */
uint64_t obj_weight(const struct obj *o);
struct held { /* the file "held" of a kept step */
	uint64_t bytes;
	bool packed;	 /* whatever was worth it */
	uint64_t *slots; /* with copies; heap */
	size_t n;
};
int held_write(int stepdir, const struct held *h) MUST_USE;
int held_read(int stepdir, struct held *h) MUST_USE;

/* ---- when nobody waits (tidy.c) ---------------------------------------------------------------
 */

/* Between these two no kept step changes by itself. Hold may be called again before release. */
void tidy_hold(struct journal *j);
void tidy_release(struct journal *j);
void tidy_end(struct journal *j);  /* the thread */
void tidy_once(struct journal *j); /* one pass, in this thread */

/* The directory of a step, kept or undone. */
/* What one store knows of a step; journal_changes() asks all of the session's. */
int history_changes(struct journal *j, int64_t id, struct change **ret, size_t *ret_n,
		    struct err *err) MUST_USE;
int history_find(struct journal *j, int64_t id, bool *undone, struct err *err) MUST_USE;

/* A place beneath a root, resolved without following anything. */
struct spot {
	int fd;		  /* O_PATH of the parent; borrowed until the next spot_find() */
	const char *name; /* points into the path; "" is the root itself */
};
/* -ENOENT, -ENOTDIR, -ELOOP: the parent is not there, or not a directory any more. */
int spot_find(struct journal *j, int root, const char *path, struct spot *ret) MUST_USE;
/* 0 also when the path or its parent is not there (o->mode 0) or out of reach. Remembers one parent
 * that is not: store_forget_near() before and after a series of looks between which nothing is
 * made. */
int spot_look(struct journal *j, int root, const char *path, struct spot *at, struct obj *o)
	MUST_USE;

/* ---- space set aside (room.c) -----------------------------------------------------------------
 */

void room_open(struct journal *j);
void room_refill(struct journal *j);
/* -ENOSPC, -EDQUOT: so much is not to be had. */
int room_need(struct journal *j, off_t size) MUST_USE;
/* When the error is a lack of space: give back what was set aside. True: try again. */
bool room_give(struct journal *j, int why);

/* ---- mode bits that are lent for the length of a call (bits.c) ------------------------------
 */

/* -EACCES: it is not ours. *was: for bits_return(), soon and in this thread. */
int bits_borrow(struct journal *j, int fd, mode_t bits, mode_t *was) MUST_USE;
int bits_return(struct journal *j, int fd, mode_t was) MUST_USE;
/* Give back what a process had borrowed that died: before anything in the folder is looked at. */
int bits_settle(struct journal *j) MUST_USE;

/* ---- a log that grows (side.c) ----------------------------------------------------------------
 */

struct seen { /* a directory whose times are kept */
	char *path;
	UT_hash_handle hh;
};

struct side {
	struct journal *j;
	bool unsynced; /* records were added */
	bool loose;    /* such that are on the disk as intents only */
	struct intents intents;
	struct wal log;
	int dir;	/* the step's directory */
	int obj;	/* its objects */
	unsigned flags; /* that each record gets for the moment */
	bool told;	/* that not everything could be set back */
	struct seen *seen;
	uint64_t seen_turn; /* of the journal, when it was filled */
};

#define SIDE_NONE                                                                                  \
	{                                                                                          \
		.intents = {.recs = BUF_INIT}, .log = WAL_NONE, .dir = -1, .obj = -1               \
	}

struct kept {		 /* how a content was kept */
	bool clone_only; /* asked for: -EOPNOTSUPP rather than a copy */
	bool cloned;
	uint64_t slot;	/* 0: in the log */
	uint64_t bytes; /* of the copy */
};

/* ---- onto the disk (sync.c): nothing is done unless the journal is durable --------------------
 */

int side_sync(struct side *s) MUST_USE; /* its records */
/* The same for the operation whose records begin at mark, or -JOURNAL_WAITS: cut the log there. */
int step_sync(struct step *s, size_t mark) MUST_USE;
/* The same before something is made in a directory, if that is needed. */
int step_sync_in(struct step *s, int dirfd, size_t mark) MUST_USE;
int step_sync_parts(struct step *s) MUST_USE;
int sync_fd(const struct journal *j, int fd) MUST_USE;
int sync_all(struct journal *j) MUST_USE;	  /* all that the folder and the store hold */
int sync_names(const struct journal *j) MUST_USE; /* the store's directories */
void boot_begin(struct journal *j);		  /* sets j->rebooted */
int boot_settled(struct journal *j) MUST_USE;

void slot_name(char out[24], uint64_t slot);
/* Make the slot's file with these bytes (again, if need be). */
int slot_fill(struct side *s, uint64_t slot, struct span bytes) MUST_USE;
int side_push(struct side *s, struct rec *r) MUST_USE; /* sets r->seq */
/* Keep the times of a directory before its first change. path is the directory's. */
int side_touch_dir(struct side *s, int root, int dirfd, const char *path) MUST_USE;
/* A directory has another name: what is at a path may be another one. For all sides. */
void side_forget_dirs(struct side *s);
void side_done(struct side *s);
/* Copy content and metadata of a regular file into a new slot; -ENOENT etc. change nothing. */
int side_keep_content(struct side *s, int root, const char *path, int dirfd, const char *name,
		      uint64_t ino, uint64_t src, struct kept *kept) MUST_USE;
int side_keep_meta(struct side *s, int root, const char *path, int fd, uint64_t src) MUST_USE;

/* ---- an open step (step.c) --------------------------------------------------------------------
 */

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
	uint64_t held;		   /* bytes of its objects */
	uint64_t *copies, *clones; /* slots with the content of a file */
	size_t n_copies, n_clones;
	bool made;     /* its directory exists: something was recorded */
	bool moved;    /* a directory has another name now */
	bool tangled;  /* a step that ran at the same time touched the same */
	bool again;    /* some inode is written by a process of an earlier step */
	bool may_wait; /* see JOURNAL_WAITS */
	step_on_loss on_loss;
	void *on_loss_data;
	struct known_set known;
	struct touches touches;
	struct alias *aliases; /* hash, see alias.c */
};

int step_make(struct step *s) MUST_USE; /* its directory, before the first record */
/* What the first record says: id, kind, begin, command (heap). False: it is not there. */
bool step_read_head(const struct wal *undo, struct step_info *ret);
void step_drop(struct step *s); /* out of its journal's list and its ring; frees it */
/* Is this change to be captured, with so many bytes? False: the step is unprotected, perhaps from
 * this change on; then perform it and record nothing. */
bool step_protects(struct step *s, const char *op, const char *path, uint64_t bytes) MUST_USE;
bool step_has_room(const struct step *s, uint64_t bytes);
void step_holds_more(struct step *s, uint64_t bytes);
void step_unprotect(struct step *s, const char *op, const char *path);
uint64_t step_limit(const struct journal *j); /* 0: none */
int held_note(struct step *s) MUST_USE;	      /* at its commit */
/* Join the words of a REC_MARK to *why. False: they are there already. */
bool mark_join(char **why, const char *words);
/* Which of the files that are or were open for writing still are? True: one of this step's. */
bool step_prune_writers(struct step *s);
/* Files that a process of an earlier step still writes: from now on that belongs to this one. */
int step_keep_writers(struct step *s, struct err *err) MUST_USE;
struct known *step_known(const struct step *s,
			 const struct obj *o); /* until the next step_learn() */
struct known *step_learn(struct step *s, const struct obj *o, unsigned flags);
void step_unlearn(struct step *s, const struct obj *o); /* the inode dies */
/* Does another open step hold records about this inode? */
bool step_shared(const struct step *s, const struct obj *o);
/* It has got another name in this step, besides this one. (alias.c) */
void alias_note(struct step *s, const struct obj *o, int root, const char *path);
/* It was changed: by that name as well. */
void alias_use(struct step *s, const struct obj *o);
void aliases_free(struct step *s);
/* The object at that path is about to lose its name, its content, its place: may it? */
int step_lose(struct step *s, enum loss what, int root, const char *path, const struct obj *o)
	MUST_USE;
bool step_touch(struct step *s, int root, const char *path, const struct obj *before);
void step_dress(struct step *s, int root, const char *path); /* after step_touch() */
/* Steps that run at the same time and touch the same paths make no sense without each other: none
 * of them is dropped, though what it did alone may come to nothing. */
void step_tangle(struct step *s);
/* It is about to be rolled back: the others have kept what was its work. */
void step_untangle(struct step *s);
void step_free(struct step *s);
void own_step(struct step *s); /* its paths, while that is asked for */
/* Content and metadata of an existing file are about to change. */
#define STEP_FULL 1 /* its limit leaves no room for that content: nothing was done */
int step_try_content(struct step *s, int root, const char *path, int dirfd, const char *name,
		     const struct obj *o) MUST_USE;
int step_keep_content(struct step *s, int root, const char *path, int dirfd, const char *name,
		      const struct obj *o) MUST_USE;
void writer_add(struct journal *j, const struct obj *o, int root, const char *path);
struct writer *writer_find(struct journal *j, const struct obj *o);
/* It has this name too, where that was before: for the open steps that have it as well. */
void writer_named(struct journal *j, const struct obj *o, int root, const char *path,
		  const struct obj *before);
/* Everything below a directory that has another name now. */
void writers_moved(struct journal *j, int root, const char *from, int root2, const char *to);
/* One of its several names goes: is there another below the root? Looks for it. False: too much to
 * look at. */
bool writer_seek(struct journal *j, struct writer *w, int root, const char *path);
void writer_gone(struct journal *j, const struct obj *o); /* its last name was removed */
/* Nobody writes to it any more, and it left the list for that; true once. */
bool writer_was_shut(struct journal *j, const struct obj *o);
/* Nobody writes to it any more, but an event may be queued that tells so. */
void writer_shut(struct journal *j, struct writer *w);
void writer_drop(struct journal *j, struct writer *w);
/* A step has ended whose files are still written: that belongs to the steps that run, from now on.
 */
void writers_pass_on(struct journal *j);
void writers_drop(struct journal *j);

/* ---- one step in several folders (parts.c)
 * --------------------------------------------------------- */

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

/* ---- summaries and post-images (post.h) -------------------------------------------------------
 */

struct summary {
	struct step_info info;
	bool partial; /* of a step whose recovery was interrupted: changes may be missing */
	struct change *changes;
	size_t n;
};

/* The newest of several steps that has a path, by their places in a list, newest first. */
struct hands {
	struct names names;
	size_t *ends; /* how many names there are up to each place */
};
void hands_note(struct hands *h, size_t place, const struct names *names); /* place by place */
/* Of `names`, of the step at that place: what a newer one has as well, perhaps by a directory. */
void hands_find(const struct hands *h, size_t place, const struct moves *moves,
		const struct names *names, struct names *ret);
void hands_done(struct hands *h);
/* Paths of other steps' images that lie in directories which moved: under both names. */
int post_moved(struct journal *j, const struct moves *m, struct names *add) MUST_USE;
int summary_write(struct journal *j, int stepdir, const struct step_info *info, bool partial,
		  const struct nets *nets) MUST_USE;
/* The number of the moment at which it was written: the end of the step. */
int summary_seq(int stepdir, uint64_t *ret) MUST_USE;
int summary_load(int stepdir, bool with_changes, struct summary *ret) MUST_USE;
/* Without the changes, which fn is told one by one; they are borrowed. */
int summary_read(int stepdir, struct summary *ret,
		 void (*fn)(void *data, const struct summary *s, const struct change *c),
		 void *data) MUST_USE;
void summary_done(struct summary *s);
void change_side_set(struct change_side *c, const struct obj *o);

/* ---- what several steps did to a path (fate.c) -------------------------------------------------
 */

struct fate {
	struct change_side before, after;
	bool seen;
	bool tangled; /* steps overlapped, a file had several names: it may not be the whole */
	char *renamed_from;
};

struct fates {
	struct names keys; /* number i: that of list[i] */
	struct fate *list;
	size_t cap;
};

/* Steps are added newest first, change by change. tangled: others were at its path, or its old one,
 * at the same time. */
void fates_tangle(struct fates *f); /* all that are there */
void fates_add(struct fates *f, const struct change *c, bool tangled, bool old_tangled);
const struct fate *fates_find(const struct fates *f, const char *key); /* or NULL */
void fates_done(struct fates *f);
bool sides_equal(const struct change_side *a, const struct change_side *b);

/* ---- settling conflicts (skip.c, merge.c, remedy.c) -------------------------------------------
 */

/* Directories of steps below the store, e.g. "steps/12". */
struct group {
	char **dirs;
	size_t n;
};
void group_done(struct group *g);

struct emptied { /* what a rollback will go through */
	const struct group *dirs;
	const struct wal *logs; /* of each, the one that will be emptied */
	const struct moves *moves;
	const struct chains *chains;
};

/* What is left out so that the paths in *left stay as they are; those that hang together with them
 * are added there. */
void skip_build(struct journal *j, const struct emptied *e, struct names *left,
		struct numbers *ret);
/* Will a regular file lie there when nothing was left out? In doubt it will not. (outcome.c) */
bool outcome_is_file(struct journal *j, const struct emptied *e, int root, const char *path);

struct merged { /* a file that gets its content after the rollback */
	int root;
	char *now, *path; /* its name before, and when it is done */
	struct buf mine, text;
	bool clean;    /* without conflict markers */
	mode_t mode;   /* somebody else's, with its type; or 0 */
	uint64_t slot; /* of the newest step */
};

struct remedy {
	struct numbers skips; /* records that are left out */
	struct merged *merges;
	size_t n_merges;
	/* Every path in conflict: replaced, so that the way back brings it; and left where it is.
	 */
	struct names mine, kept;
};

/* As lines of a text, and back: 1, or 0 for a line of another kind. */
void remedy_put(struct buf *b, const struct remedy *m);
int remedy_get(const char *line, struct remedy *m) MUST_USE;

void remedy_done(struct remedy *m);
void merged_done(struct merged *m);
/* Fill in the barriers that the plan crosses. */
int barriers_crossed(struct journal *j, struct undo_plan *p) MUST_USE;
/* The changes of the plan's steps, in the order of the rollback. */
struct story {
	struct summary *sums;
	size_t n;
	bool redo;
};
int story_load(struct journal *j, const struct undo_plan *p, struct story *ret) MUST_USE;
void story_done(struct story *s);
/* 0: *ret is made; 1: it cannot be had, *why says it. */
int merge_make(struct journal *j, const struct story *s, int root, const char *path,
	       struct merged *ret, const char **why, struct err *err) MUST_USE;
/* The fate of each conflict of the plan, and what it takes. */
int remedy_find(struct journal *j, struct undo_plan *p, const struct emptied *logs,
		struct remedy *ret, struct err *err) MUST_USE;

/* ---- applying a log backwards (apply.c, undo.c) -----------------------------------------------
 */

/* Undo the last record of from and keep the way back in to. 1 done, 0 from is empty. */
int apply_pop(struct side *from, struct side *to) MUST_USE;
/* Leave the last record of from out: it only changes sides. idle: one that was left out before, and
 * is again. */
int apply_skip(struct side *from, struct side *to, bool idle) MUST_USE;
/* The slot's file (of either side) takes the place of the regular file at path, dressed like it. */
int apply_merged(struct side *to, const struct merged *m) MUST_USE;
/* After a crash: the newest record may be logged but not performed. forward: from is the log of a
 * step that was still open. */
int apply_settle(struct side *from, struct side *to, bool forward) MUST_USE;

/* The plan for these steps of one store, of the same kind and flags as `like`; and what it takes.
 */
int plan_store(struct journal *j, const struct group *dirs, const struct undo_plan *like,
	       struct undo_plan **ret, struct remedy *remedy, struct err *err) MUST_USE;
/* Finish what a dead process left: rollback file, open steps. */
int undo_recover(struct journal *j, size_t *ret_paths, struct err *err) MUST_USE;
/* Try again what neither went on nor back (a full disk, say); no step may begin before. */
int undo_unstick(struct journal *j, struct err *err) MUST_USE;
/* Roll one open step back into redo/; us: of the rollback, for all parts the same. */
int undo_open_step(struct journal *j, const char *dir, uint64_t us, struct err *err) MUST_USE;
/* Paths that the steps of the group (logs: the sides that will be emptied) have in common with one
 * that stays and that had not ended when they began. (overlap.c) */
int overlap_find(struct journal *j, const struct group *group, const struct wal *logs,
		 struct names *ret) MUST_USE;
uint64_t overlap_began(const struct wal *undo); /* as a number of the store; 0: not known */
#define ROLLBACK_FILE "rollback"
#define JOINT_FILE    "joint" /* of one in several stores */
