/* guest_door - connections of a guest: they come as packets, from a machine of its own. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/door.h"

struct gateway;
struct keeper;

/*
 * A door without system calls. What it decides on is decided as for a connect() (calls_flow.c): by
 * name, then by address, asked about and told of in the same words. The first packet of a
 * connection waits in the process of frames (backends/linux/net/guest_note.h), datagrams and echo
 * requests in the relay, as an agent's do.
 *
 * Life:   guest_door_new() -> door->ops->close().
 * Owner:  takes the gateway and the socket.
 */
struct guest_door_spec {
	struct keeper *k;
	struct gateway *gateway;
	int sock;	     /* to the process of frames; non-blocking */
	bool open;	     /* connections are told of, and not judged */
	const char *program; /* that runs in the guest: path or name, copied */
};
struct door *guest_door_new(const struct guest_door_spec *spec) MUST_USE;
/* The process that stands for everybody in the guest. */
void guest_door_set_caller(struct door *door, int pid);
