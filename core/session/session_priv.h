/* session_priv - the state of a session, and the functions between its files. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/audit/audit.h"
#include "core/keeper/client.h"
#include "core/session/session.h"

/* Flag of ids of answers without a question. */
#define FORBID_ASKS (UINT64_C(1) << 63)
/* Ids of rules from answers to session_ask(): a range that the keeper does not use, which marks
 * some of its own at the top. */
#define OWN_RULES (UINT64_C(1) << 48)
static inline bool session_rule_is_own(uint64_t rule)
{
	return (rule & ~(OWN_RULES - 1)) == OWN_RULES;
}

struct byte_limit; /* traffic.c */
struct reviewing;  /* review.c */

struct session_shell; /* shells.c */

struct session {
	const struct session_listener *on;
	void *data;
	struct model model;
	struct client *client;
	struct audit *audit;
	struct redact *redact;	 /* record.redact, and secrets that were put in */
	struct journal *journal; /* read-only, opened when a view first asks */
	bool journal_tried;
	bool edits_stale; /* the model's list of edits from outside is older than the store's */
	bool turns_stale; /* so are the turns */
	bool headless, unseen; /* unseen: no console shows it, so nothing is loaded for one */
	bool earlier_loaded;
	bool steps_stale; /* the state of ended steps may be out of date */
	/* The numbers of paths that they created, changed, deleted may be out of date; read once a
	 * second. */
	bool counts_stale;
	int64_t began_wall_us;
	char *config_home;		     /* $XDG_CONFIG_HOME or NULL */
	char *cwd;			     /* the directory whose project settings are read */
	char **folders, *folder, *state_dir; /* folder is the first of folders */
	char **overlays;		     /* or NULL */
	struct buf *kept;		     /* the spec's */
	pid_t keeper;
	struct broker *broker;	 /* NULL: none */
	struct secrets *secrets; /* the same */
	/* Closing this ends all processes inside, even with a stuck keeper; 0: none. */
	int lifeline;
	bool keeps;    /* journal.undo: changes are kept for undo */
	bool starting; /* inside session_start(): a failure is its error, not an event */
	char *start_failed;
	bool ran;		/* the command has been started and did not fail to */
	uint64_t total_size;	/* journal.total-size; 0: unlimited */
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
	struct reviewing *reviewing; /* NULL: no review yet */
	struct traffic *traffic;     /* by target (traffic.c) */
	int64_t traffic_at;	     /* monotonic: when the audit log gets it next */
	struct byte_limit *limits;   /* network.bytes (traffic.c) */
	size_t n_limits;	     /* */
	bool job_of_client;	     /* a program asked for the job: the agent gets no notice */
	uint64_t last_forbid;
	struct session_shell *shells; /* shells that have not ended yet */
	uint64_t last_shell;
	uint64_t crowd;	   /* requests of a flood that were refused and are in no row */
	int64_t crowd_at;  /* the next row about them; 0: there was no flood */
	int64_t crowd_us;  /* time between two such rows */
	int window;	   /* the lock of its ports; 0: none */
	int homes_lock;	   /* lock of the private homes of tools; 0: none */
	uint64_t last_ask; /* questions of the keeper's and session_ask()'s are counted together */
	struct ask_id {
		uint64_t id, keeper; /* number in the model, number of the keeper */
	} * ask_ids;		     /* of the open questions of the keeper */
	size_t n_ask_ids;
};

/* client_on_event: takes one event of the keeper into the model and the audit log. */
void session_on_event(void *data, enum wire_type type, const struct client_event *ev);
/* held.c: a safeguard holds a step, or has stopped it. */
void session_on_held(struct session *s, const struct guard_report *r);
void session_on_stopped(struct session *s, const struct client_event *ev);
/* start/keeper_start.c: plans the sandbox and forks the keeper, whose client the session gets. */
int session_start_keeper(struct session *s, const struct session_spec *given, struct err *err)
	MUST_USE;
