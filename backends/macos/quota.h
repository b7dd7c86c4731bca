/* quota - limits for a session on a system that has none for a tree of processes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"
#include "core/base/buf.h"

/*
 * Somebody looks at the session now and then and hands in what it found; this says what to do about
 * it. Above a soft threshold the session is slowed (a lower priority, and held back one time in
 * two); above a hard one its largest use ends. The same when the system itself is short of memory:
 * at a warning all sessions are slowed, when it is critical and ours is above its soft threshold,
 * it ends. What was slowed runs freely again when it is a tenth below the threshold, so that it
 * does not change at every look.
 *
 * Pure: no clock, no system calls. Zero-initialised state.
 */
struct quota_limits {
	uint64_t memory_soft, memory_hard; /* bytes; 0: none */
	uint32_t processes_soft, processes_hard;
	uint64_t cpu_us_hard; /* of the whole session; 0: none */
	int nice;	      /* added while it is slowed; 0: 10 */
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
	uint64_t looks, slowed, ended; /* how often */
	struct mac_usage now, most;    /* the last look; the most of each */
	enum mac_pressure pressure;
};

/* *why gets words for the human, "" for QUOTA_GO. Once QUOTA_END was said it stays so. */
enum quota_action quota_judge(struct quota *q, const struct quota_limits *l,
			      const struct mac_usage *usage, enum mac_pressure pressure, char *why,
			      size_t size);
/* Back-pressure: is the session to be stopped during this tick of 100 ms? Never two in a row. */
bool quota_hold(const struct quota *q, uint64_t tick);
/* The priority that it should have. */
int quota_nice(const struct quota *q, const struct quota_limits *l);
/* Soft and hard thresholds where none are set: half and three quarters of the machine's memory. */
struct quota_limits quota_limits_of(uint64_t memory, int64_t memory_limit, int64_t processes);
/* "cordon_session_memory_bytes 123\n" and so on. */
void quota_metrics(const struct quota *q, struct buf *out);
