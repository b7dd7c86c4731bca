/* frames_filter - the system calls that the process of frames makes, and no other. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <seccomp.h>
#include <sys/mman.h>

#include "backends/vm/net/frames.h"

static const int calls[] = {
	/* its loop */
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(read),
	SCMP_SYS(write),
	SCMP_SYS(sendto),
	SCMP_SYS(recvfrom),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(exit_group),
	/* what libraries do about it */
	SCMP_SYS(clock_gettime),
	SCMP_SYS(futex),
	SCMP_SYS(getpid),
	SCMP_SYS(getrandom),
	SCMP_SYS(gettid),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(sigaltstack),
	/* memory; what could make it run is left out below */
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
};

static int add_calls(scmp_filter_ctx c)
{
	const struct scmp_arg_cmp no_exec = {2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0};
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(calls) && r == 0; i++)
		if (calls[i] >= 0) /* else this architecture has it not */
			r = seccomp_rule_add(c, SCMP_ACT_ALLOW, calls[i], 0);
	if (r == 0)
		r = seccomp_rule_add_array(c, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, &no_exec);
	return r < 0 ? r
		     : seccomp_rule_add_array(c, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, &no_exec);
}

int frames_filter(struct err *err)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = c ? add_calls(c) : -ENOMEM;

	if (r == 0)
		r = seccomp_load(c);
	seccomp_release(c);
	return r < 0 ? err_set(err, r, "filter the system calls of the guest's network") : 0;
}
