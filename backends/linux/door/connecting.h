/* connecting - connect() on a copy of the caller's socket, without blocking the keeper. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct ldoor;
struct request;

/* Connects the keeper's duplicate of a socket to peer (O_PATH of a socket file), or if that is -1
 * to the address in SLOT_EXTRA. Returns the caller's result, or DOOR_LATER if it has to wait. */
int connecting_now(struct ldoor *d, struct request *r, int sock, int peer);
/* Retries the connections that wait. Ends those whose time is up or whose caller has a signal. */
void connecting_tick(struct ldoor *d);
void connecting_drop(struct ldoor *d);
