/* processes - what the system says of other processes, by number. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * fd is os_process_open()'s (process.h) where a function takes one: it keeps an answer from being
 * about another process that got the number.
 *
 * On Linux: /proc, ioctls of pidfds, kcmp(2). On macOS: proc_pidinfo(2), which tells of processes
 * of the same user, and of all to root. There no thread is told apart from its process, nobody
 * gets another's descriptor (-ENOSYS) or umask (077), and there are no pid namespaces.
 * Errors: negative errno. Threads: any.
 */
struct os_process {
	pid_t leader, parent;
	pid_t inner; /* in its own pid namespace; 0: not seen */
	mode_t umask;
};

/* tid: of any thread. -ESRCH: it is gone. */
int os_process_look(pid_t tid, struct os_process *ret);
pid_t os_process_parent(pid_t pid, int fd); /* -ESRCH */
/* Where its "cwd", "root", "exe" or, on Linux, "fd/N" leads. False, and empty: there is no such
 * link, or it is not ours to read. */
bool os_process_link(pid_t pid, const char *name, char ret[PATH_MAX]);
bool os_process_is_stopped(pid_t pid);
int os_process_wait_status(pid_t pid, int fd); /* -1: it runs, or nobody can tell */
int64_t os_process_started_us(pid_t pid);      /* of CLOCK_BOOTTIME, rounded up; 0: gone */
void os_process_name(pid_t pid, char *out, size_t size); /* "a process": it cannot be told */

/* That this thread exists: -1 and errno. */
int os_thread_alive(pid_t pid, pid_t tid);
/* Does this thread use its process's descriptors; its umask and directories? */
bool os_thread_shares_files(pid_t pid, pid_t tid);
bool os_thread_shares_fs(pid_t pid, pid_t tid);
/* Like os_process_open(), of a thread that is no leader. -EINVAL before Linux 6.9. */
int os_thread_open(pid_t tid);
/* A duplicate of its descriptor number n. */
int os_process_getfd(int fd, int n);
