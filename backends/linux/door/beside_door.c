/* beside_door - the door for programs that run beside the agent: passes calls to the agent's
 * door. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/beside_door.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "backends/linux/door/door.h"
#include "backends/linux/door/listeners.h"
#include "backends/linux/door/state.h"

struct beside_door {
	struct door door; /* first member; fd: an epoll of the listeners */
	struct ldoor *agents;
};

static struct beside_door *beside_door(struct door *door)
{
	return (struct beside_door *)door;
}

/* Serves one request per turn, like the agent's door. When the last process of a filter has ended,
 * removes its listener. */
static int serve(struct door *door, short events)
{
	struct beside_door *b = beside_door(door);
	struct epoll_event ev;

	(void)events;
	if (epoll_wait(door->fd, &ev, 1, 0) == 1 &&
	    door_serve_listener(b->agents, ev.data.fd,
				(short)(ev.events & EPOLLIN ? POLLIN : POLLHUP)) == -EPIPE) {
		epoll_ctl(door->fd, EPOLL_CTL_DEL, ev.data.fd, NULL);
		listener_remove(b->agents, ev.data.fd);
	}
	return 0;
}

/* Does nothing: the agent's door parks the requests. */
static void answered(struct door *door, uint64_t id, enum door_verdict verdict)
{
	(void)door;
	(void)id;
	(void)verdict;
}

static void drop_all(struct door *door)
{
	(void)door;
}

static void close_door(struct door *door)
{
	struct beside_door *b = beside_door(door);

	while (b->agents->n_listeners)
		listener_remove(b->agents, b->agents->listeners[0]);
	util_close_fd(&door->fd);
	free(b);
}

static const struct door_ops ops = {
	.serve = serve, .answered = answered, .drop_all = drop_all, .close = close_door};

struct door *beside_door_new(struct door *agents, struct err *err)
{
	struct beside_door *b = xcalloc(1, sizeof(*b));

	b->door = (struct door){.ops = &ops, .fd = epoll_create1(EPOLL_CLOEXEC)};
	b->agents = (struct ldoor *)agents; /* the agent's door is its first member */
	if (b->door.fd >= 0)
		return &b->door;
	err_set(err, -errno, "epoll");
	free(b);
	return NULL;
}

int beside_door_add(struct door *door, int listener)
{
	struct beside_door *b = beside_door(door);
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = listener};
	int r = listener_add(b->agents, listener);

	if (r == 0 && epoll_ctl(door->fd, EPOLL_CTL_ADD, listener, &ev) < 0) {
		r = -errno;
		listener_remove(b->agents, listener);
	}
	return r;
}
