/* peer_net - the session's connections and published ports over its socket. */
/* SPDX-License-Identifier: MIT */
#include "core/api/peer_net.h"

#include <string.h>

#include "core/api/api_priv.h"
#include "core/base/clock.h"

/* A connection as a peer knows it. */
struct told_connection {
	uint64_t id, sent, received;
	bool over;
};

void peer_net_done(struct peer_net *n)
{
	free(n->told);
	*n = (struct peer_net){0};
}

int64_t peer_net_due(const struct peer_net *n, const struct model *m)
{
	if (n->version == m->net_version)
		return -1;
	return n->told_us ? MAX(n->told_us + NET_TELL_US - clock_mono_us(), (int64_t)0) : 0;
}

static void tell_one(struct told_connection *t, const struct connection *c, struct buf *out)
{
	*t = (struct told_connection){
		.id = c->id, .sent = c->sent, .received = c->received, .over = c->ended_us != 0};
	message_connection(out, c);
}

/* Both lists have one order, and a new one comes last: where they differ, one that was told has
 * gone. Returns how many of the model's are known; those after are new. */
static size_t tell_known(struct peer_net *n, const struct model *m, size_t end, struct buf *out)
{
	size_t i = 0, at = 0, kept = 0;

	for (; at < n->n_told && out->len < end; at++) {
		struct told_connection *t = &n->told[at];
		const struct connection *c = i < m->n_connections ? &m->connections[i] : NULL;

		if (!c || c->id != t->id) {
			message_connection_gone(out, t->id);
			continue;
		}
		if (t->sent != c->sent || t->received != c->received || t->over != !!c->ended_us)
			tell_one(t, c, out);
		n->told[kept++] = *t;
		i++;
	}
	if (kept < at)
		memmove(&n->told[kept], &n->told[at], (n->n_told - at) * sizeof(*n->told));
	n->n_told -= at - kept;
	return i;
}

bool peer_net_tell(struct peer_net *n, const struct model *m, size_t room, struct buf *out)
{
	size_t end = out->len + room, i = tell_known(n, m, end, out);

	n->told =
		xrealloc(n->told, MAX(m->n_connections + n->n_told, (size_t)1) * sizeof(*n->told));
	while (i == n->n_told && i < m->n_connections && out->len < end)
		tell_one(&n->told[n->n_told++], &m->connections[i++], out);
	if (i < m->n_connections || n->n_told > i || out->len >= end) {
		n->told_us = 0;
		return false;
	}
	n->version = m->net_version;
	n->told_us = clock_mono_us();
	return true;
}

/* ---- in -------------------------------------------------------------------------------------- */

const char *peer_net_disconnect(struct session *s, const char *by, uint64_t connection, bool forbid)
{
	const struct connection *c = model_connection(session_model(s), connection);

	if (!c)
		return "connection: the session has none of that number";
	if (c->ended_us && !forbid)
		return "it is closed already";
	if (forbid)
		session_forbid(s, by, connection);
	else
		session_end_connection(s, connection);
	return NULL;
}

const char *peer_net_publish(struct session *s, uint64_t port)
{
	const struct model *m = session_model(s);

	for (size_t i = 0; i < ARRAY_LEN(m->offers); i++) {
		if (!port || m->offers[i].port != port)
			continue;
		session_publish(s, m->offers[i].port);
		return NULL;
	}
	return "port: no server of the sandbox was seen to listen there";
}
