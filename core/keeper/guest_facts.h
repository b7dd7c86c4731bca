/* guest_facts - what the cache of processes keeps of one that runs in a guest (guests.h). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keeper;

/* Numbers from here on: no process of the host's has one (pid_max is 1 << 22 at most). */
#define GUEST_PIDS (1 << 23)

struct guest_facts {
	int exit_status;    /* as a shell's $?; -1: not known */
	int64_t started_us; /* of the host's CLOCK_BOOTTIME */
	char *exe, *argv;   /* heap; argv NUL-separated */
	size_t argv_len;
};

/* What the backend does for the keeper. */
struct guest_ops {
	/* SIGKILL ends all below it, too. pid is the guest's. */
	void (*signal)(void *data, int pid, int sig);
	/* All of it stands still while a human decides, or goes on. */
	void (*hold)(void *data, bool hold);
};

static inline bool is_guest_pid(int pid)
{
	return pid >= GUEST_PIDS;
}
/* For people: the number that the process has where it runs. */
static inline int shown_pid(int pid)
{
	return is_guest_pid(pid) ? pid - GUEST_PIDS : pid;
}
void guest_facts_free(struct guest_facts *g); /* NULL is a no-op */
void guest_signal(const struct keeper *k, int pid, int sig);
void guest_hold(const struct keeper *k, bool hold); /* where those inside are a guest's */
