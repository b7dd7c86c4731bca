/* calls_peer - which socket file a connect() may reach: the sandbox's own, or one of the host's. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct ldoor;
struct place;
struct request;

void peer_open(struct ldoor *d);
void peer_close(struct ldoor *d);
/* A socket file in a working folder was bound inside: it is the agent's own. */
void peer_bound(struct ldoor *d, const struct place *p);
/* r->opened becomes the O_PATH descriptor of the socket file. 0, -FOLDER_HELD, other negatives. */
int peer_find(struct ldoor *d, struct request *r);
/* Judge that socket file, which lies at `text`. 0, -FOLDER_HELD, other negatives. */
int peer_ask(struct ldoor *d, struct request *r, const char *text);
/* No such socket file is shown; who looked for one of the host's that is known, the human hears of.
 */
void peer_absent(struct ldoor *d, struct request *r);
