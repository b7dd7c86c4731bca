/* session - one agent run: its backend, keeper, audit log and model. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"
#include "core/session/model.h"

/*
 * Life:      session_start() before any thread or loop exists (it forks the keeper) ->
 *            session_attach_fd() readable/writable -> exited -> session_close().
 * Ownership: the session owns the keeper's socket, the audit log and the model.
 * Threads:   main loop only. on_change fires after the model changed, at most once per
 *            session_read().
 */
struct broker;
struct secrets;
struct session;
struct config;
struct config_spec;

struct session_spec {
	const struct backend *backend;
	const struct config *config;
	const struct config_spec *source; /* where it came from: its rules are read again when they
					   * change; NULL: they are not */
	const char *const *argv;
	const char *const *folders;   /* absolute, resolved; the first is the cwd's */
	const char *const *read_only; /* --ro; NULL or NULL-terminated, so below */
	const char *const *overlays;
	const char *const *hidden;  /* --hide, added to the policy's */
	const char *const *sockets; /* --allow-unix; resolved */
	const char *cwd, *home, *state_dir;
	int stdio[3]; /* the agent's; closed in this process by session_start() when tty */
	bool tty;
	bool verbose;  /* debug lines in the diagnostic log */
	bool answered; /* headless, but a command answers (core/api/approver.h) */
	bool headless, one_step, allow_network, no_debug;
	bool ask_network;		 /* connections are decided on by host */
	const char *const *hosts;	 /* --allow-domain */
	bool public_hosts;		 /* --allow-network */
	const struct port_pair *publish; /* --publish; ends with port 0; or NULL */
	bool dynamic;			 /* reads of gated trees are asked for */
	const struct broker *broker;	 /* filled in by session_start() */
	const struct secrets *secrets;	 /* the same */
	struct buf *kept; /* session_close() says here where overlays have changes; or NULL */
};

struct session_listener {
	void (*changed)(void *data); /* the model is newer than what you drew */
	void (*exited)(void *data, int wait_status);
	/* A safeguard stopped a step, undo cannot bring all of one back, rules that have changed
	 * are refused, a step that was interrupted has been rolled back, or (in session_start()) a
	 * rule opens a socket that gives much away: words for whoever has no model on a screen; may
	 * be NULL. */
	void (*stopped)(void *data, const char *words);
	/* No audit log stops everything, an undo with its own words; may be NULL. */
	void (*frozen)(void *data, const char *words);
	/* cordon's own failure before the agent ran: status 125..127 and words */
	void (*failed)(void *data, int status, const char *words);
	/* No recording may show this; NULL: there is none. False: it would: then it does not go
	 * inside. */
	bool (*secret)(void *data, const char *text);
	/* session_ask() was answered, denied with session_expire_asks(); may be NULL. */
	void (*answered)(void *data, uint64_t ask, bool allow);
	/* The agent ends and begins anew, as it was started; NULL: it cannot. */
	void (*restart)(void *data);
};

int session_start(struct session **ret, const struct session_spec *spec,
		  const struct session_listener *on, void *data, struct err *err) MUST_USE;
struct model *session_model(struct session *s);
int session_fd(const struct session *s); /* poll for reading; for writing while wants_write */
bool session_wants_write(const struct session *s);
int session_ready(struct session *s, bool readable, bool writable); /* 0, -EPIPE: keeper gone */
void session_tick(struct session *s); /* once a second: cpu and memory of the sandbox */

/* by: who answers, for the audit log: "console", "terminal: uid 1000, pid 4711". Returns 0; -ESRCH:
 * nobody waits for it; -EPERM: no such answer is possible; words in both. */
int session_answer(struct session *s, const char *by, uint64_t ask, const struct answer *a,
		   struct err *err);
/*
 * A question that no held call asks (own_asks.c): what somebody outside the sandbox would do for
 * the agent. It is listed, answered and written to the audit log as all are; the answer goes to
 * `answered`, never to the keeper, and counts for this session at the most.
 */
