/* resolve - looks names up at the host's own nameservers. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "backends/linux/net/relay_priv.h"
#include "core/base/io.h"

/*
 * Each query has a port of its own and a random id, so that an answer can hardly be forged. Each
 * nameserver gets two UDP tries, the second twice as long as the first; a truncated answer is
 * requested again by TCP. The agent's own resolver retries after 5 s.
 */
#define TRY_US	    2000000
#define TRIES	    2
#define QUERIES_MAX 512
#define FILE_MAX    65536

struct dns_query {
	struct grave grave;
	struct watch watch;
	struct dns_query *prev, *next;
	struct relay *relay;
	uint64_t id;
	struct dns_question q;
	uint8_t *msg; /* two bytes for its length, then the message */
	size_t len;   /* of the message */
	size_t turn;
	bool tcp, sent;
	uint8_t *in;
	size_t in_len;
	int64_t give_up;
	resolve_done done;
	void *data;
};

/* ---- the host's nameservers ------------------------------------------------------------------ */

static void read_servers(struct relay *r, const char *text)
{
	r->n_servers = 0;
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		struct net_addr a;
		size_t n;

		if (strncmp(line, "nameserver", 10) != 0 || (line[10] != ' ' && line[10] != '\t'))
			continue;
		line += 10;
		line += strspn(line, " \t");
		n = strcspn(line, " \t\r\n%#;");
		if (r->n_servers < ARRAY_LEN(r->servers) && net_addr_parse(&a, line, n))
			r->servers[r->n_servers++] = a;
	}
}

/* Reads the list again when it has changed: a laptop moves between networks. */
static void find_servers(struct relay *r)
{
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int fd = -1;
	struct stat st;
	size_t len;
	int64_t s;

	if (stat("/etc/resolv.conf", &st) == 0) {
		s = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		if (r->n_servers && s == r->servers_s)
			return;
		r->servers_s = s;
		fd = open("/etc/resolv.conf", O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && io_read_all(fd, FILE_MAX, &text, &len) == 0)
			read_servers(r, text);
	}
	if (r->n_servers == 0) {
		r->servers[0] = net_addr_v4(0x7f000001);
		r->n_servers = 1;
	}
}

/* ---- one query ------------------------------------------------------------------------------- */

static void end(struct dns_query *d, uint8_t *answer, size_t len)
{
	struct relay *r = d->relay;

	relay_close(r, &d->watch);
	DL_DELETE(r->queries, d);
	r->n_queries--;
	if (d->done)
		d->done(d->data, answer, len);
	free(d->msg);
	free(d->in);
	relay_bury(r, &d->grave);
}