/* undo.c: makes the request the model's job, and returns it. */
uint64_t session_begin_job(struct session *s, enum undo_kind kind, uint64_t request);
/* Adds a row about requests of a flood that have none (events.c). */
void session_tell_crowd(struct session *s);
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
/* Returns the decider that a reason names: the rule ("rule 'x' (FILE:2) says deny"), the command
 * line or an answer; NULL: none. Heap. */
char *session_decided_by(const char *words) MUST_USE;
/* A command line of the keeper's as one line: NULs become blanks. Heap. */
char *session_argv_text(const struct client_event *ev) MUST_USE;
void session_flush_audit(struct session *s);
/* traffic.c: adds bytes that were sent to a target and received from it. */
void session_add_traffic(struct session *s, const char *target, uint64_t sent, uint64_t received);
void session_note_traffic(struct session *s); /* writes new traffic to the audit log */
void session_tick_traffic(struct session *s); /* once a minute */
void session_free_traffic(struct session *s);
/* Counts bytes for network.bytes, and reports once that the limit is passed: the connection goes
 * on. */
void session_count_sent(struct session *s, const char *target, uint64_t sent);
/* Reads network.bytes. Returns -EINVAL for a line that is no host and size. */
int session_read_limits(struct session *s, const struct session_spec *spec, struct err *err);
/* asking.c: add a question, or its timeout, to the list of rows and to the audit log. */
void session_note_ask(struct session *s, const struct ask *a);
void session_note_timeout(struct session *s, const struct ask *a);
/* own_asks.c. Returns the number in the model of a question of the keeper, a new one for a new
 * question. */
uint64_t session_ask_id(struct session *s, uint64_t keeper);
uint64_t session_known_ask(const struct session *s, uint64_t keeper); /* 0: none, or answered */
/* Returns the number of the keeper, or 0 if the question is not the keeper's. */
uint64_t session_keeper_id(const struct session *s, uint64_t id);
void session_remove_ask(struct session *s, uint64_t id); /* from the model, and its number */
void session_on_own_answer(struct session *s, uint64_t id, bool allow);
/* Appends to the audit log; a failure freezes the session. */
void session_audit(struct session *s, const struct audit_entry *e);
/* Reads the steps of earlier sessions, once: when a console shows them, and before an undo, whose
 * words name the rows that it changes. */
void session_load_earlier(struct session *s);
/* Marks the steps that are undone now, after an undo or a redo. */
void session_reload_undone(struct session *s);
/* Does the same, and returns a description of the undo or redo: "rolled back step 2: rm README".
 * Heap. */
char *session_undo_words(struct session *s, const char *verb);
/* notices.c: an undo, redo or restore has ended well. of: its steps. */
void session_notice_undo(struct session *s, const char *verb, const int64_t *of, size_t n);
/* review.c */
void session_review_pump(struct session *s, bool tick); /* goes on with its queue */
void session_review_done(struct session *s, uint64_t request, int result, const char *words);
/* Returns whether a job of the queue was refused because a step runs, and will be tried again. */
bool session_review_waits(struct session *s, uint64_t request, int result);
void session_review_settle(struct session *s); /* steps have been undone or redone */
void session_review_free(struct session *s);
void session_on_point_done(struct session *s, const struct client_event *ev);
/* shells.c */
void session_on_shell_ended(struct session *s, const struct client_event *ev);
void session_shells_end(struct session *s); /* with the session: each is told */
void session_on_noticed(struct session *s, const struct client_event *ev);
/* Reads how many paths the ended steps created, changed and deleted. */
void session_reload_counts(struct session *s);
/* Reads turns, states of steps and external edits again if they are out of date. Called by views.
 */
void session_reload_stale(struct session *s);
/* Adds the rules of settings files to the model. */
struct policy;
void session_list_lasting(struct session *s, const struct policy *p);
/* Samples the cpu and memory use of all processes inside the sandbox. */
void session_sample_usage(struct session *s);
void session_tell_note(struct session *s, const char *words); /* to the human, at the start */
/* spawn_secrets.c: reads network.secret into session, model and spec. */
int session_read_secrets(struct session *s, struct session_spec *spec, struct err *err) MUST_USE;
