/* parked - requests that wait for the user's answer: their copies, and the places shown. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/interrupts.h"
#include "backends/linux/door/request.h"

struct parked {
	struct parked *next;
	uint64_t id;
	int tid;
	uint64_t args[6];
	const struct door_call *call;
	struct copy slot[SLOT_COUNT];
	struct shown shown[2];
	struct asked asked;
	bool outside;
	bool granted; /* the user allowed it before something else held it */
	int opened;   /* owned; see struct request */
	int flags;
	struct interrupt interrupt;
};

void parked_free(struct parked *p);			  /* NULL is a no-op */
void parked_add(struct ldoor *d, struct request *r);	  /* copies the request */
struct parked *parked_take(struct ldoor *d, uint64_t id); /* NULL: no such request */
/* Restores the request r that p was made from. */
void parked_load(struct ldoor *d, struct request *r, const struct parked *p);
/* Checks the callers of parked requests: forgets killed ones, answers interrupted ones. */
void parked_tick(struct ldoor *d);