static bool try_server(struct dns_query *d)
{
	struct relay *r = d->relay;
	const struct net_addr *server = &r->servers[d->turn % r->n_servers];
	struct sockaddr_storage sa;
	socklen_t len = net_addr_to_sock(server, 53, &sa);
	uint16_t id = 0;

	relay_close(r, &d->watch);
	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return false;
	dns_set_id(d->msg + 2, id);
	d->q.id = id;
	d->sent = false;
	d->in_len = 0;
	d->watch.fd = socket(sa.ss_family,
			     (d->tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->watch.fd < 0)
		return false;
	if (connect(d->watch.fd, (struct sockaddr *)&sa, len) < 0 && errno != EINPROGRESS)
		return false;
	if (!d->tcp && send(d->watch.fd, d->msg + 2, d->len, MSG_NOSIGNAL) != (ssize_t)d->len)
		return false;
	d->sent = !d->tcp;
	d->give_up = r->now + (TRY_US << (d->turn / r->n_servers));
	relay_wake_at(r, d->give_up);
	return relay_watch(r, &d->watch, d->tcp ? EPOLLOUT | EPOLLIN : EPOLLIN) == 0;
}

static void next_try(struct dns_query *d)
{
	d->tcp = false;
	while (++d->turn < TRIES * d->relay->n_servers)
		if (try_server(d))
			return;
	end(d, NULL, 0);
}

/* Handles a complete answer. */
static void take(struct dns_query *d, uint8_t *msg, size_t len)
{
	enum dns_rcode code = dns_code(msg);
	bool more = d->turn + 1 < d->relay->n_servers;

	if (dns_is_cut(msg) && !d->tcp) {
		d->tcp = true;
		if (try_server(d))
			return;
	}
	if (more && (code == DNS_FAILED || code == DNS_REFUSED))
		next_try(d);
	else
		end(d, msg, len);
}

static void on_udp(struct dns_query *d)
{
	for (;;) {
		ssize_t n = recv(d->watch.fd, d->in, DNS_MAX, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n < 0) {
			next_try(d); /* refused: no server there */
			return;
		}
		if (dns_is_answer(d->in, (size_t)n, d->msg + 2, &d->q, d->q.id)) {
			take(d, d->in, (size_t)n);
			return;
		}
	}
}

static void on_tcp(struct dns_query *d)
{
	size_t want;
	ssize_t n;

	if (!d->sent) {
		if (send(d->watch.fd, d->msg, d->len + 2, MSG_NOSIGNAL) != (ssize_t)d->len + 2) {
			next_try(d);
			return;
		}
		d->sent = true;
		relay_rewatch(d->relay, &d->watch, EPOLLIN);
		return;
	}
	n = recv(d->watch.fd, d->in + d->in_len, DNS_MAX + 2 - d->in_len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		next_try(d);
		return;
	}
	d->in_len += (size_t)n;
	want = d->in_len < 2 ? DNS_MAX : (size_t)(d->in[0] << 8 | d->in[1]);
	if (d->in_len < want + 2)
		return;
	if (dns_is_answer(d->in + 2, want, d->msg + 2, &d->q, d->q.id))
		take(d, d->in + 2, want);
	else
		next_try(d);
}

static void on_server(struct watch *w, uint32_t events)
{
	struct dns_query *d =
		(struct dns_query *)(void *)((char *)w - offsetof(struct dns_query, watch));

	(void)events;
	if (d->tcp)
		on_tcp(d);
	else
		on_udp(d);
}

uint64_t resolve_begin(struct relay *r, const uint8_t *query, size_t len,
		       const struct dns_question *q, resolve_done done, void *data)
{
	struct dns_query *d;

	if (r->n_queries >= QUERIES_MAX)
		return 0;
	find_servers(r);
	d = xcalloc(1, sizeof(*d));
	*d = (struct dns_query){.watch = {.fd = -1, .fn = on_server},
				.relay = r,
				.id = ++r->last_query,
				.q = *q,
				.msg = xmalloc(len + 2),
				.len = len,
				.in = xmalloc(DNS_MAX + 2),
				.done = done,
				.data = data};
	d->msg[0] = (uint8_t)(len >> 8);
	d->msg[1] = (uint8_t)len;
	memcpy(d->msg + 2, query, len);
	DL_APPEND(r->queries, d);
	r->n_queries++;
	/* A failure is reported by a later turn, not from here. */
	if (!try_server(d)) {
		d->give_up = r->now;
		relay_wake_at(r, r->now);
	}
	return d->id;
}

void resolve_tick(struct relay *r)
{
	struct dns_query *d = r->queries, *next;

	for (; d; d = next) {
		next = d->next;
		if (r->now >= d->give_up)
			next_try(d);
		else
			relay_wake_at(r, d->give_up);
	}
}

/* ---- the book of names ----------------------------------------------------------------------- */

struct booking {
	struct relay *relay;
	struct net_note note;
	struct net_note *found; /* receives the addresses; may be NULL */
};

static void book_one(void *data, const struct net_addr *addr, uint32_t ttl)
{
	struct booking *b = data;

	(void)ttl;
	b->note.addr[0] = *addr;
	relay_tell(b->relay, &b->note);
	if (b->found && b->found->n < NET_ADDRS_MAX)
		b->found->addr[b->found->n++] = *addr;
}

static void book(struct relay *r, const uint8_t *answer, size_t len, const struct dns_question *q,
		 struct net_note *found)
{
	struct booking b = {.relay = r, .note = {.what = NET_BOOK, .n = 1}, .found = found};

	snprintf(b.note.name, sizeof(b.note.name), "%s", q->name);
	/* Records before a damaged part are valid. */
	(void)dns_walk(answer, len, q, book_one, &b);
}

void resolve_book(struct relay *r, const uint8_t *answer, size_t len, const struct dns_question *q)
{
	book(r, answer, len, q, NULL);
}

/* ---- for the keeper -------------------------------------------------------------------------- */

struct wanted {
	struct relay *relay;
	struct net_note result;
	struct dns_question q;
};

static void ask_type(struct wanted *w, uint16_t type);

static void on_resolved(void *data, uint8_t *answer, size_t len)
{
	struct wanted *w = data;

	if (answer)
		book(w->relay, answer, len, &w->q, &w->result);
	/* IPv6 only if there is no IPv4 address: the agent's own end has IPv4. */
	if (answer && w->result.n == 0 && w->q.type == DNS_A) {
		ask_type(w, DNS_AAAA);
		return;
	}
	if (w->result.n == 0)
		w->result.code = answer ? -EHOSTUNREACH : -ETIMEDOUT;
	relay_tell(w->relay, &w->result);
	free(w);
}

static void ask_type(struct wanted *w, uint16_t type)
{
	uint8_t msg[DNS_UDP_MIN];
	size_t len = dns_query(msg, 0, w->result.name, type);

	if (dns_read_question(&w->q, msg, len) == 0 &&
	    resolve_begin(w->relay, msg, len, &w->q, on_resolved, w) > 0)
		return;
	w->result.code = -EAGAIN;
	relay_tell(w->relay, &w->result);
	free(w);
}

void resolve_for_keeper(struct relay *r, const struct net_note *note)
{
	struct wanted *w = xcalloc(1, sizeof(*w));

	w->relay = r;
	w->result = (struct net_note){.what = NET_RESOLVED, .id = note->id};
	snprintf(w->result.name, sizeof(w->result.name), "%s", note->name);
	ask_type(w, DNS_A);
}
