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
 * signals and its window's size, and ends as the program in the guest ended. It is a process of its
 * own because it reads what a guest writes: it has no right to write a file or to look at another
 * process, and makes no system call but those of its loop (monitor_filter.c).
 *
 *   booting -> waiting -> starting -> running -> draining -> down -> quitting
 *           ready      go          started    completed   shutdown sent
 *
 * A guest that does not switch itself off in time is followed by "quit" to QEMU, then by SIGKILL.
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
 * Forks it; QEMU starts at once. Its end of ret_sock takes NOTE_GO, when the program may start, and
 * gives NOTE_READY when it runs and NOTE_FAILED with words and a status, before and after that. It
 * takes NOTE_FAILED when the file server has ended.
 * ret_words takes and gives messages of guest_word.h.
 * Returns its pid, or negative errno. The caller reaps it.
 */
pid_t monitor_start(const struct monitor_spec *spec, int *ret_sock, int *ret_words,
		    struct err *err);

/* ---- monitor_filter.c ---- */
/* In the monitor, once QEMU runs. */
int monitor_confine(pid_t qemu, struct err *err) MUST_USE;
