/* flows - judges network connections of the agent, and reports them to cordon. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/caller.h"
#include "core/net/host.h"
#include "core/policy/policy.h"

struct keeper;
struct net_book;

/* A connection that a process inside wants. */
struct flow {
	const struct net_target *target; /* by name if the book has one, else by address */
	const struct net_addr *addr;	 /* where the name leads; NULL: not looked up yet */
};

/*
 * Judges a connection by its target. An allowed name may resolve to any address, so
 * flow_judge_address() judges the address before it is dialled. For a target that is an address
 * this call judges both. Returns 0 if the connection is allowed, -EACCES if it is denied,
 * -FOLDER_HELD if the user is asked: door_ops.answered() follows with c->request. A headless run
 * denies and reports instead of asking. c->granted: the user has just allowed this question.
 */
int flow_judge(struct keeper *k, const struct caller *c, const struct flow *f);
/* Judges the address that the name has resolved to, in the same way. */
int flow_judge_address(struct keeper *k, const struct caller *c, const struct flow *f);
/* Judges the host that a client names in the first bytes of a connection to f (core/net/hello.h).
 * Returns whether it may, else reports why not. f by address: only a rule that denies the name
 * refuses it. */
bool flow_may_name(struct keeper *k, const struct caller *c, const struct flow *f,
		   const char *named);
/* Copies the addresses that may be dialled without a question, in their order. Returns their
 * number. */
size_t flow_allowed(const struct keeper *k, const struct net_addr *addr, size_t n, uint16_t port,
		    struct net_addr *ret);
/* Gets a name of this address: one that is allowed at this port, else the newest. Returns false if
 * the book has none. */
bool flow_name_of(const struct keeper *k, const struct net_book *book, const struct net_addr *addr,
		  uint16_t port, struct net_host *ret);
/* Returns whether this name may be resolved. Asks no question: returns POLICY_ASK instead. */
enum policy_verdict flow_judge_name(struct keeper *k, const char *name);
/* Reports a name that was not resolved. The caller is not known. */
void flow_deny_name(struct keeper *k, const char *name, bool unasked);
/* Returns the process inside that has the socket at this UDP port, or with this id of echo
 * requests; 0: not known. */
int flow_owner(struct keeper *k, bool udp, uint16_t port);
/* Lists the TCP ports on which processes inside listen. Returns their number, at most max. */
struct flow_listener {
	uint16_t port;
	unsigned long inode;
};
size_t flow_listeners(struct keeper *k, struct flow_listener *list, size_t max);
int flow_owner_of(struct keeper *k, unsigned long inode); /* as flow_owner() */
/* Returns whether a service of this host has this loopback address and port. Not looked up more
 * than a few times a second: then returns false. */
bool flow_is_of_host(const struct net_addr *addr, uint16_t port);
/* Reports that the service of the host's loopback at this address is not reached from inside. */
void flow_deny_local(struct keeper *k, const struct caller *c, const struct net_addr *addr,
		     uint16_t port);
/* Returns whether a question about a connection can be asked. */
bool flow_can_ask(const struct keeper *k);

/* Reports about a connection, in this order. */
enum flow_state {
	FLOW_OPEN,   /* both ends are connected */
	FLOW_CAME,   /* like FLOW_OPEN, from the host to a published port */
	FLOW_MOVING, /* new byte counts */
	FLOW_OVER,
};

struct flow_news {
	uint64_t id;
	enum flow_state state;
	const struct caller *caller;	 /* FLOW_OPEN, else NULL */
	const struct net_target *target; /* the same */
	const struct net_addr *addr;	 /* the same: the address that is dialled */
	const char *why;		 /* the same: the rule that allowed it */
	const char *program;		 /* the same; NULL: the caller's own name */
	uint64_t sent, received;	 /* by the agent */
};
/* Reads the name of a process that waits for an answer; "" if it is gone. */
void flow_program(int pid, char *out, size_t size);
void flow_tell(struct keeper *k, const struct flow_news *n);
/* Warns the user once by this message: `said` has all earlier ones. Stops after a limit. */
void flow_say(struct keeper *k, struct buf *said, const char *words);

/* The state of a port inside. */
enum port_state {
	PORT_OFFERED,	/* a process listens: it can be published */
	PORT_PUBLISHED, /* it is published at host_port */
	PORT_FAILED,	/* publishing failed: code */
};

struct port_news {
	enum port_state state;
	uint16_t port, host_port;
	int pid, code;	/* pid 0: not known */
	const char *by; /* who published it; NULL: no one yet */
};
void port_tell(struct keeper *k, const struct port_news *n);
/* Returns the rule that allows to bind the port on loopback, so that it is published without a
 * request; NULL: no rule does. Valid until the rules change. */
const char *port_allowed_by(struct keeper *k, uint16_t port);
/* Reports that a loopback address was replaced by another; op: "bind" or "connect". */
void flow_rewritten(struct keeper *k, const struct caller *c, const char *op, const char *from,
		    const char *to);

/* ---- requests of cordon ---------------------------------------------------------------------- */

void flow_end(struct keeper *k, uint64_t id); /* closes it; no-op if it does not exist */
void flow_publish(struct keeper *k, uint16_t port, uint16_t host_port, const char *by);
/* Denies this target ("HOST:PORT") for the session, like an answer to `ask`. */
void flow_forbid(struct keeper *k, uint64_t ask, const char *target);
