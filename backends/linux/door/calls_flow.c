/* calls_flow - a connect() to a host: judges it, has it dialled outside, and connects the
 * socket. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/calls_flow.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backends/linux/door/answer.h"
#include "backends/linux/door/connecting.h"
#include "backends/linux/door/finish.h"
#include "backends/linux/door/flow_priv.h"
#include "backends/linux/door/listeners.h"
#include "backends/linux/door/ports.h"
#include "backends/linux/door/request.h"
#include "backends/linux/net/gateway.h"
#include "core/base/clock.h"
#include "core/keeper/flows.h"
#include "core/net/upstream.h"

/*
 * The steps of a connect() to a host, each without waiting in the keeper:
 *
 *   the gate runs?	    started with the first one
 *   whose name is it?	    the book, or a stand-in; else the address speaks for itself
 *   may it go there?	    by name; the user may be asked
 *   where does it lead?    a stand-in's name is looked up now
 *   may it go *there*?	    the address: private ones need a rule of their own
 *   is anybody there?	    the relay dials
 *   go on		    our duplicate of the agent's socket is connected to the listener
 *			    that waits for it behind the agent's namespace
 *
 * The kernel's own connect() is never let CONTINUE, since memory could name a socket file by then;
 * where it leads otherwise does not matter: whatever the agent does with its socket stays in the
 * namespaces of the sandbox.
 */

void flow_wait_free(struct flow_wait *w)
{
	struct ldoor *d = w->d;

	for (struct flow_wait **link = &d->flows; *link != NULL; link = &(*link)->next) {
		if (*link == w) {
			*link = w->next;
			d->flows_len--;
			break;
		}
	}
	util_close_fd(&w->sock);
	free(w);
}

static void fail(struct flow_wait *w, int code)
{
	struct ldoor *d = w->d;
	uint64_t id = w->id;

	if (w->packet) {
		packet_fail(w, code);
		return;
	}
	flow_wait_free(w);
	door_answer(d, id, code);
}

static bool is_alive(const struct flow_wait *w)
{
	return w->packet || listener_holds(w->d, w->id);
}

static int find_caller(struct flow_wait *w, struct caller *ret)
{
	if (w->packet)
		packet_caller(w, ret);
	else if (keeper_caller(w->d->k, w->tid, ret) < 0 || !is_alive(w))
		return DOOR_DEAD;
	ret->door = &w->d->door;
	ret->request = w->id;
	ret->granted = w->granted;
	ret->op = "connect";
	return 0;
}

static void name_host(const struct net_host *host, char *out, size_t size)
{
	char text[NET_ADDR_TEXT];

	net_addr_format(&host->addr, text);
	snprintf(out, size, "%s", host->is_addr ? text : host->name);
}

static bool tell_relay(struct flow_wait *w, enum net_what what)
{
	struct net_note note = {.what = what,
				.id = w->dial,
				.port = w->target.port,
				.n = (uint16_t)w->n,
				.code = what == NET_DIAL && w->syn,
				.at = w->at};

	memcpy(note.addr, w->addr, sizeof(note.addr));
	note.type = what == NET_DIAL && flow_is_looked_at(w);
	if (what == NET_DIAL && !w->loopback)
		note.secrets = gateway_secrets(w->d->gateway, &w->target, &w->at);
	name_host(&w->target.host, note.name, sizeof(note.name));
	return gateway_send(w->d->gateway, &note);
}

void flow_abandon(struct flow_wait *w)
{
	if (w->stage == STAGE_DIAL && !tell_relay(w, NET_CANCEL))
		return;
	if (w->stage == STAGE_NAME || w->stage == STAGE_ADDR)
		keeper_request_gone(w->d->k, &w->d->door, w->id);
}

/* ---- the steps ------------------------------------------------------------------------------- */

