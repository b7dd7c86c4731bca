/* store - a folder's store: its state, numbers, directories and limits; places in the folder. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "core/base/hash.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/placed.h"
#include "core/journal/history/rename_tree.h"
#include "core/journal/journal.h"

struct numbers;
struct step;
struct tidy;
struct trails;
struct writer;

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
	uint64_t roots;	     /* the highest number of one, even if the file "roots" has lost it */
};

struct journal {
	char *folder, *store_path, *state_dir;
	struct journal *sibling; /* ring: the session's journals, in the order of its folders */
	uint64_t session_us;	 /* when the first of the ring was opened (wall clock) */
	bool in_memory;		 /* the store lies on tmpfs */
	bool read_only;
	bool inside;	    /* the store lies in the folder */
	bool fresh;	    /* it was made just now */
	bool reported_off;  /* that nothing is recorded was said */
	bool reported_full; /* that there is no room, too */
	struct buf unnoted; /* edits that no step's file could take: see step_note_edit() */
	bool urgent;	    /* journal_news() has something for who looks at no console */
	struct journal_options options;
	bool (*guards)(void *data, const char *path, mode_t type); /* see journal_spec */
	const struct journal_saves *saves;			   /* or NULL */
	void *guards_data;					   /* of both */
	bool lasting, full;		/* see journal_spec and journal_is_full() */
	size_t at_start;		/* steps that were there when the session began */
	size_t n_kept;			/* now; of a session alone, as is holds */
	uint64_t holds;			/* store_holds() */
	bool reported_fresh;		/* that a name has a new file was said in this rollback */
	const struct numbers *excluded; /* records that the rollback under way leaves out */
	bool rebooted;	     /* since the store was last open: the disk may lack what came last */
	struct tidy *tidy;   /* the thread, or NULL */
	char *news;	     /* for journal_news() */
	int64_t evict_below; /* steps of a rollback under way begin here; 0: none */
	bool doomed;	     /* redo/ will be emptied if the commit in progress succeeds */
	struct borrowed *borrowed; /* hash, while a rollback is under way (borrowed_dirs.h) */
	bool mended;		   /* opening it recovered a step or an undo of a dead process */
	bool stuck; /* a rollback could be neither finished nor reverted: no step may begin */
	dev_t store_dev;
	ino_t store_ino;
	int store, lock;
	int state_fd;
	int room;	     /* the file "room", see reserve.c */
	unsigned spares;     /* inodes set aside, likewise */
	bool room_short;     /* it is not as large as it should be */
	struct state *state; /* what the file says, but for the numbers given since */
	bool ids_given;	     /* that the file does not know of */
	struct root *roots;
	int n_roots;
	uint64_t dirs_turn; /* how often a directory got another name */
	struct names own;   /* changed by ourselves a moment ago (attribution.c) */
	bool owning;
	struct placed placed; /* of a rollback under way, or while owning */
	uint64_t dir_moves;
	struct step *open;	    /* list, newest first */
	struct writer *writers;	    /* hash */
	struct rename_tree carried; /* directories that moved while there were some */
	struct writer *shut;	    /* list, of them */
	uint64_t n_shut;	    /* that were put into it so far */
	struct writer *once;	    /* hash of them by name, and a name: expected_events.h */
	char *named;
	bool expects;	       /* that what it does itself is told, event by event */
	struct closed *closed; /* hash: no step that opened them runs (open_files.c) */
	size_t writers_enough; /* from here on those that are shut leave it (open_files.c) */
	struct trails *trails; /* for reading the past (path_index_lookup.h), or NULL */
	/* the parent directory that was resolved last */
	int near_root, near_fd;
	char *near_path;
	char *near_gone; /* for spot_look() alone */
};

/* journal_open(); recover: finish what a dead process left. */
int store_open(struct journal **ret, const struct journal_spec *spec, bool recover,
	       size_t *ret_recovered, struct err *err) MUST_USE;

/* siblings.c */
void siblings_join(struct journal *j, struct journal *first); /* behind the last of first's ring */
void siblings_leave(struct journal *j);
/* Raises all their next sequence numbers to the highest: the next record is the newest in each. */
void siblings_level(struct journal *j);
/* A new rollback, whose number is higher than all given so far, in each of them. */
struct roll siblings_roll(struct journal *j);
/* The journal of that folder. Returns 0 if it is one of j's ring, 1 if it was opened: the caller
 * closes it. */