struct own_ask {
	enum rule_kind kind;
	const char *op, *path, *via, *reason; /* via: as it was asked for, or "" */
	const char *program;		      /* who wants it; NULL: the agent's editor */
	bool whole;			      /* path is no path: no directory can be allowed */
	uint32_t timeout_s;
};
/* 0: too many wait. */
uint64_t session_ask(struct session *s, const struct own_ask *a) MUST_USE;
void session_withdraw(struct session *s, uint64_t ask); /* nobody waits for it any more */
/* Was that answered for the whole session? 1: allowed, 0: denied, -1: no. */
int session_recall(struct session *s, enum rule_kind kind, const char *path) MUST_USE;
void session_expire_asks(struct session *s); /* call it once a second */
/* Take an answer back: from now on it is asked again. What is open stays open. */
void session_revoke(struct session *s, const char *by, uint64_t rule);
/* Take a lasting rule that an answer wrote (model.lasting[i]) out of its file, which the keeper
 * then reads again. */
int session_forget(struct session *s, size_t i, struct err *err);
/* Close a connection (model.connections) of the agent; and deny its host from now on, too. */
void session_end_connection(struct session *s, uint64_t id);
void session_forbid(struct session *s, const char *by, uint64_t id);
/* Show a port of the sandbox at the same port of the host's loopback; a row follows. */
void session_publish(struct session *s, uint16_t port);
void session_signal(struct session *s, int sig);
/* An answer to a request about an agent's settings: it begins anew with a copy of them for this
 * folder (own_settings.h), and all that waits of its bundle is denied. Only where model.own_offer
 * is set. As session_answer(); -EINVAL: the request is about no settings. */
int session_own_settings(struct session *s, const char *by, uint64_t ask, struct err *err);
/* What changes from now on, whoever does it, is one step of that name; NULL: it is over. */
void session_group(struct session *s, const char *name);
/* What is kept for undo, and what safeguards hold, from now on. */
struct limits;
void session_limits(struct session *s, const struct limits *l);
/* The plan arrives in model.plan (model.plan_request tells which). */
uint64_t session_plan(struct session *s, enum undo_kind kind, size_t n, unsigned flags);
/* What was planned was shown to nobody who confirms it: the next undo is not held to it. */
void session_forget_plan(struct session *s);
/* So does that of an undo that was not planned first, before it begins. */
uint64_t session_undo(struct session *s, enum undo_kind kind, size_t n, unsigned flags);
/* Bring single paths (relative to the folder, NULL-terminated) back to what they were before step.
 */
uint64_t session_restore(struct session *s, int64_t step, const char *const *paths, unsigned flags);
uint64_t session_restore_plan(struct session *s, int64_t step, const char *const *paths,
			      unsigned flags);
/* One hunk (from 1) of a file of the step's diff. */
uint64_t session_restore_hunk(struct session *s, int64_t step, const char *path, unsigned hunk);
/* End the commands whose steps are open; what they have changed is kept as always. */
void session_stop(struct session *s);
/* A row, and a line in the audit log: what happened to the session outside of the sandbox. */
void session_note(struct session *s, const char *words);
/* The same, and a line on the screen of a run without a console. */
void session_warn(struct session *s, const char *words);
/* The human said something to the agent: a new turn begins. */
void session_turn(struct session *s);
void session_cancel(struct session *s);

/* ---- guests.c: undo that another terminal asks for. What the console shows stays as it is. ----
 */

struct undo_wish {
	enum undo_kind kind;
	size_t n;
	unsigned flags;
	int64_t step;	  /* UNDO_PATHS, and its path */
	const char *path; /* */
};

/* What of a plan an undo is held to. */
struct plan_shown {
	int64_t newest; /* its first step */
	uint64_t seal;
	uint64_t undos; /* model.undos then */
};

/* plan: valid during the call; NULL: refused, with result and words. */
typedef void (*session_on_plan)(void *data, uint64_t request, const struct undo_plan *plan,
				int result, const char *words);

/* The request's number; 0: the path is too long. fn is called once, unless data is dropped first.
 */
uint64_t session_plan_for(struct session *s, const struct undo_wish *w, session_on_plan fn,
			  void *data);
void session_drop_guest(struct session *s, const void *data);
/* Performs it as model.job. The job's number, or 0 and words: another is under way, or what was
 * shown is not what would be done. */
uint64_t session_undo_for(struct session *s, const struct undo_wish *w,
			  const struct plan_shown *shown, struct err *err);
/* Read-only view of the history, for step and diff views; borrowed; NULL when unavailable. */
struct journal *session_journal(struct session *s);
/* Ends the sandbox, commits steps, flushes the audit log, waits for the keeper. */
void session_close(struct session *s);
