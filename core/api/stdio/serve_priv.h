/* serve_priv - types and functions shared by the files of cordon serve. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/channel.h"
#include "core/api/describe.h"
#include "core/api/stdio/serve.h"

#include <uv.h> /* its MIN is replaced by ours */

#define REQUESTS_MAX   JOBS_QUEUED /* most unanswered requests */
#define REQUESTS_BYTES (64u << 20) /* most bytes of their payloads */
/* Bytes that wait to be read by the client: with more, events wait too. */
#define QUEUE_FULL  (4u << 20)
#define STALL_US    2000000	 /* the client has read nothing for so long: output is dropped */
#define OUTPUT_KEPT (256u << 10) /* output kept for an answer with the whole output */
#define PATHS_TOLD  1000	 /* paths reported for a step */
#define CONTENT_MAX (8u << 20)	 /* bytes of a file that is read */

struct serve;
struct request;

/* Returns 0: r->result is the answer, NULL for {}; 1: the answer comes later; -1: r->fault is the
 * error. */
typedef int (*operation_fn)(struct serve *s, struct request *r);

struct operation {
	const char *name;
	operation_fn fn;
	bool needs_session;
};
extern const struct operation operations[]; /* ended by a NULL name */

struct request {
	struct request *prev, *next;
	size_t bytes; /* bytes of its payload, approximately */
	struct serve *serve;
	const struct operation *op;
	cJSON *id, *payload, *result;
	struct fault fault;
	/* of jobs */
	uint32_t job;
	bool stepped, prompts, terminal;
	uint64_t turn;
	struct buf text[2]; /* collected text: of a file, or the incomplete last character */
	uint64_t dropped;   /* bytes of output dropped since the last report */
	char *command;
	bool undoes;
	/* an undo or redo by a language model (undo_for_model.c) */
	bool asks;		 /* it has begun to ask the user */
	uint64_t ask;		 /* number of the question; 0: not known yet */
	struct plan_shown shown; /* the plan of the question */
	size_t n;
	char *asked;  /* the question */
	bool allowed; /* the answer was yes */
	/* For a request of another front end than the STDIO API: gets the answer; output is
	 * kept. */
	void (*answered)(struct request *r, int outcome);
	void (*progress)(struct request *r, const char *bytes, size_t len); /* may be NULL */
	void *data;
	bool cut; /* not all output was kept */
};

struct id_list {
	int64_t *ids;
	size_t n;
};

struct serve {
	const struct serve_maker *maker;
	uv_loop_t loop;
	uv_poll_t signals; /* data is the serve, below too */
	uv_timer_t tick;
	int sigfd;
	struct channel *channel;
	struct engine *engine;
	struct dirs dirs;
	cJSON *start; /* the payload of the session, for session.reset */
	/* The request that started the session; it is answered when the session runs. */
	struct request *starting;
	char *failed;	      /* words: why the session failed */
	struct request *open; /* oldest first */
	size_t n_open, open_bytes;
	bool audit, go_on; /* go_on: api.on-disconnect = continue */
	bool input_over, deaf, over;
	bool denying; /* denies questions */
	int status;
	/* parts of the model that were reported */
	uint64_t row;
	uint64_t *asks;
	size_t n_asks;
	int64_t *steps; /* steps that were reported as ended */
	size_t n_steps;
	int64_t steps_over; /* all steps up to this number have ended and were reported */
	uint64_t rows_dropped, turns;
	/* steps that calls of language models made, and steps that they undid */
	struct id_list made, undone;
	uint64_t undos;		/* model.undos after the last of these undos */
	struct request *asking; /* newest undo question answered; allowed: the answer */
	uint64_t answered;	/* newest undo question answered; allowed: the answer */
	bool allowed;
	uint32_t ask_timeout; /* seconds; 0: none */
	char *client;	      /* name for a session that its requests start; NULL: not known */
	/* output in the channel, in its order: when it is read, its job gets credit */
	struct output *output;
	uint64_t taken;		       /* bytes read since the start */
	void (*also)(void *data);      /* is called for changes as well; NULL: none */
	bool (*also_full)(void *data); /* whether much output waits for its clients */
	void *also_data;
};

