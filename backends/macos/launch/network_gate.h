/* network_gate - the proxy of a session on a Mac: its profile, and who asks it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/launch/human.h"
#include "backends/macos/os.h"
#include "core/net/proxy/proxy.h"

/*
 * The agent's profile lets it connect to the proxy's port and its own window of ports alone, so
 * what leaves goes through the proxy and is decided on by name (core/net/proxy/proxy.h).
 *
 * Nobody performs connect() for the agent here: who has connected is looked up among the processes
 * of the session. Who is none of them is refused, even with the session's secret.
 *
 * Life:  network_gate_new() before the agent is started -> network_gate_serve(), after which it is
 *        the keeper's, or network_gate_free().
 */
struct network_gate;

/* human: whom the proxy's process runs as; borrowed. */
int network_gate_new(struct network_gate **ret, const struct mac_os *os, const char *session,
		     const struct human *human, struct keeper *k, struct err *err) MUST_USE;
uint16_t network_gate_port(const struct network_gate *g);
const char *const *network_gate_env(const struct network_gate *g); /* borrowed */
/* Serve the agent and what descends from it. On failure it is still the caller's. */
int network_gate_serve(struct network_gate *g, pid_t root, struct err *err) MUST_USE;
void network_gate_free(struct network_gate *g); /* NULL is a no-op */

/* What the proxy's process may still do; it has no parameters. */
extern const char network_gate_profile[];
