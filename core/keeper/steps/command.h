/* command - a command as the user sees it: its processes, its label, and its step. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/journal/journal.h"
#include "core/keeper/approvals/guard_report.h"

#define LABEL_MAX 4096 /* bytes of a step's command */

struct grant;
struct guard_path;
struct keeper;
struct question;
struct shell;

struct word { /* part of a pipeline's label */
	struct word *next;
	int pid;
	bool sets_up; /* the text prepares a command and is not one itself */
	struct buf text;
};

#define GUARD_FREE_STEP 1 /* for that step; without it GRANT_OF_LINE is set */

/* Files that a step has deleted or overwritten (safeguard.c). */
struct guard {
	size_t count[LOSS_KINDS];
	uint64_t free[LOSS_KINDS];	      /* answers that allow all losses of a kind; 0: none */
	bool raised;			      /* the step keeps old content beyond its limits */
	uint64_t beyond;		      /* bytes of a change that they hold */
	char *was[LOSS_KINDS][GUARD_SAMPLES]; /* paths, except of LOSS_DELETE: */
	struct guard_path *gone;	      /* deleted, and not made again: a hash */
	/* While the step is held: */
	struct question *asked;
	enum loss what; /* the kind of loss that reached its limit */
	int pid;
	char *line;		    /* the command line to remember; NULL: cannot be remembered */
	char *would[GUARD_SAMPLES]; /* paths of the first calls that wait */
	char *ops[GUARD_SAMPLES];
	size_t n_would;
	int64_t tell_at, deny_at; /* monotonic, 0: never */
	/* After a denial: */
	bool doomed;
	enum guard_why why;
	size_t dying; /* processes that must end before the rollback */
};

/* A command as the user sees it, and its step once it has changed a file. */
struct command {
	struct command *prev, *next;
	enum step_kind kind;
	size_t refs;   /* its processes */
	size_t direct; /* of these, the processes that end the command when they end */
	int pid;       /* the newest direct process: its exit status counts */
	int group;     /* process group that may still join (a pipeline), or 0 */
	bool named;    /* the label is from an exec */
	bool renamed;  /* by the exec after a hidden set-up text */
	bool forked;   /* its own processes have children */
	bool whole;    /* the step of the whole run, or a group: no process ends it */
	bool driven;   /* a group that only the agent itself may end: group.c */
	/* Files of a step that was rolled back are still open for writing: the command exists until
	 * their writers have ended. */
	bool lingers;
	bool folds;   /* several commands, because the history is full; ends at quiet_at */
	bool grouped; /* its changes belong to the open group */
	struct buf label;
	struct word *words;	   /* parts of the label, by pid */
	int64_t began_us;	   /* wall clock */
	int64_t boot_us;	   /* the same on CLOCK_BOOTTIME */
	int exit_status;	   /* -1: unknown */
	int64_t quiet_at, last_at; /* monotonic; quiet_at 0: a process runs */
	struct step *step;	   /* its first part; NULL: no change yet, or over */
	bool by_paths;		   /* the label lists the changed paths: step_name.c */
	bool inside;		   /* it has changed a working folder */
	int64_t inside_at;	   /* time of the last such change */
	bool announced;		   /* WIRE_STEP_BEGIN was sent */
	int64_t announce_at;	   /* changed before its exec: latest time to announce */
	bool over;		   /* committed: later changes of its processes belong to `heir` */
	struct command *heir;	   /* ambient; NULL: none */
	struct command **slot;	   /* of an ambient one: the pointer to it while it is open */
	struct shell *shell;	   /* the user's shell that ran it; NULL: the agent's */
	struct guard guard;
	struct grant *grants; /* answers for this step alone */
};

struct command *command_new(struct keeper *k, enum step_kind kind);
/* Makes the command one of the user's, run by a program beside the agent; NULL is a no-op. */
void command_is_of(struct command *c, struct shell *sh);
/* Marks the command as over. It is freed when the last process that points to it has ended. */
void command_retire(struct keeper *k, struct command *c);
void command_free(struct keeper *k, struct command *c); /* no process may point to it */
