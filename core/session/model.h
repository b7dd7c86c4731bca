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
#define MODEL_GIVEN 1024 /* and as many lasting rules */

#define ASK_TOGETHER_US 1000000 /* of one program in one tree: one prompt */

/* op of a row of a call whose loopback address was exchanged: text is the address that the call
 * named, more the one that it got. */
#define REWRITE_BIND	"bind-rewritten"
#define REWRITE_CONNECT "connect-rewritten"

enum row_kind {
	ROW_TOUCH,
	ROW_DENY,
	ROW_EXEC,
	ROW_ASK,
	ROW_DECISION,
	ROW_NOTE,
	ROW_EXTERNAL, /* edited from outside */
};

struct row {
	uint64_t seq; /* 1, 2, ... never reused */
	enum row_kind kind;
	int64_t wall_us;
	int64_t step;
	int pid;
	int parent; /* ROW_EXEC: pid of the one that started it; 0: not known */
	int result;
	bool unasked;  /* ROW_DENY: a human would have been asked, but there is none */
	bool expected; /* ROW_DENY: the agent's profile refuses it: it goes on without */
	uint64_t ask; /* ROW_DECISION: the question's number, and for how long it is good; else 0 */
	enum answer_scope scope;
	char *op;   /* "write", "unlink", "exec" */
	char *text; /* path, command or words */
	char *more; /* path2 or reason, or NULL */
};

struct step_row {
	int64_t id;
	enum step_kind kind;
	bool running, undone, incomplete;
	bool over;	/* undone, and redo does not bring it back any more */
	bool earlier;	/* of a session before this one */
	bool elsewhere; /* it changed nothing in a working folder */
	bool gone;	/* made room for newer ones: it cannot be undone any more */
	int64_t began_us, ended_us;
	int exit_status;
	size_t paths; /* touched; from the journal once committed */
	size_t created, modified, deleted,
		renamed; /* of a step that has ended; all 0: not read yet */
	char *command;
	/* The folders in which it is undone although it is kept in another one: words, or NULL. */
	char *undone_in;
};

struct ask {
	uint64_t id;
	/* Requests of one kind share a prompt if they come from one process and directory, from one
	 * program in one tree within a second, or belong to one bundle. Each is answered by its own
	 * id; the oldest leads. Set by model_add_ask(). */
	uint64_t prompt;
	bool leads;
	int64_t step;
	int pid;
	int64_t since_us; /* monotonic */
	enum rule_kind kind;
	bool is_dir, secret;
	bool has_step;	      /* an answer can count for its step */
	bool no_dir, no_tree; /* the extent would open too much */
	bool own;	      /* of session_ask(): no call is held */
	uint32_t timeout_s;   /* denied after this time; 0: waits */
	bool call_only;	      /* but the question stays: an answer applies to the next attempt */
	char *op, *path, *program, *command, *reason;
	char *via;	       /* as the program wrote it, "": the same */
	char *label;	       /* its step's command line, or "" */
	unsigned up;	       /* how many directories further up a tree may be allowed */
	char *bundle, *places; /* a bundle of the profile and its paths, or "" */
	/* A step that a safeguard holds, in place of a request; else NULL. */
	struct guard_report *held;
};

/* An answer that stays in force: a rule that can be revoked. */
struct given {
	uint64_t ask, rule; /* rule 0: not reported by the keeper yet */
	enum rule_kind kind;
	struct answer answer;
	char *object; /* the object of the answer; a directory ends with '/' */
	char *words;  /* answers_words() */
	int64_t wall_us;
	bool over; /* revoked, or its step is over */
	/* Files that processes held open when it was revoked, in words; else NULL. */
	char *left;
};

/* A rule of a settings file, as it was when the session began. */
struct lasting {
	bool allow;
	char *words; /* "allow read ~/notes" */
	char *file;
	int line;
	char *name;   /* of its section */
	bool by_us;   /* an answer wrote it: the user can remove it */
	bool removed; /* it was removed, but is in force until the session ends */
};

/* A connection of the agent through the network gate. */
struct connection {
	uint64_t id;
	int64_t step;
	int pid;
	char *target;		    /* HOST:PORT, by name where it has one */
	char *addr;		    /* the dialled address */
	char *why;		    /* the rule that allowed it */
	char program[16];	    /* of the process; the agent can write anything into it */
	uint64_t sent, received;    /* bytes, by the agent */
	bool came;		    /* from the host, to a published port */
	int64_t began_us, ended_us; /* monotonic; 0: it is open */
};
#define MODEL_CONNECTIONS 1024 /* the oldest that is over makes room, else the oldest */

