/* session - one agent run: its backend, keeper, audit log and model. */
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
	/* Files of the settings, whose rules are read again when they change; NULL: never. */
	const struct config_spec *source;
	const char *const *argv;
	const char *title;	      /* name in lists; NULL: argv */
	const char *line;	      /* starts another agent the same way: cordon run's; or NULL */
	const char *const *folders;   /* absolute, resolved; the first is the cwd's */
	const char *const *read_only; /* --ro; NULL or NULL-terminated, so below */
	const char *const *overlays;
	const char *const *hidden;  /* --hide, added to the policy's */
	const char *const *sockets; /* --allow-unix; resolved */
	const char *cwd, *home, *state_dir;
	int stdio[3];  /* the agent's */
	bool tty;      /* stdio[0] is a pty, which becomes its controlling terminal */
	bool verbose;  /* debug lines in the diagnostic log; notes on the setup */
	bool answered; /* headless, but a command answers questions (core/api/approver.h) */
	bool headless, one_step, allow_network, no_debug;
	bool unprompted;		 /* the agent has its option for not asking */
	bool ask_network;		 /* each host is allowed, denied or asked about */
	const char *const *hosts;	 /* --allow-domain */
	bool public_hosts;		 /* --allow-network */
	const struct port_pair *publish; /* --publish; ends with port 0; or NULL */
	bool dynamic;			 /* reads that no rule grants are asked about */
	struct buf *kept; /* session_close() writes here where overlays have changes; or NULL */
	/* Set by session_start(). The repositories are also in folders, behind the human's own. */
	const struct broker *broker;
	const struct secrets *secrets;
	const struct repositories *repositories;
	void (*slow)(void *data); /* the search of the folders takes longer than a second */
	void *slow_data;
};

struct session_listener {
	void (*changed)(void *data); /* the model has changed since the last call */
	void (*exited)(void *data, int wait_status);
	/* Words for a human without a console: a safeguard stopped a step, a step cannot be undone
	 * completely, changed rules are refused, an interrupted step was rolled back, or (in
	 * session_start()) a rule opens a socket that gives much away. May be NULL. */
	void (*stopped)(void *data, const char *words);
	/* The audit log failed, and every change is denied from now on; may be NULL. */
	void (*frozen)(void *data, const char *words);
	/* The agent was not started: exit status 125 to 127, and words. */
	void (*failed)(void *data, int status, const char *words);
	/* Hides a secret in the recording. False: the recording would show it, so the secret does
	 * not go inside. NULL: there is no recording. */
	bool (*secret)(void *data, const char *text);
	/* A question of session_ask() was answered, or has expired as denied; may be NULL. */
	void (*answered)(void *data, uint64_t ask, bool allow);
	/* Ends the agent and starts it again with the same options; NULL: not possible. */
	void (*restart)(void *data);
};

/* Returns whether this process is inside a session. The variable alone proves nothing. */
bool session_is_inside(void);
int session_start(struct session **ret, const struct session_spec *spec,
		  const struct session_listener *on, void *data, struct err *err) MUST_USE;
struct model *session_model(struct session *s);
int session_fd(const struct session *s); /* poll for reading; for writing while wants_write */
bool session_wants_write(const struct session *s);
int session_ready(struct session *s, bool readable, bool writable); /* 0, -EPIPE: keeper gone */
void session_tick(struct session *s); /* once a second: cpu and memory of the sandbox */

/* Answers a question. by: the person, for the audit log: "console", "terminal: uid 1000, pid 4711".
 * Returns 0; -ESRCH: no call waits for it; -EPERM: such an answer is not possible. */
int session_answer(struct session *s, const char *by, uint64_t ask, const struct answer *a,
		   struct err *err);
/*
 * A question without a held call (own_asks.c): a process outside the sandbox would act for the
 * agent. It is listed, answered and audited like any other. The answer goes to `answered`, never to
 * the keeper, and counts for this session at most.
 */
struct own_ask {
	enum rule_kind kind;
	const char *op, *path, *via, *reason; /* via: the path as it was given, or "" */
	const char *program;		      /* the program that asks; NULL: the agent's editor */
	bool whole;			      /* path is no path: no directory can be allowed */
	uint32_t timeout_s;
};
/* Returns the number of the question; 0: too many wait. */
uint64_t session_ask(struct session *s, const struct own_ask *a) MUST_USE;
void session_withdraw(struct session *s, uint64_t ask);
/* Returns the answer for the whole session: 1: allowed, 0: denied, -1: none. */
int session_recall(struct session *s, enum rule_kind kind, const char *path) MUST_USE;
void session_expire_asks(struct session *s); /* call it once a second */
/* Tells a headless session, which has no console of its own, of others' consoles as they come and
 * go. seen: one shows the session, so the history is loaded and kept up to date. human: one can
 * answer (model.headless is false). No effect on other sessions. */
void session_attended(struct session *s, bool seen, bool human);
/* Revokes an answer: the next such call is asked about again. Open files stay open. */
void session_revoke(struct session *s, const char *by, uint64_t rule);
/* Removes a lasting rule that an answer wrote (model.lasting[i]) from its file. The keeper reads
 * the file again. */
