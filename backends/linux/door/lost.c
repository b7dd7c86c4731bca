/* lost - results whose caller was interrupted before the answer, kept for its second try. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/lost.h"

#include <string.h>
#include <unistd.h>

#include "backends/linux/door/request.h"
#include "backends/linux/door/state.h"
#include "core/base/clock.h"

/*
 * Without WAIT_KILLABLE_RECV a signal can interrupt a call that the door is performing or has
 * performed. The caller then repeats the call, and would for example find its own new directory. So
 * the result is kept for a moment, and answers the same call of the same thread.
 */

#define LOST	16
#define LOST_US 1000000 /* a repeated call comes at once */

struct result {
	int tid, nr, flags;
	uint64_t args[6];
	int fd; /* the result, or -1: it was 0 */
	int64_t at_us;
};

struct lost {
	struct result kept[LOST];
	size_t next;
};

void lost_open(struct ldoor *d)
{
	d->lost = xcalloc(1, sizeof(*d->lost));
	for (size_t i = 0; i < LOST; i++)
		d->lost->kept[i].fd = -1;
}

void lost_close(struct ldoor *d)
{
	for (size_t i = 0; i < LOST; i++)
		util_close_fd(&d->lost->kept[i].fd);
	free(take_ptr(&d->lost));
}
void lost_keep(struct ldoor *d, const struct request *r, int fd)
{
	struct result *l = &d->lost->kept[d->lost->next];

	if (d->wait_killable) { /* the caller was killed */
		util_close_fd(&fd);
		return;
	}
	d->lost->next = (d->lost->next + 1) % LOST;
	if (l->fd >= 0)
		close(l->fd);
	*l = (struct result){.tid = r->tid,
			     .nr = r->call->nr,
			     .flags = r->flags,
			     .fd = fd,
			     .at_us = clock_mono_us()};
	memcpy(l->args, r->args, sizeof(l->args));
}

bool lost_find(struct ldoor *d, struct request *r, int *ret)
{
	if (d->wait_killable)
		return false;
	for (size_t i = 0; i < LOST; i++) {
		struct result *l = &d->lost->kept[i];

		if (l->tid != r->tid || l->nr != r->call->nr ||
		    memcmp(l->args, r->args, sizeof(l->args)) != 0)
			continue;
		l->tid = 0;
		if (clock_mono_us() - l->at_us > LOST_US) {
			util_close_fd(&l->fd);
			return false;
		}
		r->flags = l->flags;
		r->gives_fd = l->fd >= 0;
		*ret = r->gives_fd ? take_fd(&l->fd) : 0;
		return true;
	}
	return false;
}
