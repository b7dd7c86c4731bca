/* monitor_filter - the only system calls that the monitor may make. */
/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/sandbox/call_filter.h"
#include "backends/vm/monitor/monitor.h"

/* Installs the filter. Any other system call ends the monitor, and QEMU with it. */
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
	int r = confine_parser(err);

	return r < 0 ? r : filter(qemu, err);
}
