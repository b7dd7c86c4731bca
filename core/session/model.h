/* model - the state of one session as the user sees it: read-only for views, fed by session.c. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/approvals/guard_report.h"
#include "core/policy/answer.h"

/*
 * Life:    model_init() -> model_done(). Plain data; every string is owned by the model and raw
 *          (views escape it).
 * Threads: main loop.
 * Bounds:  MODEL_ROWS rows are kept in a ring, the rest is in the audit file; MODEL_ASKS asks.
 */
#define MODEL_ROWS  20000
#define MODEL_ASKS  1024
#define MODEL_GIVEN 1024 /* revocable answers and lasting rules, each */

#define ASK_TOGETHER_US 1000000 /* such requests of one program in one tree share a prompt */

/* The op of a row about a call with a replaced loopback address: text is the address in the call,
 * more is the new one. */
#define REWRITE_BIND	"bind-rewritten"
#define REWRITE_CONNECT "connect-rewritten"

enum row_kind {
	ROW_TOUCH,
	ROW_DENY,
	ROW_EXEC,
	ROW_ASK,
	ROW_DECISION,
	ROW_NOTE,
	ROW_EXTERNAL, /* edited outside the sandbox */
};

struct row {
	uint64_t seq; /* 1, 2, ... never reused */
	enum row_kind kind;
	int64_t wall_us;
	int64_t step;
	int pid;
	int parent; /* ROW_EXEC: pid of the process that started it; 0: unknown */
	int result;
	bool unasked;  /* ROW_DENY: there was no user to ask */
	bool expected; /* ROW_DENY: the agent's profile refuses it; the agent works without it */
	uint64_t ask;  /* ROW_DECISION: the question's number, then how long it is valid; else 0 */
	enum answer_scope scope;
	char *op;   /* "write", "unlink", "exec" */
	char *text; /* path, command or words */
	char *more; /* path2, a reason, or NULL */
};

struct step_row {
	int64_t id;
	enum step_kind kind;
	bool running, undone, incomplete;
	bool over;	/* undone, and redo cannot bring it back */
	bool earlier;	/* of an earlier session */
	bool elsewhere; /* it changed nothing in the working folders */
	bool granted;	/* struct step_info */
	bool gone;	/* removed to make room: it cannot be undone */
	int64_t began_us, ended_us;
	int exit_status;
	size_t paths; /* number touched; from the journal once the step is committed */
	size_t created, modified, deleted, renamed; /* of an ended step; all 0: not read yet */
	char *command;
	/* Names of the folders in which it is undone although it is kept elsewhere, or NULL. */
	char *undone_in;
};

struct ask {
	uint64_t id;
	/* Requests of one kind share a prompt if they come from one process and directory, from one
	 * program in one tree within a second, or belong to one bundle. Each has its own id for its
	 * answer; the oldest leads. Set by model_add_ask(). */
	uint64_t prompt;
	bool leads;
	int64_t step;
	int pid;
	int64_t since_us; /* monotonic */
	enum rule_kind kind;
	bool is_dir, secret;
	bool has_step;	      /* an answer can be for its step */
	bool no_dir, no_tree; /* a larger extent would allow too much */
	bool own;	      /* asked by session_ask(): no call waits */
	uint32_t timeout_s;   /* denied after this time; 0: never */
	bool call_only;	      /* the call was let go: an answer applies to the next attempt */
	char *op, *path, *program, *command, *reason;
	char *via;	       /* path as the program wrote it; "": the same */
	char *label;	       /* its step's command line, or "" */
	unsigned up;	       /* number of parent directories that an allowed tree may begin at */
	char *bundle, *places; /* a bundle of the profile and its paths, or "" */
	/* A step that a safeguard holds, instead of a request; else NULL. */
	struct guard_report *held;
};

/* An answer that stays in effect: a rule that can be revoked. */
struct given {
	uint64_t ask, rule; /* rule 0: the keeper has not reported it yet */
	enum rule_kind kind;
	struct answer answer;
	char *object; /* the object of the answer; a directory ends with '/' */
	char *words;  /* answers_words() */
	int64_t wall_us;
	bool over; /* revoked, or its step has ended */
	/* Files that processes still held open when it was revoked, in words; else NULL. */
	char *left;
};

/* A rule of a settings file, as it was when the session began. */
struct lasting {
	bool allow;
	char *words; /* "allow read ~/notes" */
	char *file;
	int line;
	char *name;   /* of its section */
	bool by_us;   /* written by an answer: the user can remove it */
	bool removed; /* removed from the file, but in force until the session ends */
};

