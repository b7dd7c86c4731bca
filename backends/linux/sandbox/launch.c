/* launch - the launcher: joins the namespaces and leaves the agent's process there. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"

/*
 * The launcher exists because a process cannot leave a user namespace that it has joined. It shares
 * the keeper's memory while the keeper waits (CLONE_VM | CLONE_VFORK), which saves another copy of
 * the page tables. So it has a stack of its own, receives no signals, and leaves its results in
 * struct launch. The agent's process, made with CLONE_PARENT, is the keeper's child: the keeper
 * gets its exit status and its pid as the host sees it, and signals its group directly. Its orphans
 * become children of pid 1.
 */
#define STACK_SIZE (256u << 10)

static int join(struct launch *l, struct err *err)
{
	static const int types[NS_COUNT] = {
		[NS_USER] = CLONE_NEWUSER, [NS_MNT] = CLONE_NEWNS,  [NS_PID] = CLONE_NEWPID,
		[NS_IPC] = CLONE_NEWIPC,   [NS_UTS] = CLONE_NEWUTS, [NS_CGROUP] = CLONE_NEWCGROUP,
		[NS_NET] = CLONE_NEWNET,
	};

	for (size_t i = 0; i < ARRAY_LEN(l->cgroups); i++) {
		if (l->cgroups[i] >= 0 && write(l->cgroups[i], "0", 1) < 0)
			return err_set(err, -errno, "enter the session's cgroup");
	}
	if (l->fence)
		return l->fence(l, err);
	for (size_t i = 0; i < NS_COUNT; i++) {
		if (l->ns[i] >= 0 && setns(l->ns[i], types[i]) < 0)
			return err_set(err, -errno, "join a namespace of the sandbox");
	}
	return 0;
}

BORROWED_STACK static int launcher(void *data)
{
	struct launch *l = data;

	if (join(l, &l->err) < 0)
		return 1;
	l->pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
	if (l->pid == 0)
		agent_run(l);
	if (l->pid < 0)
		err_set(&l->err, -errno, "fork into the sandbox");
	return l->pid < 0;
}

int launch_agent(struct launch *l, struct err *err)
{
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	sigset_t all, old;
	int r = 0;
	pid_t pid;

	if (stack == MAP_FAILED)
		return err_set(err, -errno, "make a stack for the launcher");
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid = clone(launcher, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | SIGCHLD, l);
	if (pid < 0)
		r = err_set(err, -errno, "fork the launcher");
	else
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	sigprocmask(SIG_SETMASK, &old, NULL);
	munmap(stack, STACK_SIZE);
	if (r == 0 && l->err.code)
		r = err_say(err, l->err.code, "%s", l->err.text);
	return r;
}
