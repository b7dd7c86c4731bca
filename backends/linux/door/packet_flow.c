/* packet_flow - datagrams and echo requests to a host: judged as a connect() is. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "backends/linux/door/flow_priv.h"
#include "backends/linux/net/guest_note.h"

/*
 * No call waits here: the first packets of a flow wait in the relay, which is told where to send
 * them, or that they are refused. They take the same stages as connections, from the name on. A
 * guest's connection is handled so, too: its first packet waits in the process of frames, and goes
 * on when a listener is ready at its destination.
 */
#define PACKETS_MAX 256		 /* flows that wait for an answer */
#define IS_SYN	    (1ull << 60) /* in the ids of guests' connections */
#define SYN_TID	    0x20000000

static struct flow_wait *find(struct ldoor *d, uint64_t id)
{
	struct flow_wait *w = d->flows;

	while (w && !(w->packet && !w->syn && w->dial == id))
		w = w->next;
	return w;
}

static struct flow_wait *find_syn(struct ldoor *d, uint64_t id)
{
	struct flow_wait *w = d->flows;

	while (w && !(w->syn && w->id == (id | IS_SYN)))
		w = w->next;
	return w;
}

void packet_caller(struct flow_wait *w, struct caller *ret)
{
	if (w->tid <= 0 || keeper_caller(w->d->k, w->tid, ret) < 0)
		*ret = (struct caller){0};
	/* Questions identify a waiting call by its thread. Many packets may wait, so each gets a
	 * number of its own. */
	ret->tid = -(int)(w->dial & (SYN_TID - 1)) - 1 - (w->syn ? SYN_TID : 0);
}

static void answer(struct flow_wait *w, enum net_what what, int code)
{
	struct net_note note = {.what = what,
				.id = w->dial,
				.code = code,
				.port = w->target.port,
				.n = (uint16_t)w->n};

	memcpy(note.addr, w->addr, sizeof(note.addr));
	/* On failure the relay has ended, and the packet with it. */
	if (!gateway_send(w->d->gateway, &note))
		return;
}

static void answer_syn(const struct flow_wait *w, enum guest_what what)
{
	const struct guest_note note = {.what = what, .id = w->id & ~IS_SYN};

	guest_door_tell(w->d, &note);
}

void packet_fail(struct flow_wait *w, int code)
{
	if (w->syn)
		answer_syn(w, GUEST_REFUSE);
	else
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

/* Adds a copy of the flow to the waiting ones. Returns false, after refusing it, if too many
 * wait. */
static bool begin(struct ldoor *d, const struct flow_wait *from, struct flow_wait **ret)
{
	struct flow_wait *w = xmalloc(sizeof(*w));
	size_t waiting = 0;

	for (const struct flow_wait *o = d->flows; o; o = o->next)
		waiting += o->packet;
	*w = *from;
	w->next = d->flows;
	w->d = d;
	w->sock = -1;
	w->packet = true;
	w->stage = STAGE_START;
	d->flows = w;
	d->flows_len++;
	*ret = w;
	if (waiting < PACKETS_MAX)
		return true;
	packet_fail(w, -EACCES);
	return false;
}

void packet_begin(struct ldoor *d, const struct net_note *note)
{
	const struct flow_wait from = {
		.id = note->id,
		.dial = note->id,
		.tid = d->guest ? guest_door_caller(d)
				: flow_owner(d->k, note->type == IPPROTO_UDP, note->from_port),
		.target.port = note->port,
		.at = note->at};
	struct flow_wait *w;

	if (begin(d, &from, &w))
		flow_run(w);
}

/* ---- connections of a guest
 * ------------------------------------------------------------------- */

void packet_syn(struct ldoor *d, uint64_t id, const struct net_addr *to, uint16_t port)
{
	const struct flow_wait from = {.id = id | IS_SYN,
				       .dial = ++d->last_dial,
				       .tid = guest_door_caller(d),
				       .syn = true,
				       .target.port = port,
				       .at = *to};
	struct flow_wait *w;
	int got;

	/* Two connections of one id would share an answer, and a rule would match port 0 as any
	 * port. A process of frames that works sends neither. */
	if (!port || find_syn(d, id))
		return;
	got = gateway_start(d->gateway);
	if (!begin(d, &from, &w))
		return;
	if (got < 0)
		packet_fail(w, got);
	else if (got > 0)
		flow_run(w);
}

void packet_syn_gone(struct ldoor *d, uint64_t id)
{
	struct flow_wait *w = find_syn(d, id);

	if (!w)
		return;
	flow_abandon(w);
	flow_wait_free(w);
}

void packet_dialled(struct flow_wait *w, int code, const struct net_addr *addr)
{
	struct caller c;

	if (code < 0) {
		packet_fail(w, code);
		return;
	}
	packet_caller(w, &c);
	flow_tell_open(w, c.proc ? &c : NULL, addr);
	answer_syn(w, GUEST_PASS);
	flow_wait_free(w);
}