/* A connection of the agent through the network gate. */
struct connection {
	uint64_t id;
	int64_t step;
	int pid;
	char *target;		    /* HOST:PORT, by name where it has one */
	char *addr;		    /* the dialled address */
	char *why;		    /* the rule that allowed it */
	char program[16];	    /* name of the process, which the agent can change at will */
	uint64_t sent, received;    /* bytes, by the agent */
	bool came;		    /* from the host, to a published port */
	int64_t began_us, ended_us; /* monotonic; ended_us 0: open */
};
#define MODEL_CONNECTIONS 1024 /* the oldest ended one makes room, else the oldest one */

/* Use of the sandbox in one second. */
struct usage_sample {
	double cpu;		/* percent of one core */
	uint64_t memory;	/* bytes, resident */
	unsigned processes;	/* counted up to USAGE_MAX_PROCESSES */
	uint64_t read, written; /* bytes of files, pipes and sockets, of live processes */
};
#define MODEL_SAMPLES 600

/* Counts of questions and reads, for the status view. */
struct decisions {
	uint64_t asked, allowed, denied, by_nobody; /* by_nobody: timed out, or too many waited */
	uint64_t looked;			    /* lookups of hidden names */
	uint64_t waited_us;			    /* total time until the user answered */
	uint64_t reads[TALLIES];		    /* as WIRE_TALLIES */
};

struct job { /* a running undo, redo or restore */
	enum undo_kind kind;
	uint64_t request;
	bool active, cancelled;
	uint64_t done, total;
	int result;
	char *words;
};

struct model {
	/* status */
	char backend[24], tier[24], session[32];
	bool network;	   /* the host's own, without questions */
	bool headless;	   /* no console is attached to a headless run, so no user can answer */
	bool unprompted;   /* the agent runs with its option for not asking */
	bool asks_network; /* each host is allowed, denied or asked about */
	char secrets[64];  /* names of network.secret in force; empty: none */
	bool undo_home;	   /* undo covers granted places as well */
	bool persists;	   /* answers can be written to settings files */
	bool started, exited;
	bool over;	  /* the keeper has ended, and the agent with it */
	int wait_status;  /* valid when exited */
	int64_t began_us; /* monotonic */
	double cpu_percent;
	uint64_t memory;	      /* bytes, of the sandbox */
	struct usage_sample *samples; /* ring of MODEL_SAMPLES, or NULL; model_sample() */
	uint64_t n_samples;	      /* samples since the start */
	const char *folder;
	char *home;
	char *own_offer; /* the profile for which session_own_settings() works; else NULL */
	char *command;	 /* the agent's command line */
	char *line;	 /* session_spec.line; it is never recorded */

	struct row *rows; /* ring */
	size_t row_head, row_count;
	uint64_t row_seq;
	uint64_t rows_dropped;

	struct step_row *steps; /* oldest first */
	size_t n_steps, cap_steps;

	struct turn_mark *turns; /* where turns and sessions begin, oldest first */
	size_t n_turns;
	uint64_t prompts;		 /* number in this session */
	char *prompt;			 /* words of the newest prompt; "" or NULL: unknown */
	bool agent_asks;		 /* in its own terminal */
	unsigned asks_changes;		 /* of agent_asks, to know one's own */
	bool hook_asks;			 /* the agent's hook tells so: its bell may mean anything */
	const struct reviewed *reviewed; /* session_reviewed(); NULL: not read yet */
	char *review_words;   /* the result of the newest piece that was taken or brought back */
	uint64_t review_said; /* number of such results */
	bool tells_rest;      /* the agent's hook or editor tells when its turn has ended */
	bool rests;	      /* its turn has ended */
	char *notices;	      /* lines that the agent has not been told yet, or NULL */
	size_t n_notices;
	uint64_t noticed;   /* number of lines since the start */
	bool hook_listens;  /* the agent's hook fetches them: it has done so before */
	int64_t printed_us; /* monotonic time of the agent's newest visible output; 0: none */

	struct barrier *edits; /* edits outside, between the steps; newest first */
	size_t n_edits;

	struct ask *asks; /* oldest first */
	size_t n_asks, n_prompts;

	struct given *given; /* oldest first */
	size_t n_given;
	uint64_t given_version; /* increased by each change of `given` */
	struct decisions decisions;
	/* Files that processes still held open when rules of files last removed access, in words;
	 * or NULL. */
	char *left;
	struct lasting *lasting; /* the nearest level first */
	size_t n_lasting;

	char *hosts;			/* hosts that profiles open, separated by commas, or NULL */
	struct connection *connections; /* oldest first */
	size_t n_connections;
	uint64_t net_version;		     /* increased by each change of connections */
	uint64_t bytes_sent, bytes_received; /* sum of all connections */
	struct offer {
		uint64_t seq; /* seq of the row that reports it */
		uint16_t port;
	} offers[64]; /* servers inside that can be published; a full list drops the oldest */
	size_t n_offers;

	struct job job;
	uint64_t undos;		/* undos, redos and restores so far */
	struct undo_plan *plan; /* the newest result of session_plan(), or NULL */
	uint64_t plan_request;
	int plan_refused_by; /* negative errno */
	char *plan_refused;  /* words, if the newest session_plan() was refused; else NULL */

