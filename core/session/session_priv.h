/* session_priv - the state of a session, and the functions between its files. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/audit/audit.h"
#include "core/keeper/client.h"
#include "core/session/session.h"

/* Marks ids of answers that belong to no question. */
#define FORBID_ASKS (UINT64_C(1) << 63)
/* Ids of rules from answers to session_ask(): a range that the keeper does not use. It sets bits at
 * the top. */
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
	struct redact *redact;	 /* record.redact, and the secrets put inside */
	struct journal *journal; /* read-only; opened when a view needs it */
	bool journal_tried;
	bool edits_stale;      /* the model's list of outside edits is out of date */
	bool turns_stale;      /* the turns are out of date */
	bool headless, unseen; /* unseen: no console shows it, so it loads nothing for a console */
	bool earlier_loaded;
	bool steps_stale; /* the state of ended steps may be out of date */
	/* The numbers of paths that the steps changed may be out of date; they are read once a
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
	struct secrets *secrets; /* NULL: none */
	/* Closing it ends all processes inside, even if the keeper is stuck; 0: none. */
	int lifeline;
	bool keeps;    /* journal.undo: changes are kept for undo */
	bool starting; /* in session_start(): a failure is returned, not reported as an event */
	char *start_failed;
	bool ran;		/* the command was started without an error */
	uint64_t total_size;	/* journal.total-size; 0: unlimited */
	uint64_t plan_asked;	/* the newest requested plan */
	bool frozen;		/* the audit log failed, so the keeper denies every change */
	bool gone;		/* the keeper's socket is closed */
	uint64_t drawn_version; /* model.version at the last call of changed() */
	uint64_t cpu_ticks;	/* at the last usage sample */
	struct io_seen {	/* of each process at that sample; sorted by pid */
		int64_t pid;
		uint64_t read, written;
	} * io_seen;
	size_t n_io_seen;
	int64_t cpu_at_us;
	struct reviewing *reviewing;  /* NULL: no review has begun */
	struct open_flow *open_flows; /* traffic.c */
	struct traffic *traffic;      /* counted by target (traffic.c) */
	int64_t traffic_at;	      /* monotonic: when the next lines go to the audit log */
	struct byte_limit *limits;    /* network.bytes (traffic.c) */
	size_t n_limits;
	bool job_of_client; /* a program started the job: the agent gets no notice */
	uint64_t last_forbid;
	struct session_shell *shells; /* shells that have not ended */
	uint64_t last_shell;
	uint64_t crowd;	   /* refused requests of a flood that are in no row */
	int64_t crowd_at;  /* when the next row about them is added; 0: there was no flood */
	int64_t crowd_us;  /* time between two such rows */
	int window;	   /* the lock of its ports; 0: none */
	int homes_lock;	   /* lock of the private homes of tools; 0: none */
	uint64_t last_ask; /* shared by the keeper's questions and session_ask()'s */
	struct ask_id {
		uint64_t id, keeper; /* number in the model, number of the keeper */
	} * ask_ids;		     /* of the keeper's open questions */
	size_t n_ask_ids;
};

/* client_on_event: adds one event of the keeper to the model and the audit log. */
void session_on_event(void *data, enum wire_type type, const struct client_event *ev);
/* held.c: handles a step that a safeguard holds or has stopped. */
void session_on_held(struct session *s, const struct guard_report *r);
void session_on_stopped(struct session *s, const struct client_event *ev);
/* start/keeper_start.c: plans the sandbox and forks the keeper; s gets its client. */
int session_start_keeper(struct session *s, const struct session_spec *given, struct err *err)
	MUST_USE;
/* Adds a row about requests of a flood that are in no row (events.c). */
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
/* Returns a command line of the keeper as one line: NULs become blanks. Heap. */
char *session_argv_text(const struct client_event *ev) MUST_USE;
void session_flush_audit(struct session *s);
/* traffic.c: counts the bytes of a connection, for its target and for network.bytes. */
void session_count_flow(struct session *s, const struct client_event *ev);
void session_note_traffic(struct session *s); /* writes new traffic to the audit log */
void session_tick_traffic(struct session *s); /* once a minute */
void session_free_traffic(struct session *s);
/* Reads network.bytes. Returns -EINVAL for a line that is not a host and a size. */
int session_read_limits(struct session *s, const struct session_spec *spec, struct err *err);
/* asking.c: adds a question, or its timeout, to the list of rows and to the audit log. */
void session_note_ask(struct session *s, const struct ask *a);
void session_note_timeout(struct session *s, const struct ask *a);
/* own_asks.c. Returns the model's number of a question of the keeper; a new question gets a new
 * one. */
uint64_t session_ask_id(struct session *s, uint64_t keeper);
uint64_t session_known_ask(const struct session *s, uint64_t keeper); /* 0: unknown, or answered */
/* Returns the keeper's number of a question, or 0 if it is not a question of the keeper. */
uint64_t session_keeper_id(const struct session *s, uint64_t id);
void session_remove_ask(struct session *s, uint64_t id); /* from the model, with its number */
void session_on_own_answer(struct session *s, uint64_t id, bool allow);
/* Appends to the audit log; a failure freezes the session. */
void session_audit(struct session *s, const struct audit_entry *e);
/* Reads the steps of earlier sessions, once: when a console shows them, and before an undo, because
 * its message names the rows that it changes. */
void session_load_earlier(struct session *s);
/* Marks the steps that are undone, after an undo or a redo. */
void session_reload_undone(struct session *s);
/* Does the same, and describes the undo or redo: "rolled back step 2: rm README". Heap. */
char *session_undo_words(struct session *s, const char *verb);
/* notices.c: adds a notice after an undo, redo or restore that succeeded. of: its steps. */
void session_notice_undo(struct session *s, const char *verb, const int64_t *of, size_t n);
/* review.c */
void session_review_pump(struct session *s, bool tick); /* starts the next job of the queue */
void session_review_done(struct session *s, uint64_t request, int result, const char *words);
/* Returns whether a job of the queue was refused because a step runs, and is tried again. */
bool session_review_waits(struct session *s, uint64_t request, int result);
void session_review_settle(struct session *s); /* call it after an undo or a redo */
void session_review_free(struct session *s);
void session_on_point_done(struct session *s, const struct client_event *ev);
/* shells.c */
void session_on_shell_ended(struct session *s, const struct client_event *ev);
void session_shells_end(struct session *s); /* with the session; tells their clients */
void session_on_noticed(struct session *s, const struct client_event *ev);
/* Reads how many paths the ended steps created, changed and deleted. */
void session_reload_counts(struct session *s);
/* Reads turns, states of steps and external edits again if they are out of date; views call it. */
void session_reload_stale(struct session *s);
/* Adds the rules of settings files to the model. */
struct policy;
void session_list_lasting(struct session *s, const struct policy *p);
/* Samples the cpu and memory use of all processes inside the sandbox. */
void session_sample_usage(struct session *s);
void session_tell_note(struct session *s, const char *words); /* tells the user at the start */
/* spawn_secrets.c: reads network.secret into session, model and spec. */
int session_read_secrets(struct session *s, struct session_spec *spec, struct err *err) MUST_USE;
