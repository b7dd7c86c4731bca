/* session_priv - what session.c, events.c and usage.c share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/audit/audit.h"
#include "core/keeper/client.h"
#include "core/session/session.h"

/* Ids of answers to what nobody asked. */
#define FORBID_ASKS (UINT64_C(1) << 63)
/* Rules that answers to session_ask() are: a range that the keeper, which marks some of its own at
 * the top, does not use. */
#define OWN_RULES (UINT64_C(1) << 48)
static inline bool session_rule_is_own(uint64_t rule)
{
	return (rule & ~(OWN_RULES - 1)) == OWN_RULES;
}

struct guest; /* guests.c */

struct session {
	const struct session_listener *on;
	void *data;
	struct guest *guests;
	struct model model;
	struct client *client;
	struct audit *audit;
	struct journal *journal; /* read-only, opened when a view first asks */
	bool journal_tried;
	bool edits_stale; /* the model's list of edits from outside is older than the store's */
	bool turns_stale; /* so are the turns */
	bool earlier_loaded;
	bool steps_stale;  /* what it knows of steps that have ended may be */
	bool counts_stale; /* how many paths they created, changed, deleted: read once a second */
	int64_t began_wall_us;
	char *config_home;		     /* $XDG_CONFIG_HOME or NULL */
	char *cwd;			     /* whose project's settings are read */
	char **folders, *folder, *state_dir; /* folder is the first of folders */
	char **overlays;		     /* or NULL */
	struct buf *kept;		     /* the spec's */
	pid_t keeper;
	struct broker *broker;	 /* NULL: none */
	struct secrets *secrets; /* the same */
	int lifeline;  /* what is inside ends when this is closed, a stuck keeper or not; 0: none */
	bool keeps;    /* journal.undo: what is changed is kept for undo */
	bool starting; /* inside session_start(): a failure is its error, not an event */
	char *start_failed;
	uint64_t plan_asked;	/* newest plan request */
	bool frozen;		/* the audit log failed: the keeper denies every change */
	bool gone;		/* the keeper's socket is closed */
	uint64_t drawn_version; /* model.version when changed() last fired */
	uint64_t cpu_ticks;	/* of the last usage sample */
	struct io_seen {	/* of each process, at that time; sorted by pid */
		int64_t pid;
		uint64_t read, written;
	} * io_seen;
	size_t n_io_seen;
	int64_t cpu_at_us;
	uint64_t last_forbid;
	int window;	   /* the lock of its ports; 0: none */
	uint64_t last_ask; /* questions of the keeper's and session_ask()'s are counted together */
	struct ask_id {
		uint64_t id, keeper; /* in the model; as the keeper counts */
	} * ask_ids;		     /* of those that the keeper asks now */
	size_t n_ask_ids;
};

/* client_on_event: one event of the keeper into the model and the audit log. */
void session_on_event(void *data, enum wire_type type, const struct client_event *ev);
/* A safeguard holds a step, or has stopped it (held.c). */
void session_on_held(struct session *s, const struct guard_report *r);
void session_on_stopped(struct session *s, const struct client_event *ev);
/* guests.c: was the plan, or its refusal, for a guest? begin: a job has begun. */
bool session_guest_plan(struct session *s, uint64_t request, const struct undo_plan *plan,
			int result, const char *words);
void session_guests_done(struct session *s);
uint64_t session_begin_job(struct session *s, enum undo_kind kind, uint64_t request);
/* asking.c */
void session_on_ask(struct session *s, const struct client_event *ev);
void session_on_ask_gone(struct session *s, const struct client_event *ev);
void session_on_given(struct session *s, const struct client_event *ev);
void session_on_given_over(struct session *s, const struct client_event *ev);
void session_on_left_open(struct session *s, const struct client_event *ev);
void session_on_tallies(struct session *s, const struct client_event *ev);
void session_on_flow(struct session *s, const struct client_event *ev);
void session_on_port(struct session *s, const struct client_event *ev); /* connections.c */
void session_on_rewrite(struct session *s, const struct client_event *ev);
/* A command line of the keeper's as one line: NULs become blanks. Heap. */
char *session_argv_text(const struct client_event *ev) MUST_USE;
void session_flush_audit(struct session *s);
/* asking.c: into the list and the audit log, as the human who looks later shall find it. */
void session_note_ask(struct session *s, const struct ask *a);
void session_note_timeout(struct session *s, const struct ask *a);
/* own_asks.c. The model's number of a question of the keeper's, a new one for a new question. */
uint64_t session_ask_id(struct session *s, uint64_t keeper);
uint64_t session_known_ask(const struct session *s, uint64_t keeper); /* 0: none, or answered */
/* The keeper's number; 0: it is not the keeper's question. */
uint64_t session_keeper_id(const struct session *s, uint64_t id);
void session_remove_ask(struct session *s, uint64_t id); /* from the model, and its number */
void session_on_own_answer(struct session *s, uint64_t id, bool allow);
/* Append to the audit log; a failure freezes the session. */
void session_audit(struct session *s, const struct audit_entry *e);
/* Mark the steps that are undone now, after an undo or a redo. */
void session_reload_undone(struct session *s);
/* The same after an undo or redo, and what it did: "rolled back step 2: rm README". Heap. */
char *session_undo_words(struct session *s, const char *verb);
/* How many paths the steps that have ended created, changed and deleted. */
void session_reload_counts(struct session *s);
/* Read those edits again if there are new ones. */
void session_reload_stale(struct session *s); /* where somebody looks */
/* The rules of settings files into the model. */
struct policy;
void session_list_lasting(struct session *s, const struct policy *p);
/* Sample cpu and memory of everything inside the sandbox. */
void session_sample_usage(struct session *s);
void session_tell_note(struct session *s, const char *words); /* to the human, at the start */
/* spawn_secrets.c: network.secret, into session, model and spec. */
int session_read_secrets(struct session *s, struct session_spec *spec, struct err *err) MUST_USE;
