/* session - one run of an agent: its backend, keeper, audit log and model. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/diff/reviewed.h"
#include "core/session/backend.h"
#include "core/session/model.h"

/*
 * Life:      session_start() before any thread or loop exists (it forks the keeper) ->
 *            session_ready() whenever session_fd() can be read or written, session_tick() once a
 *            second -> listener's exited() -> session_close().
 * Ownership: the session owns the keeper's socket, the audit log and the model.
 * Threads:   main loop only. The listener's changed() is called at most once a session_ready().
 */
struct broker;
struct repositories;
struct secrets;
struct session;
struct config;
struct config_spec;

struct session_spec {
	const struct backend *backend;
	const struct config *config;
	/* The settings files, whose rules are read again when they change; NULL: never. */
	const struct config_spec *source;
	const char *const *argv;
	const char *title;	      /* name in lists; NULL: argv */
	const char *line;	      /* command line that starts another agent this way; or NULL */
	const char *const *folders;   /* absolute, resolved; the first is the cwd's */
	const char *const *read_only; /* --ro; NULL or NULL-terminated, like the next two */
	const char *const *overlays;
	const char *const *hidden;  /* --hide, added to the policy's */
	const char *const *sockets; /* --allow-unix; resolved */
	const char *cwd, *home, *state_dir;
	int stdio[3];  /* for the agent */
	bool tty;      /* stdio[0] is a pty, which becomes its controlling terminal */
	bool verbose;  /* debug lines in the diagnostic log, and notes on the setup */
	bool answered; /* headless, but a command answers (core/api/approver.h) */
	bool headless, one_step, allow_network, no_debug;
	bool unprompted;		 /* the agent runs with its option for not asking */
	bool ask_network;		 /* each host is allowed, denied or asked about */
	const char *const *hosts;	 /* --allow-domain */
	bool public_hosts;		 /* --allow-network */
	const struct port_pair *publish; /* --publish; ends with port 0; or NULL */
	bool dynamic;			 /* asks about reads that no rule grants */
	struct buf *kept; /* session_close() adds where overlays have changes; or NULL */
	/* Set by session_start(). The repositories are also at the end of folders. */
	const struct broker *broker;
	const struct secrets *secrets;
	const struct repositories *repositories;
	void (*slow)(void *data); /* the search of the folders takes more than a second */
	void *slow_data;
};

struct session_listener {
	void (*changed)(void *data); /* the model has changed since the last call */
	void (*exited)(void *data, int wait_status);
	/* Words for a user without a console: a safeguard stopped a step, a step cannot be undone
	 * completely, changed rules are refused, an interrupted step was rolled back, or (in
	 * session_start()) a rule opens a socket that allows much. May be NULL. */
	void (*stopped)(void *data, const char *words);
	/* The audit log failed: every change is denied from then on; may be NULL. */
	void (*frozen)(void *data, const char *words);
	/* The agent was not started; status is 125 to 127. */
	void (*failed)(void *data, int status, const char *words);
	/* Hides a secret in the recording. Returns false if the recording would show it, so the
	 * secret stays outside. NULL: there is no recording. */
	bool (*secret)(void *data, const char *text);
	/* A question of session_ask() was answered, or timed out as denied; may be NULL. */
	void (*answered)(void *data, uint64_t ask, bool allow);
	/* Ends the agent and starts it again with the same options; NULL: impossible. */
	void (*restart)(void *data);
};

/* Returns whether this process is inside a session, which the variable alone does not prove. */
bool session_is_inside(void);
int session_start(struct session **ret, const struct session_spec *spec,
		  const struct session_listener *on, void *data, struct err *err) MUST_USE;
struct model *session_model(struct session *s);
int session_fd(const struct session *s); /* poll for reading; for writing while wants_write */
bool session_wants_write(const struct session *s);
int session_ready(struct session *s, bool readable, bool writable); /* 0, -EPIPE: keeper ended */
void session_tick(struct session *s); /* once a second: samples cpu and memory */

