/* lock - undo.external = lock: no program but cordon can open files of the folders for writing. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * A separate process holds fanotify permission marks on every directory of the working folders
 * (fanotify(7); FAN_REPORT_TID, Linux 4.20; FAN_REPORT_DFID_NAME, 5.9). An open for writing by
 * another program gets EPERM, and the user is told. Changes by agents go on, because the keeper
 * performs them. The kernel has no such event for unlink, rename and mkdir: these act as under
 * `barrier`.
 *
 * Life:    lock_start() before the caller gives up its privileges -> lock_read() whenever lock_fd()
 *          is readable -> lock_stop(). The process ends with the caller, or when the descriptor
 *          closes; the kernel then lets everything go on. No mark stays behind.
 * Needs:   CAP_SYS_ADMIN in the host's first user namespace; -EPERM without.
 * Threads: one owner.
 */
struct lock;

/* Locks the folders: absolute paths, NULL-terminated. */
int lock_start(struct lock **ret, const char *const *folders, struct err *err) MUST_USE;
int lock_fd(const struct lock *l);
/* Reads one refused open: "PATH", and the program. Returns 1; 0 if none is pending; -EPIPE if the
 * process has ended. */
struct lock_refusal {
	int pid;
	char program[64];
	char path[4096];
};
int lock_read(struct lock *l, struct lock_refusal *ret);
void lock_stop(struct lock *l); /* NULL is a no-op */
