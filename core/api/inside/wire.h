/* wire - between cordon and the runner, its program inside the sandbox that runs commands. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/*
 * A stream of packets: a head and its len bytes, up to RUNNER_BYTES. Both ends are of one build.
 * The runner lives with what the agent runs: all that it says is the agent's word.
 */
#define RUNNER_BYTES 32768
#define RUNNER_SPEC  65536	 /* of RUNNER_RUN alone */
#define RUNNER_JOBS  16		 /* at a time */
#define RUNNER_AHEAD (256 << 10) /* bytes of output that a job may send before they are taken */

enum runner_type {
	/* cordon -> runner */
	RUNNER_RUN = 1, /* a: enum runner_what and flags; b: columns << 16 | rows; bytes: label,
			   cwd, number of variables, variables, arguments, each with a NUL */
	RUNNER_INPUT,	/* bytes for its standard input */
	RUNNER_EOF,	/* its input ends after those */
	RUNNER_RESIZE,	/* b: columns << 16 | rows */
	RUNNER_SIGNAL,	/* a: signal for its process group */
	RUNNER_CREDIT,	/* a: bytes of its output that were taken */
	/* runner -> cordon */
	RUNNER_OUT = 64, /* a: 1 standard output, 2 standard error; bytes */
	RUNNER_TAKEN,	 /* a: bytes of input that it has read */
	RUNNER_END,	 /* a: wait status; bytes: what ending its step said, or nothing */
	RUNNER_FAILED,	 /* a: errno; bytes: words. Nothing was run */
};

enum runner_what {
	RUN_PROGRAM,
	RUN_READ,  /* PATH OFFSET MOST: "SIZE MODE MTIME_US\n", then bytes */
	RUN_WRITE, /* PATH HOW MODE PARENTS, content on its standard input */
	RUN_LIST,  /* PATH MOST: one JSON object a line */
	RUN_SCAN,  /* PATH MOST: one JSON object a line for each name that other systems cannot have
		    */
	RUN_WHAT = 0xff,
	RUN_TTY = 0x100,   /* on a terminal of its own */
	RUN_INPUT = 0x200, /* standard input is a pipe, else /dev/null */
	RUN_STEP = 0x400,  /* what it changes is one step, */
	RUN_API = 0x800,   /* of kind "api" */
};

struct runner_head {
	uint32_t type, job, a, b, len; /* len: of the bytes that follow */
};
