/* inside_priv - types and functions shared by the files of the runner. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/inside/wire.h"
#include "core/base/buf.h"
#include "core/base/err.h"

/* A parsed RUNNER_RUN; points into the bytes of the packet. */
struct order {
	uint32_t flags;
	unsigned columns, rows;
	const char *label, *cwd;
	char **env, **argv; /* NULL-terminated, heap arrays */
	size_t n_env, n_argv;
};

int task_order_parse(struct order *o, const struct runner_head *h, char *bytes, size_t len,
		     struct err *err) MUST_USE;
void task_order_done(struct order *o);

/* One job and its ends of the pipes. */
struct task {
	uint32_t id;
	int pid;
	int out[2]; /* read ends: standard output (or the terminal), standard error; -1: closed */
	int in;	    /* write end; -1: closed */
	struct buf input;
	bool eof; /* close `in` after that */
	bool tty, stepped;
	bool exited;
	int status;	/* of wait(2) */
	size_t left[2]; /* output bytes that are not sent yet after its exit */
	uint32_t ahead; /* bytes sent that cordon has not read */
};

/* Forks and executes a task; after a failure no process runs. */
int task_start(struct task *t, const struct order *o, struct err *err) MUST_USE;
void task_resize(const struct task *t, unsigned columns, unsigned rows);

/* Runs a file operation in the child; returns its exit status. Errors go to standard error as
 * "ERRNO words". */
int files_run(const struct order *o);
int scan_run(const char *path, size_t most);
/* Prints words and returns the exit status 1, for all file operations. */
int files_fail(int error, const char *what, const char *path);

/* Sends "run/NAME", "api/NAME" or "ran/STATUS" to the keeper; appends the answer, one line. */
int step_say(const char *verb, const char *argument, struct buf *answer, struct err *err);
