/* sources - descriptors that the keeper's loop polls, and their callbacks. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/sources.h"

#include <assert.h>
#include <errno.h>

#include "core/keeper/state.h"
#include "core/os/poller.h"

int source_add(struct keeper *k, int fd, uint32_t events, enum source_rank rank,
	       void (*fn)(void *data), void *data, struct source **ret)
{
	struct source *s = xcalloc(1, sizeof(*s));
	struct epoll_event ev = {.events = events, .data.ptr = s};

	s->fd = fd;
	s->rank = rank;
	s->fn = fn;
	s->data = data;
	if (epoll_ctl(k->epoll, EPOLL_CTL_ADD, fd, &ev) < 0) {
		int r = -errno;

		free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void source_again(struct keeper *k, struct source *s, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = s};

	epoll_ctl(k->epoll, EPOLL_CTL_MOD, s->fd, &ev);
}

/* Removes a source. It is freed at the end of the turn, because pending events may point to it. */
void source_remove(struct keeper *k, struct source *s)
{
	if (!s || s->fd < 0)
		return;
	epoll_ctl(k->epoll, EPOLL_CTL_DEL, s->fd, NULL);
	s->fd = -1;
	LL_PREPEND(k->graves, s);
}

void sources_bury(struct keeper *k)
{
	while (k->graves) {
		struct source *s = k->graves;

		k->graves = s->next;
		free(s);
	}
}

static int watch(struct keeper *k, int fd, uint32_t events, void (*fn)(void *data), void *data)
{
	struct source *s = NULL;
	int r = source_add(k, fd, events, RANK_OTHER, fn, data, &s);

	if (r == 0 && s)
		LL_PREPEND(k->watches, s);
	return r;
}

int keeper_watch(struct keeper *k, int fd, void (*fn)(void *data), void *data)
{
	return watch(k, fd, EPOLLIN, fn, data);
}

int keeper_watch_write(struct keeper *k, int fd, void (*fn)(void *data), void *data)
{
	return watch(k, fd, EPOLLOUT, fn, data);
}

void keeper_unwatch(struct keeper *k, int fd)
{
	for (struct source *s = k->watches; s; s = s->next) {
		if (s->fd != fd)
			continue;
		LL_DELETE(k->watches, s);
		source_remove(k, s);
		return;
	}
}

void keeper_close_late(struct keeper *k, int fd)
{
	assert(k->n_late < ARRAY_LEN(k->late));
	k->late[k->n_late++] = fd;
}
