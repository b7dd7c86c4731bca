/* command - what a human calls a command: its processes, its label, and its step. */
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

struct word { /* of a pipeline */
	struct word *next;
	int pid;
	bool sets_up; /* the text says how a command is prepared, not which */
	struct buf text;
};

#define GUARD_FREE_STEP 1 /* for that step; else GRANT_OF_LINE is set */

/* What a command's step has taken away (safeguard.c). */
struct guard {
	size_t count[LOSS_KINDS];
	uint64_t free[LOSS_KINDS]; /* by which answer all of them are allowed; 0: by none */
	bool raised;		   /* the step keeps what is beyond its limits */
	uint64_t beyond;	   /* bytes of what was held for that */
	char *was[LOSS_KINDS][GUARD_SAMPLES]; /* but of LOSS_DELETE: */
	struct guard_path *gone;	      /* deleted, and not made anew: a hash */
	/* While it is held: */
	struct question *asked;
	enum loss what; /* that reached its limit */
	int pid;
	char *line;		    /* what "this command line" means; NULL: cannot be remembered */
	char *would[GUARD_SAMPLES]; /* paths of the first calls that wait */
	char *ops[GUARD_SAMPLES];
	size_t n_would;
	int64_t tell_at, deny_at; /* monotonic, 0: never */
	/* Once it is refused: */
	bool doomed;
	enum guard_why why;
	size_t dying; /* processes that must be gone before it is rolled back */
};

/* What a human calls a command, and its step once something changed. */
struct command {
	struct command *prev, *next;
	enum step_kind kind;
	size_t refs;   /* processes that belong to it */
	size_t direct; /* those of them that end it */
	int pid;       /* the newest of those: its exit status is the command's */
	int group;     /* process group that may still join (a pipeline), or 0 */
	bool named;    /* label comes from an exec */
	bool renamed;  /* by an exec after one whose text is not shown */
	bool forked;   /* its own processes have made others */
	bool whole;    /* the one step of the whole run, or a group: no process ends it */
	bool driven;   /* a group that only the agent itself ends: see group.c */
	bool lingers;  /* files of a step that was rolled back are still written: it waits for that
			*/
	bool folds;    /* the rest of the session, since the history is full */
	bool grouped;  /* while a group is open, what it changes belongs to that */
	struct buf label;
	struct word *words;	   /* what the label is made of, by pid */
	int64_t began_us;	   /* wall clock */
	int64_t boot_us;	   /* the same of CLOCK_BOOTTIME */
	int exit_status;	   /* -1: not known */
	int64_t quiet_at, last_at; /* monotonic; quiet_at 0: runs */
	struct step *step;	   /* its first part; NULL: nothing changed yet, or over */
	bool by_paths;		   /* the label is made of what it changes: step_name.c */
	bool inside;		   /* it has changed something in a working folder: */
	int64_t inside_at;	   /* when it did last */
	bool announced;		   /* WIRE_STEP_BEGIN was sent */
	int64_t announce_at;   /* changed something before its exec: wait for its name till then */
	bool over;	       /* committed: what its processes still do is its heir's */
	struct command *heir;  /* ambient; NULL: none now */
	struct command **slot; /* of an ambient one: what points to it until it is over */
	struct guard guard;
	struct grant *grants; /* of this step alone */
};

struct command *command_new(struct keeper *k, enum step_kind kind);
/* Processes may still point to it: then it stays, over, until the last of them has gone. */
void command_retire(struct keeper *k, struct command *c);
void command_free(struct keeper *k, struct command *c); /* nobody points to it */
