/* helper - the program cordon-seatbelt: runs the processes beside the keeper. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/helper/order.h"
#include "backends/macos/os.h"

/*
 * Endpoint Security and FSEvents have threads in the keeper. A process that fork(2) makes of it may
 * do only what a signal handler may, and Apple's libraries do not work in it. So each process
 * beside the keeper is another program, started by posix_spawn(2), with one thread and only the
 * descriptors below:
 *
 *   agent    takes terminal, limits and user, enters the profile and becomes the program
 *   proxy    confines itself, and serves the network (core/proxy/proxy.h)
 *   warden   waits for the keeper's end, and ends the session's processes
 *
 * Each waits for its order (order.h), which the keeper sends once it watches the process. On any
 * failure the agent's program does not run.
 */
#define HELPER_PROGRAM "cordon-seatbelt"
#define HELPER_DIR     "../libexec/cordon" /* beside.h */

enum helper_role {
	HELPER_AGENT,
	HELPER_PROXY,
	HELPER_WARDEN,
	HELPER_ROLES
};
extern const char *const helper_words[HELPER_ROLES]; /* the program's one argument */

/* Descriptors: three standard ones, the order, and those of the role. */
enum {
	HELPER_ORDER = 3,
	HELPER_REPORT = 4,   /* agent: struct agent_report of a failure; closed by exec */
	HELPER_KEEPER = 4,   /* proxy */
	HELPER_LISTENER = 5, /* proxy */
};

struct helper_spec {
	const char *program; /* NULL: beside this program */
	enum helper_role role;
	const int *stdio; /* three; NULL: /dev/null */
	int fds[2];	  /* from HELPER_ORDER + 1 on; -1: none */
	bool with_env;	  /* gets this process's environment; else an empty one */
};

/* Starts a helper, which waits for order_send(*ret_order). The caller closes that pipe. */
int helper_start(const struct helper_spec *s, pid_t *ret_pid, int *ret_order, struct err *err)
	MUST_USE;

enum agent_stage {
	AGENT_TERMINAL,
	AGENT_LIMITS,
	AGENT_HUMAN,
	AGENT_DIRECTORY,
	AGENT_HARDENING, /* a failure that does not stop the program */
	AGENT_SANDBOX,
	AGENT_EXEC,
};

struct agent_report {
	enum agent_stage stage;
	int code; /* negative errno */
	char why[200];
};

/* "set the resource limits" */
const char *agent_stage_words(enum agent_stage stage);

/* ---- in the helper ---- */
/* Runs the helper. Exit status 125: no order came, or it could not be carried out. */
NORETURN void helper_run(const struct mac_os *os, int argc, char **argv);
NORETURN void helper_agent(const struct mac_os *os, struct order *o);
NORETURN void helper_proxy(const struct mac_os *os, const struct order *o);
NORETURN void helper_warden(const struct mac_os *os, const struct order *o);

/* The Seatbelt profile of the proxy's process, without parameters. */
extern const char helper_proxy_profile[];
