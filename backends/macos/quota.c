/* quota - limits for a session on a system without limits for a process tree. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/quota.h"

#include <inttypes.h>

#include "core/base/text.h"

#define USUAL_NICE 10

struct quota_limits quota_limits_of(uint64_t memory, int64_t memory_limit, int64_t processes)
{
	struct quota_limits l = {.memory_hard = memory / 4 * 3};

	if (memory_limit > 0 && (!memory || (uint64_t)memory_limit < l.memory_hard))
		l.memory_hard = (uint64_t)memory_limit;
	l.memory_soft = l.memory_hard / 3 * 2;
	if (processes > 0)
		l.processes_hard = processes > UINT32_MAX ? UINT32_MAX : (uint32_t)processes;
	l.processes_soft = l.processes_hard / 4 * 3;
	return l;
}

/* Returns whether the value is above the threshold. A slowed session stays above until the value
 * falls to nine tenths. */
static bool is_above(uint64_t value, uint64_t threshold, bool slowed)
{
	return threshold && value > (slowed ? threshold / 10 * 9 : threshold);
}

static enum quota_reason hard_reason(const struct quota_limits *l, const struct mac_usage *u,
				     enum mac_pressure pressure)
{
	if (is_above(u->resident, l->memory_hard, false))
		return QUOTA_MEMORY;
	if (is_above(u->processes, l->processes_hard, false))
		return QUOTA_PROCESSES;
	if (is_above(u->cpu_us, l->cpu_us_hard, false))
		return QUOTA_CPU;
	if (pressure == MAC_PRESSURE_CRITICAL && is_above(u->resident, l->memory_soft, false))
		return QUOTA_PRESSURE;
	return QUOTA_FINE;
}

static enum quota_reason soft_reason(const struct quota_limits *l, const struct mac_usage *u,
				     enum mac_pressure pressure, const struct quota *q)
{
	bool slowed = q->action == QUOTA_SLOW;

	if (is_above(u->resident, l->memory_soft, slowed && q->reason == QUOTA_MEMORY))
		return QUOTA_MEMORY;
	if (is_above(u->processes, l->processes_soft, slowed && q->reason == QUOTA_PROCESSES))
		return QUOTA_PROCESSES;
	return pressure >= MAC_PRESSURE_WARN ? QUOTA_PRESSURE : QUOTA_FINE;
}

static void say(const struct quota *q, const struct quota_limits *l, char *why, size_t size)
{
	const char *what = q->action == QUOTA_END ? "ended" : "slowed";
	bool hard = q->action == QUOTA_END;
	char has[32], most[32];

	switch (q->reason) {
	case QUOTA_FINE:
		*why = '\0';
		break;
	case QUOTA_MEMORY:
		text_size(has, sizeof(has), q->now.resident);
		text_size(most, sizeof(most), hard ? l->memory_hard : l->memory_soft);
		snprintf(why, size,
			 "the session is %s: it uses %s of memory, more than %s: raise "
			 "sandbox.memory",
			 what, has, most);
		break;
	case QUOTA_PROCESSES:
		snprintf(why, size,
			 "the session is %s: it has %u processes, more than %u: raise "
			 "sandbox.processes",
			 what, q->now.processes, hard ? l->processes_hard : l->processes_soft);
		break;
	case QUOTA_CPU:
		snprintf(why, size,
			 "the session is %s: it has used %" PRIu64
			 " s of processor time: raise sandbox.cpu-seconds",
			 what, q->now.cpu_us / 1000000);
		break;
	case QUOTA_PRESSURE:
		snprintf(why, size,
			 "the session is %s: this Mac is short of memory: close other programs",
			 what);
		break;
	}
}

enum quota_action quota_judge(struct quota *q, const struct quota_limits *l,
			      const struct mac_usage *usage, enum mac_pressure pressure, char *why,
			      size_t size)
{
	enum quota_action before = q->action;
	enum quota_reason reason;

	*why = '\0';
	q->now = *usage;
	if (before == QUOTA_END)
		return QUOTA_END;
	reason = hard_reason(l, usage, pressure);
	if (reason != QUOTA_FINE) {
		q->action = QUOTA_END;
	} else {
		reason = soft_reason(l, usage, pressure, q);
		q->action = reason == QUOTA_FINE ? QUOTA_GO : QUOTA_SLOW;
	}
	q->reason = reason;
	say(q, l, why, size);
	return q->action;
}

bool quota_hold(const struct quota *q, uint64_t tick)
{
	return q->action == QUOTA_SLOW && tick % 2 == 1;
}

int quota_nice(const struct quota *q, const struct quota_limits *l)
{
	if (q->action != QUOTA_SLOW)
		return 0;
	return l->nice ? l->nice : USUAL_NICE;
}
