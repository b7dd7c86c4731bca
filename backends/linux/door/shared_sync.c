/* shared_sync - several waiting calls share one sync (journal.durable). */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/shared_sync.h"

#include <errno.h>
#include <poll.h>

#include "backends/linux/door/answer.h"
#include "backends/linux/door/parked.h"
#include "backends/linux/door/state.h"
#include "core/keeper/keeper.h"

/*
 * Where every change is to be on the disk before it is made (journal.durable), a call that is
 * served while others wait may be taken back at its sync (FOLDER_WAITS); it is kept here with its
 * copies. When none waits any more, or enough are kept, one sync covers all of them, and each is
 * served again from its copies, in the order in which they came: resolved anew, as those before it
 * may have changed what its path means. A lone call never waits.
 */

#define GATHER_MAX 64

static bool others_wait(const struct ldoor *d)
{
	struct pollfd p = {.fd = d->door.fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1 && p.revents & POLLIN;
}

bool gather_may(const struct ldoor *d)
{
	return !d->gathered && keeper_gathers(d->k) && (d->later != NULL || others_wait(d));
}

void gather_add(struct ldoor *d, struct request *r)
{
	struct parked **end = &d->later;

	while (*end != NULL)
		end = &(*end)->next;
	*end = parked_new(r);
	d->later_len++;
}

static void serve_all(struct ldoor *d, gather_again again)
{
	struct request *r = &d->scratch->now;

	keeper_gather_sync(d->k);
	d->gathered = true;
	while (d->later != NULL) {
		struct parked *p = d->later;

		d->later = p->next;
		parked_load(d, r, p);
		r->resumed = false; /* nothing was shown to anybody */
		again(d, r, p->granted);
		parked_free(p);
	}
	d->later_len = 0;
	d->gathered = false;
	keeper_gather_end(d->k);
}

/* Those that wait may die before they are received: then the timer comes, in the same turn. */
void gather_serve(struct ldoor *d, gather_again again)
{
	if (d->later == NULL)
		return;
	if (d->later_len >= GATHER_MAX || !others_wait(d))
		serve_all(d, again);
	else
		keeper_wake_at(d->k, 1);
}

void gather_drop(struct ldoor *d)
{
	while (d->later != NULL) {
		struct parked *p = d->later;

		d->later = p->next;
		door_answer(d, p->id, -EACCES);
		parked_free(p);
	}
	d->later_len = 0;
}
