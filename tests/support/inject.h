/* inject - runs a function whose n-th system call fails, is its last, or comes after an external
 * change. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/util.h"

/*
 * The function runs in a thread of its own whose system calls are all held by a seccomp filter (so
 * that syscall() and calls of libraries are included); this thread lets each continue, gives it an
 * error in place of its result, or ends the process. Calls that cannot fail or that only concern
 * memory and threads are not counted. After inject_run() the caller can check the result
 * undisturbed.
 */
struct inject {
	int nth;      /* 1: the first call; 0: none */
	int err;      /* errno of the failing call; 0: SIGKILL before the call */
	bool lasting; /* all later calls fail, too */
	bool space;   /* counts and fails only calls that need disk space */
	/* else: called right before the nth call (lasting: and all later ones), which continues */
	void (*meanwhile)(void *arg);
	/* results */
	int seen;   /* counted calls */
	int nr;	    /* the last counted one; in `meanwhile` the next one */
	int failed; /* number of the first failed system call, or -1 */
	/* private */
	void (*fn)(void *);
	void *arg;
	int listener;
	sem_t started;
};

static const int inject_passed[] = {
	SYS_futex,	    SYS_exit,
	SYS_exit_group,	    SYS_close,
	SYS_munmap,	    SYS_mprotect,
	SYS_madvise,	    SYS_brk,
	SYS_rt_sigprocmask, SYS_rt_sigaction,
	SYS_rt_sigreturn,   SYS_gettid,
	SYS_getpid,	    SYS_set_robust_list,
	SYS_clone3,	    SYS_sched_yield,
	SYS_clock_gettime,  SYS_clock_nanosleep,
	SYS_geteuid,	    SYS_getuid,
	SYS_umask,	    SYS_sigaltstack,
	SYS_rseq,	    SYS_getrandom,
};

static inline int inject_filter(void)
{
	enum {
		N = ARRAY_LEN(inject_passed)
	};
	struct sock_filter code[N + 8];
	struct sock_fprog prog = {.filter = code};
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < N; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned)inject_passed[i], N - i + 3, 0);
	/* Anonymous memory is malloc's; xmalloc() ends the process, which is another test. */
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 2);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, args[4]));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xffffffffu, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prog.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &prog);
}

static inline void *inject_thread(void *arg)
{
	struct inject *i = arg;

	i->listener = inject_filter();
	sem_post(&i->started);
	if (i->listener >= 0)
		i->fn(i->arg);
	return NULL;
}

/* Returns whether the call needs disk space. */
static inline bool inject_is_space(const struct seccomp_data *d)
{
	switch (d->nr) {
	case SYS_write:
	case SYS_pwrite64:
	case SYS_fallocate:
	case SYS_copy_file_range:
	case SYS_mkdirat:
	case SYS_mknodat:
	case SYS_linkat:
	case SYS_symlinkat:
	case SYS_setxattr:
		return true;
	case SYS_openat:
		return d->args[2] & O_CREAT;
	case SYS_ioctl:
		return d->args[1] == 0x40049409; /* FICLONE */
	default:
		return false;
	}
}

static inline void inject_answer(struct inject *i, const struct seccomp_notif *req)
{
	struct seccomp_notif_resp resp = {.id = req->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
	bool counts = !i->space || inject_is_space(&req->data), due;

	i->seen += counts;
	i->nr = req->data.nr;
	due = i->nth && (i->seen == i->nth || (i->lasting && i->seen > i->nth));
	if (i->meanwhile && due) {
		i->meanwhile(i->arg);
	} else if (counts && due) {
		if (i->err == 0)
			kill(getpid(), SIGKILL);
		resp.flags = 0;
		resp.error = -i->err;
		if (i->failed < 0)
			i->failed = req->data.nr;
	}
	ioctl(i->listener, SECCOMP_IOCTL_NOTIF_SEND, &resp);
}

static inline void inject_run(struct inject *i, void (*fn)(void *), void *arg)
{
	pthread_t thread;

	i->fn = fn;
	i->arg = arg;
	i->seen = 0;
	i->failed = -1;
	sem_init(&i->started, 0, 0);
	if (pthread_create(&thread, NULL, inject_thread, i) != 0)
		abort();
	while (sem_wait(&i->started) < 0 && errno == EINTR)
		;
	if (i->listener < 0)
		abort();
	for (;;) {
		struct pollfd p = {.fd = i->listener, .events = POLLIN};
		struct seccomp_notif req = {0};

		if (poll(&p, 1, -1) < 0 && errno == EINTR)
			continue;
		if (!(p.revents & POLLIN)) /* POLLHUP: the thread has ended */
			break;
		if (ioctl(i->listener, SECCOMP_IOCTL_NOTIF_RECV, &req) == 0)
			inject_answer(i, &req);
	}
	pthread_join(thread, NULL);
	close(i->listener);
	sem_destroy(&i->started);
}

/* Runs fn in a process that is killed before the nth call. Returns false if it has fewer calls. */
static inline bool inject_kill(int nth, void (*fn)(void *), void *arg)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct inject i = {.nth = nth};

		inject_run(&i, fn, arg);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}