/* What the sandbox used in one second. */
struct usage_sample {
	double cpu;		/* percent of one core */
	uint64_t memory;	/* bytes, resident */
	unsigned processes;	/* at most USAGE_MAX_PROCESSES are counted */
	uint64_t read, written; /* bytes of files, pipes and sockets; of processes that live on */
};
#define MODEL_SAMPLES 600

/* Of questions and reads, for the status view. */
struct decisions {
	uint64_t asked, allowed, denied, by_nobody; /* by_nobody: timed out, or too many waited */
	uint64_t looked;			    /* lookups of hidden names */
	uint64_t waited_us;			    /* total time until the user answered */
	uint64_t reads[TALLIES];		    /* as WIRE_TALLIES */
};

struct job { /* undo, redo, restore under way */
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
	bool network;	   /* the host's own, where nothing is asked */
	bool headless;	   /* no user can answer: no console is attached to a headless run */
	bool unprompted;   /* the agent asks nothing by itself */
	bool asks_network; /* connections are decided on by host */
	char secrets[64];  /* names of network.secret in force; empty: none */
	bool undo_home;	   /* undo is about granted places, too */
	bool persists;	   /* answers can be written into settings files */
	bool started, exited;
	int wait_status;  /* valid when exited */
	int64_t began_us; /* monotonic */
	double cpu_percent;
	uint64_t memory;	      /* bytes, of the sandbox */
	struct usage_sample *samples; /* ring of MODEL_SAMPLES, or NULL; model_sample() */
	uint64_t n_samples;	      /* ever */
	const char *folder;
	char *home;
	char *own_offer; /* session_own_settings() may be called: the profile; else NULL */
	char *command;	 /* the agent's command line */
	char *line;	 /* session_spec.line; in no recording */

	struct row *rows; /* ring */
	size_t row_head, row_count;
	uint64_t row_seq;
	uint64_t rows_dropped;

	struct step_row *steps; /* oldest first */
	size_t n_steps, cap_steps;

	struct turn_mark *turns; /* where turns and sessions begin, oldest first */
	size_t n_turns;
	uint64_t prompts;		 /* of this session, so far */
	char *prompt;			 /* the newest one's words; "" or NULL: not known */
	bool agent_asks;		 /* by itself, in its own terminal */
	bool hook_asks;			 /* the agent's hook tells so: its bell may mean anything */
	const struct reviewed *reviewed; /* session_reviewed(); NULL: not read yet */
	char *review_words;   /* what became of the newest piece that was taken or brought back */
	uint64_t review_said; /* how often there were such words */
	bool tells_rest;      /* the agent's hook or editor tells when its turn is over */
	bool rests;	      /* it is */
	char *notices;	      /* lines for the agent that it has not been told yet, or NULL */
	size_t n_notices;
	uint64_t noticed;   /* lines ever */
	bool hook_listens;  /* the agent's hook has fetched some: it fetches the next ones, too */
	int64_t printed_us; /* monotonic: the agent's newest output; 0: it has none to be seen */

	struct barrier *edits; /* from outside, between the steps; newest first */
	size_t n_edits;

	struct ask *asks; /* oldest first */
	size_t n_asks, n_prompts;

	struct given *given; /* oldest first */
	size_t n_given;
	uint64_t given_version; /* grows with every change of those */
	struct decisions decisions;
	/* Files that processes held open when rules of files last took access away, in words; or
	 * NULL. */
	char *left;
	struct lasting *lasting; /* the nearest level first */
	size_t n_lasting;

	char *hosts;			/* that profiles open, one after the other, or NULL */
	struct connection *connections; /* oldest first */
	size_t n_connections;
	uint64_t net_version;		     /* grows with every change of those */
	uint64_t bytes_sent, bytes_received; /* of all of them */
	struct offer {
		uint64_t seq; /* of the row that tells of it */
		uint16_t port;
	} offers[64]; /* servers inside that may be published; the oldest give way */
	size_t n_offers;

	struct job job;
	uint64_t undos;		/* undos, redos and restores that were performed */
	struct undo_plan *plan; /* newest answer to session_plan(), or NULL */
	uint64_t plan_request;
	int plan_refused_by; /* negative errno */
	char *plan_refused;  /* words, when the newest session_plan() was refused; else NULL */

