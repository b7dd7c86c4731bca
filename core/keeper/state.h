/* state - the keeper's state that all its files share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>
#include <utlist.h>

#include "core/base/buf.h"
#include "core/base/hash.h"
#include "core/keeper/service.h"
#include "core/keeper/spec.h"

#define DOORS_MAX   6
#define LATE_MAX    8
#define SHELLS_WAIT 32 /* received frames WIRE_SHELL that were not served yet */

struct brokered;
struct command;
struct draft;
struct grant;
struct guard_line;
struct guest_ops;
struct lock;
struct outside;
struct proc;
struct question;
struct recent;
struct reload;
struct saves;
struct seen;
struct shell;
struct said;
struct source;
struct thread;
struct watch;
struct wish;

struct doorway { /* a door in the epoll set */
	struct keeper *keeper;
	struct source *source;
};

/* Functions of higher layers that lower layers call. keeper.c sets them. */
struct keeper_hooks {
	void (*process_seen)(struct keeper *k, struct proc *p); /* called at the first sight */
	void (*process_left)(struct keeper *k, struct proc *p); /* has ended; freed afterwards */
	/* A call has come: some drafts may be complete. */
	void (*calls)(struct keeper *k, const struct caller *c);
	void (*command_freed)(struct keeper *k, struct command *c);  /* called before it is freed */
	void (*command_doomed)(struct keeper *k, struct command *c); /* roll it back, retire it */
	int (*draft_open)(const struct wish *w, int flags, mode_t mode);
	int (*drafts_hold)(struct keeper *k, const struct caller *c); /* 0 or -FOLDER_HELD */
};

/* Counts of read decisions, for metrics. */
struct tallies {
	uint64_t checks, by_rule, by_answer, asked, crowded;
	uint64_t told; /* checks and crowded, as last reported to cordon */
	int64_t told_at;
};

struct folder {
	struct keeper *keeper;
	char *path;
	size_t path_len;
	int fd;
	struct journal *journal; /* its own; for a root above 0 the first folder's */
	int root;
	bool granted; /* outside the folders; the unconfined thread performs operations */
};

/* A protected file that had several names at the session's start. */
struct alias {
	dev_t dev;
	ino_t ino;
	char *path;
};

struct keeper {
	const struct keeper_hooks *hooks;
	struct keeper_spec *spec; /* WIRE_LIMITS may change limits */
	int sock, epoll;
	struct buf in, out;
	size_t out_sent;
	int handed[3 * SHELLS_WAIT]; /* descriptors of frames WIRE_SHELL, in order */
	size_t n_handed;
	bool urgent, out_watched;
	bool door_off;	     /* requests are not served for the moment */
	unsigned doors_shut; /* bits of doors that are closed for good */
	int64_t now;	     /* monotonic time of this turn of the loop */
	int64_t flush_at;
	struct source *graves, *watches;

	struct journal *journal; /* of the first folder; those of other folders are linked to it */
	struct policy *policy;
	struct draft *drafts; /* files without a name yet (draft.c) */
	size_t n_drafts;
	struct said *said;   /* reports about git's own files (review.c) */
	struct saves *saves; /* NULL: none (saves.c) */
	bool settling;
	bool pruned;	  /* nothing is left of journal_prune_on() */
	int64_t prune_at; /* monotonic */
	bool learned;	  /* policy_learn_more() has finished */
	/* Settings of git have changed with permission of the user: call policy_learn(). */
	bool relearn;
	struct folder **folders;
	size_t n_folders;
	struct alias *aliases;
	size_t n_aliases;
	struct outside *outside;
	const char *const *private; /* see keeper_set_private(); NULL: the default */
	struct lock *lock;	    /* undo.external = lock */
	struct buf path, path2;	    /* scratch buffers of folder.c */
	mode_t umask;		    /* of this process at present */
	mode_t agents_umask;	    /* umask at the start of the agent */

	struct reload *reload; /* rule files that change (reload.c); NULL: not watched */
	struct watch *watch;   /* external edits (watch.c); NULL: not watched */
	struct sandbox *sandbox;
	struct door *doors[DOORS_MAX];	    /* the first is the system calls' */
	struct doorway doorways[DOORS_MAX]; /* of the others */
	size_t n_doors;
	int64_t door_wake;	   /* 0: not planned */
	struct brokered *brokered; /* one of the doors; NULL: none */

	int late[LATE_MAX]; /* keeper_close_late() */
	size_t n_late;
	const struct guest_ops *guest; /* NULL: the processes inside are the host's */
	void *guest_data;
	size_t n_guests;	/* known processes of a guest */
	struct thread *threads; /* by tid */
	size_t n_threads;	/* leaders excluded */
	unsigned thread_fds;	/* number of open thread pidfds */
	int root_pid, agent_pid;
	int orphans;	  /* parent of orphans: pid 1 inside, or ORPHANS_* */
	bool agent_wraps; /* agent_pid only starts the real agent */
	bool agent_again; /* a script started it by its own name: `node codex` -> codex */
	struct buf agent_name;

	struct command *commands, *ambient, *strays, *whole;
	struct shell *shells;  /* of the user's, beside the agent (steps/shells.h) */
	struct command *fold;  /* the step of a full history; NULL: not full */
	struct command *group; /* `cordon step begin` (group.c); NULL: none is open */
	bool marked;	       /* the history has a mark for this session */
	struct proc *group_owner;
	uint64_t group_serial;
	bool agent_asks;    /* as last reported to cordon (hook_steps.c) */
	bool agent_rests;   /* the same for the end of its turn */
	bool hook_tells;    /* the hook of the agent reports prompts (hook_steps.c) */
	bool spoke;	    /* the user sent a line, and no prompt was reported after it */
	struct buf notices; /* lines for the agent that its hook has not fetched (hook_steps.c) */
	uint64_t n_notices;
	struct buf turn_prompt; /* of the turn; empty: unknown */
	int begin_error;	/* of the last journal_begin() */
	int64_t live_at;	/* when journal_live() is due; 0: no step is open */
	struct seen *seen;	/* refusals that were reported (events.c) */
	size_t n_seen;
	struct question *questions;
	size_t n_waiting, n_held;
	uint64_t last_question, last_grant;
	size_t looked; /* entries inspected in the second after looked_at (brought.c) */
	int64_t looked_at;
	struct grant *grants;
	struct recent *recent; /* sorted by last use, oldest first */
	struct tallies tallies;
	struct guard_line *guard_lines;

	bool launched;	     /* launch() returned */
	bool exited, failed; /* the agent has ended; it did not run */
	bool frozen;	     /* every change fails with EIO */
	bool quit, gone;     /* leave the loop; gone: cordon has ended */
	int wait_status;
};

/* Calls umask(2), and remembers the mask. */
static inline void keeper_umask(struct keeper *k, mode_t mask)
{
	if (k->umask != mask)
		umask(mask);
	k->umask = mask;
}
