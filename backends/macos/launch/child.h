/* child - what a new process does before it becomes the program: between fork and exec. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/launch/launch.h"

/* Made before the fork: the child allocates nothing. */
struct child_plan {
	const struct mac_launch_spec *spec;
	char *const *argv; /* of the program, or of sandbox-exec */
	const char *path;  /* what is executed */
	char *const *env;
	int report; /* CLOEXEC: what failed goes there */
	int go;	    /* a byte: it may run; its end: it may not */
};

enum child_stage {
	CHILD_TERMINAL,
	CHILD_LIMITS,
	CHILD_HUMAN,
	CHILD_DIRECTORY,
	CHILD_HARDENING, /* goes on */
	CHILD_SANDBOX,
	CHILD_EXEC,
};

struct child_report {
	enum child_stage stage;
	int code; /* negative errno */
	char why[200];
};

NORETURN void child_run(const struct child_plan *p);
/* "set the resource limits" */
const char *child_stage_words(enum child_stage stage);
