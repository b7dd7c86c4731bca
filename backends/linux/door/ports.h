/* ports - servers inside: offered when they listen, published on the host's loopback on request. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "backends/linux/door/call.h"

struct net_note;

HANDLER(prepare_listen);
void port_publish(struct ldoor *d, uint16_t port, uint16_t host_port, const char *by);
/* Returns whether the session publishes a port at this one of the host's loopback. */
bool port_is_published_at(const struct ldoor *d, uint16_t host_port);
void port_heard(struct ldoor *d, const struct net_note *note); /* NET_PUBLISHED, NET_CAME */
void port_ready(struct ldoor *d, int code);		       /* the relay serves, or has failed */
void port_tick(struct ldoor *d);
void port_drop(struct ldoor *d);
