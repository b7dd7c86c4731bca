/* process - what a process says of itself: its name, its end, who may look into it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * On macOS os_stay_private() is PT_DENY_ATTACH and no core file; os_process_signal() looks whether
 * the process has ended, and signals the number: who is no child of ours may end in between.
 * os_short_slices() asks for the
 * class of threads that a person waits for.
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
/* Readable once the process has ended; -1 and errno. */
static inline int os_process_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}
/* fd is os_process_open()'s: never another process that got its number. */
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

/* The calling thread is for when nobody else wants the processor or the disk. */
void os_run_idle(void);
/* An unsandboxed program that says it is inside is not. */
bool os_is_confined(void);
/* Several calls for the keeper wait for it: soon, and in short turns. Negative errno. */
int os_short_slices(unsigned long long ns);
