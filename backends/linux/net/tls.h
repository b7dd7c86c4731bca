/* tls - the process that puts secrets into requests: it ends TLS and begins it anew. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

/*
 *   agent --TLS--> relay (splices, counts) --> this process --TLS--> host
 *
 * Where the relay has dialled a host of network.secret at port 443 it keeps one end of a socket
 * pair as the connection's outer end; the other and the dialled socket come here. The name that the
 * agent's ClientHello asks for (SNI) decides: a secret's host is answered with a certificate of the
 * session's own authority, and connected on to with the system's authorities and the name checked;
 * requests go through core/net/rewrite.h. Any other name shares the address: its bytes pass as they
 * are, still encrypted.
 *
 * The authority signs a certificate for each such host at the start, for no other (name
 * constraints); then its key is gone. Programs inside trust it by CA_INSIDE, the host's authorities
 * and this one, nobody else does.
 *
 * The process reads bytes of strangers and holds secrets: it can open no file and no socket, see
 * no other process, and nobody may look into it.
 *
 * Life:   tls_start() in the keeper, before mounts are made -> tls_shown() -> tls_free().
 * Death:  it ends with the keeper; when it dies its connections end, new ones are refused, and it
 *         is not started again: the keys of its certificates are gone.
 * Bounds: TLS_CONNS connections; a certificate is good for TLS_DAYS.
 */
struct tls;

#define TLS_PORT  443
#define TLS_CONNS 256
#define TLS_DAYS  1

/* Makes spec->ca, for what spec->secrets says. On failure nothing is left. */
int tls_start(struct tls **ret, const struct spawn_spec *spec, struct err *err) MUST_USE;
/* spec->ca is mounted: its name goes away. NULL is a no-op. */
void tls_shown(struct tls *t);
void tls_free(struct tls *t);	     /* NULL is a no-op */
int tls_socket(const struct tls *t); /* for the relay; -1: NULL was given */

/* In the relay: lead a connection through it. Takes outer, the host's end; returns the one to
 * splice with, or negative errno. secrets: bits of those that may be put in. */
int tls_lead(int sock, uint32_t secrets, int outer) MUST_USE;
