/* guest_note - between the keeper and the process that parses a guest's frames. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/addr.h"

/*
 * Messages of one size on a seqpacket socket. The process that parses frames holds the first packet
 * of each connection until the keeper has answered. It is not believed: a connection that nobody
 * granted meets no listener, whatever packets go on (net_priv.h).
 */
enum guest_what {
	/* to the keeper */
	GUEST_SYN = 1, /* id, to, port: somebody wants to connect */
	GUEST_GONE,    /* id: no longer */
	GUEST_DROPPED, /* n: frames that were none of a guest's, so far */
	/* from the keeper */
	GUEST_PASS,   /* id: somebody listens there now */
	GUEST_REFUSE, /* id */
};

struct guest_note {
	uint32_t what;
	uint16_t port, zero;
	uint64_t id, n;
	struct net_addr to;
};