/* Answers a question. by: the person, for the audit log: "console", "terminal: uid 1000, pid 4711".
 * Returns 0; -ESRCH: no call waits for it; -EPERM: this answer is not possible. */
int session_answer(struct session *s, const char *by, uint64_t ask, const struct answer *a,
		   struct err *err);
/*
 * A question without a held call (own_asks.c): a process outside the sandbox would act for the
 * agent. It is listed, answered and logged like any other. The answer goes to `answered`, never to
 * the keeper, and is valid for this session at most.
 */
struct own_ask {
	enum rule_kind kind;
	const char *op, *path, *via, *reason; /* via: the path as it was given; "": the same */
	const char *program;		      /* the program that asks; NULL: the agent's editor */
	bool whole;			      /* path is not a path: no directory can be allowed */
	uint32_t timeout_s;
};
/* Asks. Returns the question's number; 0: too many questions wait. */
uint64_t session_ask(struct session *s, const struct own_ask *a) MUST_USE;
void session_withdraw(struct session *s, uint64_t ask);
/* Returns the answer for the whole session: 1: allowed, 0: denied, -1: none. */
int session_recall(struct session *s, enum rule_kind kind, const char *path) MUST_USE;
void session_expire_asks(struct session *s); /* call it once a second */
/* Tells a headless session which consoles are attached: it has none itself. seen: a
 * console shows the session, so the history is loaded and kept up to date. human: a console can
 * answer (model.headless is false). Has no effect on other sessions. */
void session_attended(struct session *s, bool seen, bool human);
/* Revokes an answer: the next such call is asked about. Open files stay open. */
void session_revoke(struct session *s, const char *by, uint64_t rule);
/* Removes a lasting rule that an answer wrote (model.lasting[i]) from its file. The keeper reads
 * the file again. */
int session_forget(struct session *s, size_t i, struct err *err);
/* Closes a connection of the agent (model.connections). session_forbid() denies its host as
 * well. */
void session_end_connection(struct session *s, uint64_t id);
void session_forbid(struct session *s, const char *by, uint64_t id);
/* Shows a port of the sandbox at the same port of the host's loopback; adds a row. */
void session_publish(struct session *s, const char *by, uint16_t port);
void session_signal(struct session *s, int sig);
/* Answers a request about an agent's settings: restarts the agent with a copy of them for this
 * folder (own_settings.h), and denies the waiting requests of the bundle. Needs model.own_offer.
 * Returns like session_answer(); -EINVAL: the request is not about settings. */
int session_own_settings(struct session *s, const char *by, uint64_t ask, struct err *err);
/* Stars out, in place, known secrets and matches of record.redact in a command's name, before it is
 * stored or sent. */
void session_star(const struct session *s, char *text);
/* Begins one step of that name for the changes of all processes; NULL ends it. */
void session_group(struct session *s, const char *name);
/* Changes the limits of the history and of the safeguards. */
struct limits;
void session_limits(struct session *s, const struct limits *l);
/* Requests a plan, which comes in model.plan. Returns its number, model.plan_request. */
uint64_t session_plan(struct session *s, enum undo_kind kind, size_t n, unsigned flags);
/* Drops a plan that was not shown for confirmation, so the next undo is not compared with it. */
void session_forget_plan(struct session *s);
/* Starts an undo or redo as model.job. If there is no plan, its plan comes first, too. */
uint64_t session_undo(struct session *s, enum undo_kind kind, size_t n, unsigned flags);
/* Restores paths (relative to the folder, NULL-terminated) to their state before the step. */
uint64_t session_restore(struct session *s, int64_t step, const char *const *paths, unsigned flags);
uint64_t session_restore_plan(struct session *s, int64_t step, const char *const *paths,
			      unsigned flags);
