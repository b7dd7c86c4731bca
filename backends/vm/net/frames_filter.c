/* frames_filter - the only system calls that the frames process may make. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/call_filter.h"
#include "backends/vm/net/frames.h"

static const struct call_rule calls[] = {
	CALL(sendto),
	CALL(recvfrom),
};

int frames_filter(struct err *err)
{
	return call_filter_confine(SCMP_ACT_KILL_PROCESS, calls, ARRAY_LEN(calls),
				   "the guest network's", err);
}
