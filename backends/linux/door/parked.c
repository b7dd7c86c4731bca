/* parked - requests that wait for the user's answer: their copies, and the places shown. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/parked.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backends/linux/door/answer.h"
#include "backends/linux/door/listeners.h"
#include "backends/linux/door/state.h"
#include "core/base/clock.h"
#include "core/keeper/keeper.h"

#define SWEEP_US   100000 /* how often callers of parked requests are checked... */
#define SWEEP_N	   64	  /* ...for each group of this size: /proc is read for each caller */
#define PARKED_MAX (GUARD_HELD + 2048) /* the sum of the keeper's limits */

static struct parked *parked_new(struct request *r)
{
	struct parked *p = xcalloc(1, sizeof(*p));

	p->id = r->id;
	p->tid = r->tid;
	p->call = r->call;
	p->granted = r->caller.granted && !r->asked.stale;
	p->asked = r->asked;
	p->flags = r->flags;
	p->interrupt.held = true;
	p->opened = take_fd(&r->opened);
	memcpy(p->args, r->args, sizeof(p->args));
	for (int i = 0; i < SLOT_COUNT; i++) {
		if (!r->slot[i].have)
			continue;
		p->slot[i] = r->slot[i];
		p->slot[i].data = xmalloc(r->slot[i].len + 1);
		memcpy(p->slot[i].data, r->slot[i].data, r->slot[i].len);
		p->slot[i].data[r->slot[i].len] = '\0';
	}
	for (int i = 0; i < 2; i++) {
		char text[PATH_MAX];
		struct stat st = {0};

		if (p->opened >= 0 && r->resumed) { /* the place was not resolved again */
			p->shown[i] = r->shown[i];
			p->shown[i].text = xstrdup(r->shown[i].text);
			continue;
		}
		if (r->how[i] == HOW_NONE)
			continue;
		place_text(r->place[i], text, sizeof(text));
		p->shown[i].text = xstrdup(text);
		if (r->place[i]->folder != NULL && fstat(r->place[i]->at.dirfd, &st) == 0) {
			p->shown[i].dev = st.st_dev;
			p->shown[i].ino = st.st_ino;
		} else {
			p->outside = true;
		}
	}
	return p;
}

void parked_load(struct ldoor *d, struct request *r, const struct parked *p)
{
	struct seccomp_notif n = {.id = p->id, .pid = (uint32_t)p->tid};

	memcpy(n.data.args, p->args, sizeof(p->args));
	request_begin(d, r, &n);
	r->call = p->call;
	r->resumed = true;
	for (int i = 0; i < SLOT_COUNT; i++) {
		if (!p->slot[i].have)
			continue;
		memcpy(r->slot[i].data, p->slot[i].data, p->slot[i].len + 1);
		r->slot[i].len = p->slot[i].len;
		r->slot[i].have = true;
	}
	r->asked = p->asked;
	for (int i = 0; i < 2; i++)
		r->shown[i] = p->shown[i];
}

void parked_free(struct parked *p)
{
	if (p == NULL)
		return;
	for (int i = 0; i < SLOT_COUNT; i++)
		free(p->slot[i].data);
	util_close_fd(&p->opened);
	free(p->shown[0].text);
	free(p->shown[1].text);
	free(p);
}

/*
 * Forgets requests whose callers were killed or interrupted. Their questions are withdrawn, unless
 * the same call is repeated at once.
 */
static void sweep(struct ldoor *d, int64_t now)
{
	struct parked **link = &d->parked;

	while (*link != NULL) {
		struct parked *p = *link;
		bool waits = listener_holds(d, p->id);
		int got = waits ? interrupt_look(&p->interrupt, p->tid, now, 0) : 0;

		if (waits && got == 0) {
			link = &p->next;
			continue;
		}
		*link = p->next;
		d->parked_len--;
		keeper_request_gone(d->k, &d->door, p->id);
		if (waits)
			door_answer(d, p->id, got);
		parked_free(p);
	}
	d->sweep_at = now + SWEEP_US * (1 + (int64_t)(d->parked_len / SWEEP_N));
}

void parked_add(struct ldoor *d, struct request *r)
{
	struct parked *p;

	if (d->parked_len >= PARKED_MAX)
		sweep(d, clock_mono_us());
	if (d->parked_len >= PARKED_MAX) {
		keeper_request_gone(d->k, &d->door, r->id);
		door_answer(d, r->id, -ENOSPC);
		return;
	}
	p = parked_new(r);
	p->next = d->parked;
	d->parked = p;
	d->parked_len++;
	if (d->parked_len == 1)
		d->sweep_at = clock_mono_us() + SWEEP_US;
	keeper_wake_at(d->k, d->sweep_at);
}

struct parked *parked_take(struct ldoor *d, uint64_t id)
{
	for (struct parked **link = &d->parked; *link != NULL; link = &(*link)->next) {
		struct parked *p = *link;

		if (p->id == id) {
			*link = p->next;
			d->parked_len--;
			return p;
		}
	}
	return NULL;
}

void parked_tick(struct ldoor *d)
{
	int64_t now = clock_mono_us();

	if (d->parked != NULL && now >= d->sweep_at)
		sweep(d, now);
	if (d->parked != NULL)
		keeper_wake_at(d->k, d->sweep_at);
}
