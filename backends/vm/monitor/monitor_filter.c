/* monitor_filter - the system calls that the monitor makes, and no other. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/sandbox/landlock.h"
#include "backends/vm/monitor/monitor.h"

/* Anything that is not listed ends it, and QEMU with it. */
static const int calls[] = {
	SCMP_SYS(brk),		SCMP_SYS(clock_gettime),  SCMP_SYS(close),
	SCMP_SYS(exit_group),	SCMP_SYS(futex),	  SCMP_SYS(getgid),
	SCMP_SYS(getpid),	SCMP_SYS(getrandom),	  SCMP_SYS(gettid),
	SCMP_SYS(getuid),	SCMP_SYS(madvise),	  SCMP_SYS(mremap),
	SCMP_SYS(munmap),	SCMP_SYS(poll),		  SCMP_SYS(ppoll),
	SCMP_SYS(read),		SCMP_SYS(recvmsg),	  SCMP_SYS(restart_syscall),
	SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sendmsg),	SCMP_SYS(sigaltstack),	  SCMP_SYS(wait4),
	SCMP_SYS(write),
};

/* Allowed where these bits of that argument are these. */
struct some {
	int nr;
	unsigned arg;
	uint64_t mask, value;
};

static int add_calls(scmp_filter_ctx c, pid_t qemu)
{
	const struct some some[] = {
		{SCMP_SYS(mmap), 2, PROT_EXEC, 0},
		{SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
		{SCMP_SYS(ioctl), 1, UINT32_MAX, TIOCGWINSZ},
		{SCMP_SYS(kill), 0, UINT32_MAX, (uint32_t)qemu},
		{SCMP_SYS(tgkill), 0, UINT32_MAX, (uint32_t)getpid()}, /* raise(3) */
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(calls) && r == 0; i++)
		if (calls[i] >= 0) /* else this architecture has it not */
			r = seccomp_rule_add(c, SCMP_ACT_ALLOW, calls[i], 0);
	for (size_t i = 0; i < ARRAY_LEN(some) && r == 0; i++) {
		const struct scmp_arg_cmp cmp = {some[i].arg, SCMP_CMP_MASKED_EQ, some[i].mask,
						 some[i].value};

		r = seccomp_rule_add_array(c, SCMP_ACT_ALLOW, some[i].nr, 1, &cmp);
	}
	return r;
}

static int filter(pid_t qemu, struct err *err)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = c ? add_calls(c, qemu) : -ENOMEM;

	if (r == 0)
		r = seccomp_load(c);
	seccomp_release(c);
	return r < 0 ? err_set(err, r, "filter the monitor's system calls") : 0;
}

int monitor_confine(pid_t qemu, struct err *err)
{
	struct landlock_spec nowhere = {0};
	int r = confine_server(err);

	if (r == 0 && landlock_abi() >= LANDLOCK_ABI_NEEDED)
		r = landlock_restrict(&nowhere, err);
	prctl(PR_SET_DUMPABLE, 0);
	/* Changed credentials have cleared it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return r < 0 ? r : filter(qemu, err);
}
