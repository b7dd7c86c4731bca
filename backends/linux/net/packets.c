/* packets - UDP and echo requests of the agent: each flow is asked about, then has a socket
 * outside. The first packets of connections pass through here to dial.c.
 */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/ip_icmp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "backends/linux/net/relay_priv.h"
#include "core/base/hash.h"

/* Packets other than TCP reach the router's namespace and end there: its routes drop them. Two
 * packet sockets show them to the relay first. The first packets of a flow wait until the keeper
 * has decided on the destination; then the flow gets a connected socket of its own in the host's
 * network. Data and errors from that socket go back as packets from the address that the agent
 * wrote to. So no packet of the agent ever leaves: only its payload does. */
#define FLOWS_MAX     1024
#define ASKED_MAX     128 /* flows that wait for the keeper; more are dropped, and sent again */
#define WAITING_MAX   64  /* packets of such a flow */
#define WAITING_BYTES (16u << 20) /* of all such flows together */
#define AT_ONCE	      64	  /* packets in one turn */
#define IDLE_US	      120000000
#define IDLE_ECHO_US  30000000
#define ONE_WAY_US    60000000 /* lifetime of a flow without an answer */
#define REFUSED_US    2000000  /* after this a refused flow is asked about again */
#define CROWDED_US    1000000  /* a flow used more recently than this is not closed for a new one */
#define TELL_US	      1000000
#define ICMP_HEAD     8

struct key {
	struct net_addr from, to;
	uint16_t from_port, to_port;
	uint8_t protocol, zero[3];
};

enum state {
	FLOW_ASKED,
	FLOW_GRANTED,
	FLOW_REFUSED,
};

struct waiting {
	struct waiting *next;
	uint16_t seq;
	size_t len;
	uint8_t data[];
};

struct flow {
	struct grave grave;
	struct watch host;
	struct flow *prev, *next; /* least recently used first */
	UT_hash_handle hh;
	struct relay *relay;
	struct key key;
	uint64_t id;
	enum state state;
	struct waiting *waiting;
	size_t n_waiting;
	uint16_t seq; /* of the last echo request */
	struct net_addr dialled;
	enum packet_why why; /* for FLOW_REFUSED */
	int64_t used, told_at;
	uint64_t sent, received, told;
};

static uint8_t in[PACKET_MAX], out[PACKET_MAX];

/* ---- to the agent ---------------------------------------------------------------------------- */

/* Sends a packet. One that cannot be sent is lost, as on any network. */
static void put(int fd, const struct router_end *end, bool v4, size_t len)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(v4 ? ETHERTYPE_IP : ETHERTYPE_IPV6),
				 .sll_ifindex = end->index,
				 .sll_halen = sizeof(end->mac)};

	memcpy(to.sll_addr, end->mac, sizeof(end->mac));
	if (len)
		(void)sendto(fd, out, len, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&to,
			     sizeof(to));
}

static void put_inside(const struct relay *r, bool v4, size_t len)
{
	put(r->packets[!v4].fd, &r->inside, v4, len);
}

static struct packet as_sent(const struct flow *f, size_t len)
{
	return (struct packet){.protocol = f->key.protocol,
			       .from = f->key.from,
			       .to = f->key.to,
			       .from_port = f->key.from_port,
			       .to_port = f->key.to_port,
			       .seq = f->seq,
			       .len = len};
}

static enum packet_why why_of(int code)
{
	return code == ECONNREFUSED			 ? PACKET_NO_PORT
	       : code == EMSGSIZE			 ? PACKET_TOO_LONG
	       : code == ENETUNREACH || code == ENETDOWN ? PACKET_NO_NET
	       : code == EACCES || code == EPERM	 ? PACKET_FORBIDDEN
							 : PACKET_NO_HOST;
}

static void refuse(const struct flow *f, enum packet_why why, unsigned mtu, size_t len)
{
	const struct packet p = as_sent(f, len);

	put_inside(f->relay, net_addr_is_v4(&p.from), packet_refuse(out, &p, why, mtu));
}

