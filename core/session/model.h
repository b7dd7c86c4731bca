/* model - what the human is shown of one session: read-only for views, fed by session.c. */
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

/* op of a row of a call whose loopback address was exchanged: text is what was named, more what it
 * got. */
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
};

struct ask {
	uint64_t id;
	/* What one process asks for in one directory, or one program within a second in one tree,
	 * or for what it keeps for itself, is one prompt, though each is answered by its
	 * own id; the oldest leads. Set by model_add_ask(). */
	uint64_t prompt;
	bool leads;
	int64_t step;
	int pid;
	int64_t since_us; /* monotonic */
	enum rule_kind kind;
	bool is_dir, secret;
	bool has_step;	      /* an answer can count for its step */
	bool no_dir, no_tree; /* such an extent would open too much */
	bool own;	      /* of session_ask(): no call is held */
	uint32_t timeout_s;   /* denied by itself then; 0: waits */
	char *op, *path, *program, *command, *reason;
	char *via;		   /* as the program wrote it, "": the same */
	char *label;		   /* its step's command line, or "" */
	unsigned up;		   /* how many directories further up a tree may be allowed */
	char *bundle, *places;	   /* a bundle of the profile's and what it is about, or "" */
	struct guard_report *held; /* not a request but a step that a safeguard holds; else NULL */
};

/* An answer that counts on: a rule that can be taken back. */
struct given {
	uint64_t ask, rule; /* rule 0: the keeper has not told yet */
	enum rule_kind kind;
	struct answer answer;
	char *object; /* what it speaks of; a directory's ends with '/' */
	char *words;  /* answers_words() */
	int64_t wall_us;
	bool over;  /* taken back, or its step is */
	char *left; /* taken back: what those inside held of it then; else NULL */
};

/* A rule of a settings file, as it was when the session began. */
struct lasting {
	bool allow;
	char *words; /* "allow read ~/notes" */
	char *file;
	int line;
	char *name;   /* of its section */
	bool by_us;   /* an answer wrote it: it can be taken out */
	bool removed; /* and was: it counts until the session ends */
};

/* A connection of the agent through the network gate. */
struct connection {
	uint64_t id;
	int64_t step;
	int pid;
	char *target;		    /* HOST:PORT, by name where it has one */
	char *addr;		    /* that was dialled */
	char *why;		    /* which rule let it */
	char program[16];	    /* of the process; the agent can write anything into it */
	uint64_t sent, received;    /* bytes, by the agent */
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
	uint64_t asked, allowed, denied, by_nobody; /* by_nobody: in no time, or too many waited */
	uint64_t looked;			    /* looks at what is hidden */
	uint64_t waited_us;			    /* all together, until a human answered */
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
	bool network, headless; /* network: the host's own, where nothing is asked */
	bool asks_network;	/* connections are decided on by host */
	char secrets[64];	/* names of network.secret in force; empty: none */
	bool undo_home;		/* undo is about granted places, too */
	bool persists;		/* answers can be written into settings files */
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

	struct row *rows; /* ring */
	size_t row_head, row_count;
	uint64_t row_seq;
	uint64_t rows_dropped;

	struct step_row *steps; /* oldest first */
	size_t n_steps, cap_steps;

	struct turn_mark *turns; /* where turns and sessions begin, oldest first */
	size_t n_turns;
	uint64_t prompts; /* of this session, so far */
	char *prompt;	  /* the newest one's words; "" or NULL: not known */

	struct barrier *edits; /* from outside, between the steps; newest first */
	size_t n_edits;

	struct ask *asks; /* oldest first */
	size_t n_asks, n_prompts;

	struct given *given; /* oldest first */
	size_t n_given;
	uint64_t given_version; /* grows with every change of those */
	struct decisions decisions;
	char *left; /* what they held of it when rules of files changed last, or NULL */
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
/* A program that is run. One that is looked for along $PATH, a call for each directory, is one row
 * with the path that was tried last; the audit log has them all. */
struct row *model_add_exec(struct model *m, int64_t step, int pid, const char *command,
			   const char *path);
struct step_row *model_step(struct model *m, int64_t id); /* NULL: unknown */
struct step_row *model_add_step(struct model *m, int64_t id, enum step_kind kind,
				const char *command, int64_t wall_us);
void model_remove_step(struct model *m, int64_t id);
void model_sort_steps(struct model *m); /* by number: oldest first */
/* What the history lists: the steps that redo would bring back, and those in effect. Of one that it
 * does not have any more (the oldest make room, and a new step ends what could be redone) nobody
 * undid or redid anything: it stays undone, or in effect and gone. */
void model_set_undone(struct model *m, const struct step_info *redo, size_t n_redo,
		      const struct step_info *kept, size_t n_kept);
/* What the history says of these: how many paths each created, modified, deleted, renamed. */
void model_set_counts(struct model *m, const struct step_info *list, size_t n);
/* A step was kept: nothing that was undone before can be redone. */
void model_end_redo(struct model *m);
/* Steps that the history has from before the first one that is known, newest first as it lists
 * them: they come before the others. */
void model_add_earlier(struct model *m, const struct step_info *list, size_t n, bool undone);
/* Takes the list over. */
void model_set_turns(struct model *m, struct turn_mark *list, size_t n);
/* Takes the list over. */
void model_set_edits(struct model *m, struct barrier *list, size_t n);
/* Number of commands running now; *newest (may be NULL) gets the newest of them. */
size_t model_running(const struct model *m, const struct step_row **newest);
void model_add_ask(struct model *m, const struct ask *a); /* copies all of it */
/* News of a step that is held, or the first of it (true). */
bool model_set_held(struct model *m, const struct guard_report *r);
void model_remove_ask(struct model *m, uint64_t id);
/* A second has passed. */
void model_add_sample(struct model *m, const struct usage_sample *s);
/* i seconds ago; NULL: not known. */
const struct usage_sample *model_sample(const struct model *m, size_t i);
/* connections.c. Copies; true: the first one to this target. */
bool model_add_connection(struct model *m, const struct connection *c);
struct connection *model_connection(struct model *m, uint64_t id); /* NULL: unknown */
void model_count_connection(struct model *m, struct connection *c, uint64_t sent,
			    uint64_t received);
void model_remove_connection(struct model *m, uint64_t id);
void model_connections_done(struct model *m);
/* The row tells of a server that may be published; port 0 is a no-op. */
void model_add_offer(struct model *m, uint64_t seq, uint16_t port);
uint16_t model_offer(const struct model *m, uint64_t seq); /* of a row; 0: it offers none */
/* Takes over nothing; the oldest that is over makes room. */
void model_add_given(struct model *m, const struct given *g);
/* What is still open of an answer that was taken back, or of rules (0). The answer, or NULL. */
const struct given *model_set_left(struct model *m, uint64_t rule, const char *words);
/* How many directories further up than its own a tree holds `other`, too; -1: none that may be
 * allowed. */
int ask_up_to(const struct ask *a, const char *other);
const struct ask *model_ask(const struct model *m, uint64_t id);
