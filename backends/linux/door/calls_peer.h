/* calls_peer - judges which socket file a connect() may reach: the sandbox's own, or the host's. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct ldoor;
struct place;
struct request;

void peer_open(struct ldoor *d);
void peer_close(struct ldoor *d);
/* Notes that a socket file in a working folder was bound inside, so it is the agent's own. */
void peer_bound(struct ldoor *d, const struct place *p);
/* Opens the socket file: r->opened becomes its O_PATH descriptor. Returns 0, -FOLDER_HELD, or
 * another negative number. */
int peer_find(struct ldoor *d, struct request *r);
/* Judges the socket file at `text`. Returns 0, -FOLDER_HELD, or another negative number. */
int peer_ask(struct ldoor *d, struct request *r, const char *text);
/* Reports to the user that the agent looked for a known socket of the host that is not shown
 * inside. */
void peer_absent(struct ldoor *d, struct request *r);
