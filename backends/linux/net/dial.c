/* dial - a granted connection until both of its ends are there: the host's, and the agent's. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "backends/linux/net/relay_priv.h"
#include "backends/linux/net/tls.h"

/*
 * The agent must not hang in connect() when its socket does not block, and must not be connected
 * before the host's end is. So a host that has not answered after a moment gets a listener that
 * hears nothing: the agent's SYN is dropped there, its connection is under way as it would be
 * natively, and its own clock runs. Once the host answers the listener hears, and the next SYN
 * (the kernel sends them again after 1, 3, 7... seconds) completes it; if it refuses, the listener
 * goes, and that SYN is refused.
 *
 * Of a guest the first packet is held: that one has time until it is known whether the host
 * answers.
 *
 * A listener is shared by all who were granted that address and port; which of them is accepted
 * first does not matter, since they all lead to the same place.
 */
#define GRACE_US  50000
#define ACCEPT_US 130000000 /* longer than the kernel sends SYNs: nobody comes any more */

struct dial {
	struct grave grave;
	struct watch host;
	struct dial *prev, *next;
	struct relay *relay;
	struct listener *listener; /* NULL: not yet */
	uint64_t id;
	struct net_note note;
	size_t turn; /* which of the addresses */
	int64_t since;
	bool connected, told;
};

struct accepted {
	int fd;
	struct accepted *next;
};

struct listener {
	struct grave grave;
	struct watch watch;
	struct listener *prev, *next;
	struct relay *relay;
	struct net_addr at;
	uint16_t port;
	bool deaf;
	size_t users;
	struct accepted *accepted; /* whose host has not answered yet */
};

static void tell(const struct dial *d, int code)
{
	struct net_note note = {.what = NET_DIALLED, .code = code, .id = d->id, .n = 1};

	note.addr[0] = d->note.addr[d->turn];
	relay_tell(d->relay, &note);
}

static void tell_closed(const struct dial *d)
{
	relay_tell(d->relay, &(struct net_note){.what = NET_CLOSED, .id = d->id});
}

/* ---- listeners ------------------------------------------------------------------------------- */

static struct dial *connected_dial(const struct listener *l)
{
	struct dial *d;

	DL_FOREACH (l->relay->dials, d)
		if (d->listener == l && d->connected)
			return d;
	return NULL;
}

static void leave_listener(struct dial *d)
{
	struct listener *l = d->listener;

	d->listener = NULL;
	if (!l || --l->users > 0)
		return;
	while (l->accepted) {
		struct accepted *a = l->accepted;

		LL_DELETE(l->accepted, a);
		relay_refuse(a->fd);
		free(a);
	}
	relay_close(l->relay, &l->watch);
	DL_DELETE(l->relay->listeners, l);
	relay_bury(l->relay, &l->grave);
}

static void dial_free(struct dial *d)
{
	leave_listener(d);
	relay_close(d->relay, &d->host);
	DL_DELETE(d->relay->dials, d);
	relay_bury(d->relay, &d->grave);
}

/* Both ends are there. */
static void join(struct dial *d, int inner)
{
	struct relay *r = d->relay;
	int outer;

	epoll_ctl(r->epoll, EPOLL_CTL_DEL, d->host.fd, NULL);
	outer = take_fd(&d->host.fd);
	if (d->note.secrets)
		outer = tls_lead(r->spec.tls, d->note.secrets, outer);
	if (outer < 0) {
		relay_refuse(inner);
		tell_closed(d);
		dial_free(d);
		return;
	}
	pair_begin(r, d->id, inner, outer);
	dial_free(d);
}

static void on_accept(struct watch *w, uint32_t events)
{
	struct listener *l =
		(struct listener *)(void *)((char *)w - offsetof(struct listener, watch));

	(void)events;
	while (l->watch.fd >= 0) {
		struct sockaddr_storage peer;
		int fd = relay_accept(l->relay, &l->watch, &peer);
		struct dial *d;
		struct accepted *a;

		if (fd == -EINTR || fd == -ECONNABORTED)
			continue;
		if (fd < 0)
			return;
		d = connected_dial(l);
		if (d) {
			join(d, fd); /* the listener may be gone after it */
			continue;
		}
		a = xcalloc(1, sizeof(*a));
		a->fd = fd;
		LL_APPEND(l->accepted, a);
	}
}

static struct listener *find_listener(struct relay *r, const struct net_addr *at, uint16_t port)
{
	struct listener *l;

	DL_FOREACH (r->listeners, l)
		if (l->port == port && net_addr_eq(&l->at, at))
			return l;
	return NULL;
}

