/* gateway - the keeper's side of the network gate: the relay, started when it is first needed. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/net/gateway.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/net/notes.h"
#include "backends/linux/net/tls.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/broker/secrets.h"
#include "core/keeper/flows.h"
#include "core/net/dns.h"
#include "core/net/upstream.h"

#define LATE_MAX  2048 /* notes that wait for room in the socket */
#define DRAIN_MAX 1024
#define AGAIN_US  1000000 /* pause before a dead relay is started again */

struct gateway {
	struct keeper *k;
	int user_ns, net_ns, sock; /* sock -1: no relay runs */
	int inside[INSIDE_SOCKETS];
	bool inside_watched, ready, draining;
	bool guest, open_names;
	pid_t relay;
	int64_t died_us;
	int room;	 /* a copy of sock that waits for room, or -1 */
	struct buf said; /* for flow_say() */
	struct buf late; /* notes that must not be lost, until the socket has room */
	struct net_book *book;
	const struct gateway_listener *on;
	void *data;
	const struct secrets *secrets; /* NULL: none */
	const struct tls *tls;	       /* the same */
};

static void watch_inside(struct gateway *g, bool on);

/* ---- start and end of the relay -------------------------------------------------------------- */

static int send_one(int sock, const void *note)
{
	ssize_t n;

	do
		n = send(sock, note, sizeof(struct net_note), MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static void stop_late(struct gateway *g)
{
	if (g->room >= 0) {
		keeper_unwatch(g->k, g->room);
		util_close_fd(&g->room);
		g->room = -1;
	}
	buf_done(&g->late);
}

static void send_late(struct gateway *g)
{
	size_t at = 0;

	while (at < g->late.len && send_one(g->sock, g->late.data + at) != -EAGAIN)
		at += sizeof(struct net_note);
	buf_drop_front(&g->late, at);
	if (!g->late.len)
		stop_late(g);
}

static void end_relay(struct gateway *g, int code)
{
	if (g->sock >= 0) {
		keeper_unwatch(g->k, g->sock);
		util_close_fd(&g->sock);
		g->sock = -1;
	}
	if (g->relay > 0) {
		kill(g->relay, SIGKILL);
		while (waitpid(g->relay, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	g->relay = 0;
	g->ready = false;
	stop_late(g); /* its connections are gone */
	g->died_us = clock_mono_us();
	if (g->on)
		g->on->ready(g->data, code);
}

static void on_relay(void *data)
{
	gateway_drain(data);
}

static void on_room(void *data)
{
	send_late(data);
}

static int fork_relay(struct gateway *g)
{
	struct relay_spec spec = {.user_ns = g->user_ns,
				  .net_ns = g->net_ns,
				  .guest = g->guest,
				  .tls = tls_socket(g->tls)};
	int fds[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	spec.sock = fds[1];
	for (size_t i = 0; i < INSIDE_SOCKETS; i++)
		spec.inside[i] = g->inside[i];
	g->relay = fork();
	if (g->relay == 0)
		relay_run(&spec);
	close(fds[1]);
	r = g->relay < 0 ? -errno : keeper_watch(g->k, fds[0], on_relay, g);
	if (r < 0) {
		close(fds[0]);
		if (g->relay > 0) /* the relay ends with its socket */
			waitpid(g->relay, NULL, 0);
		g->relay = 0;
		return r;
	}
	g->sock = fds[0];
	return 0;
}

int gateway_start(struct gateway *g)
{
	int r;

	if (g->sock >= 0)
		return g->ready;
	if (g->died_us && clock_mono_us() - g->died_us < AGAIN_US)
		return -ENETUNREACH;
	watch_inside(g, false);
	r = fork_relay(g);
	if (r < 0)
		log_warn("net", "start the relay: %s", strerror(-r));
	return r;
}

static void close_inside(struct gateway *g)
{
	watch_inside(g, false);
	for (size_t i = 0; i < INSIDE_SOCKETS; i++) {
		util_close_fd(&g->inside[i]);
		g->inside[i] = -1;
	}
}

/* ---- notes of the relay ---------------------------------------------------------------------- */

/* Answers a name look-up of the agent's. */
static void answer_lookup(struct gateway *g, const struct net_note *asked)
{
	struct net_note note = {.what = NET_ANSWER, .id = asked->id, .verdict = NAME_REFUSED};
	enum policy_verdict v = g->open_names ? POLICY_ALLOW : flow_judge_name(g->k, asked->name);
	const bool elsewhere = upstream_knows(asked->name);

	if (v == POLICY_ALLOW && !elsewhere) {
		note.verdict = NAME_FORWARD;
	} else if (v == POLICY_ALLOW || (v == POLICY_ASK && flow_can_ask(g->k))) {
		/* The question comes at connect(), when caller and port are known. */
		note.verdict = asked->type == DNS_A ? NAME_STAND_IN : NAME_EMPTY;
		if (asked->type == DNS_A)
			note.addr[0] = book_stand_in(g->book, asked->name);
		note.n = 1;
	} else if (asked->type == DNS_A ||
		   asked->type == DNS_AAAA) { /* other types only accompany these */
		flow_deny_name(g->k, asked->name, v == POLICY_ASK);
	}
	if (!gateway_send(g, &note))
		log_warn("net", "the relay does not keep up with names");
}

static void hear(struct gateway *g, struct net_note *note)
{
	note->name[sizeof(note->name) - 1] = '\0';
	note->n = MIN(note->n, (uint16_t)NET_ADDRS_MAX);
	switch ((enum net_what)note->what) {
	case NET_READY:
		if (note->code < 0) {
			log_warn("net", "no network gate: %s", strerror(-note->code));
			end_relay(g, note->code);
			close_inside(g); /* so that name look-ups fail at once */
			return;
		}
		g->ready = true;
		/* The first packet has come; later packets have a route now. */
		util_close_fd(&g->inside[EARLY_SOCKET]);
		g->inside[EARLY_SOCKET] = -1;
		if (g->on)
			g->on->ready(g->data, 0);
		return;
	case NET_LOOKUP:
		answer_lookup(g, note);
		return;
	case NET_BOOK:
		book_note(g->book, note->name, &note->addr[0]);
		return;
	case NET_SAID:
		flow_say(g->k, &g->said, note->name);
		return;
	case NET_RESOLVED:
	case NET_DIALLED:
	case NET_BYTES:
	case NET_CLOSED:
	case NET_FLOW:
	case NET_PUBLISHED:
	case NET_CAME:
	case NET_NAMED:
		if (g->on)
			g->on->heard(g->data, note);
		return;
	case NET_ANSWER:
	case NET_RESOLVE:
	case NET_DIAL:
	case NET_BEGUN:
	case NET_CANCEL:
	case NET_END:
	case NET_PASS:
	case NET_GRANT:
	case NET_REFUSE:
	case NET_PUBLISH:
		return;
	}
}

void gateway_drain(struct gateway *g)
{
	if (g->draining)
		return;
	g->draining = true;
	/* A flood of look-ups must not keep the keeper from its other work. */
	for (int i = 0; i < DRAIN_MAX && g->sock >= 0; i++) {
		struct net_note note;
		int got = notes_take(g->sock, &note, sizeof(note));

		if (got == 0)
			break;
		if (got < 0) {
			end_relay(g, -ENETUNREACH);
			watch_inside(g, true);
			break;
		}
		hear(g, &note);
	}
	g->draining = false;
}

/*
 * Queues a note until the socket has room. The notes about the end of a connection or dial are sent
 * once, so they are never dropped; there are no more of them than connections. A limited number of
 * other notes is queued, too: a program may open hundreds of connections at once.
 */
static bool send_later(struct gateway *g, const struct net_note *note)
{
	bool last = note->what == NET_END || note->what == NET_CANCEL || note->what == NET_BEGUN ||
		    note->what == NET_PASS;

	if (!last && g->late.len >= LATE_MAX * sizeof(*note))
		return false;
	if (g->room < 0) { /* a copy, because a descriptor has one watch */
		g->room = fcntl(g->sock, F_DUPFD_CLOEXEC, 3);
		if (g->room < 0 || keeper_watch_write(g->k, g->room, on_room, g) < 0)
			log_warn("net", "a connection's end goes to the relay with what follows");
	}
	buf_add(&g->late, note, sizeof(*note));
	return true;
}

bool gateway_send(struct gateway *g, const struct net_note *note)
{
	int r;

	if (g->sock < 0)
		return false;
	if (g->late.len)
		send_late(g);
	r = g->late.len ? -EAGAIN : send_one(g->sock, note);
	return r == -EAGAIN ? send_later(g, note) : r == 0;
}

struct net_book *gateway_book(struct gateway *g)
{
	return g->book;
}

/* ---- secrets --------------------------------------------------------------------------------- */

void gateway_use_secrets(struct gateway *g, const struct secrets *secrets, const struct tls *tls)
{
	g->secrets = secrets;
	g->tls = tls;
}

/* Returns whether a name of this host led to the address and may be connected to. Hosts share
 * addresses. */
static bool may_be(const struct gateway *g, const char *host, const struct net_addr *at)
{
	struct net_target t = {.port = TLS_PORT};
	const char *name, *reason;

	for (size_t i = 0; (name = book_name(g->book, at, i)) != NULL; i++)
		if (str_eq(name, host))
			return net_host_parse(&t.host, name, strlen(name), NULL) &&
			       policy_check_flow(keeper_policy(g->k), RULE_CONNECT, &t, at,
						 &reason) == POLICY_ALLOW;
	return false;
}

uint32_t gateway_secrets(const struct gateway *g, const struct net_target *t,
			 const struct net_addr *at)
{
	uint32_t bits = 0;

	if (!g->secrets || t->port != TLS_PORT)
		return 0;
	for (size_t i = 0; i < g->secrets->n; i++) {
		const char *host = g->secrets->list[i].host;

		if ((!t->host.is_addr && str_eq(t->host.name, host)) || may_be(g, host, at))
			bits |= 1u << i;
	}
	return bits;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Handles the first look-up or packet: starts the relay, which reads it again. */
static void on_first(void *data)
{
	struct gateway *g = data;
	int r = gateway_start(g);

	if (r < 0)
		close_inside(g);
}

static void watch_inside(struct gateway *g, bool on)
{
	if (g->inside_watched == on)
		return;
	g->inside_watched = on;
	for (size_t i = 0; i < INSIDE_SOCKETS; i++) {
		if (g->inside[i] < 0)
			continue;
		if (!on)
			keeper_unwatch(g->k, g->inside[i]);
		else if (keeper_watch(g->k, g->inside[i], on_first, g) < 0)
			log_warn("net", "names cannot be looked up");
	}
}

struct gateway *gateway_new(struct keeper *k, int user_ns, int net_ns, int inside[INSIDE_SOCKETS])
{
	struct gateway *g = xcalloc(1, sizeof(*g));

	*g = (struct gateway){.k = k,
			      .user_ns = fcntl(user_ns, F_DUPFD_CLOEXEC, 3),
			      .net_ns = fcntl(net_ns, F_DUPFD_CLOEXEC, 3),
			      .sock = -1,
			      .room = -1,
			      .said = BUF_INIT,
			      .book = book_new()};
	for (size_t i = 0; i < INSIDE_SOCKETS; i++)
		g->inside[i] = take_fd(&inside[i]);
	watch_inside(g, true);
	return g;
}

void gateway_free(struct gateway *g)
{
	if (!g)
		return;
	g->on = NULL;
	watch_inside(g, false);
	end_relay(g, 0);
	if (g->inside[EARLY_SOCKET] >= 0)
		keeper_close_late(g->k, take_fd(&g->inside[EARLY_SOCKET]));
	close_inside(g);
	util_close_fd(&g->user_ns);
	util_close_fd(&g->net_ns);
	book_free(g->book);
	buf_done(&g->said);
	free(g);
}

void gateway_serve_guest(struct gateway *g)
{
	g->guest = true;
}

void gateway_open_names(struct gateway *g)
{
	g->open_names = true;
}

void gateway_listen(struct gateway *g, const struct gateway_listener *on, void *data)
{
	g->on = on;
	g->data = data;
}
