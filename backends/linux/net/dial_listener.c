/* dial_listener - listeners in the agent's network for connections that are being dialled. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/net/dial_listener.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#define SYNS_MAX     4096 /* per listener; the oldest is dropped */
#define IDLE_MAX     32	  /* the longest idle one is closed */
#define SYN_SEQUENCE 4	  /* offset; differs between two connections from one port */

struct accepted {
	int fd;
	uint16_t from_port;
	struct accepted *next;
};

struct syn *listener_syn(const struct listener *l, uint16_t from_port)
{
	struct syn *s;

	HASH_FIND(hh, l->syns, &from_port, sizeof(from_port), s);
	return s;
}

static void drop_syn(struct listener *l, struct syn *s)
{
	HASH_DEL(l->syns, s);
	free(s);
}

void listener_drop_syn(struct listener *l, uint16_t from_port)
{
	struct syn *s = listener_syn(l, from_port);

	if (s)
		drop_syn(l, s);
}

void listener_keep_syn(struct listener *l, const struct packet *p)
{
	struct syn *s = listener_syn(l, p->from_port);

	if (p->len > sizeof(s->bytes))
		return;
	if (!s) {
		if (HASH_COUNT(l->syns) >= SYNS_MAX)
			drop_syn(l, l->syns);
		s = xcalloc(1, sizeof(*s));
		s->first = l->relay->now;
		s->from_port = p->from_port;
		HASH_ADD(hh, l->syns, from_port, sizeof(s->from_port), s);
	} else if (memcmp(s->bytes + SYN_SEQUENCE, p->data + SYN_SEQUENCE, 4) != 0) {
		s->first = l->relay->now;
		s->again_us = 0;
	}
	s->last = l->relay->now;
	s->packet = *p;
	s->packet.data = s->bytes;
	memcpy(s->bytes, p->data, p->len);
}

void listener_set_deaf(struct listener *l, bool deaf)
{
	if (deaf != l->deaf && router_deafen(l->watch.fd, deaf) == 0)
		l->deaf = deaf;
}

void listener_hold(struct listener *l, int fd, uint16_t from_port)
{
	struct accepted *a = xcalloc(1, sizeof(*a));

	a->fd = fd;
	a->from_port = from_port;
	LL_APPEND(l->accepted, a);
}

int listener_take_held(struct listener *l, uint16_t *ret_port)
{
	struct accepted *a = l->accepted;
	int fd;

	if (!a)
		return -1;
	LL_DELETE(l->accepted, a);
	fd = a->fd;
	*ret_port = a->from_port;
	free(a);
	return fd;
}

static uint16_t port_of(const struct sockaddr_storage *sa)
{
	struct net_addr a;
	uint16_t port = 0;

	(void)net_addr_from_sock(&a, &port, (const struct sockaddr *)sa, sizeof(*sa));
	return port;
}

static void on_accept(struct watch *w, uint32_t events)
{
	struct listener *l =
		(struct listener *)(void *)((char *)w - offsetof(struct listener, watch));

	(void)events;
	while (l->watch.fd >= 0) {
		struct sockaddr_storage peer = {0};
		int fd = relay_accept(l->relay, &l->watch, &peer);

		if (fd == -EINTR || fd == -ECONNABORTED)
			continue;
		if (fd < 0)
			return;
		router_deafen(fd, false); /* accept() copies the listener's filter */
		l->caller(l, fd, port_of(&peer));
	}
}

static struct listener *find_in(struct listener *list, const struct net_addr *at, uint16_t port)
{
	struct listener *l;

	DL_FOREACH (list, l)
		if (l->port == port && net_addr_eq(&l->at, at))
			return l;
	return NULL;
}

struct listener *listener_find(const struct relay *r, const struct net_addr *at, uint16_t port)
{
	return find_in(r->listeners, at, port);
}

/* Closes an idle listener. Its socket was only bound: packets for it are refused, as at any port
 * without a listener. */
static void end_idle(struct listener *l)
{
	DL_DELETE(l->relay->idle, l);
	l->relay->n_idle--;
	relay_close(l->relay, &l->watch);
	relay_bury(l->relay, &l->grave);
}

/* Keeps the socket bound without listening. Returns false if it must be closed. */
static bool make_idle(struct listener *l)
{
	struct relay *r = l->relay;

	if (l->deaf || shutdown(l->watch.fd, SHUT_RD) < 0)
		return false;
	/* epoll would report the hang-up all the time. */
	epoll_ctl(r->epoll, EPOLL_CTL_DEL, l->watch.fd, NULL);
	if (r->n_idle == IDLE_MAX)
		end_idle(r->idle);
	DL_APPEND(r->idle, l);
	r->n_idle++;
	return true;
}

/* Returns an idle socket for this address, listening again; -1: there is none. */
static int take_idle(struct relay *r, const struct net_addr *at, uint16_t port, bool deaf)
{
	struct listener *l = find_in(r->idle, at, port);
	int fd = -1;

	if (!l)
		return -1;
	if (router_hear(l->watch.fd, deaf) == 0)
		fd = take_fd(&l->watch.fd);
	end_idle(l);
	return fd;
}

int listener_use(struct listener **ret, struct relay *r, const struct net_addr *at, uint16_t port,
		 bool deaf, listener_caller caller)
{
	struct listener *l = listener_find(r, at, port);

	if (!l) {
		int fd = take_idle(r, at, port, deaf);

		if (fd < 0)
			fd = router_listen(r->router, at, port, deaf);
		if (fd < 0)
			return fd;
		l = xcalloc(1, sizeof(*l));
		*l = (struct listener){.watch = {.fd = fd, .fn = on_accept},
				       .relay = r,
				       .at = *at,
				       .port = port,
				       .deaf = deaf,
				       .caller = caller};
		if (relay_watch(r, &l->watch, EPOLLIN) < 0) {
			close(fd);
			free(l);
			return -ENOBUFS;
		}
		DL_APPEND(r->listeners, l);
	}
	l->users++;
	*ret = l;
	return 0;
}

void listener_leave(struct listener *l, bool keep)
{
	uint16_t port;
	int fd;

	if (--l->users > 0)
		return;
	while (l->syns)
		drop_syn(l, l->syns);
	while ((fd = listener_take_held(l, &port)) >= 0)
		relay_refuse(fd);
	DL_DELETE(l->relay->listeners, l);
	if (keep && make_idle(l))
		return;
	relay_close(l->relay, &l->watch);
	relay_bury(l->relay, &l->grave);
}
