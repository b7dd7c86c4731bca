/* guest_net - the keeper's side of a guest's network: starts and ends what serves it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

/*
 * The guest's network is the network gate of the other backends (backends/linux/net), at whose
 * inner end is a TUN device instead of the agent's namespace. frames.h says what is between QEMU
 * and that; what is decided, asked and told is the door's (backends/linux/door/guest_door.h).
 *
 * Life:    guest_net_start() before the keeper is confined -> guest_net_stop(), when the door is
 *	    closed or will be.
 * Threads: the keeper's one.
 */
struct guest_net;

/* *ret_sock: QEMU's end. On failure nothing is left, and err says in a line what is missing. */
int guest_net_start(struct guest_net **ret, struct door **ret_door, struct keeper *k,
		    const struct spawn_spec *spec, int *ret_sock, struct err *err) MUST_USE;
void guest_net_stop(struct guest_net *n); /* NULL is a no-op */

/* Can it be done here? Tried in a process that ends. 0 or -errno. */
int guest_net_try(void);
