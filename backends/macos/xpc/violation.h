/* violation - parses Seatbelt's lines in the log of a Mac. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * `log stream --predicate 'sender == "Sandbox"'`, run outside (it refuses to run in a sandbox).
 * Forms:
 *     ... kernel: (Sandbox) Sandbox: node(123) deny(1) mach-lookup com.apple.fonts
 *     ... kernel: (Sandbox) 3 duplicate reports for Sandbox: node(123) deny(1) file-read-data /x
 *     ... kernel[0]: Sandbox: htop(12) System Policy: deny(1) mach-priv-task-port
 *     ... sandboxd[1] ([64]): CWSandbox(64) deny mach-lookup com.apple.airportd
 *     {"eventMessage":"Sandbox: node(123) deny(1) ...", ...}        (--style ndjson)
 *
 * The agent chooses the names of programs and files in a line. So a line that could mean two
 * processes is refused, and the caller uses a line only if its pid is of the session.
 */
#define VIOLATION_COMM 64
#define VIOLATION_TEXT 1024

struct violation {
	char comm[VIOLATION_COMM];
	int pid;
	char operation[64];
	char target[VIOLATION_TEXT]; /* path or service; "" */
	unsigned count;		     /* 1 plus the duplicates that the line reports */
	bool allowed;		     /* the call was allowed and is only reported */
	bool system_policy;	     /* by macOS's policy, not cordon's profile */
};

/* Parses a line. Returns 1, 0 if it is no denial, or -EINVAL if it looks like one and cannot be
 * trusted. */
int violation_parse(struct violation *ret, const char *line, size_t len);
/* Returns whether the denial is about a mach service. Other denials have no event. */
bool violation_is_service(const struct violation *v);

/* Sets *ret to an explanation for the user, if the denial is one that many programs meet on a Mac
 * and few explain. Returns a bit for each explanation, so that the caller shows it once; 0: none.
 * The text has no bytes of the agent's. */
unsigned violation_hint(const struct violation *v, const char **ret);
