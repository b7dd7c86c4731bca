/* connecting - connect() on a copy of the caller's socket, without blocking the keeper. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct ldoor;
struct request;

/* connect our duplicate of a socket, to peer (O_PATH of a socket file) or, if that is -1, to the
 * address in SLOT_EXTRA. What the caller gets, or DOOR_LATER where it has to wait. */
int connect_now(struct ldoor *d, struct request *r, int sock, int peer);
void connect_tick(struct ldoor *d); /* those that wait: try again, time is up, a signal */
void connect_drop(struct ldoor *d);
