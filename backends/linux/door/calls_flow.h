/* calls_flow - connect to a host: judges it, dials outside, then joins it to the agent's socket. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/keeper/door.h"

struct ldoor;
struct request;

void flow_open(struct ldoor *d);
void flow_close(struct ldoor *d);
/* flow_connect.c: begins the connection of a trapped connect(). */
int flow_connect(struct ldoor *d, struct request *r, int sock);
bool flow_answered(struct ldoor *d, uint64_t id,
		   enum door_verdict verdict); /* false: it is no flow */
void flow_tick(struct ldoor *d);
void flow_end_one(struct ldoor *d, uint64_t id); /* ends that connection */
void flow_drop(struct ldoor *d);		 /* refuses all waiting connections */
