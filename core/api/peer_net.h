/* peer_net - the session's connections and published ports over its socket. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/session.h"

/*
 *   session -> client   event.connection {connection, ...} when it is new, has moved bytes or is
 *                       over, event.connection_gone {connection} when the session forgets it
 *   client -> session   cmd.disconnect {connection}, cmd.forbid {connection}, cmd.publish {port}
 *
 * Life:    zeroed with the peer -> peer_net_due() and peer_net_tell() whenever the model has
 *          changed -> peer_net_done(). Main loop only.
 * Bounds:  each connection is told at most once in NET_TELL_US; MODEL_CONNECTIONS are known.
 */
#define NET_TELL_US 500000

struct told_connection;

struct peer_net {
	struct told_connection *told; /* in the model's order */
	size_t n_told;
	uint64_t version; /* of the model's, that was told */
	int64_t told_us;  /* monotonic; 0: never */
};

void peer_net_done(struct peer_net *n);
/* 0: there is something to tell now; else in how many microseconds; -1: there is nothing. */
int64_t peer_net_due(const struct peer_net *n, const struct model *m);
/* About room bytes at most. false: there is more, for which peer_net_due() is 0. */
bool peer_net_tell(struct peer_net *n, const struct model *m, size_t room, struct buf *out);

/* What a client asks for. NULL, or why not: static words. Publishes what was offered alone. */
const char *peer_net_disconnect(struct session *s, const char *by, uint64_t connection,
				bool forbid);
const char *peer_net_publish(struct session *s, uint64_t port);
