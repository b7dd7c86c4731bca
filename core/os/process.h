/* process - properties of the own process, and signals to others: name, priority, protection. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * On macOS os_stay_private() is PT_DENY_ATTACH and no core file. os_process_signal() checks whether
 * the process has ended, and signals the number: a process other than a child may end in between.
 * os_short_slices() sets the class of threads that a user waits for.
 */
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>
#include <sys/syscall.h>

static inline void os_set_name(const char *name)
{
	prctl(PR_SET_NAME, name);
}
static inline int os_thread(void)
{
	return (int)syscall(SYS_gettid);
}
/* Returns a descriptor that becomes readable when the process ends; -1 and errno. */
static inline int os_process_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}
/* Signals a process. fd, from os_process_open(), excludes another process with the same number. */
static inline int os_process_signal(int fd, pid_t pid, int sig)
{
	(void)pid;
	return (int)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}
static inline void os_stay_private(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}
static inline void os_close_range(unsigned first, unsigned last)
{
	syscall(SYS_close_range, first, last, 0u);
}
#else
#include <sys/random.h>

void os_set_name(const char *name); /* of the calling thread */
int os_thread(void);		    /* its number */
int os_process_open(pid_t pid);
int os_process_signal(int fd, pid_t pid, int sig);
void os_stay_private(void); /* from others of the same user */
void os_close_range(unsigned first, unsigned last);
ssize_t getrandom(void *out, size_t size, unsigned flags);
#endif

/* Lowers the priority of the calling thread: it runs when no other thread wants the processor or
 * the disk. */
void os_run_idle(void);
/* Returns freed memory to the system. The allocator may keep most of it, between live blocks. Takes
 * milliseconds: for the moment after much was freed. */
void os_trim_heap(void);
/* Returns whether the system confines this process, whatever its environment says. */
bool os_is_confined(void);
/* Makes the scheduler run the calling thread soon and in short turns, since several callers wait
 * for it. Returns negative errno. */
int os_short_slices(unsigned long long ns);
