/* resolve - resolves a path argument of the caller to a place: the fast path. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct ldoor;
struct request;

void resolve_open(struct ldoor *d);
void resolve_close(struct ldoor *d);
/* Fills r->place[i] as how[i] says. Returns 0, negative errno, DOOR_CONTINUE or DOOR_DEAD. */
int place_resolve(struct ldoor *d, struct request *r, int i);