static void deliver(struct flow *f, const uint8_t *data, size_t len, uint16_t seq)
{
	struct packet p = as_sent(f, len);

	p.from = f->key.to;
	p.to = f->key.from;
	if (p.protocol == IPPROTO_UDP) {
		p.from_port = f->key.to_port;
		p.to_port = f->key.from_port;
	}
	p.seq = seq;
	p.data = data;
	f->received += len;
	f->used = f->relay->now;
	put_inside(f->relay, net_addr_is_v4(&p.from), packet_write(out, &p));
}

bool packets_again(const struct relay *r, const struct packet *p)
{
	size_t len = r->again < 0 ? 0 : packet_write(out, p);

	put(r->again, &r->outside, net_addr_is_v4(&p->from), len);
	return len > 0;
}

bool packets_refuse(const struct relay *r, const struct packet *p, int code)
{
	bool v4 = net_addr_is_v4(&p->from);

	if (code == ETIMEDOUT || r->packets[!v4].fd < 0)
		return false;
	put_inside(r, v4, packet_refuse(out, p, why_of(code), 0));
	return true;
}

/* ---- one flow -------------------------------------------------------------------------------- */

static void drop_waiting(struct flow *f)
{
	while (f->waiting) {
		struct waiting *w = f->waiting;

		LL_DELETE(f->waiting, w);
		f->relay->waiting_bytes -= w->len;
		free(w);
	}
	f->n_waiting = 0;
}

static void tell(struct flow *f, enum net_what what)
{
	const struct net_note note = {
		.what = what, .id = f->id, .sent = f->sent, .received = f->received};

	f->told = f->sent + f->received;
	relay_tell(f->relay, &note);
}

static void flow_free(struct flow *f)
{
	struct relay *r = f->relay;

	if (f->state == FLOW_ASKED)
		r->n_asked_flows--;
	if (f->state != FLOW_REFUSED)
		tell(f, NET_CLOSED);
	drop_waiting(f);
	relay_close(r, &f->host);
	HASH_DEL(r->flows, f);
	DL_DELETE(r->flow_list, f);
	relay_bury(r, &f->grave);
}

static unsigned mtu_of(const struct flow *f)
{
	bool v4 = net_addr_is_v4(&f->dialled);
	socklen_t len = sizeof(int);
	int mtu = 0;

	if (getsockopt(f->host.fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU : IPV6_MTU, &mtu,
		       &len) < 0 ||
	    mtu < 68)
		return 1280;
	return (unsigned)MIN(mtu, 65535);
}