	char *stopped;	    /* words about the step that a safeguard stopped last, or NULL */
	uint64_t n_stopped; /* how many were */

	uint64_t version; /* grows with every change: views repaint when it differs */
};

void model_init(struct model *m);
void model_done(struct model *m);
const struct row *model_row(const struct model *m, size_t i); /* 0 = oldest kept */
struct row *model_add_row(struct model *m, enum row_kind kind, int64_t step, int pid, int result,
			  const char *op, const char *text, const char *more);
/* Adds a row for a program that is run. A search along $PATH, one call for each directory, is one
 * row with the last path tried; the audit log has them all. */
struct row *model_add_exec(struct model *m, int64_t step, int pid, const char *command,
			   const char *path);
struct step_row *model_step(struct model *m, int64_t id); /* NULL: unknown */
/* Returns the newest step of kind STEP_API, such as a restore, that is not undone, or NULL. */
const struct step_row *model_newest_restore(const struct model *m);
struct step_row *model_add_step(struct model *m, int64_t id, enum step_kind kind,
				const char *command, int64_t wall_us);
void model_remove_step(struct model *m, int64_t id);
void model_sort_steps(struct model *m); /* by number: oldest first */
/* Sets undone_in of a step, if there is one of this number. */
void model_set_undone_in(struct model *m, int64_t id, const char *folders);
/* Marks steps as the history lists them: the undone steps that redo can bring back, and the steps
 * in effect. A step that the history no longer has (the oldest make room, and a new step ends the
 * redo of others) keeps its state: undone, or in effect and gone. */
void model_set_undone(struct model *m, const struct step_info *redo, size_t n_redo,
		      const struct step_info *kept, size_t n_kept);
/* Sets the number of paths that each step created, modified, deleted and renamed. */
void model_set_counts(struct model *m, const struct step_info *list, size_t n);
/* Notes that a step was kept: earlier undone steps cannot be redone any more. */
void model_end_redo(struct model *m);
/* Adds steps of the history before the first known one, newest first as it lists them: they come
 * before the others. */
void model_add_earlier(struct model *m, const struct step_info *list, size_t n, bool undone);
/* Takes the list over. */
void model_set_turns(struct model *m, struct turn_mark *list, size_t n);
/* Takes the list over. */
void model_set_edits(struct model *m, struct barrier *list, size_t n);
/* Number of commands running now; *newest (may be NULL) gets the newest of them. */
size_t model_running(const struct model *m, const struct step_row **newest);
/* Returns the state of the agent in a word: "asks" (a request waits, or its own question), "ended",
 * "working" (a command runs, or it has printed or done something in the last MODEL_REST_US),
 * "idle". */
const char *model_state(const struct model *m);
#define MODEL_REST_US 8000000 /* an agent that works prints more often */
void model_add_ask(struct model *m, const struct ask *a); /* copies all of it */
/* Updates a held step. Returns true if it is new. */
bool model_set_held(struct model *m, const struct guard_report *r);
void model_remove_ask(struct model *m, uint64_t id);
/* Adds the sample of one second. */
void model_add_sample(struct model *m, const struct usage_sample *s);
/* Returns the sample of i seconds ago, or NULL. */
const struct usage_sample *model_sample(const struct model *m, size_t i);
/* connections.c. Adds a copy; returns true if it is the first connection to this target. */
bool model_add_connection(struct model *m, const struct connection *c);
struct connection *model_connection(struct model *m, uint64_t id); /* NULL: unknown */
void model_count_connection(struct model *m, struct connection *c, uint64_t sent,
			    uint64_t received);
/* For model_done(). */
void model_asks_done(struct model *m);
void model_connections_done(struct model *m);
void model_steps_done(struct model *m);
/* Notes that the row reports a server that may be published; port 0 is a no-op. */
void model_add_offer(struct model *m, uint64_t seq, uint16_t port);
uint16_t model_offer(const struct model *m, uint64_t seq); /* of a row; 0: it offers none */
/* Adds a copy. At the limit the oldest one that is over makes room. */
void model_add_given(struct model *m, const struct given *g);
/* Notes which files stay open after an answer was taken back, or rules changed (0). Returns the
 * answer, or NULL. */
const struct given *model_set_left(struct model *m, uint64_t rule, const char *words);
/* Returns how many directories above its own a tree must begin to hold `other` too, or -1 if no
 * such tree may be allowed. */
int ask_up_to(const struct ask *a, const char *other);
const struct ask *model_ask(const struct model *m, uint64_t id);
