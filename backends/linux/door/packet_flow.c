/* packet_flow - datagrams and echo requests to a host: judged as a connect() is. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "backends/linux/door/flow_priv.h"

/*
 * Nobody waits in a call: the first packets of a flow wait in the relay, which is told where they
 * may go, or that they may not. So they take the same stages as connections, from the name on.
 */
#define PACKETS_MAX 256 /* flows that wait for an answer */

static struct flow_wait *find(struct ldoor *d, uint64_t id)
{
	struct flow_wait *w = d->flows;

	while (w && !(w->packet && w->dial == id))
		w = w->next;
	return w;
}

void packet_caller(struct flow_wait *w, struct caller *ret)
{
	if (w->tid <= 0 || keeper_caller(w->d->k, w->tid, ret) < 0)
		*ret = (struct caller){0};
	/* Questions know a thread by this, which waits in one call: of packets any number waits. */
	ret->tid = -(int)(w->dial & 0x3fffffff) - 1;
}

static void answer(struct flow_wait *w, enum net_what what, int code)
{
	struct net_note note = {.what = what,
				.id = w->dial,
				.code = code,
				.port = w->target.port,
				.n = (uint16_t)w->n};

	memcpy(note.addr, w->addr, sizeof(note.addr));
	/* Not sent: the relay is gone, and the packet with it. */
	if (!gateway_send(w->d->gateway, &note))
		return;
}

void packet_fail(struct flow_wait *w, int code)
{
	answer(w, NET_REFUSE, code);
	flow_wait_free(w);
}

void packet_grant(struct flow_wait *w)
{
	struct caller c;

	packet_caller(w, &c);
	flow_tell_open(w, c.proc ? &c : NULL, &w->addr[0]);
	answer(w, NET_GRANT, 0);
	flow_wait_free(w);
}

bool packet_gone(struct ldoor *d, uint64_t id)
{
	struct flow_wait *w = find(d, id);

	if (!w)
		return false;
	if (w->stage == STAGE_NAME || w->stage == STAGE_ADDR)
		keeper_request_gone(d->k, &d->door, w->id);
	flow_wait_free(w);
	return true;
}

void packet_begin(struct ldoor *d, const struct net_note *note)
{
	struct flow_wait *w = xcalloc(1, sizeof(*w));
	size_t waiting = 0;

	for (const struct flow_wait *o = d->flows; o; o = o->next)
		waiting += o->packet;
	*w = (struct flow_wait){.next = d->flows,
				.d = d,
				.id = note->id,
				.dial = note->id,
				.tid = flow_owner(d->k, note->type == IPPROTO_UDP, note->from_port),
				.sock = -1,
				.packet = true,
				.stage = STAGE_START,
				.target.port = note->port,
				.at = note->at};
	d->flows = w;
	d->flows_len++;
	if (waiting >= PACKETS_MAX)
		packet_fail(w, -EACCES);
	else
		flow_run(w);
}