/* ---- serve.c ---- */
int serve_open(struct serve *s, const struct serve_maker *maker, struct err *err) MUST_USE;
void serve_close(struct serve *s); /* runs the loop until all handles are closed */
/* Ends the program, now or soon: the client no longer reads answers. */
void serve_deaf(struct serve *s);
/* A request of another front end: answered() is called at its end; *ret is valid until then. */
struct serve_asked {
	const char *operation;
	const cJSON *id, *payload; /* copied */
	void (*answered)(struct request *r, int outcome);
	void (*progress)(struct request *r, const char *bytes, size_t len);
	void *data;
	struct request **ret;
};
void serve_begin(struct serve *s, const struct serve_asked *a);
void serve_respond(struct request *r, int outcome); /* frees r */
/* Sends an event: {"type":TYPE,"payload":...}. Takes the payload over. */
void serve_event(struct serve *s, const char *type, cJSON *payload);
bool serve_has_room(const struct serve *s);
bool serve_hears(const struct serve *s);    /* its client may still answer a question */
void serve_pace(struct serve *s);	    /* reads results as fast as the client reads them */
void serve_send(struct serve *s, cJSON *o); /* as one line; takes it over */
struct request *serve_find(const struct serve *s, const cJSON *id);

/* ---- serve_hello.c ---- */
void serve_hello(struct serve *s); /* greets the client */

/* ---- serve_payload.c ---- */
const cJSON *serve_get(const struct request *r, const char *name); /* NULL: not there */
bool serve_flag(const struct request *r, const char *name);
double serve_number(const struct request *r, const char *name); /* default: the schema's */
const char *serve_text(const struct request *r, const char *name, const char *otherwise);

/* ---- serve_session.c ---- */
int op_session_start(struct serve *s, struct request *r);
int op_session_stop(struct serve *s, struct request *r);
int op_session_reset(struct serve *s, struct request *r);
int op_session_status(struct serve *s, struct request *r);
void serve_end_session(struct serve *s);
/* Starts a session as the command line says, unless one runs. Returns 0 if a session starts or
 * runs. */
int serve_need_session(struct serve *s, struct fault *f) MUST_USE;

/* ---- serve_undo.c ---- */
int op_rollback(struct serve *s, struct request *r);
int op_redo(struct serve *s, struct request *r);
int op_restore(struct serve *s, struct request *r);
int op_diff(struct serve *s, struct request *r);
int op_history(struct serve *s, struct request *r);
int op_undo_configure(struct serve *s, struct request *r);
int op_discard(struct serve *s, struct request *r);
int op_safeguard_configure(struct serve *s, struct request *r);

/* Is passed to engine_undo(), with the serve as data. */
void serve_undone(void *data, int result, const char *words, const struct undo_plan *plan);

/* ---- undo_for_model.c ---- */
int model_undo(struct serve *s, struct request *r, const struct undo_call *call);
void model_undo_answered(void *serve, uint64_t ask, bool allow); /* engine_listener.answered */
void model_undo_done(struct serve *s, const struct request *r, const struct undo_plan *plan);
void model_made(struct serve *s, const struct request *r, int64_t step);
bool model_withdraw(struct request *r); /* false: it does not wait for an answer */
void model_refuse(struct request *r, int result, const char *words, const struct undo_plan *plan);
void model_forget(struct serve *s);

/* ---- serve_agent.c ---- */
int op_execute(struct serve *s, struct request *r);
int op_prompt(struct serve *s, struct request *r);
int op_cancel(struct serve *s, struct request *r);
int op_resize(struct serve *s, struct request *r);
int op_input(struct serve *s, struct request *r);
void serve_output_read(struct serve *s, size_t bytes); /* the client has read this many */
void serve_output_forget(struct serve *s);

/* ---- serve_files.c ---- */
int op_list(struct serve *s, struct request *r);
int op_read(struct serve *s, struct request *r);
int op_write(struct serve *s, struct request *r);
int op_fs_status(struct serve *s, struct request *r);
int serve_job_fault(struct request *r, const struct err *err); /* of jobs_run(); returns -1 */

/* ---- serve_asks.c ---- */
int op_confirm(struct serve *s, struct request *r);
int op_approvals(struct serve *s, struct request *r);
int op_answer(struct serve *s, struct request *r);
int op_review_list(struct serve *s, struct request *r);
int op_review_done(struct serve *s, struct request *r);

/* ---- serve_events.c ---- */
void serve_deny_unheard(struct serve *s);
void serve_tell(struct serve *s); /* reports the changes of the model */
void serve_forget_told(struct serve *s);
/* Sends the event of a command that has ended. Returns the step that a safeguard rolled back, else
 * NULL. */
const struct step_row *serve_step_done(struct serve *s, const struct request *r,
				       const struct job_result *result);
void serve_warn(struct serve *s, const char *words);
void serve_fail(struct serve *s, const char *words, bool fatal);
