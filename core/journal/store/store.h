/* store - a folder's store: its state, numbers, directories and limits. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "core/base/hash.h"
#include "core/journal/journal.h"
#include "core/journal/store/placed.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/rename_tree.h"

struct u64_set;
struct step;
struct background;
struct session_pruning;
struct past;
struct open_file;
struct closed;

/* Functions of higher floors that the store calls; set by its opener
 * (rollback/open_recovered.c). */
struct store_hooks {
	off_t (*log_bytes)(const struct journal *j); /* returns the bytes of the open steps' logs */
	/* Makes room for a rollback by pruning a step. Returns false if there is none. */
	bool (*make_room)(struct journal *j);
};

struct root {
	char *path;
	int fd;	  /* -1 until it is used */
	bool own; /* a rollback changes it as it changes the folder (journal_add_root()) */
};

#define STATE_MAGIC "cordonS1"

struct state { /* the file "state" */
	char magic[8];
	uint64_t next_seq;
	uint64_t next_id;
	uint64_t reserved_seq; /* numbers below it may have been used */
	uint64_t boot;	       /* hash of the boot id when the store was last recovered */
	uint64_t tidied;       /* steps with lower numbers need no compression */
	/* When the last session began (wall clock) that may have left open steps. */
	uint64_t session_us;
	uint64_t roots; /* the highest root number, even if the file "roots" has lost it */
};

struct journal {
	const struct store_hooks *hooks;
	char *folder, *store_path, *state_dir;
	struct journal *sibling; /* ring: the session's journals, in the order of its folders */
	uint64_t session_us;	 /* when the first of the ring was opened (wall clock) */
	bool in_memory;		 /* the store lies on tmpfs */
	bool read_only;
	bool inside;	    /* the store lies in the folder */
	bool fresh;	    /* this opening created it */
	bool reported_off;  /* the message that nothing is recorded was given */
	bool reported_full; /* the message that the disk is full was given */
	/* edits that could not be written to a step's file: see step_note_edit() */
	struct buf unnoted;
	bool urgent; /* journal_news() has a message for users without a console */
	struct journal_options options;
	bool (*guards)(void *data, const char *path, mode_t type); /* see journal_spec */
	const struct journal_saves *saves;			   /* or NULL */
	void *guards_data;					   /* for the callbacks of both */
	int pid;						   /* for the messages of others */
	struct session_pruning *pruning;			   /* or NULL: session_limits.c */
	bool lasting, full;		/* see journal_spec and journal_is_full() */
	size_t at_start;		/* kept steps when the session began */
	size_t n_kept;			/* kept steps now; in a session only, like holds */
	uint64_t holds;			/* store_holds() */
	bool reported_fresh;		/* this rollback said that a name has a new file */
	const struct u64_set *excluded; /* records that the running rollback skips */
	/* Rebooted since the store was last open: the disk may lack the last writes. */
	bool rebooted;
	struct background *tidy;   /* the thread, or NULL */
	char *news;		   /* for journal_news() */
	int64_t evict_below;	   /* a running rollback needs the steps from this id on; 0: none */
	struct borrowed *borrowed; /* hash, during a rollback (borrowed_dirs.h) */
	bool mended;		   /* opening it recovered a step or an undo of a dead process */
	bool stuck; /* a rollback could be neither finished nor reverted: no step may begin */
	dev_t store_dev;
	ino_t store_ino;
	int store, lock;
	int claim; /* or -1: claim.h */
	int state_fd;
	int room;	     /* the file "room", see reserve.c */
	unsigned spares;     /* inodes set aside, likewise */
	bool room_short;     /* the reserve is smaller or larger than it should be */
	struct state *state; /* the file's content, and numbers used since */
	bool ids_given;	     /* step ids were used that the file lacks */
	struct root *roots;
	int n_roots;
	uint64_t dirs_turn;  /* how often a directory was renamed */
	struct path_set own; /* paths that rollbacks changed (attribution.c) */
	bool owning;
	struct placed placed; /* during a rollback, or while owning */
	uint64_t dir_moves;
	struct step *open;	    /* list, newest first */
	struct open_file *writers;  /* hash: files that may be open for writing */
	struct rename_tree carried; /* directories renamed while `writers` had entries */
	struct open_file *shut;	    /* list: the writers that are shut */
	uint64_t n_shut;	    /* files added to `shut` so far */
	struct open_file *once;	    /* expected events: hash of writers by name, and a name */
	char *named;
	bool expects;	       /* see journal_expect_events() */
	struct closed *closed; /* hash: files that closed after their step ended (open_files.c) */
	size_t writers_enough; /* from this number on, shut files leave `writers` */
	struct past *past;     /* for reading the past, or NULL */
	/* The parent directory that was resolved last. */
	int near_root, near_fd;
	char *near_path;
	char *near_gone; /* a parent that does not exist; for root_look() only */
};

/* Returns the next sequence number. Call store_seq_keep() before a record gets one: then no number
 * is used twice, even after a crash. */
uint64_t store_seq(struct journal *j);
int store_seq_keep(struct journal *j) MUST_USE;
int state_load(struct journal *j) MUST_USE;
int state_save(struct journal *j) MUST_USE;
void state_leave(struct journal *j); /* at the end, with the lock held */
void state_boot_settled(struct journal *j);
/* Empties trash/, until *stop (may be NULL) is set. Returns whether anything was removed. */
bool store_empty_trash(struct journal *j, const atomic_bool *stop);
int store_trash(struct journal *j, const char *name); /* moves a directory to trash/ */
/* Lists the names of a directory's entries, sorted by number. */
int store_names(const struct journal *j, const char *dir, struct names *ret) MUST_USE;
/* Sets *ret to the highest absolute number among those names; 0 if there is none, or on error. */
int store_highest(const struct journal *j, const char *dir, uint64_t *ret);
int store_open_dir(const struct journal *j, const char *name) MUST_USE; /* below the store */
bool store_is_made(int store);	 /* whether it has or had a history */
const char *store_advice(int r); /* advice for -EBADMSG, else "" */
/* What the lock's file has: the process, padded, and in the next line these words if its session
 * goes on for long (journal_stays()), else blanks. */
#define STORE_STAYS   "stays"
#define STORE_PID_LEN 21
/* Returns a descriptor that holds the store's lock, or -EBUSY; err names the process that has it,
 * and todo says what to do. */
int store_lock(int store, const char *path, const char *todo, struct err *err) MUST_USE;
/* Removes a store's content; the caller has its lock. */
int store_clear(int store, const char *path, struct err *err) MUST_USE;
/* Writes the name of an object in the directory obj/ of a step. */
void store_slot_name(char out[24], uint64_t slot);

#define ROLLBACK_FILE "rollback" /* of a store: the running transaction */
#define BESIDE_DIR    "beside"	 /* see history/pruned_concurrent.h */
