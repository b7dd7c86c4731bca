/* walk - resolves a path component by component in the caller's view, with links and /proc. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct ldoor;
struct request;

/* Fills r->place[i]. Takes start, a directory of the caller's view. Returns 0, negative errno,
 * DOOR_CONTINUE or DOOR_DEAD. */
int walk_path(struct ldoor *d, struct request *r, int i, int start, const char *path);
