/* violation - what Seatbelt writes to the log of a Mac, and the events that become of it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
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
 * The names of programs and files in it are the agent's: a line in which two processes could be
 * meant is refused, and the pid counts only when it is one of the session's.
 */
#define VIOLATION_COMM 64
#define VIOLATION_TEXT 1024

struct violation {
	char comm[VIOLATION_COMM];
	int pid;
	char operation[64];
	char target[VIOLATION_TEXT]; /* path or service; "" */
	unsigned count;		     /* 1, and the duplicates that the line tells of */
	bool allowed;		     /* a report of what was let through */
	bool system_policy;	     /* not by our profile */
};

/* 1: it is one; 0: another line; -EINVAL: it looks like one and cannot be trusted. */
int violation_parse(struct violation *ret, const char *line, size_t len);
/* Is it about a mach service? Of others there is no event. */
bool violation_is_service(const struct violation *v);

/* The payload of event.xpc_sandbox_violation. */
void violation_event(struct buf *out, const struct violation *v);

/* A connection that was seen: by Endpoint Security or in the log. Strings are borrowed; NULL: not
 * known. */
struct xpc_connect {
	int pid, ppid;
	const char *comm, *exe, *signing_id, *service;
	bool allowed;
	const char *reason;	/* "allowlist", "default" ... */
	const char *blocked_by; /* the name or prefix that did */
	const char *source;	/* "esf", "sandbox_log" */
};
/* The payload of event.xpc_connect. */
void xpc_connect_event(struct buf *out, const struct xpc_connect *c);
