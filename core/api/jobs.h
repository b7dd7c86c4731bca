/* jobs - commands and file operations of front ends inside a session, by the runner (inside/). */
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
 * Order:   commands, and writes of a front end's while no command runs, run one at a time in the
 *          order in which they came. Beside them RUNNER_JOBS - 1 others run, in theirs.
 * Bounds:  JOBS_QUEUED wait. Output comes as the caller reads it (jobs_took()), RUNNER_AHEAD bytes
 *          ahead of that. JOBS_INPUT bytes of input wait in a job, JOBS_HELD for all that have not
 *          begun; the input that a job starts with is extra.
 * Messages from inside are untrusted: sizes are checked, numbers of jobs are looked up.
 */
#define JOBS_QUEUED 16384
#define JOBS_INPUT  (16u << 20)
#define JOBS_HELD   (64u << 20)

struct jobs;

struct job_spec {
	uint32_t flags;	   /* enum runner_what, RUN_*; RUN_STEP without RUN_API: a command */
	bool refuse;	   /* fail with -EBUSY instead of waiting for another command */
	const char *label; /* of its step */
	const char *cwd;   /* absolute */
	const char *const *env, *const *argv; /* NULL-terminated; env may be NULL */
	unsigned columns, rows;
	const char *input; /* all of its input, with RUN_INPUT; NULL: jobs_input() sends it */
	size_t input_len;
	uint32_t timeout_ms; /* killed after running this long; 0: never */
	uint32_t wait_ms;    /* -EBUSY if its turn has not come after this time; 0: no limit */
};

struct job_result {
	int error;	 /* negative errno: it did not run, or the session ended; words say more */
	int wait_status; /* of wait(2), if error is 0 */
	bool cancelled, timed_out;
	int64_t step; /* the step that kept its changes; 0: none, or another's step */
	size_t paths;
	const char *words; /* "" if there was no error */
};

struct job_listener {
	void (*began)(void *data, uint32_t job); /* its turn has come; may be NULL */
	void (*output)(void *data, uint32_t job, int stream, const char *bytes, size_t len);
	void (*ended)(void *data, uint32_t job, const struct job_result *r); /* the last call */
};

/* settle is called before the end of a job is reported, to read earlier messages of the keeper. */
struct jobs *jobs_open(uv_loop_t *loop, int sock, void (*settle)(void *data), void *data) MUST_USE;
void jobs_close(struct jobs *j); /* NULL is a no-op */
/* Queues a job. Returns its number, or 0 with err set. */
uint32_t jobs_run(struct jobs *j, const struct job_spec *spec, const struct job_listener *on,
		  void *data, struct err *err) MUST_USE;
/* Sends input, also to a job that waits for its turn. Returns -ESRCH: there is no such job;
 * -EAGAIN: too much input waits; -EPIPE: the job takes no (more) input. */
int jobs_input(struct jobs *j, uint32_t job, const char *bytes, size_t len) MUST_USE;
int jobs_end_input(struct jobs *j, uint32_t job) MUST_USE;
int jobs_resize(struct jobs *j, uint32_t job, unsigned columns, unsigned rows) MUST_USE;
/* Removes a waiting job. A running one gets SIGTERM, and SIGKILL after two seconds. */
int jobs_cancel(struct jobs *j, uint32_t job) MUST_USE;
int jobs_signal(struct jobs *j, uint32_t job, int sig) MUST_USE;
void jobs_took(struct jobs *j, uint32_t job, size_t bytes);
/* Pauses the start of jobs that run beside others, while their results are not read. Jobs that run
 * alone still start. */
void jobs_pause(struct jobs *j, bool pause);	     /* j may be NULL */
bool jobs_waits(const struct jobs *j, uint32_t job); /* whether it waits for its turn */
/* Returns whether a command runs. A write of a front end is then part of its step; else the write
 * runs alone. */
bool jobs_command_runs(const struct jobs *j);
bool jobs_broken(const struct jobs *j); /* the runner has ended: no more jobs run */
/* Returns the running command, or 0; stores how many jobs wait. */
uint32_t jobs_running(const struct jobs *j, size_t *ret_queued);
