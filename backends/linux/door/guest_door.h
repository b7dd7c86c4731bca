/* guest_door - decides on connections of a virtual machine's guest, which arrive as packets. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/door.h"

struct gateway;
struct keeper;

/*
 * A door without system calls. It decides as for a connect() (calls_flow.c): by name, then by
 * address, with the same questions and reports. The first packet of a connection waits in the
 * process that parses frames (backends/linux/net/guest_note.h); datagrams and echo requests wait in
 * the relay, as an agent's do.
 *
 * Life:   guest_door_new() -> door->ops->close().
 * Owner:  takes the gateway and the socket.
 */
struct guest_door_spec {
	struct keeper *k;
	struct gateway *gateway;
	int sock;	     /* to the process that parses frames; non-blocking */
	bool open;	     /* allows all connections, and reports them */
	const char *program; /* the guest's program: path or name, copied */
};
struct door *guest_door_new(const struct guest_door_spec *spec) MUST_USE;
/* Sets the process that represents every process in the guest. */
void guest_door_set_caller(struct door *door, int pid);
