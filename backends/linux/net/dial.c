/* dial - a granted connection until both of its ends are there: the host's, and the agent's. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "backends/linux/net/relay_priv.h"
#include "backends/linux/net/tls.h"
#include "core/base/hash.h"

/*
 * The agent must not hang in connect() when its socket does not block, and must not be connected
 * before the host's end is. So a host that does not answer at once gets a listener that hears
 * nothing: the agent's first packet (SYN) is dropped there, its connection is under way as it
 * would be natively, and its own clock runs. A packet socket has seen that packet, and it is kept.
 * When the host answers the listener hears, and the packet is sent once more; when the host
 * refuses, an ICMP error about the packet says why. Without packet sockets the kernel's next SYN
 * (after 1, 3, 7... seconds) takes the place of the packet that was kept, and finds the listener or
 * none.
 *
 * The keeper says by which port of the agent's a connection has begun (NET_BEGUN). The port ties
 * the packet to the dial. A caller that gives up sends no more of them, or answers the listener
 * with a reset: then the host's end is closed, too, and never given to the next caller.
 *
 * Of a guest the first packet is held: that one has time until it is known whether the host
 * answers.
 *
 * A listener is shared by all dials to that address and port, and hears while one of them is
 * connected. If another's packet comes first, they change places: both lead to the same host.
 */
#define GRACE_US  50000	    /* for the host's answer, without packet sockets */
#define ACCEPT_US 130000000 /* longer than the kernel sends SYNs: nobody comes any more */
#define GONE_US	  3000000   /* a SYN that is due is so late: its sender is gone */
#define CALL_US	  20000000  /* after NET_DIALLED no first packet has come */
#define SYNS_MAX  4096	    /* of a listener; the oldest gives way */
#define AGAIN_US  500000    /* seen sooner it is what was sent again, not the kernel's next */

struct dial {
	struct grave grave;
	struct watch host;
	struct dial *prev, *next;
	struct relay *relay;
	struct listener *listener; /* NULL: not yet */
	uint64_t id;
	struct net_note note;
	size_t turn; /* which of the addresses */
	int64_t since, told_us;
	uint16_t from_port; /* the agent's; 0: not known */
	int failed;	    /* negative errno: the host refused, and the agent has to hear of it */
	bool connected, told;
	bool swapped; /* another dial left its caller to this one, by a port that was not known */
};

struct accepted {
	int fd;
	uint16_t from_port;
	struct accepted *next;
};

/* A first packet of the agent's, and when it and those that repeat it came. */
struct syn {
	UT_hash_handle hh;
	uint16_t from_port; /* the key */
	int64_t first, last;
	int64_t again_us; /* when it was sent once more; 0: never */
	struct packet packet;
	uint8_t bytes[PACKET_SYN];
};
#define SYN_SEQUENCE 4 /* where the number is by which two connections from one port differ */

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
	struct syn *syns;	   /* in the order of their first arrival */
};

static void tell(struct dial *d, int code)
{
	struct net_note note = {.what = NET_DIALLED,
				.code = code,
				.id = d->id,
				.n = 1,
				.type = code == 0 && !d->connected};

	note.addr[0] = d->note.addr[d->turn];
	relay_tell(d->relay, &note);
	d->told_us = d->relay->now;
	relay_wake_at(d->relay, d->told_us + CALL_US);
}

static void tell_closed(const struct dial *d)
{
	relay_tell(d->relay, &(struct net_note){.what = NET_CLOSED, .id = d->id});
}

/* ---- listeners ------------------------------------------------------------------------------- */

static uint16_t port_of(const struct sockaddr_storage *sa)
{
	struct net_addr a;
	uint16_t port = 0;

	(void)net_addr_from_sock(&a, &port, (const struct sockaddr *)sa, sizeof(*sa));
	return port;
}

static struct dial *dial_from(const struct listener *l, uint16_t from_port)
{
	struct dial *d;

	DL_FOREACH (l->relay->dials, d)
		if (d->listener == l && from_port && d->from_port == from_port)
			return d;
	return NULL;
}

static struct dial *connected_dial(const struct listener *l)
{
	struct dial *d;

