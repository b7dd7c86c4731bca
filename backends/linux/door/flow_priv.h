/* flow_priv - waiting connections: trapped calls (calls_flow.c) and packets (packet_flow.c). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/socket.h>

#include "backends/linux/door/interrupts.h"
#include "backends/linux/door/state.h"
#include "backends/linux/net/gateway.h"
#include "core/keeper/flows.h"
#include "core/keeper/keeper.h"

struct door_call;

/* Microseconds between two looks at waiting callers. */
#define FLOW_CHECK_US 100000

enum stage {
	STAGE_START,   /* the relay starts */
	STAGE_NAME,    /* judged by name, or asked */
	STAGE_RESOLVE, /* its addresses are looked up */
	STAGE_ADDR,    /* judged by address, or asked */
	STAGE_DIAL,
};

struct flow_wait {
	struct flow_wait *next;
	struct ldoor *d;
	uint64_t id;   /* of the seccomp notification */
	uint64_t dial; /* for the relay */
	int tid, sock;
	const struct door_call *call;
	uint64_t args[6];
	struct sockaddr_storage to;
	socklen_t to_len;
	enum stage stage;
	char program[32]; /* the caller's, read while the relay dials; or "" */
	struct net_target target;
	struct net_addr at; /* where the agent's SYN goes */
	struct net_addr addr[NET_ADDRS_MAX];
	size_t n;
	bool loopback;		       /* a service of the host's loopback that a rule shows */
	bool stand_in, granted, plain; /* plain: only the route is needed (a datagram socket) */
	bool packet; /* no call waits: a datagram or echo request (packet_flow.c) */
	bool syn;    /* with packet: the first packet of a guest's connection */
	struct interrupt interrupt;
};

/* ---- calls_flow.c ---------------------------------------------------------------------------- */

void flow_run(struct flow_wait *w);
void flow_wait_free(struct flow_wait *w);
/* Cancels the relay's dial, or the question that the user has not answered. */
void flow_abandon(struct flow_wait *w);
/* Reports FLOW_OPEN. addr: the address that is dialled. */
void flow_tell_open(struct flow_wait *w, const struct caller *c, const struct net_addr *addr);

/* ---- flow_named.c: the host that the agent names in a connection's first bytes ----------------
 */

/* Returns whether the relay looks for such a name. */
bool flow_is_looked_at(const struct flow_wait *w);
/* Notes a connection that begins, if it is looked at. */
void flow_named_add(const struct flow_wait *w, const struct net_addr *addr);
void flow_named_drop(struct ldoor *d, uint64_t dial);
void flow_named_drop_all(struct ldoor *d);
void flow_named_judge(struct ldoor *d, const struct net_note *note); /* NET_NAMED */

/* ---- packet_flow.c --------------------------------------------------------------------------- */

/* NET_FLOW: the first packet of a flow waits in the relay. */
void packet_begin(struct ldoor *d, const struct net_note *note);
/* Begins a connection of a guest, whose first packet waits where guest_syn (state.h) leads to. */
void packet_syn(struct ldoor *d, uint64_t id, const struct net_addr *to, uint16_t port);
void packet_syn_gone(struct ldoor *d, uint64_t id); /* it no longer waits */
void packet_dialled(struct flow_wait *w, int code, const struct net_addr *addr); /* w is gone */
/* Drops the flow that the relay has closed. Returns false if no flow with this id waits here. */
bool packet_gone(struct ldoor *d, uint64_t id);
void packet_caller(struct flow_wait *w, struct caller *ret);
void packet_fail(struct flow_wait *w, int code); /* w is gone */
void packet_grant(struct flow_wait *w);		 /* frees w, too */

/* ---- guest_door.c ---------------------------------------------------------------------------- */

struct guest_note;
int guest_door_caller(const struct ldoor *d); /* pid that represents every process in the guest */
const char *guest_door_program(const struct ldoor *d);
void guest_door_tell(const struct ldoor *d, const struct guest_note *note);