static uint16_t own_port(int sock)
{
	struct sockaddr_storage sa = {0};
	socklen_t len = sizeof(sa);
	struct net_addr a;
	uint16_t port = 0;

	if (getsockname(sock, (struct sockaddr *)&sa, &len) == 0)
		(void)net_addr_from_sock(&a, &port, (struct sockaddr *)&sa, len);
	return port;
}

/* Tells the relay how the connect() of this dial has begun, or that it has not. */
static void tell_begun(struct ldoor *d, uint64_t dial, bool early, int sock, int got)
{
	bool begun = got == 0 || got == -EINPROGRESS || got == DOOR_LATER;
	struct net_note note = {.what = begun ? NET_BEGUN : NET_CANCEL, .id = dial};

	if (begun && !early)
		return;
	if (begun)
		note.from_port = own_port(sock);
	/* If the note cannot be sent, the relay has ended, and its dials with it. */
	if (!gateway_send(d->gateway, &note))
		return;
}

/* Connects our duplicate of the socket as for any other address, and answers. early: the host has
 * not answered yet. */
static void go_on(struct flow_wait *w, bool early)
{
	struct ldoor *d = w->d;
	struct request *r = &d->scratch->now;
	struct seccomp_notif n = {.id = w->id, .pid = (uint32_t)w->tid};
	struct copy *address = &r->slot[SLOT_EXTRA];
	AUTO_CLOSE int sock = take_fd(&w->sock);
	uint64_t dial = w->stage == STAGE_DIAL ? w->dial : 0;
	int got;

	memcpy(n.data.args, w->args, sizeof(n.data.args));
	request_begin(d, r, &n);
	r->call = w->call;
	memcpy(address->data, &w->to, w->to_len);
	address->len = w->to_len;
	address->have = true;
	flow_wait_free(w);
	got = connecting_now(d, r, sock, -1);
	if (dial)
		tell_begun(d, dial, early, sock, got);
	close(take_fd(&sock)); /* the caller's close() must be the last one */
	request_finish(d, r, got);
}

/* Acts on the result of a judgement. Returns true if the connect() goes on. */
static bool passes(struct flow_wait *w, int got)
{
	if (got == -FOLDER_HELD)
		return false;
	w->granted = false;
	if (got == DOOR_DEAD)
		flow_wait_free(w);
	else if (got < 0)
		fail(w, got);
	return got == 0;
}

/* Notes the caller's program while the relay dials, so that the answer is not delayed. dialled()
 * checks that the caller still lives, so it is the same one. */
static void note_program(struct flow_wait *w)
{
	struct caller c;

	if (!w->packet && !w->d->guest && keeper_caller(w->d->k, w->tid, &c) == 0)
		flow_program(c.pid, w->program, sizeof(w->program));
}

static void dial(struct flow_wait *w)
{
	w->stage = STAGE_DIAL;
	if (w->packet && !w->syn)
		packet_grant(w);
	else if (tell_relay(w, NET_DIAL))
		note_program(w);
	else
		fail(w, -EAGAIN);
}

/* Keeps the addresses of a name that may be dialled. If none may, asks about the first one. */
static void judge_addresses(struct flow_wait *w)
{
	struct net_addr may[NET_ADDRS_MAX];
	struct caller c;
	size_t n = 0;
	int got = find_caller(w, &c);

	if (w->d->open_network) {
		dial(w);
		return;
	}
	if (got == 0)
		n = flow_allowed(w->d->k, w->addr, w->n, w->target.port, may);
	if (got == 0 && n == 0) {
		got = flow_judge_address(w->d->k, &c, &(struct flow){&w->target, &w->addr[0]});
		may[n++] = w->addr[0];
	}
	if (!passes(w, got))
		return;
	w->n = n;
	memcpy(w->addr, may, n * sizeof(may[0]));
	dial(w);
}

/* Returns whether the upstream proxy is used. It takes no datagrams. */
static bool by_upstream(const struct flow_wait *w)
{
	return (!w->packet || w->syn) && upstream_for(&w->target);
}

