/* broker_priv - types and functions of the broker's process; one loop, one thread. */
/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The parent's libuv may have run a loop (cordon serve), and this process closes the pipe of its
 * signals. So nothing here uses uv_signal_t or uv_spawn(), which abort without that pipe.
 */

#include "core/base/buf.h"

#include <uv.h>

#include "core/broker/agent_keys.h"
#include "core/broker/agent_message.h"
#include "core/broker/broker.h"
#include "core/broker/credential.h"
#include "core/broker/note.h"
#include "core/broker/secrets.h"

#define BROKER_CLIENTS 64
#define GIT_MS	       10000 /* time for git to send its request */

struct asker;
struct process; /* the state of the broker process */

/* The functions of a protocol. */
struct asker_ops {
	void (*heard)(struct asker *c);		       /* c->in has grown */
	void (*ended)(struct asker *c);		       /* its input has ended */
	void (*answered)(struct asker *c, bool allow); /* BROKER_ANSWER */
	void (*kept)(struct asker *c);		       /* BROKER_KEPT */
	void (*closed)(struct asker *c);	       /* its handles are closed; may be NULL */
};

/* A client. It is freed when its handles are closed; jobs have its number. */
struct asker {
	struct asker *next, *prev;
	const struct asker_ops *ops;
	struct process *broker;
	uint64_t id;
	uv_pipe_t pipe;
	unsigned handles; /* number that is not closed */
	struct buf in;
	int64_t deadline_ms; /* 0: none */
	bool closing, asking;
	bool busy; /* one of its requests is being served */
	/* of git */
	struct credential wish;
	struct buf reply;
	unsigned secrets; /* secrets that cordon has not acknowledged (BROKER_KEPT) */
	/* of the TLS process (secret_client.c) */
	unsigned secret; /* number of the secret that is being read */
	bool working;
	/* of ssh (agent_client.c) */
	struct agent_state *agent;
};

struct process {
	uv_loop_t loop;
	uv_poll_t keeper;
	uv_poll_t signals; /* SIGTERM, SIGCHLD */
	int sigfd;
	uv_timer_t timer;
	uv_pipe_t git, ssh;
	const struct broker_spec *spec;
	struct agent_keys *keys;
	const char *dir;
	int sock;
	struct asker *clients;
	size_t n_clients, n_jobs;
	struct job *jobs;
	uint64_t last_id;
};

/* ---- process.c: loop, clients, notes --------------------------------------------------------- */

struct process_spec {
	const struct broker_spec *broker;
	struct agent_keys *keys;
	const char *dir; /* directory of the sockets, which the process removes */
	int sock;	 /* to the keeper */
	int git, ssh;	 /* listening; -1: not served */
	int tls;	 /* to the TLS process; -1: there is none */
};
NORETURN void broker_run(const struct process_spec *spec);

void broker_tell(struct process *p, const struct broker_note *note);
/* Asks the keeper. BROKER_ANSWER answers the client. */
void asker_asks(struct asker *c, enum rule_kind kind, const char *target, const char *text);
struct asker *asker_find(struct process *p, uint64_t id); /* NULL: disconnected */
/* Sends a copy of the data. */
void asker_write(struct asker *c, const char *data, size_t len);
void asker_finish(struct asker *c); /* closes when everything is written */
void asker_close(struct asker *c);
/* Sends a copy of the data, and wipes it after writing. */
int process_write_stream(uv_stream_t *to, const char *data, size_t len) MUST_USE;

/* ---- git_client.c, agent_client.c, secret_client.c ------------------------------------------- */

extern const struct asker_ops git_client, agent_client, secret_client;
void agent_client_start(struct asker *c);
void agent_client_stop(struct asker *c, uv_close_cb closed); /* closes its own handles */

/* ---- job.c: programs of the user ------------------------------------------------------------ */

/* Called at the end of a program. c is NULL if the client has disconnected. status: like a shell's
 * $?, or -1: it did not run, or took too long. said is wiped afterwards. */
typedef void (*job_done)(struct asker *c, int status, struct span said);
/* Runs argv[0] from PATH in /, with nothing from a working folder and no terminal. Calls done()
 * later, after it has returned. */
void job_run(struct asker *c, const char *const *argv, struct span input, job_done done);
void jobs_reap(struct process *p); /* after SIGCHLD */
void jobs_kill(struct process *p);
/* Removes variables that name a repository or a program for git to run from the environment of this
 * process: its programs inherit it. */
void jobs_environment(void);
