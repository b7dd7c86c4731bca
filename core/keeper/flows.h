/* flows - decides on network connections of the agent, and reports them to cordon. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/caller.h"
#include "core/net/host.h"
#include "core/policy/policy.h"

struct keeper;
struct net_book;

/* A connection that somebody inside wants. */
struct flow {
	const struct net_target *target; /* by name where the book has one, else by address */
	const struct net_addr *addr;	 /* where the name leads; NULL: not looked up yet */
};

/*
 * By its target: a name that is allowed may lead anywhere, so what it leads to is judged by
 * flow_judge_address() before it is dialled; of a target that is an address, this is both.
 * 0: it may go there; -EACCES: no; -FOLDER_HELD: asked, door_ops.answered() follows with
 * c->request. Headless: no instead of asked, and told. c->granted: the human allowed this very
 * question just now.
 */
int flow_judge(struct keeper *k, const struct caller *c, const struct flow *f);
/* The same of the address that the name has led to. */
int flow_judge_address(struct keeper *k, const struct caller *c, const struct flow *f);
/* Of these addresses those that may be dialled unasked, in their order; returns how many. */
size_t flow_allowed(const struct keeper *k, const struct net_addr *addr, size_t n, uint16_t port,
		    struct net_addr *ret);
/* Of the names that led to this address: one that is allowed at this port, else the newest. False:
 * the book has none. */
bool flow_name_of(const struct keeper *k, const struct net_book *book, const struct net_addr *addr,
		  uint16_t port, struct net_host *ret);
/* May this name be looked up? Nothing is asked: what would be is POLICY_ASK. */
enum policy_verdict flow_judge_name(struct keeper *k, const char *name);
/* A name was not looked up. The caller is not known. */
void flow_deny_name(struct keeper *k, const char *name, bool unasked);
/* Who inside has the socket at this port of UDP, or with this id of echo requests; 0: not known. */
int flow_owner(struct keeper *k, bool udp, uint16_t port);
/* Ports of TCP that somebody inside listens on; returns how many, at most max. */
struct flow_listener {
	uint16_t port;
	unsigned long inode;
};
size_t flow_listeners(struct keeper *k, struct flow_listener *list, size_t max);
int flow_owner_of(struct keeper *k, unsigned long inode); /* as flow_owner() */
/* Is there somebody to ask about a connection? */
bool flow_can_ask(const struct keeper *k);

/* What cordon hears of a connection, in this order. */
enum flow_state {
	FLOW_OPEN,   /* both ends are connected */
	FLOW_CAME,   /* the same, from the host to a port that is published */
	FLOW_MOVING, /* bytes were counted anew */
	FLOW_OVER,
};

struct flow_news {
	uint64_t id;
	enum flow_state state;
	const struct caller *caller;	 /* FLOW_OPEN, else NULL */
	const struct net_target *target; /* the same */
	const struct net_addr *addr;	 /* the same: what was dialled */
	const char *why;		 /* the same: which rule let it */
	const char *program;		 /* the same; NULL: the caller's own name */
	uint64_t sent, received;	 /* by the agent */
};
void flow_tell(struct keeper *k, const struct flow_news *n);

/* A port inside, and what became of it. */
enum port_state {
	PORT_OFFERED,	/* somebody listens: it can be published */
	PORT_PUBLISHED, /* it is: at host_port */
	PORT_FAILED,	/* it is not: code */
};

struct port_news {
	enum port_state state;
	uint16_t port, host_port;
	int pid, code; /* pid 0: not known */
};
void port_tell(struct keeper *k, const struct port_news *n);
/* May it be published without being asked for: does a rule allow to bind it on loopback? */
bool port_is_allowed(struct keeper *k, uint16_t port);
/* An address of the loopback device was exchanged for another; op: "bind" or "connect". */
void flow_rewritten(struct keeper *k, const struct caller *c, const char *op, const char *from,
		    const char *to);

/* ---- what cordon asks for -------------------------------------------------------------------- */

void flow_end(struct keeper *k, uint64_t id); /* close it; none of that id: nothing */
void flow_publish(struct keeper *k, uint16_t port, uint16_t host_port);
/* Deny this target ("HOST:PORT") for the session, as an answer to `ask` would. */
void flow_forbid(struct keeper *k, uint64_t ask, const char *target);
