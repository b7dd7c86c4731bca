/* jobs - what front ends run inside a session, through the runner (core/api/inside). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/inside/wire.h"
#include "core/base/buf.h"
#include "core/base/err.h"

typedef struct uv_loop_s uv_loop_t;

/*
 * Life:    jobs_open() takes the socket, a stream, over -> jobs_run() ... -> jobs_close(), which
 *          tells each job that it has ended (-EPIPE) and takes effect when the loop runs once more.
 * Threads: main loop only; never blocks.
 * Bounds:  commands run one at a time, JOBS_QUEUED wait; RUNNER_JOBS in all. Output comes as long
 *          as it is taken (jobs_took()), RUNNER_AHEAD bytes ahead of that. JOBS_INPUT bytes of
 *          input wait in a job.
 * What comes from inside is the agent's word: sizes are checked, numbers of jobs are looked up.
 */
#define JOBS_QUEUED 64
#define JOBS_INPUT  (16u << 20)

struct jobs;

struct job_spec {
	uint32_t flags;	   /* enum runner_what, RUN_*; RUN_STEP without RUN_API: a command */
	bool alone;	   /* waits for its turn; else it runs at once */
	bool refuse;	   /* -EBUSY in place of waiting */
	const char *label; /* of its step */
	const char *cwd;   /* absolute */
	const char *const *env, *const *argv; /* NULL-terminated; env may be NULL */
	unsigned columns, rows;
	uint32_t timeout_ms; /* ended then; 0: never */
};

struct job_result {
	int error;	 /* negative errno: it did not run, or the session ended; see words */
	int wait_status; /* of wait(2), else */
	bool cancelled, timed_out;
	int64_t step; /* what it changed was kept as this step; 0: nothing, or in another's step */
	size_t paths;
	const char *words; /* "" unless error */
};

struct job_listener {
	void (*began)(void *data, uint32_t job); /* its turn has come; may be NULL */
	void (*output)(void *data, uint32_t job, int stream, const char *bytes, size_t len);
	void (*ended)(void *data, uint32_t job, const struct job_result *r); /* the last call */
};

struct jobs *jobs_open(uv_loop_t *loop, int sock) MUST_USE;
void jobs_close(struct jobs *j); /* NULL is a no-op */
/* The number of the job, or 0 with err set. */
uint32_t jobs_run(struct jobs *j, const struct job_spec *spec, const struct job_listener *on,
		  void *data, struct err *err) MUST_USE;
/* -ESRCH: there is none of that number; -EAGAIN: too much waits; -EPIPE: it takes no input. */
int jobs_input(struct jobs *j, uint32_t job, const char *bytes, size_t len) MUST_USE;
int jobs_end_input(struct jobs *j, uint32_t job) MUST_USE;
int jobs_resize(struct jobs *j, uint32_t job, unsigned columns, unsigned rows) MUST_USE;
/* One that waits is taken off. One that runs gets SIGTERM, and SIGKILL after two seconds. */
int jobs_cancel(struct jobs *j, uint32_t job) MUST_USE;
int jobs_signal(struct jobs *j, uint32_t job, int sig) MUST_USE;
void jobs_took(struct jobs *j, uint32_t job, size_t bytes);
bool jobs_waits(const struct jobs *j, uint32_t job); /* for its turn */
/* A command runs, or waits: a write of a front end's is part of it, or comes at once. */
bool jobs_command_runs(const struct jobs *j);
/* The command that runs, 0: none; how many wait. */
uint32_t jobs_running(const struct jobs *j, size_t *ret_queued);