/* Restores one hunk (from 1) of a file of the diff of the step. */
uint64_t session_restore_hunk(struct session *s, int64_t step, const char *path, unsigned hunk);
/* Ends the commands with open steps, and keeps their changes as usual. */
void session_stop(struct session *s);
/* Adds a row and an audit log line about an event outside the sandbox. */
void session_note(struct session *s, const char *words);
/* Does the same, and prints a line if the run has no console. */
void session_warn(struct session *s, const char *words);
/* Begins a new turn: the user sent a line to the agent. */
void session_turn(struct session *s);
/* Sets model.agent_asks: the agent waits for the answer to its own question. */
void session_agent_asks(struct session *s, bool asks);
void session_cancel(struct session *s);

/*
 * Adds a notice for the agent (notices.c): the user undid or denied something. The hook of the
 * agent fetches notices at its next event, or the next prompt of an editor contains them
 * (session_take_notices()), or the user pastes model.notices. words: one sentence, not escaped.
 */
void session_notice(struct session *s, const char *words);
/* Adds each line of an escaped text as a notice. Returns false, and adds none, if it is too
 * long. */
bool session_notice_lines(struct session *s, const char *text);
/* Returns and drops the notices, one on each line; NULL: none. Heap. */
char *session_take_notices(struct session *s) MUST_USE;

/*
 * shells.c: starts a program of the user beside the agent, in the same sandbox. ended is called
 * once, unless session_shell_forget() comes first: status is for the waiting shell, words say why
 * it never ran, or are NULL. Takes over the descriptors of the wish, also on failure, and starts in
 * the directory of the session if that of the wish is not inside. Returns 0, and words, if it
 * cannot.
 */
struct shell_wish;
typedef void (*shell_ended)(void *data, int status, const char *words);
uint64_t session_shell(struct session *s, const char *by, struct shell_wish *w, shell_ended ended,
		       void *data, struct err *err);
void session_shell_signal(struct session *s, uint64_t id, int sig);
/* Called when its client has disconnected: sends the program SIGHUP. */
void session_shell_forget(struct session *s, uint64_t id);

/* ---- undo by another program (undo.c). The console's own plan stays as it is. ---------------- */

struct undo_wish {
	enum undo_kind kind;
	size_t n;
	unsigned flags;
	int64_t step; /* UNDO_PATHS, with path */
	const char *path;
};

/* The plan that the program has seen; an undo that would differ is refused. */
struct plan_shown {
	int64_t newest; /* its first step */
	uint64_t seal;
	uint64_t undos; /* model.undos at that moment */
};

/* Runs the undo as model.job. Returns the number of the job; 0: another one runs, or the result
 * would differ from the plan. */
uint64_t session_undo_for(struct session *s, const struct undo_wish *w,
			  const struct plan_shown *shown, struct err *err);
/* ---- review.c: the review of the history by the user (core/diff/reviewed.h) ----------------- */

/* model.reviewed; NULL: there is no history. */
const struct reviewed *session_reviewed(struct session *s);
/* Applies the verb to each hunk of the list, which the caller owns. Reverts begin with the last
 * one. */
void session_review(struct session *s, enum review_verb verb, const struct hunk *const *list,
		    size_t n);
void session_review_comment(struct session *s, const struct hunk *h, int line, const char *text);
/* Numbers the comments of a message that was pasted. */
void session_review_sent(struct session *s);
/* Marks a point, "3.2", as handled by the agent. Returns 0, or -ENOENT and words. */
int session_point_done(struct session *s, const char *name, struct err *err);
/* Reopens a handled point, and tells the agent. */
void session_point_reopen(struct session *s, unsigned round, unsigned number);
/* Sets model.rests: the agent has ended its turn. */
void session_rests(struct session *s, bool rests);
/* Returns the history, read-only, for step and diff views; the session owns it. NULL: none. */
struct journal *session_journal(struct session *s);
/* Ends the sandbox, commits steps, flushes the audit log and waits for the keeper. */
void session_close(struct session *s);
