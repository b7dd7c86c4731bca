/* wire - the protocol between cordon and the runner, the program in the sandbox that runs
 * commands. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/*
 * A stream of packets: a head and its len bytes, up to RUNNER_BYTES. Both ends come from one build.
 * The runner shares the sandbox with the agent, so its messages are untrusted as well.
 */
#define RUNNER_BYTES 32768
#define RUNNER_SPEC  65536 /* of RUNNER_RUN only */
#define RUNNER_JOBS  16	   /* that run at the same time */
/* Bytes of output that a job may send before cordon has read them. */
#define RUNNER_AHEAD (256 << 10)

enum runner_type {
	/* cordon -> runner */
	/* A: enum runner_what and flags; b: columns << 16 | rows; bytes: label, cwd, number of
	 * variables, variables, arguments, each with a NUL. */
	RUNNER_RUN = 1,
	RUNNER_INPUT,  /* bytes for its standard input */
	RUNNER_EOF,    /* its input ends after the bytes sent before */
	RUNNER_RESIZE, /* b: columns << 16 | rows */
	RUNNER_SIGNAL, /* a: signal for its process group */
	RUNNER_CREDIT, /* a: bytes of its output that cordon has read */
	/* runner -> cordon */
	RUNNER_OUT = 64, /* a: 1 standard output, 2 standard error; bytes */
	RUNNER_TAKEN,	 /* a: bytes of input that it has read */
	RUNNER_END,	 /* a: wait status; bytes: why the step could not be ended, or empty */
	RUNNER_FAILED,	 /* a: errno; bytes: words. The job did not run */
};

enum runner_what {
	RUN_PROGRAM,
	RUN_READ,  /* PATH OFFSET MOST: "SIZE MODE MTIME_US\n", then bytes */
	RUN_WRITE, /* PATH HOW MODE PARENTS, content on its standard input */
	RUN_LIST,  /* PATH MOST: one JSON object a line */
	/* PATH MOST: one JSON object a line for each name that is invalid on other systems. */
	RUN_SCAN,
	RUN_WHAT = 0xff,
	RUN_TTY = 0x100,   /* run on its own terminal */
	RUN_INPUT = 0x200, /* standard input is a pipe, else /dev/null */
	RUN_STEP = 0x400,  /* its changes are one step */
	RUN_API = 0x800,   /* with RUN_STEP: of kind "api" */
};

struct runner_head {
	uint32_t type, job, a, b, len; /* len: of the bytes that follow */
};