int siblings_get(struct journal *j, const char *folder, bool recover, struct journal **ret,
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
void roots_level(struct journal *j);		    /* with the state, once both are there */
const char *root_path(struct journal *j, int root); /* NULL: there is no such number */
bool root_is_known(struct journal *j, int root);    /* it has a path, which is not lost */
int store_root_fd(struct journal *j, int root);
void store_forget_near(struct journal *j);
int store_drop_undone(struct journal *j, const char *dir) MUST_USE; /* to trash/; its images stay */
/* Until *stop, where there is one. False: there was nothing in it. */
bool store_empty_trash(struct journal *j, const atomic_bool *stop);
int store_trash(struct journal *j, const char *name); /* move a directory of the store there */
/* Names of a directory's entries, sorted by number; heap array of heap strings. */
int store_names(const struct journal *j, const char *dir, char ***ret, size_t *ret_n) MUST_USE;
/* The highest number among those names, whatever its sign; 0 where there is none, or an error. */
int store_highest(const struct journal *j, const char *dir, uint64_t *ret);
void store_names_free(char **names, size_t n);
int store_open_dir(const struct journal *j, const char *name) MUST_USE; /* below the store */
bool store_is_made(int store);	 /* it has, or had, a history */
const char *store_advice(int r); /* "", or what to do where -EBADMSG says that it is damaged */
/* Its lock, to be closed; or -EBUSY, and words with the process that has it, and what to do. */
int store_lock(int store, const char *path, const char *todo, struct err *err) MUST_USE;
/* All that a store holds goes; the caller has its lock. */
int store_clear(int store, const char *path, struct err *err) MUST_USE;

/* ---- limits (prune.c) ------------------------------------------------------------------------
 */

void journal_say(struct journal *j, const char *fmt, ...) PRINTF_LIKE(2, 3);
uint64_t store_holds(const struct journal *j);		       /* bytes */
uint64_t store_held(const struct journal *j, const char *dir); /* by a step's directory */
int store_fit(struct journal *j) MUST_USE;	 /* into the limits, or notes that it is full */
int store_fit_later(struct journal *j) MUST_USE; /* what goes stays in trash/ for the thread */
/* From now on: nothing goes by the limits. */
void store_hold(struct journal *j);
int store_grew(struct journal *j, int64_t id) MUST_USE; /* store_fit(), by that step */
/* After an error: is there room now? Then it is worth trying again. Steps that are kept make some
 * for a rollback alone (back), which has to end: what runs is refused instead, and nothing is lost.
 */
bool store_relieve(struct journal *j, int why, bool back);
uint64_t obj_weight(const struct obj *o);
struct held { /* the file "held" of a kept step */
	uint64_t bytes;
	bool packed;	 /* whatever was worth it */
	uint64_t *slots; /* with copies; heap */
	size_t n;
};
int held_write(int stepdir, const struct held *h) MUST_USE;
int held_read(int stepdir, struct held *h) MUST_USE;
uint64_t held_files(int stepdir); /* the step's own files: its logs, its images */

/* ---- when nobody waits (background.c)
 * ---------------------------------------------------------------
 */

/* Between these two no kept step changes by itself. Hold may be called again before release. */
void tidy_hold(struct journal *j);
void tidy_release(struct journal *j);
void tidy_end(struct journal *j);  /* the thread */
void tidy_once(struct journal *j); /* one pass, in this thread */

/* ---- places in the folder (roots.c) -------------------------------------------------------------
 */

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

/* ---- space set aside (reserve.c)
 * -----------------------------------------------------------------
 */

void room_open(struct journal *j);
void room_unmake(struct journal *j); /* the inodes' directory: the rest is a file */
void room_refill(struct journal *j);
/* -ENOSPC, -EDQUOT: so much is not to be had. */
int room_need(struct journal *j, off_t size) MUST_USE;
/* The logs of the steps that run have grown: the same. */
int room_follow(struct journal *j) MUST_USE;
/* When the error is a lack of space: give back what was set aside. True: try again. */
bool room_give(struct journal *j, int why);
/* A part of it for what runs, until it is set aside anew: to remove something costs a record. */
bool room_lend(struct journal *j, int why);

/* ---- mode bits that are lent for the length of a call (borrow_mode.c)
 * ------------------------------
 */

/* -EACCES: it is not ours. *was: for bits_return(), soon and in this thread. */
int bits_borrow(struct journal *j, int fd, mode_t bits, mode_t *was) MUST_USE;
int bits_return(struct journal *j, int fd, mode_t was) MUST_USE;
/* Give back what a process had borrowed that died: before anything in the folder is looked at. */
int bits_settle(struct journal *j) MUST_USE;

/* ---- onto the disk (durability.c): nothing is done unless the journal is durable
 * --------------------
 */

int sync_fd(const struct journal *j, int fd) MUST_USE;
int sync_all(struct journal *j) MUST_USE;	  /* all that the folder and the store hold */
int sync_names(const struct journal *j) MUST_USE; /* the store's directories */
void boot_begin(struct journal *j);		  /* sets j->rebooted */
int boot_settled(struct journal *j) MUST_USE;
