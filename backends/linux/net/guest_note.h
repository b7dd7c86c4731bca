/* guest_note - messages between the keeper and the process that parses a guest's frames. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/addr.h"

/*
 * Messages of one size on a seqpacket socket. The process that parses frames holds the first packet
 * of each connection until the keeper has answered. The keeper does not trust it: a connection that
 * is not granted finds no listener, whatever packets the process lets pass (net_priv.h).
 */
enum guest_what {
	/* to the keeper */
	GUEST_SYN = 1, /* id, to, port: the guest wants to connect */
	GUEST_GONE,    /* id: the process has dropped the packet */
	GUEST_DROPPED, /* n: invalid frames so far */
	/* from the keeper */
	GUEST_PASS,   /* id: a listener is ready; pass the packet on */
	GUEST_REFUSE, /* id */
};

struct guest_note {
	uint32_t what;
	uint16_t port, zero;
	uint64_t id, n;
	struct net_addr to;
};
