/* launch - starts a program under a profile, and ends it with all its descendants. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/launch/human.h"
#include "backends/macos/os.h"
#include "backends/macos/profile/profile.h"
#include "core/session/backend.h"

/*
 * The helper (helper/helper.h) becomes the program. It enters the profile by itself, or executes
 * sandbox-exec, which does so; then the profile is an argument of that command, or a file.
 *
 * Before the profile: a session and terminal of its own, the three descriptors and no others, no
 * core dumps, resource limits, another user (human.h), PT_DENY_ATTACH (if that fails the program
 * still starts, and mac_launch_unhardened() says so). There is no limit for the number of
 * processes: RLIMIT_NPROC counts all processes of the user, outside ones too. No shell is in
 * between, so no argument needs quotes.
 *
 * Life:    mac_launch() -> mac_launch_stop(), which frees.
 * Errors:  on failure no process and no file is left; *ret_status is 125 if the sandbox could
 *          not be made, 126 or 127 if the program could not be run.
 */
#define MAC_SANDBOX_EXEC "/usr/bin/sandbox-exec"

struct mac_launch_spec {
	const struct mac_os *os;
	const struct profile *profile;
	const char *helper;	   /* NULL: beside this program */
	const char *sandbox_exec;  /* NULL: the helper enters the profile */
	const struct human *human; /* the program's user; NULL: as this process */
	const char *dir;	   /* the session's own; exists; mac_launch_stop() removes it */
	const char *session;	   /* id */
	const char *const *argv, *const *env;
	const char *cwd;
	int stdio[3];
	bool tty; /* stdio[0] becomes the controlling terminal */
	struct spawn_limits limits;
	int nice;		    /* added to the priority; 0: as it is */
	const char *const *own_env; /* replace variables of the same names; NULL: none */
	/* Called after the helper's start, before it gets its order. May be NULL. */
	void (*forked)(void *data, pid_t pid);
	/* Kills further processes that are known to be inside: ending.h. Called until
	 * mac_launch_stop() returns. May be NULL. */
	size_t (*known)(void *data);
	void *data;
};

struct mac_launch;
int mac_launch(struct mac_launch **ret, const struct mac_launch_spec *spec, int *ret_status,
	       struct err *err) MUST_USE;
pid_t mac_launch_pid(const struct mac_launch *l);
/* Returns the hardening that failed, or NULL. */
const char *mac_launch_unhardened(const struct mac_launch *l);
/* Signals the program's process group; SIGKILL ends every process inside. */
void mac_launch_signal(struct mac_launch *l, int sig);
/* Waits for the program. Returns its exit status, or 128 plus the signal. */
int mac_launch_wait(struct mac_launch *l);
/* Waits for the program. Returns the status in the form of wait(2). */
int mac_launch_wait_status(struct mac_launch *l);
/* Returns at once. */
bool mac_launch_has_ended(struct mac_launch *l);
/* Ends every process inside and removes the directory. NULL is a no-op. Returns the number of
 * killed processes that are left (ending.h). */
size_t mac_launch_stop(struct mac_launch *l);