	char *stopped;	    /* words about the last step that a safeguard stopped, or NULL */
	uint64_t n_stopped; /* number of such steps */

	uint64_t version; /* increased by each change, so that views repaint */
};

void model_init(struct model *m);
void model_done(struct model *m);
const struct row *model_row(const struct model *m, size_t i); /* 0: the oldest one */
struct row *model_add_row(struct model *m, enum row_kind kind, int64_t step, int pid, int result,
			  const char *op, const char *text, const char *more);
/* Adds a row for a program that runs. A search along $PATH, one call for each directory, is one row
 * with the last path tried; the audit log has them all. */
struct row *model_add_exec(struct model *m, int64_t step, int pid, const char *command,
			   const char *path);
struct step_row *model_step(struct model *m, int64_t id); /* NULL: unknown */
/* Returns whether a step changed nothing in the project, and was no command of the agent's. The
 * name decides if the step runs, or if no change is left of it. */
bool step_row_is_note(const struct step_row *s);
/* Removes notes from a list of steps, because a rollback leaves their files alone; a list of notes
 * stays as it is. Returns the new length. */
size_t model_drop_notes(const struct model *m, int64_t *ids, size_t n);
/* Returns the newest step of kind STEP_API, such as a restore, in effect, or NULL. */
const struct step_row *model_newest_restore(const struct model *m);
struct step_row *model_add_step(struct model *m, int64_t id, enum step_kind kind,
				const char *command, int64_t wall_us);
void model_remove_step(struct model *m, int64_t id);
/* Sets undone_in of the step of this number, if there is one. */
void model_set_undone_in(struct model *m, int64_t id, const char *folders);
/* Marks steps as the history lists them: the undone steps that redo can bring back, and the steps
 * in effect. A step that the history no longer has (the oldest make room, and a new step ends the
 * redo of others) keeps its state: undone, or in effect and gone. */
void model_set_undone(struct model *m, const struct step_info *redo, size_t n_redo,
		      const struct step_info *kept, size_t n_kept);
/* Sets the number of paths created, modified, deleted and renamed by each step. */
void model_set_counts(struct model *m, const struct step_info *list, size_t n);
/* Marks that a step was kept: undone steps before it cannot be redone. */
void model_end_redo(struct model *m);
/* Adds steps of the history that are older than the first known one; the list is newest first. */
void model_add_earlier(struct model *m, const struct step_info *list, size_t n, bool undone);
/* Takes the list over. */
void model_set_turns(struct model *m, struct turn_mark *list, size_t n);
/* Takes the list over. */
void model_set_edits(struct model *m, struct barrier *list, size_t n);
/* Returns the number of commands that run; *newest (may be NULL) gets the newest of them. */
size_t model_running(const struct model *m, const struct step_row **newest);
/* Returns the agent's state in a word: "asks" (a request waits, or its own question), "ended",
 * "working", "idle". Without a report about the turn it works while a command runs, or if it
 * printed or did something in the last MODEL_REST_US, or has printed nothing since it was started
 * and that was less than MODEL_START_US ago. */
const char *model_state(const struct model *m);
#define MODEL_REST_US  3000000	/* a working agent prints more often */
#define MODEL_START_US 10000000 /* an agent of 100 MB loads for seconds on a busy machine */
void model_add_ask(struct model *m, const struct ask *a); /* copies everything */
/* Updates a held step. Returns true if the step is new. */
bool model_set_held(struct model *m, const struct guard_report *r);
void model_remove_ask(struct model *m, uint64_t id);
/* Adds the sample of one second. */
void model_add_sample(struct model *m, const struct usage_sample *s);
/* Returns the sample taken i seconds ago, or NULL. */
const struct usage_sample *model_sample(const struct model *m, size_t i);
/* connections.c. Adds a copy; returns true if it is the first connection to this target. */
bool model_add_connection(struct model *m, const struct connection *c);
struct connection *model_connection(struct model *m, uint64_t id); /* NULL: unknown */
/* For model_done(). */
void model_asks_done(struct model *m);
void model_connections_done(struct model *m);
void model_steps_done(struct model *m);
uint16_t model_offer(const struct model *m, uint64_t seq); /* port of a row; 0: it offers none */
/* Adds a copy. A full list drops the oldest one that is over. */
void model_add_given(struct model *m, const struct given *g);
/* Records which files stay open after an answer was taken back, or after rules changed (0). Returns
 * the answer, or NULL. */
const struct given *model_set_left(struct model *m, uint64_t rule, const char *words);
/* Returns how many directories above its own a tree must begin to contain `other` too, or -1 if no
 * such tree may be allowed. */
int ask_up_to(const struct ask *a, const char *other);
const struct ask *model_ask(const struct model *m, uint64_t id);
