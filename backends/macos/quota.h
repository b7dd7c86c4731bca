/* quota - limits for a session on a system without limits for a process tree. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"

/*
 * The caller (throttle.h) measures the session's use at intervals; quota_judge() decides what to
 * do. Above a soft threshold the session is slowed (lower priority, stopped in every other tick);
 * above a hard threshold it is ended. Memory pressure of the system counts, too: at a warning
 * every session is slowed; if it is critical, a session above its soft threshold is ended. A
 * slowed session runs freely again a tenth below the threshold, so that the state does not change
 * at every measurement.
 *
 * Pure: no clock, no system calls. Zero-initialised state.
 */
struct quota_limits {
	uint64_t memory_soft, memory_hard; /* bytes; 0: none */
	uint32_t processes_soft, processes_hard;
	uint64_t cpu_us_hard; /* of the whole session; 0: none */
	int nice;	      /* added while the session is slowed; 0: 10 */
};

enum quota_action {
	QUOTA_GO,
	QUOTA_SLOW, /* lower its priority, and stop and continue it as quota_hold() says */
	QUOTA_END,
};

enum quota_reason {
	QUOTA_FINE,
	QUOTA_MEMORY,
	QUOTA_PROCESSES,
	QUOTA_CPU,
	QUOTA_PRESSURE,
};

struct quota {
	enum quota_action action;
	enum quota_reason reason;
	struct mac_usage now; /* the last measurement */
};

/* Decides. why: a message for the user, "" for QUOTA_GO. QUOTA_END is final. */
enum quota_action quota_judge(struct quota *q, const struct quota_limits *l,
			      const struct mac_usage *usage, enum mac_pressure pressure, char *why,
			      size_t size);
/* Returns whether the session is to be stopped during this tick of 100 ms; never two in a row. */
bool quota_hold(const struct quota *q, uint64_t tick);
/* Returns what the nice value of the session should be above its first one. */
int quota_nice(const struct quota *q, const struct quota_limits *l);
/* Returns the thresholds. Without a memory limit: half and three quarters of the machine's
 * memory. */
struct quota_limits quota_limits_of(uint64_t memory, int64_t memory_limit, int64_t processes);
