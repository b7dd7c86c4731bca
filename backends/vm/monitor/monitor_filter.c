/* monitor_filter - the system calls that the monitor makes, and no other. */
/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/sandbox/call_filter.h"
#include "backends/linux/sandbox/landlock.h"
#include "backends/vm/monitor/monitor.h"

/* Anything that is not listed ends it, and QEMU with it. */
static int filter(pid_t qemu, struct err *err)
{
	const struct call_rule calls[] = {
		CALL(getgid),
		CALL(getuid),
		CALL(recvmsg),
		CALL(sendmsg),
		CALL(wait4),
		CALL_IF(ioctl, 1, UINT32_MAX, TIOCGWINSZ),
		CALL_IF(kill, 0, UINT32_MAX, (uint32_t)qemu),
		CALL_IF(tgkill, 0, UINT32_MAX, (uint32_t)getpid()), /* raise(3) */
	};
	return call_filter_confine(SCMP_ACT_KILL_PROCESS, calls, ARRAY_LEN(calls), "the monitor's",
				   err);
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