static ssize_t send_once(const struct flow *f, const uint8_t *data, size_t len)
{
	struct icmphdr head = {.type = net_addr_is_v4(&f->dialled) ? ICMP_ECHO : 128};
	bool echo = f->key.protocol == IPPROTO_ICMP;
	struct iovec parts[2] = {{&head, sizeof(head)}, {(void *)(uintptr_t)data, len}};
	struct msghdr m = {.msg_iov = echo ? parts : parts + 1, .msg_iovlen = echo ? 2 : 1};

	head.un.echo.sequence = htons(f->seq);
	return sendmsg(f->host.fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Sends once more after an error, which may be about an earlier packet. That error is passed on. */
static void send_out(struct flow *f, const uint8_t *data, size_t len, uint16_t seq)
{
	int code;

	for (int i = 0; i < 2; i++) {
		f->seq = seq;
		if (send_once(f, data, len) >= 0) {
			f->sent += len;
			return;
		}
		code = errno;
		if (code == EAGAIN || code == ENOBUFS)
			return;
		refuse(f, why_of(code), code == EMSGSIZE ? mtu_of(f) : 0, len);
		if (code == EMSGSIZE)
			return;
	}
}

static void on_host(struct watch *w, uint32_t events)
{
	struct flow *f = (struct flow *)(void *)((char *)w - offsetof(struct flow, host));
	bool echo = f->key.protocol == IPPROTO_ICMP;

	(void)events;
	for (int i = 0; i < AT_ONCE && f->host.fd >= 0; i++) {
		ssize_t n = recv(f->host.fd, in, sizeof(in), MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			refuse(f, why_of(errno), 0, 0);
		else if (!echo)
			deliver(f, in, (size_t)n, 0);
		else if (n >= ICMP_HEAD && (in[0] == ICMP_ECHOREPLY || in[0] == 129))
			deliver(f, in + ICMP_HEAD, (size_t)n - ICMP_HEAD,
				(uint16_t)(in[6] << 8 | in[7]));
	}
}

/* ---- the keeper's answers -------------------------------------------------------------------- */

static struct flow *by_id(struct relay *r, uint64_t id)
{
	struct flow *f;

	DL_FOREACH (r->flow_list, f)
		if (f->id == id)
			return f;
	return NULL;
}

static int open_host(struct flow *f, uint16_t port)
{
	bool v4 = net_addr_is_v4(&f->dialled), echo = f->key.protocol == IPPROTO_ICMP;
	struct sockaddr_storage sa;
	socklen_t len = net_addr_to_sock(&f->dialled, port, &sa);

	f->host.fd = socket(sa.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			    !echo ? IPPROTO_UDP
			    : v4  ? IPPROTO_ICMP
				  : IPPROTO_ICMPV6);
	if (f->host.fd < 0 || connect(f->host.fd, (struct sockaddr *)&sa, len) < 0)
		return -errno;
	return relay_watch(f->relay, &f->host, EPOLLIN);
}

static void set_refused(struct flow *f, int code)
{
	relay_close(f->relay, &f->host);
	if (f->state == FLOW_ASKED)
		f->relay->n_asked_flows--;
	f->state = FLOW_REFUSED;
	f->used = f->relay->now;
	f->why = why_of(-code);
	for (const struct waiting *w = f->waiting; w; w = w->next) {
		f->seq = w->seq;
		refuse(f, f->why, 0, w->len);
	}
	drop_waiting(f);
	relay_wake_at(f->relay, f->used + REFUSED_US);
}

void packets_refused(struct relay *r, const struct net_note *note)
{
	struct flow *f = by_id(r, note->id);

	if (f && f->state == FLOW_ASKED)
		set_refused(f, note->code);
}

void packets_granted(struct relay *r, const struct net_note *note)
{
	struct flow *f = by_id(r, note->id);
	int code;

	if (!f || f->state != FLOW_ASKED || note->n == 0)
		return;
	f->dialled = note->addr[0];
	code = open_host(f, note->port);
	if (code < 0) { /* EACCES: this user may not send echo requests */
		tell(f, NET_CLOSED);
		set_refused(f, code);
		return;
	}
	r->n_asked_flows--;
	f->state = FLOW_GRANTED;
	f->used = r->now;
	relay_wake_at(r, r->now + TELL_US);
	for (const struct waiting *w = f->waiting; w; w = w->next)
		send_out(f, w->data, w->len, w->seq);
	drop_waiting(f);
}

void packets_close(struct relay *r, uint64_t id)
{
	struct flow *f = by_id(r, id);

	if (f && f->state == FLOW_GRANTED)
		flow_free(f);
}

/* ---- from the agent -------------------------------------------------------------------------- */

/* Returns whether the packet is for one host, outside this machine. */
static bool leads_out(const struct packet *p)
{
	static const uint8_t none[16] = {0};
	uint32_t v4 = net_addr_is_v4(&p->to) ? net_addr_as_v4(&p->to) : 0;

	if (net_addr_class(&p->to) == NET_LOOPBACK || net_addr_eq(&p->to, &p->from))
		return false;
	if (net_addr_is_v4(&p->to)) /* 0/8; multicast, reserved, broadcast; cordon's own */
		return v4 >> 24 != 0 && v4 < 0xe0000000u && v4 != NET_ROUTER && v4 != NET_INSIDE;
	return p->to.b[0] != 0xff && memcmp(p->to.b, none, sizeof(none)) != 0 &&
	       net_addr_class(&p->to) != NET_LINK_LOCAL;
}

static bool make_room(struct relay *r)
{
	if (HASH_COUNT(r->flows) < FLOWS_MAX)
		return true;
	if (r->now - r->flow_list->used < CROWDED_US)
		return false;
	flow_free(r->flow_list);
	return true;
}

static struct flow *flow_new(struct relay *r, const struct key *key)
{
	struct net_note note = {.what = NET_FLOW,
				.type = key->protocol,
				.port = key->to_port,
				.from_port = key->from_port,
				.at = key->to,
				.n = 1};
	struct flow *f;

	if (r->n_asked_flows >= ASKED_MAX || !make_room(r))
		return NULL;
	f = xcalloc(1, sizeof(*f));
	f->host = (struct watch){.fd = -1, .fn = on_host};
	f->relay = r;
	f->key = *key;
	f->id = note.id = NET_IS_FLOW | ++r->last_flow;
	f->used = r->now;
	r->n_asked_flows++;
	HASH_ADD(hh, r->flows, key, sizeof(f->key), f);
	DL_APPEND(r->flow_list, f);
	relay_wake_at(r, r->now + ONE_WAY_US);
	note.addr[0] = key->from;
	relay_tell(r, &note);
	return f;
}

static void keep(struct flow *f, const struct packet *p)
{
	struct waiting *w;

	if (f->n_waiting >= WAITING_MAX || f->relay->waiting_bytes + p->len > WAITING_BYTES)
		return;
	w = xcalloc(1, sizeof(*w) + p->len);
	w->len = p->len;
	w->seq = p->seq;
	if (p->len)
		memcpy(w->data, p->data, p->len);
	LL_APPEND(f->waiting, w);
	f->n_waiting++;
	f->relay->waiting_bytes += p->len;
}

static void take(struct relay *r, const struct packet *p)
{
	struct flow *f;
	struct key key = {.from = p->from,
			  .to = p->to,
			  .from_port = p->from_port,
			  .to_port = p->to_port,
			  .protocol = p->protocol};

	if (p->protocol == IPPROTO_TCP) {
		dial_packet(r, p);
		return;
	}
	if (!leads_out(p))
		return;
	HASH_FIND(hh, r->flows, &key, sizeof(key), f);
	if (!f)
		f = flow_new(r, &key);
	if (!f)
		return;
	if (f->next) { /* moves to the end of the list */
		DL_DELETE(r->flow_list, f);
		DL_APPEND(r->flow_list, f);
	}
	f->seq = p->seq;
	if (f->state == FLOW_REFUSED) {
		refuse(f, f->why, 0, p->len);
		return;
	}
	f->used = r->now;
	if (f->state == FLOW_ASKED)
		keep(f, p);
	else
		send_out(f, p->data, p->len, p->seq);
}

/* Returns true if more packets may be queued. */
static bool take_from(struct relay *r, int fd)
{
	struct packet p;

	for (int i = 0; i < AT_ONCE; i++) {
		ssize_t n = recv(fd, in, sizeof(in), MSG_DONTWAIT | MSG_TRUNC);

		if (n < 0)
			return errno == EINTR;
		if ((size_t)n <= sizeof(in) && packet_read(&p, in, (size_t)n) == 0)
			take(r, &p);
	}
	return true;
}

static void on_packets(struct watch *w, uint32_t events)
{
	(void)events;
	(void)take_from(relay_self(), w->fd);
}

/* ---- the whole ------------------------------------------------------------------------------- */

void packets_begin(struct relay *r)
{
	int early = r->spec.inside[EARLY_SOCKET];

	r->last_flow = (uint64_t)r->now; /* larger than the numbers of an earlier relay */
	for (size_t i = 0; i < ARRAY_LEN(r->packets); i++) {
		r->packets[i].fn = on_packets;
		if (r->packets[i].fd >= 0 && relay_watch(r, &r->packets[i], EPOLLIN) < 0)
			relay_close(r, &r->packets[i]);
	}
	if (early >= 0 && r->packets[0].fd >= 0)
		while (take_from(r, early))
			continue;
	util_close_fd(&early);
}

/* Returns the time at which an idle flow ends. */
static int64_t last_until(const struct flow *f)
{
	int64_t idle = f->state == FLOW_REFUSED		 ? REFUSED_US
		       : f->key.protocol == IPPROTO_ICMP ? IDLE_ECHO_US
		       : f->received == 0		 ? ONE_WAY_US
							 : IDLE_US;

	return f->used + idle;
}

void packets_tick(struct relay *r)
{
	struct flow *f = r->flow_list, *next;

	for (; f; f = next) {
		next = f->next;
		if (r->now >= last_until(f)) {
			flow_free(f);
			continue;
		}
		relay_wake_at(r, last_until(f));
		if (f->state != FLOW_GRANTED || f->told == f->sent + f->received)
			continue;
		if (r->now - f->told_at >= TELL_US) {
			f->told_at = r->now;
			tell(f, NET_BYTES);
		}
		relay_wake_at(r, r->now + TELL_US);
	}
}