	DL_FOREACH (l->relay->dials, d)
		if (d->listener == l && d->connected)
			return d;
	return NULL;
}

/* Hears as long as the host's end of a connection waits. */
static void set_hearing(struct listener *l)
{
	bool deaf = connected_dial(l) == NULL;

	if (deaf != l->deaf && router_deafen(l->watch.fd, deaf) == 0)
		l->deaf = deaf;
}

static struct syn *find_syn(const struct listener *l, uint16_t from_port)
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

static void keep_syn(struct listener *l, const struct packet *p)
{
	struct syn *s = find_syn(l, p->from_port);

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

/* Returns the first packet of the dial's caller; NULL: none has come. One that came before the dial
 * is another's, and stays where a connection was accepted before its packet was seen. */
static struct syn *syn_of(const struct dial *d)
{
	struct syn *s = d->listener ? find_syn(d->listener, d->from_port) : NULL;

	return s && (d->note.code || s->last >= d->since) ? s : NULL;
}

static void leave_listener(struct dial *d)
{
	struct listener *l = d->listener;
	struct syn *s = l ? find_syn(l, d->from_port) : NULL;

	d->listener = NULL;
	if (s)
		drop_syn(l, s);
	if (l && --l->users > 0)
		set_hearing(l);
	if (!l || l->users > 0)
		return;
	while (l->syns)
		drop_syn(l, l->syns);
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

/* The dial whose host's end a caller at this port gets; NULL: none is there yet. */
static struct dial *dial_for(const struct listener *l, uint16_t from_port)
{
	struct dial *own = dial_from(l, from_port), *d = connected_dial(l);

	if (!own || own->connected || !d)
		return own && own->connected ? own : d;
	own->from_port = d->from_port;
	own->swapped = own->from_port == 0;
	d->from_port = from_port;
	return d;
}

static void on_accept(struct watch *w, uint32_t events)
{
	struct listener *l =
		(struct listener *)(void *)((char *)w - offsetof(struct listener, watch));

	(void)events;
	while (l->watch.fd >= 0) {
		struct sockaddr_storage peer = {0};
		int fd = relay_accept(l->relay, &l->watch, &peer);
		struct dial *d;
		struct accepted *a;

		if (fd == -EINTR || fd == -ECONNABORTED)
			continue;
		if (fd < 0)
			return;
		router_deafen(fd, false); /* the listener's filter may be its own */
		d = dial_for(l, port_of(&peer));
		if (d) {
			join(d, fd); /* the listener may be gone after it */
			continue;
		}
		a = xcalloc(1, sizeof(*a));
		a->fd = fd;
		a->from_port = port_of(&peer);
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

static bool dial_next(struct dial *d, int code);

/* The agent's first packet is not seen. */
static bool is_blind(const struct dial *d)
{
	return d->relay->packets[!net_addr_is_v4(&d->note.at)].fd < 0;
}

/* The host's answer meets the agent's first packet: either may come first. */
static void settle(struct dial *d)
{
	struct syn *s = syn_of(d);
	int64_t now = d->relay->now;

	if (s && d->connected && (!s->again_us || now - s->again_us >= AGAIN_US)) {
		s->again_us = now;
		(void)packets_again(d->relay, &s->packet);
	}
	if (d->failed && (is_blind(d) || (s && packets_refuse(d->relay, &s->packet, -d->failed)))) {
		tell_closed(d);
		dial_free(d);
	}
}

static void host_is_there(struct dial *d)
{
	struct listener *l;
	int r = need_listener(d, false);

	if (r < 0) {
		if (!d->told)
			tell(d, r);
		dial_free(d);
		return;
	}
	d->connected = true;
	relay_rewatch(d->relay, &d->host, 0);
	l = d->listener;
	set_hearing(l);
	if (!d->told)
		tell(d, 0);
	d->told = true;
	if (l->accepted) {
		struct accepted *a = l->accepted;
		int inner = a->fd;

		(void)dial_for(l, a->from_port);
		LL_DELETE(l->accepted, a);
		free(a);
		join(d, inner);
		return;
	}
	settle(d);
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
	if (!code)
		host_is_there(d);
	else if (dial_next(d, -code)) /* the agent need not wait for it */
		relay_wake_at(d->relay, d->relay->now);
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

/* Dials the next address after one that failed; the first one with code 0. Returns false where no
 * address is left; then the dial is gone, or waits to say so. */
static bool dial_next(struct dial *d, int code)
{
	bool first = code == 0;

	for (;;) {
		if (!first && ++d->turn >= d->note.n) {
			d->turn = d->note.n - 1u;
			relay_close(d->relay, &d->host);
			d->failed = code;
			if (d->told) {
				settle(d);
				return false;
			}
			tell(d, code);
			dial_free(d);
			return false;
		}
		first = false;
		relay_close(d->relay, &d->host);
		code = connect_host(d);
		if (code == 0)
			return true;
	}
}

static void give_up(struct dial *d)
{
	if (d->told) /* nobody has come */
		tell_closed(d);
	dial_free(d);
}

static struct dial *by_id(const struct relay *r, uint64_t id)
{
	struct dial *d;

	DL_FOREACH (r->dials, d)
		if (d->id == id)
			return d;
	return NULL;
}

void dial_cancel(struct relay *r, uint64_t id)
{
	struct dial *d = by_id(r, id);

	if (d)
		give_up(d);
}

void dial_begun(struct relay *r, const struct net_note *note)
{
	struct dial *d = by_id(r, note->id), *other;

	if (!d || !d->listener)
		return;
	other = dial_from(d->listener, note->from_port);
	if (other && other != d) {
		/* The port was another's: that caller has given up, or came by chance. */
		other->from_port = 0;
		if (!other->swapped)
			give_up(other);
	}
	d->from_port = note->from_port;
	relay_wake_at(r, r->now + GONE_US);
	settle(d);
}

static struct dial *swapped_dial(const struct listener *l)
{
	struct dial *d;

	DL_FOREACH (l->relay->dials, d)
		if (d->listener == l && d->swapped && !d->from_port)
			return d;
	return NULL;
}

void dial_packet(struct relay *r, const struct packet *p)
{
	struct listener *l = find_listener(r, &p->to, p->to_port);
	struct dial *d = l ? dial_from(l, p->from_port) : NULL;

	if (!l)
		return;
	if (p->flags & PACKET_TCP_RST) { /* to the listener: the caller has no such socket */
		if (d && d->connected && !d->swapped)
			give_up(d);
		return;
	}
	keep_syn(l, p);
	if (!d) {
		d = swapped_dial(l);
		if (d)
			d->from_port = p->from_port;
	}
	if (d)
		settle(d);
}

/* The kernel sends the next SYN after as long as it has tried, and a second at first. */
static int64_t gone_at(const struct dial *d)
{
	const struct syn *s = syn_of(d);

	if (s)
		return 2 * s->last - s->first + GONE_US;
	return d->told && !d->note.code && !is_blind(d) ? d->told_us + CALL_US : INT64_MAX;
}

static bool is_answered(const struct dial *d)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	return getsockopt(d->host.fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       info.tcpi_state != TCP_SYN_SENT;
}

static void tick_one(struct dial *d)
{
	struct relay *r = d->relay;
	int64_t grace = is_blind(d) ? GRACE_US : 0;
	int code;

	if (r->now >= MIN(d->since + ACCEPT_US, gone_at(d))) {
		if (!d->told)
			tell(d, -ETIMEDOUT);
		give_up(d);
		return;
	}
	if (!d->told && !d->note.code && r->now >= d->since + grace) {
		code = need_listener(d, true);
		tell(d, code);
		d->told = true;
		if (code < 0) {
			dial_free(d);
			return;
		}
	}
	relay_wake_at(r, d->told || d->note.code ? MIN(d->since + ACCEPT_US, gone_at(d))
						 : d->since + grace);
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
	if (!dial_next(d, 0))
		return;
	if (is_answered(d)) /* a near one answers in connect() */
		on_host(&d->host, 0);
	else
		tick_one(d);
}

void dial_tick(struct relay *r)
{
	struct dial *d = r->dials, *next;

	for (; d; d = next) {
		next = d->next;
		tick_one(d);
	}
}
