/* dial - a granted connection until both of its ends are connected: the host's and the agent's. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "backends/linux/net/dial_listener.h"
#include "backends/linux/net/tls.h"
#include "core/net/upstream.h"

/* The agent must not hang in connect() if its socket does not block, and must not be connected
 * before the host's end is. So a host that does not answer at once gets a listener that is deaf: it
 * drops the agent's first packet (SYN), and the connection is in progress as it would be natively,
 * with its own timeouts. A packet socket sees that packet, and the relay keeps it. When the host
 * answers, the listener is made to hear, and the packet is sent once more; if the host refuses, an
 * ICMP error about the packet says why. Without packet sockets the kernel's next SYN (after 1, 3,
 * 7... seconds) takes the place of the kept packet, and finds the listener or none.
 *
 * The keeper reports the agent's port of a connection that has begun (NET_BEGUN). The port ties the
 * packet to the dial. A caller that gives up sends no more packets, or answers the listener with a
 * reset: then the host's end is closed too, and never given to the next caller.
 *
 * The first packet of a guest is held until it is known whether the host answers.
 *
 * All dials to an address and port share a listener, which hears while one of them is connected. If
 * the packet of another dial comes first, the two swap their callers: both lead to the same
 * host. */
#define GRACE_US  50000	    /* for the host's answer, without packet sockets */
#define ACCEPT_US 130000000 /* longer than the kernel sends SYNs: no caller comes later */
#define GONE_US	  3000000   /* a SYN that is so late was given up by its sender */
#define CALL_US	  20000000  /* from NET_DIALLED to the first packet */
#define AGAIN_US  500000    /* an earlier SYN is our repetition, not the kernel's next one */

struct dial {
	struct grave grave;
	struct watch host;
	struct dial *prev, *next;
	struct relay *relay;
	struct listener *listener; /* NULL: not yet made */
	uint64_t id;
	struct net_note note;
	const struct upstream *via; /* NULL: a direct connection */
	struct net_target target;   /* */
	bool asked;		    /* connected, and waits for the proxy's answer */
	size_t turn;		    /* index of the address */
	int64_t since, told_us;
	uint16_t from_port; /* the agent's; 0: unknown */
	int failed;	    /* negative errno: the host refused, and the agent must be told */
	bool connected, told;
	bool swapped; /* another dial of unknown port left its caller to this one */
};

static size_t addrs(const struct dial *d)
{
	return d->via ? d->via->n : d->note.n;
}

static const struct net_addr *dialled_addr(const struct dial *d)
{
	return d->via ? &d->via->addr[MIN(d->turn, (size_t)UPSTREAM_ADDRS - 1)]
		      : &d->note.addr[d->turn];
}

/* Reports a failure of the upstream proxy in words: the agent only gets a number. */
static void say_failed(const struct dial *d, int code)
{
	AUTO_BUF struct buf words = BUF_INIT;
	struct net_note note = {.what = NET_SAID};

	upstream_words(d->via, &d->target, code, &words);
	snprintf(note.name, sizeof(note.name), "%s", words.data);
	relay_tell(d->relay, &note);
}

static void tell(struct dial *d, int code)
{
	struct net_note note = {.what = NET_DIALLED,
				.code = code,
				.id = d->id,
				.n = 1,
				.type = code == 0 && !d->connected};

	note.addr[0] = *dialled_addr(d);
	relay_tell(d->relay, &note);
	d->told_us = d->relay->now;
	relay_wake_at(d->relay, d->told_us + CALL_US);
}

static void tell_closed(const struct dial *d)
{
	relay_tell(d->relay, &(struct net_note){.what = NET_CLOSED, .id = d->id});
}

/* ---- listeners ------------------------------------------------------------------------------- */

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

/* Makes the listener hear while the host's end of one of its dials waits. */
static void set_hearing(struct listener *l)
{
	listener_set_deaf(l, connected_dial(l) == NULL);
}

/* Returns the first packet of the dial's caller, or NULL. A packet from before the dial is
 * another's; it is still listed if its connection was accepted before the packet was seen. */
static struct syn *syn_of(const struct dial *d)
{
	struct syn *s = d->listener ? listener_syn(d->listener, d->from_port) : NULL;

	return s && (d->note.code || s->last >= d->since) ? s : NULL;
}

/* keep: keeps the listener, because this host is used often. Never at a loopback address, where it
 * would keep the agent's own programs from listening. */
static void leave_listener(struct dial *d, bool keep)
{
	struct listener *l = d->listener;

	d->listener = NULL;
	if (!l)
		return;
	listener_drop_syn(l, d->from_port);
	if (l->users > 1)
		set_hearing(l);
	listener_leave(l, keep && net_addr_class(&l->at) != NET_LOOPBACK);
}

static void dial_free(struct dial *d)
{
	leave_listener(d, false);
	relay_close(d->relay, &d->host);
	DL_DELETE(d->relay->dials, d);
	relay_bury(d->relay, &d->grave);
}

/* Joins the two ends. */
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
	pair_begin(r, d->id, inner, outer, named_new(r, &d->note));
	leave_listener(d, true);
	dial_free(d);
}

/* Returns the dial whose host's end a caller at this port gets; NULL: none is connected yet. */
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

static void on_caller(struct listener *l, int fd, uint16_t from_port)
{
	struct dial *d = dial_for(l, from_port);

	if (d)
		join(d, fd);
	else
		listener_hold(l, fd, from_port);
}

