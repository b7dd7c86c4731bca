/* syn_gate - holds the first packets of a guest's connections until the keeper has decided. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/net/frame.h"

/*
 * While a connection waits, the guest sends its first packet (SYN) again after 1, 3, 7... seconds.
 * The gate recognises it by address and ports. A held packet gives way to a newer one of the same
 * ports, also with another sequence number: the answer is the same. After the answer, another
 * sequence number at the same ports is a new connection. If the guest does not repeat a packet for
 * SYN_GONE_US, no program waits for it. In a flood the oldest held packet gives way to a
 * new one, if it was not repeated for SYN_CROWD_US.
 *
 * Life:    syn_gate_new() -> syn_gate_free().
 * Bounds:  SYN_HELD_MAX wait; connections that were let through are forgotten, the oldest first.
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
	SYN_DROP, /* held already, or no room; the guest will repeat it */
	SYN_ASK,  /* held: ask about *ret_id. *ret_gone: the packet that gave way; 0: none */
	SYN_PASS, /* let through before */
};
/* Decides on a first packet. f must be FRAME_OPENS. */
enum syn_verdict syn_gate_take(struct syn_gate *g, const struct frame *f, int64_t now,
			       uint64_t *ret_id, uint64_t *ret_gone);
/* Releases the packet held under this id and returns it, valid until the next call; NULL: none. If
 * pass, repetitions of it pass without a question; otherwise it is forgotten. */
const uint8_t *syn_gate_decide(struct syn_gate *g, uint64_t id, bool pass, size_t *ret_len);
/* Forgets a held packet if the keeper could not be asked. */
void syn_gate_forget(struct syn_gate *g, uint64_t id);
/* Forgets a held packet that the guest no longer repeats. Returns its id; 0: none. */
uint64_t syn_gate_gone(struct syn_gate *g, int64_t now);
/* Returns when to call syn_gate_gone() next; 0: no packet is held. */
int64_t syn_gate_next(const struct syn_gate *g);
