/* syn_gate - holds the first packets of a guest's connections until the keeper has decided. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/net/syn_gate.h"

#include <string.h>
#include <utlist.h>

#include "core/base/hash.h"

struct key {
	struct net_addr to;
	uint16_t from_port, port;
};

struct syn {
	struct syn *prev, *next; /* in `held` or `passed`, newest last */
	UT_hash_handle hh;
	struct key key;
	uint64_t id;
	uint32_t seq;
	bool held;
	int64_t used;
	size_t len;
	uint8_t packet[FRAME_SYN];
};

struct syn_gate {
	struct syn *known; /* by key */
	struct syn *held, *passed;
	size_t n_held;
	uint64_t last;
};

struct syn_gate *syn_gate_new(void)
{
	return xcalloc(1, sizeof(struct syn_gate));
}

static void unlist(struct syn_gate *g, struct syn *s)
{
	if (s->held) {
		DL_DELETE(g->held, s);
		g->n_held--;
	} else {
		DL_DELETE(g->passed, s);
	}
}

static void forget(struct syn_gate *g, struct syn *s)
{
	HASH_DEL(g->known, s);
	unlist(g, s);
	free(s);
}

void syn_gate_free(struct syn_gate *g)
{
	struct syn *s, *tmp;

	HASH_ITER (hh, g->known, s, tmp)
		forget(g, s);
	free(g);
}

static struct syn *by_id(const struct syn_gate *g, uint64_t id)
{
	struct syn *s;

	DL_FOREACH (g->held, s)
		if (s->id == id)
			return s;
	return NULL;
}

static void hold(struct syn_gate *g, struct syn *s, const struct frame *f)
{
	s->held = true;
	s->id = ++g->last;
	s->seq = f->seq;
	s->len = f->len;
	memcpy(s->packet, f->packet, f->len);
	DL_APPEND(g->held, s);
	g->n_held++;
}

/* Replaces a held packet by its repetition, or by that of a new connection. */
static enum syn_verdict again(struct syn_gate *g, struct syn *s, const struct frame *f, int64_t now)
{
	s->used = now;
	/* A new connection at the same ports has the same destination, and so the same answer. */
	s->seq = f->seq;
	s->len = f->len;
	memcpy(s->packet, f->packet, f->len);
	DL_DELETE(g->held, s);
	DL_APPEND(g->held, s);
	return SYN_DROP;
}

static bool make_room(struct syn_gate *g, int64_t now, uint64_t *ret_gone)
{
	if (g->n_held < SYN_HELD_MAX)
		return true;
	if (now < g->held->used + SYN_CROWD_US)
		return false;
	*ret_gone = g->held->id;
	forget(g, g->held);
	return true;
}

enum syn_verdict syn_gate_take(struct syn_gate *g, const struct frame *f, int64_t now,
			       uint64_t *ret_id, uint64_t *ret_gone)
{
	struct key key;
	struct syn *s;

	memset(&key, 0, sizeof(key));
	key.to = f->to;
	key.from_port = f->from_port;
	key.port = f->port;
	HASH_FIND(hh, g->known, &key, sizeof(key), s);
	if (s && s->held)
		return again(g, s, f, now);
	if (s && s->seq == f->seq)
		return SYN_PASS;
	*ret_gone = 0;
	if (f->len > FRAME_SYN || !make_room(g, now, ret_gone))
		return SYN_DROP;
	if (s) {
		unlist(g, s);
	} else {
		if (HASH_COUNT(g->known) >= SYN_KNOWN_MAX)
			forget(g, g->passed); /* not empty: fewer are held than known */
		s = xcalloc(1, sizeof(*s));
		s->key = key;
		HASH_ADD(hh, g->known, key, sizeof(s->key), s);
	}
	s->used = now;
	hold(g, s, f);
	*ret_id = s->id;
	return SYN_ASK;
}

const uint8_t *syn_gate_decide(struct syn_gate *g, uint64_t id, bool pass, size_t *ret_len)
{
	static uint8_t packet[FRAME_SYN];
	struct syn *s = by_id(g, id);

	if (!s)
		return NULL;
	*ret_len = s->len;
	memcpy(packet, s->packet, s->len);
	if (pass) {
		unlist(g, s);
		s->held = false;
		DL_APPEND(g->passed, s);
	} else {
		forget(g, s);
	}
	return packet;
}

void syn_gate_forget(struct syn_gate *g, uint64_t id)
{
	struct syn *s = by_id(g, id);

	if (s)
		forget(g, s);
}

uint64_t syn_gate_gone(struct syn_gate *g, int64_t now)
{
	uint64_t id;

	if (!g->held || now < g->held->used + SYN_GONE_US)
		return 0;
	id = g->held->id;
	forget(g, g->held);
	return id;
}

int64_t syn_gate_next(const struct syn_gate *g)
{
	return g->held ? g->held->used + SYN_GONE_US : 0;
}
