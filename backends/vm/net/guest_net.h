/* guest_net - the keeper's side of a guest's network: starts and ends its processes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

/*
 * The guest's network is the network gate of the other backends (backends/linux/net), with a TUN
 * device at its inner end instead of the agent's namespace. frames.h describes the path from QEMU
 * to that device. The door decides, asks and reports (backends/linux/door/guest_door.h).
 *
 * Life:    guest_net_start() before the keeper is confined -> guest_net_stop(), when the door is
 * 	    closed or will be.
 * Threads: the keeper's one.
 */
struct guest_net;

/* Starts the network. *ret_sock: QEMU's end. On failure no process is left, and err names the
 * missing requirement in one line. */
int guest_net_start(struct guest_net **ret, struct door **ret_door, struct keeper *k,
		    const struct spawn_spec *spec, int *ret_sock, struct err *err) MUST_USE;
void guest_net_stop(struct guest_net *n); /* NULL is a no-op */

/* Returns 0, or -errno if a guest can have no network here. Tries it in a child that exits. */
int guest_net_try(void);