int session_forget(struct session *s, size_t i, struct err *err);
/* Closes a connection of the agent (model.connections); session_forbid() also denies its host. */
void session_end_connection(struct session *s, uint64_t id);
void session_forbid(struct session *s, const char *by, uint64_t id);
/* Shows a port of the sandbox at the same port of the host's loopback; a row follows. */
void session_publish(struct session *s, const char *by, uint16_t port);
void session_signal(struct session *s, int sig);
/* Answers a request about an agent's settings: the agent starts again with a copy of them for this
 * folder (own_settings.h), and waiting requests of the same bundle are denied. Needs
 * model.own_offer. Returns like session_answer(); -EINVAL: the request is about no settings. */
int session_own_settings(struct session *s, const char *by, uint64_t ask, struct err *err);
/* Stars out, in place, known secrets and matches of record.redact: in the name of a command, before
 * it is stored or sent. */
void session_star(const struct session *s, char *text);
/* Begins one step of that name for all changes, by any process; NULL ends it. */
void session_group(struct session *s, const char *name);
/* Changes the limits of the history and of the safeguards. */
struct limits;
void session_limits(struct session *s, const struct limits *l);
/* Requests a plan. It arrives in model.plan, with the returned number in model.plan_request. */
uint64_t session_plan(struct session *s, enum undo_kind kind, size_t n, unsigned flags);
/* Drops a plan that was not shown for confirmation: the next undo is not compared with it. */
void session_forget_plan(struct session *s);
/* Starts an undo or redo as model.job. Without a plan before, its plan arrives first, too. */
uint64_t session_undo(struct session *s, enum undo_kind kind, size_t n, unsigned flags);
/* Restores paths (relative to the folder, NULL-terminated) to their state before the step. */
uint64_t session_restore(struct session *s, int64_t step, const char *const *paths, unsigned flags);
uint64_t session_restore_plan(struct session *s, int64_t step, const char *const *paths,
			      unsigned flags);
/* Restores one hunk (from 1) of a file of the diff of the step. */
uint64_t session_restore_hunk(struct session *s, int64_t step, const char *path, unsigned hunk);
/* Ends the commands whose steps are open; their changes are kept as usual. */
void session_stop(struct session *s);
/* Adds a row, and a line in the audit log, about an event outside of the sandbox. */
void session_note(struct session *s, const char *words);
/* Does the same, and prints a line in a run without a console. */
void session_warn(struct session *s, const char *words);
/* Begins a new turn: the user sent a line to the agent. */
void session_turn(struct session *s);
/* Sets model.agent_asks: the agent waits for an answer to its own question. */
void session_agent_asks(struct session *s, bool asks);
void session_cancel(struct session *s);

/*
 * Adds a notice for the agent (notices.c): the user undid or denied something. The hook of the
 * agent fetches notices at its next event, or the next prompt of an editor contains them
 * (session_take_notices()), or the user pastes model.notices. words: one sentence, not escaped.
 */
void session_notice(struct session *s, const char *words);
/* Adds each line of an escaped text as a notice. Returns false if it is too long: none is added. */
bool session_notice_lines(struct session *s, const char *text);
/* Returns and drops the notices, a line each; NULL: there are none. Heap. */
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
/* Called when its client is gone: the program gets SIGHUP. */
void session_shell_forget(struct session *s, uint64_t id);

/* ---- undo by another program (undo.c). The console's own plan stays as it is. ---------------- */

struct undo_wish {
	enum undo_kind kind;
	size_t n;
	unsigned flags;
	int64_t step;	  /* UNDO_PATHS, and its path */
	const char *path; /* */
};

/* The plan that the program has seen: an undo that would differ is refused. */
struct plan_shown {
	int64_t newest; /* its first step */
	uint64_t seal;
	uint64_t undos; /* model.undos at that moment */
};

/* Performs it as model.job. Returns the number of the job; 0: another one is under way, or the
 * result would differ from the plan. */
uint64_t session_undo_for(struct session *s, const struct undo_wish *w,
			  const struct plan_shown *shown, struct err *err);
/* ---- review.c: the review of the history by the user (core/diff/reviewed.h) ----------------- */

/* model.reviewed; NULL: there is no history. */
const struct reviewed *session_reviewed(struct session *s);
/* Applies the verb to each hunk of the list, which is borrowed. Reverts begin with the last. */
void session_review(struct session *s, enum review_verb verb, const struct hunk *const *list,
		    size_t n);
void session_review_comment(struct session *s, const struct hunk *h, int line, const char *text);
/* Called when the message was pasted: its comments get their numbers. */
void session_review_sent(struct session *s);
/* Marks a point, "3.2", as handled by the agent. Returns 0, or -ENOENT and the words for it. */
int session_point_done(struct session *s, const char *name, struct err *err);
/* Opens a handled point again, and tells the agent. */
void session_point_reopen(struct session *s, unsigned round, unsigned number);
/* Sets model.rests: the agent has ended its turn. */
void session_rests(struct session *s, bool rests);
/* Returns the history, read-only, for step and diff views; borrowed. NULL: not available. */
struct journal *session_journal(struct session *s);
/* Ends the sandbox, commits steps, flushes the audit log, waits for the keeper. */
void session_close(struct session *s);
