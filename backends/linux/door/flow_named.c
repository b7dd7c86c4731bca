/* flow_named - judges the host that the agent names in a connection's first bytes. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/flow_priv.h"
#include "core/base/hash.h"

/* A connection that is open. */
struct open_flow {
	UT_hash_handle hh;
	uint64_t dial;
	struct net_target target;
	struct net_addr addr;
	bool by_upstream; /* then addr is the upstream proxy's */
	int tid;
};

bool flow_is_looked_at(const struct flow_wait *w)
{
	return !w->loopback && !w->d->open_network && (!w->packet || w->syn);
}

static struct open_flow *find(const struct ldoor *d, uint64_t dial)
{
	struct open_flow *o;

	HASH_FIND(hh, d->open_flows, &dial, sizeof(dial), o);
	return o;
}

void flow_named_add(const struct flow_wait *w, const struct net_addr *addr)
{
	struct open_flow *o;

	if (!flow_is_looked_at(w) || find(w->d, w->dial))
		return;
	o = xcalloc(1, sizeof(*o));
	o->dial = w->dial;
	o->target = w->target;
	o->addr = *addr;
	o->by_upstream = w->n == 0;
	o->tid = w->tid;
	HASH_ADD(hh, w->d->open_flows, dial, sizeof(o->dial), o);
}

static void drop(struct ldoor *d, struct open_flow *o)
{
	HASH_DEL(d->open_flows, o);
	free(o);
}

void flow_named_drop(struct ldoor *d, uint64_t dial)
{
	struct open_flow *o = find(d, dial);

	if (o)
		drop(d, o);
}

void flow_named_drop_all(struct ldoor *d)
{
	while (d->open_flows)
		drop(d, d->open_flows);
}

void flow_named_judge(struct ldoor *d, const struct net_note *note)
{
	const struct open_flow *o = find(d, note->id);
	struct net_note answer = {.what = NET_END, .id = note->id};
	struct caller c = {0};

	if (o) {
		const struct flow f = {&o->target, o->by_upstream ? NULL : &o->addr};

		if (o->tid <= 0 || keeper_caller(d->k, o->tid, &c) < 0)
			c = (struct caller){0};
		if (flow_may_name(d->k, &c, &f, note->name))
			answer.what = NET_PASS;
	}
	/* If the note cannot be sent, the relay has ended, and all connections with it. */
	if (!gateway_send(d->gateway, &answer))
		return;
}
