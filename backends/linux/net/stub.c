/* stub - the resolver inside, at 127.0.0.53 and 127.0.0.1: asks the keeper, then nameservers. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "backends/linux/net/relay_priv.h"

/*
 * No query leaves the machine for a name that no rule allows: the keeper decides on each. The query
 * that leaves is built anew (dns_query_again()), so that nameservers get no bytes of the agent's
 * except an allowed name. Types that are not in a list are answered here, as empty. localhost and
 * names below it are this sandbox (RFC 6761) and are never sent.
 */
#define ASKED_MAX   1024
#define CLIENTS_MAX 128	     /* TCP */
#define FORGET_US   15000000 /* no client waits longer for the keeper */
#define QUERY_MAX   4096     /* bytes: a question, EDNS, a cookie */

static const char why_refused[] = "cordon: no rule allows this host";

struct client { /* TCP; one query at a time */
	struct grave grave;
	struct watch watch;
	struct relay *relay;
	uint8_t in[2 + QUERY_MAX];
	size_t len;
	bool serving;
	struct asked *asked;
};

struct asked {
	struct grave grave;
	struct asked *prev, *next;
	struct relay *relay;
	uint64_t id, query; /* of resolve_begin(); query 0: the keeper is asked */
	struct client *client;
	int64_t since;
	int sock; /* UDP, if client is NULL */
	struct sockaddr_in from;
	struct dns_question q;
	uint8_t own[DNS_UDP_MIN]; /* the query to the nameservers */
	size_t own_len;
	uint8_t msg[]; /* the agent's message up to q.end, for the answer */
};

static void client_serve(struct client *c);

static void client_free(struct client *c)
{
	if (c->asked)
		c->asked->client = NULL;
	c->relay->n_clients--;
	relay_close(c->relay, &c->watch);
	relay_bury(c->relay, &c->grave);
}