static void judge_name(struct flow_wait *w)
{
	const struct flow f = {&w->target, w->n > 0 ? &w->addr[0] : NULL};
	struct caller c;
	int got = find_caller(w, &c);

	if (got == 0 && !w->d->open_network)
		got = flow_judge(w->d->k, &c, &f);
	if (!passes(w, got))
		return;
	if (by_upstream(w)) {
		w->n = 0; /* the proxy looks the host up by name */
		dial(w);
	} else if (w->target.host.is_addr) {
		dial(w); /* all parts are judged */
	} else if (w->n == 0) {
		w->stage = STAGE_RESOLVE;
		if (!tell_relay(w, NET_RESOLVE))
			fail(w, -EAGAIN);
	} else {
		w->stage = STAGE_ADDR;
		judge_addresses(w);
	}
}

/* Finds the name to judge the address by. The address may be a stand-in for a name that was not
 * looked up yet. */
static void find_name(struct flow_wait *w)
{
	const struct net_book *book = gateway_book(w->d->gateway);
	const char *meant = book_is_stand_in(&w->at) ? book_meant(book, &w->at) : NULL;

	net_host_from_addr(&w->target.host, &w->at);
	w->stand_in = meant != NULL;
	w->n = !w->stand_in;
	w->addr[0] = w->at;
	if (meant)
		(void)net_host_parse(&w->target.host, meant, strlen(meant), NULL);
	else
		(void)flow_name_of(w->d->k, book, &w->at, w->target.port, &w->target.host);
}

void flow_run(struct flow_wait *w)
{
	switch (w->stage) {
	case STAGE_START:
		if (w->plain) {
			go_on(w, false);
			return;
		}
		if (w->loopback) {
			net_host_from_addr(&w->target.host, &w->at);
			w->addr[0] = w->at;
			w->n = 1;
			dial(w);
			return;
		}
		gateway_drain(w->d->gateway);
		find_name(w);
		if (book_is_stand_in(&w->at) && !w->stand_in) {
			fail(w, -EHOSTUNREACH);
			return;
		}
		w->stage = STAGE_NAME;
		judge_name(w);
		return;
	case STAGE_NAME:
		judge_name(w);
		return;
	case STAGE_ADDR:
		judge_addresses(w);
		return;
	case STAGE_RESOLVE:
	case STAGE_DIAL:
		return;
	}
}

/* ---- what comes back ------------------------------------------------------------------------- */

bool flow_answered(struct ldoor *d, uint64_t id, enum door_verdict verdict)
{
	struct flow_wait *w;

	for (w = d->flows; w != NULL && w->id != id; w = w->next)
		continue;
	if (!w || (w->stage != STAGE_NAME && w->stage != STAGE_ADDR))
		return false;
	if (verdict == VERDICT_DENY || verdict == VERDICT_STOP) {
		fail(w, verdict == VERDICT_DENY ? -EACCES : -EPERM);
		return true;
	}
	w->granted = verdict == VERDICT_ALLOW;
	flow_run(w);
	return true;
}

static void on_ready(void *data, int code)
{
	struct ldoor *d = data;
	struct flow_wait *w, *next;

	for (w = d->flows; w != NULL; w = next) {
		next = w->next;
		if (code < 0)
			fail(w, -ENETUNREACH);
		else if (w->stage == STAGE_START)
			flow_run(w);
	}
	if (code < 0)
		flow_named_drop_all(d);
	port_ready(d, code);
}

void flow_tell_open(struct flow_wait *w, const struct caller *c, const struct net_addr *addr)
{
	struct flow_news news = {
		.id = w->dial, .state = FLOW_OPEN, .target = &w->target, .addr = addr, .caller = c};

	if (w->d->guest)
		news.program = guest_door_program(w->d);
	else if (*w->program)
		news.program = w->program;
	if (w->d->open_network)
		news.why = "--network open";
	else if (policy_check_flow(keeper_policy(w->d->k), RULE_CONNECT, &w->target, addr,
				   &news.why) != POLICY_ALLOW)
		news.why = "your answer";
	flow_tell(w->d->k, &news);
	flow_named_add(w, addr);
}

