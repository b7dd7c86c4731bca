/* finish - the end of a request: it is answered, or parked, or waits for a sync. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct ldoor;
struct request;

/* got: what its handler returned. Closes what the request and its places own. */
void request_finish(struct ldoor *d, struct request *r, int got);
