/* monitor - the process between a terminal and the program that runs in the guest. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/qemu/qemu.h"
#include "core/session/backend.h"

/*
 * Theory of operation.
 *
 *   keeper -- notes --> monitor -- control, tty, QMP, console --> QEMU
 *                         |
 *                  the agent's 0, 1, 2
 *
 * To the keeper and to the terminal the monitor is the agent: it leads its session, takes its
 * signals and its window's size, and ends with the status of the program in the guest. It is a
 * separate process because it reads the guest's bytes: it may not write a file or look at another
 * process, and makes only the system calls of its loop (monitor_filter.c).
 *
 *   booting -> waiting -> starting -> running -> draining -> down -> quitting
 *           ready      go          started    completed   shutdown sent
 *
 * If the guest does not switch itself off in time, the monitor sends "quit" to QEMU, then SIGKILL.
 *
 * Death: the monitor ends with the keeper, QEMU with the monitor (parent-death signals). When
 * cordon's lifeline ends, the monitor ends a second later. When QEMU ends early the monitor says
 * so, with the guest's last words, and ends with status 125.
 */
struct monitor_spec {
	const struct spawn_spec *spec; /* argv, env, cwd, stdio, tty, lifeline */
	struct qemu_spec qemu;	       /* all but the ports, which the monitor makes */
	const char *initrd;	       /* bytes */
	size_t initrd_len;
	int boot_seconds; /* until the guest is ready */
};

/*
 * Forks the monitor; QEMU starts at once. Notes on *ret_sock: the keeper sends NOTE_GO when the
 * program may start, and NOTE_FAILED when the file server has ended. The monitor sends NOTE_READY
 * when the program runs, and NOTE_FAILED with a message and a status at any time. *ret_words is for
 * messages of guest_word.h. Returns the monitor's pid, which the caller reaps, or negative errno.
 */
pid_t monitor_start(const struct monitor_spec *spec, int *ret_sock, int *ret_words,
		    struct err *err);

/* ---- monitor_filter.c ---- */
/* Confines the monitor, after it has started QEMU. */
int monitor_confine(pid_t qemu, struct err *err) MUST_USE;
