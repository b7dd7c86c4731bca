/* publish - publishes ports of the sandbox's loopback on the host's. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/net/relay_priv.h"

/*
 * For a connection from the host, another one is made to the same port inside, with a socket that
 * the router opens there; then both are spliced like any other pair. Both address families are
 * tried, because a server may listen on one alone.
 */
#define BACKLOG	      128
#define PUBLISHED_MAX 64

struct published {
	struct watch watch; /* lives as long as the relay */
	uint16_t port, host_port;
};

/* A connection from the host, while the inner one is being made. */
struct arrival {
	struct grave grave;
	struct watch inner;
	struct relay *relay;
	int outer;
	bool v6;
	struct net_note note;
};

static void join(struct arrival *a)
{
	struct relay *r = a->relay;
	int inner;

	epoll_ctl(r->epoll, EPOLL_CTL_DEL, a->inner.fd, NULL);
	inner = take_fd(&a->inner.fd);
	relay_tell(r, &a->note);
	pair_begin(r, a->note.id, inner, take_fd(&a->outer), NULL);
	relay_bury(r, &a->grave);
}

static void connect_inside(struct arrival *a);

/* Tries the other family after a failure, or ends the connection. */
static void next_family(struct arrival *a)
{
	relay_close(a->relay, &a->inner);
	if (!a->v6) {
		a->v6 = true;
		connect_inside(a);
		return;
	}
	relay_refuse(a->outer);
	relay_bury(a->relay, &a->grave);
}

static void on_inner(struct watch *w, uint32_t events)
{
	struct arrival *a = (struct arrival *)(void *)((char *)w - offsetof(struct arrival, inner));
	socklen_t len = sizeof(int);
	int code = 0;

	(void)events;
	if (getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0 || code)
		next_family(a);
	else
		join(a);
}

static void connect_inside(struct arrival *a)
{
	static const struct net_addr v6 = {{[15] = 1}};
	const struct net_addr to = a->v6 ? v6 : net_addr_v4(INADDR_LOOPBACK);
	struct sockaddr_storage sa;
	socklen_t len = net_addr_to_sock(&to, a->note.port, &sa);

	a->inner.fd = router_socket(a->relay->router, a->v6);
	if (a->inner.fd < 0 ||
	    (connect(a->inner.fd, (struct sockaddr *)&sa, len) < 0 && errno != EINPROGRESS) ||
	    relay_watch(a->relay, &a->inner, EPOLLOUT) < 0)
		next_family(a);
}

static void on_host(struct watch *w, uint32_t events)
{
	const struct published *p =
		(struct published *)(void *)((char *)w - offsetof(struct published, watch));
	struct relay *r = relay_self();
	struct sockaddr_storage peer;
	int fd;

	(void)events;
	for (;;) {
		struct arrival *a;
		uint16_t port;

		fd = relay_accept(r, w, &peer);
		if (fd == -EINTR || fd == -ECONNABORTED)
			continue;
		if (fd < 0)
			return;
		a = xcalloc(1, sizeof(*a));
		*a = (struct arrival){.inner = {.fd = -1, .fn = on_inner},
				      .relay = r,
				      .outer = fd,
				      .note = {.what = NET_CAME,
					       .id = NET_IS_COME | ++r->last_come,
					       .port = p->port,
					       .from_port = p->host_port,
					       .n = 1}};
		(void)net_addr_from_sock(&a->note.addr[0], &port, (struct sockaddr *)&peer,
					 sizeof(peer));
		connect_inside(a);
	}
}

/* Listens on the host's loopback, for one family. */
static int listen_on_host(struct relay *r, uint16_t port, uint16_t host_port, bool v6)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6,
				   .sin6_port = htons(host_port),
				   .sin6_addr = {{{[15] = 1}}}};
	struct sockaddr_in four = {.sin_family = AF_INET,
				   .sin_port = htons(host_port),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	AUTO_CLOSE int fd = socket(v6 ? AF_INET6 : AF_INET,
				   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	struct published *p;
	int on = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (v6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, v6 ? (struct sockaddr *)&six : (struct sockaddr *)&four,
		 v6 ? sizeof(six) : sizeof(four)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return -errno;
	p = xcalloc(1, sizeof(*p));
	*p = (struct published){
		.watch = {.fd = take_fd(&fd), .fn = on_host}, .port = port, .host_port = host_port};
	if (relay_watch(r, &p->watch, EPOLLIN) < 0) {
		close(p->watch.fd);
		free(p);
		return -ENOBUFS;
	}
	return 0;
}

/* Returns whether the IPv6 address is free: browsers would try another process's server there by
 * turns. */
static bool is_free(uint16_t port)
{
	const struct sockaddr_in6 at = {
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = {{{[15] = 1}}}};
	AUTO_CLOSE int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	int on = 1;

	if (fd < 0)
		return true;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	return bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 || errno != EADDRINUSE;
}

void publish_begin(struct relay *r, const struct net_note *note)
{
	struct net_note done = {
		.what = NET_PUBLISHED, .port = note->port, .from_port = note->from_port};

	if (r->n_published >= PUBLISHED_MAX)
		done.code = -ENOSPC;
	else if (!is_free(note->from_port))
		done.code = -EADDRINUSE;
	else
		done.code = listen_on_host(r, note->port, note->from_port, false);
	if (done.code == 0) {
		r->n_published++;
		(void)listen_on_host(r, note->port, note->from_port, true); /* fails without IPv6 */
	}
	relay_tell(r, &done);
}
