/* poller_darwin - epoll(7) over kqueue(2). */
/* SPDX-License-Identifier: MIT */
#include "core/os/poller.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>
#include <sys/types.h>
#include <unistd.h>

#define EVENTS 64

int epoll_create1(int flags)
{
	int fd = kqueue();

	(void)flags;
	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

/* Sets or removes a filter. Removing a missing one, or setting an existing one again, is no
 * error. */
static int set_filter(int ep, int fd, int16_t filter, uint32_t wanted, const struct epoll_event *ev)
{
	struct kevent change;
	uint16_t how = EV_DELETE;
	int r;

	if (ev && (ev->events & wanted))
		how = EV_ADD | EV_ENABLE | (ev->events & EPOLLONESHOT ? EV_DISPATCH : 0);
	EV_SET(&change, (uintptr_t)fd, filter, how, 0, 0, ev ? ev->data.ptr : NULL);
	r = kevent(ep, &change, 1, NULL, 0, NULL);
	return r < 0 && how == EV_DELETE && errno == ENOENT ? 0 : r;
}

int epoll_ctl(int ep, int op, int fd, struct epoll_event *ev)
{
	const struct epoll_event *wanted = op == EPOLL_CTL_DEL ? NULL : ev;

	return set_filter(ep, fd, EVFILT_READ, EPOLLIN, wanted) < 0 ||
			       set_filter(ep, fd, EVFILT_WRITE, EPOLLOUT, wanted) < 0
		       ? -1
		       : 0;
}

static uint32_t events_of(const struct kevent *k)
{
	uint32_t events = k->filter == EVFILT_WRITE ? EPOLLOUT : EPOLLIN;

	if (k->flags & EV_EOF)
		events |= EPOLLHUP;
	if (k->flags & EV_ERROR)
		events |= EPOLLERR;
	return events;
}

int epoll_wait(int ep, struct epoll_event *list, int n, int timeout_ms)
{
	struct timespec until = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
	struct kevent got[EVENTS];
	int have =
		kevent(ep, NULL, 0, got, n < EVENTS ? n : EVENTS, timeout_ms < 0 ? NULL : &until);

	for (int i = 0; i < have; i++)
		list[i] = (struct epoll_event){.events = events_of(&got[i]),
					       .data.ptr = got[i].udata};
	return have;
}
