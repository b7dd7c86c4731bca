/* processes - facts about other processes, by number. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * fd is from os_process_open() (process.h) where a function takes one: it excludes answers about
 * another process with the same number.
 *
 * On Linux: /proc, ioctls of pidfds, kcmp(2). On macOS: proc_pidinfo(2), which knows processes of
 * the same user, and all for root. There threads are not distinguished from their process, the
 * descriptor (-ENOSYS) and umask (077) of another process are not available, and there are no pid
 * namespaces.
 * Errors: negative errno. Threads: any.
 */
struct os_process {
	pid_t leader, parent;
	pid_t inner; /* in its own pid namespace; 0: not seen */
	mode_t umask;
};

/* Reads facts about a process. tid: any of its threads. Returns 0, or -ESRCH: it has ended. */
int os_process_look(pid_t tid, struct os_process *ret);
pid_t os_process_parent(pid_t pid, int fd); /* -ESRCH */
/* Reads its link "cwd", "root", "exe" or, on Linux, "fd/N". Returns false, with an empty path, if
 * there is no such link, or it is not readable. */
bool os_process_link(pid_t pid, const char *name, char ret[PATH_MAX]);
bool os_process_is_stopped(pid_t pid);
int os_process_wait_status(pid_t pid, int fd); /* -1: it is running, or unknown */
int64_t os_process_started_us(pid_t pid);      /* of CLOCK_BOOTTIME, rounded up; 0: it has ended */
/* Copies its name. Returns false, with "a process", if it is unknown. */
bool os_process_name(pid_t pid, char *out, size_t size);

/* Checks that this thread exists: 0, or -1 and errno. */
int os_thread_alive(pid_t pid, pid_t tid);
/* Return whether this thread shares the descriptors of its process; its umask and directories. */
bool os_thread_shares_files(pid_t pid, pid_t tid);
bool os_thread_shares_fs(pid_t pid, pid_t tid);
/* Returns a descriptor like os_process_open(), for a thread that is no leader. -EINVAL before Linux
 * 6.9. */
int os_thread_open(pid_t tid);
/* Returns a duplicate of its descriptor number n. */
int os_process_getfd(int fd, int n);