/* One for this dial; deaf unless somebody else's is not. */
static int need_listener(struct dial *d, bool deaf)
{
	struct relay *r = d->relay;
	struct listener *l = find_listener(r, &d->note.at, d->note.port);
	int fd;

	if (d->listener)
		return 0;
	if (!l) {
		fd = router_listen(r->router, &d->note.at, d->note.port, deaf);
		if (fd < 0)
			return fd;
		l = xcalloc(1, sizeof(*l));
		*l = (struct listener){.watch = {.fd = fd, .fn = on_accept},
				       .relay = r,
				       .at = d->note.at,
				       .port = d->note.port,
				       .deaf = deaf};
		if (relay_watch(r, &l->watch, EPOLLIN) < 0) {
			close(fd);
			free(l);
			return -ENOBUFS;
		}
		DL_APPEND(r->listeners, l);
	}
	l->users++;
	d->listener = l;
	return 0;
}

/* ---- the host's end -------------------------------------------------------------------------- */

static void dial_next(struct dial *d, int code);

static void host_is_there(struct dial *d)
{
	struct listener *l;
	int r = need_listener(d, false), on = 1;

	if (r < 0) {
		if (!d->told)
			tell(d, r);
		dial_free(d);
		return;
	}
	d->connected = true;
	relay_rewatch(d->relay, &d->host, 0);
	l = d->listener;
	if (l->deaf)
		setsockopt(l->watch.fd, SOL_SOCKET, SO_DETACH_FILTER, &on, sizeof(on));
	l->deaf = false;
	if (!d->told)
		tell(d, 0);
	d->told = true;
	if (l->accepted) {
		struct accepted *a = l->accepted;
		int inner = a->fd;

		LL_DELETE(l->accepted, a);
		free(a);
		join(d, inner);
	}
}

static void on_host(struct watch *w, uint32_t events)
{
	struct dial *d = (struct dial *)(void *)((char *)w - offsetof(struct dial, host));
	socklen_t len = sizeof(int);
	int code = 0;

	(void)events;
	if (d->connected) { /* it has hung up before anybody came: that is for the agent to see */
		relay_rewatch(d->relay, w, EPOLLET);
		return;
	}
	if (getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0)
		code = errno;
	if (code)
		dial_next(d, -code);
	else
		host_is_there(d);
}

static int connect_host(struct dial *d)
{
	const struct net_addr *to = &d->note.addr[d->turn];
	struct sockaddr_storage sa;
	socklen_t len = net_addr_to_sock(to, d->note.port, &sa);
	int on = 1, idle = 60;

	d->host.fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	if (d->host.fd < 0)
		return -errno;
	/* The agent's own settings act on its end only. */
	setsockopt(d->host.fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(d->host.fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(d->host.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(d->host.fd, (struct sockaddr *)&sa, len) < 0 && errno != EINPROGRESS)
		return -errno;
	return relay_watch(d->relay, &d->host, EPOLLOUT);
}

/* The next address after one that failed; the first one with code 0. */
static void dial_next(struct dial *d, int code)
{
	bool first = code == 0;

	for (;;) {
		if (!first && ++d->turn >= d->note.n) {
			d->turn = d->note.n - 1u;
			if (d->told)
				tell_closed(d);
			else
				tell(d, code);
			dial_free(d);
			return;
		}
		first = false;
		relay_close(d->relay, &d->host);
		code = connect_host(d);
		if (code == 0)
			return;
	}
}

void dial_begin(struct relay *r, const struct net_note *note)
{
	struct dial *d = xcalloc(1, sizeof(*d));

	*d = (struct dial){.host = {.fd = -1, .fn = on_host},
			   .relay = r,
			   .id = note->id,
			   .note = *note,
			   .since = r->now};
	DL_APPEND(r->dials, d);
	if (note->n == 0) {
		tell(d, -EHOSTUNREACH);
		dial_free(d);
		return;
	}
	relay_wake_at(r, d->since + GRACE_US);
	dial_next(d, 0);
}

void dial_cancel(struct relay *r, uint64_t id)
{
	struct dial *d = r->dials, *next;

	for (; d; d = next) {
		next = d->next;
		if (d->id == id)
			dial_free(d);
	}
}

static void tick_one(struct dial *d)
{
	struct relay *r = d->relay;
	int code;

	if (r->now >= d->since + ACCEPT_US) {
		if (d->told) /* nobody has come */
			tell_closed(d);
		else
			tell(d, -ETIMEDOUT);
		dial_free(d);
		return;
	}
	if (!d->told && !d->note.code && r->now >= d->since + GRACE_US) {
		code = need_listener(d, true);
		tell(d, code);
		d->told = true;
		if (code < 0) {
			dial_free(d);
			return;
		}
	}
	relay_wake_at(r, d->since + (d->told || d->note.code ? ACCEPT_US : GRACE_US));
}

void dial_tick(struct relay *r)
{
	struct dial *d = r->dials, *next;

	for (; d; d = next) {
		next = d->next;
		tick_one(d);
	}
}
