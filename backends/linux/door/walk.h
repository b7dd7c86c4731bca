/* walk - a path in the caller's own view, component by component, links and /proc included. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct ldoor;
struct request;

/* Fill r->place[i]. start, a directory of the caller's view, is owned. 0, negative errno,
 * DOOR_CONTINUE or DOOR_DEAD. */
int walk_path(struct ldoor *d, struct request *r, int i, int start, const char *path);
