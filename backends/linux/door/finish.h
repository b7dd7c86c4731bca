/* finish - the end of a request: answers or parks it, or lets it wait for a sync. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct ldoor;
struct request;

/* got: the handler's result. Closes the descriptors of the request and of its places. */
void request_finish(struct ldoor *d, struct request *r, int got);
