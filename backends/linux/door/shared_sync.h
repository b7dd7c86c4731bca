/* shared_sync - several waiting calls share one sync (journal.durable). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct ldoor;
struct request;

/* Serves a request from its beginning: dispatch.h. */
typedef void (*gather_again)(struct ldoor *d, struct request *r, bool granted);

bool gather_may(const struct ldoor *d);
void gather_add(struct ldoor *d, struct request *r);	/* copies what is needed */
void gather_serve(struct ldoor *d, gather_again again); /* if it is time */
void gather_drop(struct ldoor *d);