/* Makes sure that the dial has a listener. deaf: the initial state of a new one. */
static int need_listener(struct dial *d, bool deaf)
{
	if (d->listener)
		return 0;
	return listener_use(&d->listener, d->relay, &d->note.at, d->note.port, deaf, on_caller);
}

/* ---- the host's end -------------------------------------------------------------------------- */

static bool dial_next(struct dial *d, int code);

/* Returns whether the agent's first packet cannot be seen. */
static bool is_blind(const struct dial *d)
{
	return d->relay->packets[!net_addr_is_v4(&d->note.at)].fd < 0;
}

/* Acts when the host's answer or the agent's first packet comes: either may be first. */
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
	int r = need_listener(d, false), inner;
	uint16_t from_port;

	if (r < 0) {
		if (!d->told)
			tell(d, r);
		dial_free(d);
		return;
	}
	d->connected = true;
	relay_rewatch(d->relay, &d->host, 0);
	set_hearing(d->listener);
	if (!d->told)
		tell(d, 0);
	d->told = true;
	inner = listener_take_held(d->listener, &from_port);
	if (inner >= 0) {
		(void)dial_for(d->listener, from_port);
		join(d, inner);
		return;
	}
	settle(d);
}

/* Returns 1 if the host is connected, 0 until the proxy has answered, or a negative errno. */
static int through_upstream(struct dial *d)
{
	int r;

	if (!d->asked) {
		r = dial_ask_upstream(d->host.fd, d->via, &d->target);
		d->asked = r == 0;
		relay_rewatch(d->relay, &d->host, EPOLLIN | EPOLLET);
		return r;
	}
	r = dial_hear_upstream(d->host.fd);
	if (r == 0 || r == 1)
		return r;
	d->turn = addrs(d); /* the proxy would say the same of another address */
	say_failed(d, r);
	return upstream_code(r);
}

static void on_host(struct watch *w, uint32_t events)
{
	struct dial *d = (struct dial *)(void *)((char *)w - offsetof(struct dial, host));
	socklen_t len = sizeof(int);
	int code = 0;

	(void)events;
	if (d->connected) { /* the host hung up before the agent came, which the agent will see */
		relay_rewatch(d->relay, w, EPOLLET);
		return;
	}
	if (getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0)
		code = errno;
	code = -code;
	if (!code)
		code = d->via ? through_upstream(d) : 1;
	if (code > 0)
		host_is_there(d);
	else if (code < 0 && dial_next(d, code)) /* the agent need not wait */
		relay_wake_at(d->relay, d->relay->now);
}

static int connect_host(struct dial *d)
{
	const struct net_addr *to = dialled_addr(d);
	struct sockaddr_storage sa;
	socklen_t len = net_addr_to_sock(to, d->via ? d->via->port : d->note.port, &sa);
	int on = 1, idle = 60;

	d->host.fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	if (d->host.fd < 0)
		return -errno;
	/* The agent's own settings affect only its end. */
	setsockopt(d->host.fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(d->host.fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(d->host.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(d->host.fd, (struct sockaddr *)&sa, len) < 0 && errno != EINPROGRESS)
		return -errno;
	return relay_watch(d->relay, &d->host, EPOLLOUT);
}

/* Dials the next address after one that failed; the first one with code 0. Returns false if no
 * address is left: then the dial is freed, or waits to report it. */
static bool dial_next(struct dial *d, int code)
{
	bool first = code == 0;

	for (;;) {
		if (!first && ++d->turn >= addrs(d)) {
			if (d->via && d->turn == addrs(d))
				say_failed(d, code);
			d->turn = addrs(d) - 1;
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
		first = d->asked = false;
		relay_close(d->relay, &d->host);
		code = connect_host(d);
		if (code == 0)
			return true;
	}
}

static void give_up(struct dial *d)
{
	if (d->told) /* the agent has not come */
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
		/* The dial with this port had another caller, which has given up or came by
		 * chance. */
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
	struct listener *l = listener_find(r, &p->to, p->to_port);
	struct dial *d = l ? dial_from(l, p->from_port) : NULL;

	if (!l)
		return;
	if (p->flags & PACKET_TCP_RST) { /* to the listener: the caller's socket is closed */
		if (d && d->connected && !d->swapped)
			give_up(d);
		return;
	}
	listener_keep_syn(l, p);
	if (!d) {
		d = swapped_dial(l);
		if (d)
			d->from_port = p->from_port;
	}
	if (d)
		settle(d);
}

/* Returns when the caller has given up. The kernel doubles the time between SYNs, from one
 * second. */
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

/* Uses the proxy if the keeper sent no addresses: then the proxy looks the host up. */
static void find_upstream(struct dial *d)
{
	const char *name = d->note.name;

	d->target.port = d->note.port;
	if (d->note.n == 0 && net_host_parse(&d->target.host, name, strlen(name), NULL))
		d->via = upstream_for(&d->target);
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
	find_upstream(d);
	if (addrs(d) == 0) { /* the start has warned of a proxy that cannot be looked up */
		tell(d, -EHOSTUNREACH);
		dial_free(d);
		return;
	}
	if (!dial_next(d, 0))
		return;
	if (!d->via && is_answered(d)) /* a near proxy answers during connect() */
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
