/* upstream - the proxies of the user's network, from the environment. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/net/host.h"

/*
 * In many companies hosts are reached only through an HTTP proxy, and no other name can be
 * resolved. The relay and the proxy that dial for the agent then use CONNECT (RFC 9110, 9.3.6) of
 * that proxy, after the host was allowed. Rules and questions are about names of hosts, as without
 * it.
 *
 * HTTPS_PROXY is for ports 443 and 8443, HTTP_PROXY for 80 and 8080, ALL_PROXY for other ports and
 * for these if they have none; lower-case names come first, as with curl(1). NO_PROXY names
 * hosts, domains, addresses and ADDRESS/BITS that are dialled directly, as private addresses and
 * localhost always are. Values: "http://USER:PASSWORD@HOST:PORT", the user for Basic; no SOCKS and
 * no TLS to the proxy itself.
 *
 * Life: upstream_load() once, before any fork; the other functions read its result.
 */
#define UPSTREAM_ADDRS	  4
#define UPSTREAM_HEAD_MAX 16384 /* most bytes of the head of its answer */

struct upstream {
	const char *variable;	    /* "HTTPS_PROXY" */
	char name[NET_TARGET_TEXT]; /* "proxy.corp:3128" */
	struct net_addr addr[UPSTREAM_ADDRS];
	size_t n; /* 0: its name could not be resolved */
	uint16_t port;
	char *credentials; /* in base64; NULL: none */
};

/* Resolves the names of the proxies, which may take as long as the host's resolver does. Adds a
 * line to notes for each value that is not used, and says why. */
void upstream_load(struct buf *notes);
/* Returns the proxy for this target; NULL: it is dialled directly. */
const struct upstream *upstream_for(const struct net_target *t);
/* Returns whether a proxy serves this name at some port: then the name need not resolve here. */
bool upstream_knows(const char *name);

/* ---- protocol of the proxy ------------------------------------------------------------------- */

void upstream_request(const struct upstream *u, const struct net_target *t, struct buf *out);
/* Returns the length of the head of the proxy's answer, and *ret_status; 0: it is not complete yet;
 * -EBADMSG: it is not an answer. */
int upstream_answer(const char *data, size_t len, int *ret_status);
/* Appends words for the user about a connection that the proxy did not make. code: a status above
 * 0, or a negative errno; -EBADMSG: the answer was malformed; -ECONNRESET: the proxy closed without
 * an answer. */
void upstream_words(const struct upstream *u, const struct net_target *t, int code,
		    struct buf *out);
/* Returns the negative errno for the agent. */
int upstream_code(int code);
