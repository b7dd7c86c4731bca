/* tls - the process that puts secrets into requests: it ends TLS and begins a new one to the
 * host. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

/*
 *   agent --TLS--> relay (splices, counts) --> this process --TLS--> host
 *
 * After the relay has dialled a host of network.secret at port 443, it keeps one end of a socket
 * pair as the connection's outer end, and sends the other end and the dialled socket to this
 * process. The server name of the agent's ClientHello (SNI) decides. For a secret's host, the
 * process answers with a certificate of the session's own authority, and connects to the host with
 * the name checked against the system's authorities; requests go through core/net/rewrite.h. For
 * any other name at the same address, bytes pass unchanged, still encrypted.
 *
 * The authority signs a certificate for each such host at the start, and can sign for no other host
 * (name constraints); then its key is destroyed. Programs inside trust it through CA_INSIDE, a file
 * with the host's authorities and this one. No program outside trusts it.
 *
 * The process reads untrusted bytes and holds secrets. It can open no file and no socket and see no
 * other process, and no other process may trace it.
 *
 * Life:   tls_start() in the keeper, before mounts are made -> tls_shown() -> tls_free().
 * Death:  it ends with the keeper. When it dies its connections end and new ones are refused. It is
 *         not started again: the keys of its certificates are gone.
 * Bounds: TLS_CONNS connections; a certificate is good for TLS_DAYS.
 */
struct tls;

#define TLS_PORT  443
#define TLS_CONNS 256
#define TLS_DAYS  1

/* Starts the process for the hosts of spec->secrets, and makes the file spec->ca. On failure no
 * process and no file is left. */
int tls_start(struct tls **ret, const struct spawn_spec *spec, struct err *err) MUST_USE;
/* Unlinks spec->ca, after it has been mounted. NULL is a no-op. */
void tls_shown(struct tls *t);
void tls_free(struct tls *t);	     /* NULL is a no-op */
int tls_socket(const struct tls *t); /* for the relay; -1: t is NULL */

/* In the relay: leads a connection through the TLS process. Takes outer, the socket to the host.
 * Returns the socket to splice with, or negative errno. secrets: a bit for each that may be put in.
 */
int tls_lead(int sock, uint32_t secrets, int outer) MUST_USE;
