/* calls_shared - connect, bind and listen where the agent shares the host's network. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/call.h"

HANDLER(perform_listen);
/* Of a socket of IPv4 or IPv6, with its address in SLOT_EXTRA: what the caller gets. */
int shared_connect(struct ldoor *d, struct request *r, int sock);
int shared_bind(struct ldoor *d, struct request *r);
void shared_close(struct ldoor *d);