static void asked_free(struct asked *a)
{
	DL_DELETE(a->relay->asked, a);
	a->relay->n_asked--;
	relay_bury(a->relay, &a->grave);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Sends an answer. If the client does not read its answers, closes the connection. */
static void answer_client(struct client *c, const uint8_t *msg, size_t len)
{
	uint8_t head[2] = {(uint8_t)(len >> 8), (uint8_t)len};
	struct iovec parts[2] = {{head, 2}, {(void *)(uintptr_t)msg, len}};
	struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2};

	c->asked = NULL;
	if (sendmsg(c->watch.fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len + 2)
		client_free(c);
	else
		client_serve(c);
}

/* Answers, which frees a. msg may be changed. */
static void answer(struct asked *a, uint8_t *msg, size_t len)
{
	struct client *c = a->client;

	if (a->sock >= 0) {
		len = dns_cut(msg, len, a->q.room);
		sendto(a->sock, msg, len, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&a->from,
		       sizeof(a->from));
	}
	asked_free(a);
	if (c)
		answer_client(c, msg, len);
}

static void answer_code(struct asked *a, enum dns_rcode code, const struct net_addr *addr,
			const char *why)
{
	uint8_t out[DNS_UDP_MIN];

	answer(a, out, dns_answer(out, a->msg, &a->q, code, addr, why));
}

static void pass_on(struct asked *a, uint8_t *msg, size_t len)
{
	/* First, because the agent may connect as soon as it has the answer. */
	resolve_book(a->relay, msg, len, &a->q);
	dns_hide_ech(msg, len); /* named.c reads the name */
	answer(a, msg, dns_answer_again(msg, len, a->msg, &a->q));
}

static void on_answer(void *data, uint8_t *msg, size_t len)
{
	struct asked *a = data;

	a->query = 0;
	if (!msg) {
		answer_code(a, DNS_FAILED, NULL, NULL);
		return;
	}
	cache_add(a->relay, a->own, a->own_len, msg, len);
	pass_on(a, msg, len);
}

/* Answers from the cache, or asks the nameservers. */
static void forward(struct asked *a)
{
	uint8_t kept[CACHE_BYTES];
	struct dns_question own;
	size_t len;

	if (!dns_is_asked(a->q.type)) {
		answer_code(a, DNS_OK, NULL, NULL);
		return;
	}
	a->own_len = dns_query_again(a->own, &a->q);
	len = cache_find(a->relay, a->own, a->own_len, kept);
	if (len) {
		pass_on(a, kept, len);
		return;
	}
	if (dns_read_question(&own, a->own, a->own_len) == 0)
		a->query = resolve_begin(a->relay, a->own, a->own_len, &own, on_answer, a);
	if (!a->query)
		answer_code(a, DNS_FAILED, NULL, NULL);
}

static bool is_localhost(const char *name)
{
	const char *dot = strrchr(name, '.');

	return str_eq(dot ? dot + 1 : name, "localhost");
}

static void answer_localhost(struct asked *a)
{
	const struct net_addr v4 = net_addr_v4(INADDR_LOOPBACK), v6 = {{[15] = 1}};

	answer_code(a, DNS_OK, a->q.type == DNS_A ? &v4 : a->q.type == DNS_AAAA ? &v6 : NULL, NULL);
}

void stub_answer(struct relay *r, const struct net_note *note)
{
	struct asked *a = r->asked;

	while (a && a->id != note->id)
		a = a->next;
	if (!a || a->query)
		return;
	switch ((enum net_verdict)note->verdict) {
	case NAME_FORWARD:
		forward(a);
		return;
	case NAME_STAND_IN:
		answer_code(a, DNS_OK, &note->addr[0], NULL);
		return;
	case NAME_EMPTY:
		answer_code(a, DNS_OK, NULL, NULL);
		return;
	case NAME_REFUSED:
		answer_code(a, DNS_NO_NAME, NULL, why_refused);
		return;
	}
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Returns NULL if the query was answered or dropped. */
static struct asked *ask(struct relay *r, const uint8_t *msg, size_t len, const struct asked *from)
{
	struct dns_question q;
	struct net_note note = {.what = NET_LOOKUP};
	struct asked *a;
	int bad = dns_read_question(&q, msg, len);

	if (bad == -EBADMSG || r->n_asked >= ASKED_MAX)
		return NULL;
	a = xcalloc(1, sizeof(*a) + q.end);
	*a = *from;
	memcpy(a->msg, msg, q.end);
	a->relay = r;
	a->q = q;
	a->id = ++r->last_asked;
	a->since = r->now;
	DL_APPEND(r->asked, a);
	r->n_asked++;
	if (a->client)
		a->client->asked = a;
	if (bad < 0) {
		answer_code(a, DNS_FORMAT, NULL, NULL);
		return NULL;
	}
	if (is_localhost(q.name)) {
		answer_localhost(a);
		return NULL;
	}
	relay_wake_at(r, a->since + FORGET_US);
	note.id = a->id;
	note.type = q.type;
	snprintf(note.name, sizeof(note.name), "%s", q.name);
	relay_tell(r, &note);
	return a;
}

static void on_datagram(struct watch *w, uint32_t events)
{
	struct asked from = {.sock = w->fd};
	struct relay *r = relay_self();

	(void)events;
	for (int i = 0; i < 64; i++) { /* limited, so that a flood leaves others their turn */
		socklen_t size = sizeof(from.from);
		uint8_t msg[QUERY_MAX];
		ssize_t n = recvfrom(w->fd, msg, sizeof(msg), MSG_DONTWAIT,
				     (struct sockaddr *)&from.from, &size);

		if (n < 0)
			return;
		(void)ask(r, msg, (size_t)n, &from);
	}
}

/* Takes the next whole query of the client's buffer. Returns false if there is none, or the client
 * is gone. */
static bool next_query(struct client *c)
{
	const struct asked from = {.client = c, .sock = -1};
	uint8_t msg[QUERY_MAX];
	size_t want;

	if (c->asked || c->watch.fd < 0 || c->len < 2)
		return false;
	want = (size_t)(c->in[0] << 8 | c->in[1]);
	if (want > QUERY_MAX || (want < DNS_HEADER && c->len >= want + 2)) {
		client_free(c);
		return false;
	}
	if (c->len < want + 2)
		return false;
	memcpy(msg, c->in + 2, want);
	c->len -= want + 2;
	memmove(c->in, c->in + 2 + want, c->len);
	(void)ask(c->relay, msg, want, &from);
	return true;
}

/* Serves the client's queries. An answer that comes at once calls this function again; the loop
 * then continues instead. */
static void client_serve(struct client *c)
{
	if (c->serving)
		return;
	c->serving = true;
	while (next_query(c))
		continue;
	c->serving = false;
}

static void on_client(struct watch *w, uint32_t events)
{
	struct client *c = (struct client *)(void *)((char *)w - offsetof(struct client, watch));
	ssize_t n;

	(void)events;
	if (c->len == sizeof(c->in)) { /* it sends without waiting for answers */
		client_free(c);
		return;
	}
	n = recv(w->fd, c->in + c->len, sizeof(c->in) - c->len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_free(c);
		return;
	}
	c->len += (size_t)n;
	client_serve(c);
}

static void on_connection(struct watch *w, uint32_t events)
{
	struct relay *r = relay_self();
	struct sockaddr_storage peer;
	int fd;

	(void)events;
	while ((fd = relay_accept(r, w, &peer)) >= 0) {
		struct client *c;

		if (r->n_clients >= CLIENTS_MAX) {
			close(fd);
			continue;
		}
		c = xcalloc(1, sizeof(*c));
		c->relay = r;
		c->watch = (struct watch){.fd = fd, .fn = on_client};
		r->n_clients++;
		if (relay_watch(r, &c->watch, EPOLLIN) < 0)
			client_free(c);
	}
}

void stub_tick(struct relay *r)
{
	struct asked *a = r->asked, *next;

	for (; a; a = next) {
		next = a->next;
		if (a->query)
			continue;
		if (r->now >= a->since + FORGET_US)
			answer_code(a, DNS_FAILED, NULL, NULL);
		else
			relay_wake_at(r, a->since + FORGET_US);
	}
}

void stub_begin(struct relay *r)
{
	for (size_t i = 0; i < DNS_SOCKETS; i++) {
		r->stub[i] = (struct watch){.fd = r->spec.inside[i],
					    .fn = i % 2 ? on_connection : on_datagram};
		if (r->stub[i].fd >= 0 && relay_watch(r, &r->stub[i], EPOLLIN) < 0)
			util_close_fd(&r->stub[i].fd);
	}
}
