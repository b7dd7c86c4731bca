/* guest_facts - facts about a process in a guest, for the cache of processes (guests.h). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keeper;

/* Process numbers of guests begin here: no host process has one (pid_max is 1 << 22 at most). */
#define GUEST_PIDS (1 << 23)

struct guest_facts {
	int exit_status;    /* as a shell's $?; -1: not known */
	int64_t started_us; /* of the host's CLOCK_BOOTTIME */
	char *exe, *argv;   /* heap; argv NUL-separated */
	size_t argv_len;
};

/* Functions of the backend for the keeper. */
struct guest_ops {
	/* Sends a signal. SIGKILL also ends all children. pid is the guest's. */
	void (*signal)(void *data, int pid, int sig);
	/* Stops all processes of the guest while the user decides, or lets them continue. */
	void (*hold)(void *data, bool hold);
};

static inline bool is_guest_pid(int pid)
{
	return pid >= GUEST_PIDS;
}
/* Returns the number of the process where it runs, for messages. */
static inline int shown_pid(int pid)
{
	return is_guest_pid(pid) ? pid - GUEST_PIDS : pid;
}
void guest_facts_free(struct guest_facts *g); /* NULL is a no-op */
void guest_signal(const struct keeper *k, int pid, int sig);
void guest_hold(const struct keeper *k, bool hold); /* if the processes inside are a guest's */
