/* launch - starts a program under a profile, and ends it with all that it started. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/launch/human.h"
#include "backends/macos/os.h"
#include "backends/macos/profile/profile.h"
#include "core/session/backend.h"

/*
 * Two ways. sandbox_init_with_parameters() in a child of ours is the usual one. sandbox-exec does
 * the same from outside: for hosts where the function is gone, and for tests, which have a program
 * of their own in its place.
 *
 * In the child, before the profile: a session and terminal of its own, the three descriptors and no
 * others, no core dumps, resource limits, another user (human.h), PT_DENY_ATTACH (where that fails
 * the program is started all the same, and `unhardened` says so). There is no limit for the number
 * of processes: RLIMIT_NPROC counts all processes of the user, those outside too. No shell is in
 * between, so there is nothing to quote.
 *
 * Life:    mac_launch() -> mac_launch_stop(), which frees. The parent has one thread.
 * Errors:  on failure nothing is left running, and no file; *ret_status is 125 when the sandbox
 *          could not be made, 126 or 127 when the program could not be run.
 */
#define MAC_SANDBOX_EXEC "/usr/bin/sandbox-exec"

struct mac_launch_spec {
	const struct mac_os *os;
	const struct profile *profile;
	const char *sandbox_exec;  /* NULL: the function */
	const struct human *human; /* whom it runs as; NULL: whoever runs this */
	const char *dir;	   /* the session's own; exists; goes away with the session */
	const char *session;	   /* id */
	const char *const *argv, *const *env;
	const char *cwd;
	int stdio[3];
	bool tty; /* stdio[0] becomes the controlling terminal */
	struct spawn_limits limits;
	int nice;		    /* added to the priority; 0: as it is */
	const char *const *own_env; /* in the place of others of their names; NULL: none */
	/* The process is there and runs nothing yet. NULL. */
	void (*forked)(void *data, pid_t pid);
	/* Kills whom else is known to be inside: ending.h. Until mac_launch_stop(). NULL. */
	size_t (*known)(void *data);
	void *data;
};

struct mac_launch;
int mac_launch(struct mac_launch **ret, const struct mac_launch_spec *spec, int *ret_status,
	       struct err *err) MUST_USE;
pid_t mac_launch_pid(const struct mac_launch *l);
/* What could not be done and is no reason to stop; NULL: nothing. */
const char *mac_launch_unhardened(const struct mac_launch *l);
/* To the program's process group; SIGKILL ends everything inside. */
void mac_launch_signal(struct mac_launch *l, int sig);
/* Waits for the program: its exit status, or 128 and the signal. */
int mac_launch_wait(struct mac_launch *l);
/* The same as wait(2) has it. */
int mac_launch_wait_status(struct mac_launch *l);
/* Without waiting. */
bool mac_launch_has_ended(struct mac_launch *l);
/* Ends everything inside, removes the directory; NULL is a no-op. How many did not go, though they
 * were killed: ending.h. */
size_t mac_launch_stop(struct mac_launch *l);
