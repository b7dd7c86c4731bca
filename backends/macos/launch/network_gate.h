/* network_gate - the proxy of a session on a Mac: starts its process, identifies its clients. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/launch/human.h"
#include "backends/macos/os.h"
#include "core/proxy/proxy.h"

/*
 * The agent's profile lets it connect only to the proxy's port and its own window of ports. So
 * every connection to a host goes through the proxy, which decides by name (core/proxy/proxy.h).
 *
 * The agent calls connect() itself: the gate finds the client of a connection among the processes
 * of the session. A client that is none of them is refused, even with the session's secret.
 *
 * Life:  network_gate_new() before the agent is started -> network_gate_serve(), after which the
 *        keeper owns the gate, or network_gate_free().
 */
struct network_gate;

struct network_gate_spec { /* borrowed for as long as the gate lives, but the session */
	const struct mac_os *os;
	const char *helper;	   /* NULL: beside this program */
	const struct human *human; /* user of the proxy's process */
	const char *session;
};

int network_gate_new(struct network_gate **ret, const struct network_gate_spec *spec,
		     struct keeper *k, struct err *err) MUST_USE;
uint16_t network_gate_port(const struct network_gate *g);
const char *const *network_gate_env(const struct network_gate *g); /* borrowed */
/* Serves the agent and its descendants. On failure the caller still owns the gate. */
int network_gate_serve(struct network_gate *g, pid_t root, struct err *err) MUST_USE;
void network_gate_free(struct network_gate *g); /* NULL is a no-op */
