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

struct word { /* of a pipeline */
	struct word *next;
	int pid;
	bool sets_up; /* the text prepares a command, and is no command itself */
	struct buf text;
};

#define GUARD_FREE_STEP 1 /* for that step; else GRANT_OF_LINE is set */

/* Files that a step has deleted or overwritten (safeguard.c). */
struct guard {
	size_t count[LOSS_KINDS];
	uint64_t free[LOSS_KINDS];	      /* the answer that allows all of them; 0: none */
	bool raised;			      /* the step keeps old content beyond its limits */
	uint64_t beyond;		      /* bytes of the change that was held for that */
	char *was[LOSS_KINDS][GUARD_SAMPLES]; /* but of LOSS_DELETE: */
	struct guard_path *gone;	      /* deleted, and not made anew: a hash */
	/* While it is held: */
	struct question *asked;
	enum loss what; /* the kind of loss that reached its limit */
	int pid;
	char *line;		    /* the command line to remember; NULL: cannot be remembered */
	char *would[GUARD_SAMPLES]; /* paths of the first calls that wait */
	char *ops[GUARD_SAMPLES];
	size_t n_would;
	int64_t tell_at, deny_at; /* monotonic, 0: never */
	/* Once it is refused: */
	bool doomed;
	enum guard_why why;
	size_t dying; /* processes that must be gone before it is rolled back */
};

/* A command as the user sees it, and its step once it has changed a file. */
struct command {
	struct command *prev, *next;
	enum step_kind kind;
	size_t refs;   /* processes that belong to it */
	size_t direct; /* of these, the processes whose end ends the command */
	int pid;       /* the newest direct process: its exit status is the command's */
	int group;     /* process group that may still join (a pipeline), or 0 */
	bool named;    /* label comes from an exec */
	bool renamed;  /* by an exec after one whose text is not shown */
	bool forked;   /* its own processes have made others */
	bool whole;    /* the one step of the whole run, or a group: no process ends it */
	bool driven;   /* a group that only the agent itself ends: see group.c */
	/* Files of a step that was rolled back are still open for writing: the command waits for
	 * their writers. */
	bool lingers;
	bool folds;   /* several commands, since the history is full; ends at quiet_at */
	bool grouped; /* while a group is open, its changes belong to the group */
	struct buf label;
	struct word *words;	   /* parts of the label, by pid */
	int64_t began_us;	   /* wall clock */
	int64_t boot_us;	   /* the same of CLOCK_BOOTTIME */
	int exit_status;	   /* -1: not known */
	int64_t quiet_at, last_at; /* monotonic; quiet_at 0: runs */
	struct step *step;	   /* its first part; NULL: no change yet, or over */
	bool by_paths;		   /* the label lists the changed paths: step_name.c */
	bool inside;		   /* it has changed something in a working folder: */
	int64_t inside_at;	   /* time of the last such change */
	bool announced;		   /* WIRE_STEP_BEGIN was sent */
	int64_t announce_at;	   /* a change came before its exec: wait for its name till then */
	bool over;		   /* committed: later changes of its processes belong to `heir` */
	struct command *heir;	   /* ambient; NULL: none now */
	struct command **slot;	   /* of an ambient one: the pointer to it, until it is over */
	struct shell *shell;	   /* of the human's, whose command it is; NULL: the agent's */
	struct guard guard;
	struct grant *grants; /* of this step alone */
};

struct command *command_new(struct keeper *k, enum step_kind kind);
/* Makes the command one of the user's, of a program beside the agent; NULL is a no-op. */
void command_is_of(struct command *c, struct shell *sh);
/* Marks the command as over. It is freed with the last process that points to it. */
void command_retire(struct keeper *k, struct command *c);
void command_free(struct keeper *k, struct command *c); /* no process may point to it */
