/* syn_gate - first packets of a guest's connections, held until somebody has decided. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/net/frame.h"

/*
 * A guest sends the same packet again while it waits, after 1, 3, 7... seconds: that one is known
 * by its ports and its number. One with another number at the same ports is another connection.
 * When the guest has not sent one for longer than that, nobody in there waits any more. A guest
 * that floods loses what it sent first: that gives way to others, if it has not come again for a
 * second.
 *
 * Life:    syn_gate_new() -> syn_gate_free().
 * Bounds:  SYN_HELD_MAX wait; what was let through is forgotten, the oldest first.
 * Threads: one owner. Times are monotonic microseconds.
 */
#define SYN_HELD_MAX  128
#define SYN_KNOWN_MAX 1024
#define SYN_GONE_US   70000000
#define SYN_CROWD_US  1000000

struct syn_gate;

struct syn_gate *syn_gate_new(void) MUST_USE;
void syn_gate_free(struct syn_gate *g);

enum syn_verdict {
	SYN_DROP, /* it waits already, or there is no room: it comes again */
	SYN_ASK,  /* it waits from now on: ask about *ret_id; *ret_gone waits no more, 0: none */
	SYN_PASS, /* it was let through before */
};
/* f is FRAME_OPENS. */
enum syn_verdict syn_gate_take(struct syn_gate *g, const struct frame *f, int64_t now,
			       uint64_t *ret_id, uint64_t *ret_gone);
/* The packet that waits by this id; NULL: none. Passed: it waits no more, and comes again unasked;
 * else it is forgotten. Valid until the next call. */
const uint8_t *syn_gate_decide(struct syn_gate *g, uint64_t id, bool pass, size_t *ret_len);
/* Nobody could be asked: as if it had never come. */
void syn_gate_forget(struct syn_gate *g, uint64_t id);
/* One that nobody in the guest waits for any more, forgotten; 0: none. */
uint64_t syn_gate_gone(struct syn_gate *g, int64_t now);
/* When that is to be asked next; 0: nothing waits. */
int64_t syn_gate_next(const struct syn_gate *g);
