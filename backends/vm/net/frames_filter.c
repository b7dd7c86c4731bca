/* frames_filter - the system calls that the process of frames makes, and no other. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/call_filter.h"
#include "backends/vm/net/frames.h"

static const struct call_rule calls[] = {
	CALL(sendto),
	CALL(recvfrom),
};

int frames_filter(struct err *err)
{
	struct call_filter f;

	call_filter_begin(&f, SCMP_ACT_KILL_PROCESS);
	call_filter_serve(&f);
	call_filter_add(&f, SCMP_ACT_ALLOW, calls, ARRAY_LEN(calls));
	return call_filter_load(&f, "the guest network's", err);
}