static void dialled(struct flow_wait *w, const struct net_note *note)
{
	struct caller c;

	if (w->syn) {
		packet_dialled(w, note->code, &note->addr[0]);
		return;
	}
	/* A program inside listens there, so the connect() is to that one. */
	if (w->loopback && note->code == -EADDRINUSE) {
		go_on(w, false);
		return;
	}
	if (note->code < 0) {
		fail(w, note->code);
		return;
	}
	if (find_caller(w, &c) < 0) {
		flow_abandon(w);
		flow_wait_free(w);
		return;
	}
	flow_tell_open(w, &c, &note->addr[0]);
	go_on(w, note->type != 0);
}

static void on_heard(void *data, const struct net_note *note)
{
	struct ldoor *d = data;
	struct flow_wait *w;

	if (note->what == NET_PUBLISHED || note->what == NET_CAME) {
		port_heard(d, note);
		return;
	}
	if (note->what == NET_FLOW) {
		packet_begin(d, note);
		return;
	}
	if (note->what == NET_NAMED) {
		flow_named_judge(d, note);
		return;
	}
	if (note->what == NET_CLOSED && packet_gone(d, note->id))
		return;
	if (note->what == NET_CLOSED)
		flow_named_drop(d, note->id);
	if (note->what == NET_BYTES || note->what == NET_CLOSED) {
		flow_tell(d->k, &(struct flow_news){.id = note->id,
						    .state = note->what == NET_BYTES ? FLOW_MOVING
										     : FLOW_OVER,
						    .sent = note->sent,
						    .received = note->received});
		return;
	}
	for (w = d->flows; w != NULL && w->dial != note->id; w = w->next)
		continue;
	if (w && note->what == NET_DIALLED && w->stage == STAGE_DIAL) {
		dialled(w, note);
	} else if (w && note->what == NET_RESOLVED && w->stage == STAGE_RESOLVE) {
		if (note->code < 0 || note->n == 0) {
			fail(w, note->code < 0 ? note->code : -EHOSTUNREACH);
			return;
		}
		w->n = note->n;
		memcpy(w->addr, note->addr, sizeof(w->addr));
		w->stage = STAGE_ADDR;
		judge_addresses(w);
	}
}

static const struct gateway_listener listener = {.ready = on_ready, .heard = on_heard};

void flow_open(struct ldoor *d)
{
	if (d->gateway)
		gateway_listen(d->gateway, &listener, d);
}

void flow_tick(struct ldoor *d)
{
	int64_t now = clock_mono_us();
	struct flow_wait *w, *next;

	if (d->flows == NULL)
		return;
	for (w = d->flows; w != NULL; w = next) {
		bool alive = is_alive(w);
		int got = alive && !w->packet ? interrupt_look(&w->interrupt, w->tid, now, 0) : 0;

		next = w->next;
		if (w->packet || (alive && got == 0))
			continue;
		flow_abandon(w);
		if (alive)
			fail(w, got);
		else
			flow_wait_free(w);
	}
	keeper_wake_at(d->k, now + FLOW_CHECK_US);
}

void flow_drop(struct ldoor *d)
{
	while (d->flows != NULL)
		fail(d->flows, -EACCES);
}

void flow_close(struct ldoor *d)
{
	while (d->flows != NULL)
		flow_wait_free(d->flows);
	flow_named_drop_all(d);
	gateway_free(take_ptr(&d->gateway));
}

void flow_end_one(struct ldoor *d, uint64_t id)
{
	const struct net_note note = {.what = NET_END, .id = id};

	/* If the note cannot be sent, the relay has ended, and all connections with it. */
	if (d->gateway && !gateway_send(d->gateway, &note))
		return;
}
