/* ports - servers inside: detects new listeners, and publishes them on the host's loopback. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/ports.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "backends/linux/door/state.h"
#include "backends/linux/net/gateway.h"
#include "core/base/clock.h"
#include "core/keeper/flows.h"
#include "core/keeper/keeper.h"

/*
 * listen() continues, because it only affects the sandbox's own network. A moment later the
 * kernel's list shows which ports are new, and the user is told. The relay publishes a port: it
 * listens on the host's loopback and splices each connection to one that it makes inside.
 */
#define PORTS_MAX 256	/* further ones are not reported */
#define LOOK_US	  20000 /* after listen(); later looks are for a busy machine */
#define AGAIN_US  300000
#define MORE	  4 /* factor by which the wait grows */
#define LAST_US	  5000000

struct server {
	uint16_t port, host_port;
	bool listens; /* at the last look */
	bool wanted, published;
	char *by; /* who published it; the rule may be removed before the answer */
};

static struct server *find(struct ldoor *d, uint16_t port)
{
	for (size_t i = 0; i < d->n_servers; i++)
		if (d->servers[i].port == port)
			return &d->servers[i];
	return NULL;
}

/* Adds an entry. Replaces one without a listener if the table is full. Returns NULL if there is
 * none. */
static struct server *add(struct ldoor *d, uint16_t port)
{
	struct server *p = NULL;

	if (!d->servers)
		d->servers = xcalloc(PORTS_MAX, sizeof(*d->servers));
	assert(d->servers);
	if (d->n_servers < PORTS_MAX)
		p = &d->servers[d->n_servers++];
	for (size_t i = 0; i < d->n_servers && !p; i++)
		if (!d->servers[i].listens && !d->servers[i].wanted)
			p = &d->servers[i];
	if (!p)
		return NULL;
	free(p->by);
	*p = (struct server){.port = port};
	return p;
}

static void tell(struct ldoor *d, const struct server *p, enum port_state state, int pid, int code)
{
	port_tell(d->k, &(struct port_news){.state = state,
					    .port = p->port,
					    .host_port = p->host_port,
					    .pid = pid,
					    .code = code,
					    .by = p->by});
}

/* ---- listening servers ----------------------------------------------------------------------- */

int prepare_listen(struct ldoor *d, struct request *r)
{
	(void)r;
	if (d->spec.windowed)
		return 0; /* calls_shared.c performs it */
	if (d->gateway) {
		d->look_at = clock_mono_us() + LOOK_US;
		d->look_wait = AGAIN_US;
		keeper_wake_at(d->k, d->look_at);
	}
	return DOOR_CONTINUE;
}

/* Reports a new listener. Sockets of the resolver and of shown services are the keeper's: no
 * process inside has them. */
static void notice(struct ldoor *d, const struct flow_listener *l)
{
	struct server *p = find(d, l->port);
	const char *by;
	int pid;

	if (p && p->listens)
		return;
	pid = flow_owner_of(d->k, l->inode);
	if (pid <= 0)
		return;
	if (!p)
		p = add(d, l->port);
	if (!p)
		return;
	p->listens = true;
	if (p->wanted)
		return;
	by = port_allowed_by(d->k, p->port);
	if (by)
		port_publish(d, p->port, p->port, by);
	else
		tell(d, p, PORT_OFFERED, pid, 0);
}

void port_tick(struct ldoor *d)
{
	struct flow_listener list[PORTS_MAX];
	int64_t now = clock_mono_us();
	size_t n;

	if (!d->look_at)
		return;
	if (now < d->look_at) {
		keeper_wake_at(d->k, d->look_at);
		return;
	}
	n = flow_listeners(d->k, list, ARRAY_LEN(list));
	for (size_t i = 0; i < d->n_servers; i++) {
		bool listens = false;

		for (size_t j = 0; j < n; j++)
			listens |= list[j].port == d->servers[i].port;
		d->servers[i].listens &= listens;
	}
	for (size_t i = 0; i < n; i++)
		notice(d, &list[i]);
	d->look_at = d->look_wait ? now + d->look_wait : 0;
	d->look_wait = d->look_wait * MORE <= LAST_US ? d->look_wait * MORE : 0;
	if (d->look_at)
		keeper_wake_at(d->k, d->look_at);
}

/* ---- published ports ------------------------------------------------------------------------- */

static void send_wish(struct ldoor *d, struct server *p)
{
	const struct net_note note = {
		.what = NET_PUBLISH, .port = p->port, .from_port = p->host_port};

	if (!gateway_send(d->gateway, &note)) {
		p->wanted = false;
		tell(d, p, PORT_FAILED, 0, -EAGAIN);
	}
}

bool port_is_published_at(const struct ldoor *d, uint16_t host_port)
{
	for (size_t i = 0; i < d->n_servers; i++)
		if (d->servers[i].published && d->servers[i].host_port == host_port)
			return true;
	return false;
}

void port_publish(struct ldoor *d, uint16_t port, uint16_t host_port, const char *by)
{
	struct server *p = find(d, port);
	int got;

	if (!d->gateway)
		return;
	if (!p)
		p = add(d, port);
	if (!p)
		return;
	if (p->wanted) {
		if (p->published)
			tell(d, p, PORT_PUBLISHED, 0, 0);
		return;
	}
	p->host_port = host_port;
	p->wanted = true;
	free(p->by);
	p->by = xstrdup(by);
	got = gateway_start(d->gateway);
	if (got > 0) {
		send_wish(d, p);
	} else if (got < 0) {
		p->wanted = false;
		tell(d, p, PORT_FAILED, 0, got);
	}
}

void port_ready(struct ldoor *d, int code)
{
	for (size_t i = 0; i < d->n_servers; i++) {
		struct server *p = &d->servers[i];

		p->published = false;
		if (code == 0 && p->wanted)
			send_wish(d, p);
	}
}

void port_heard(struct ldoor *d, const struct net_note *note)
{
	struct net_target t = {.port = note->from_port};
	struct server *p = find(d, note->port);

	if (note->what == NET_CAME) {
		(void)net_host_parse(&t.host, "localhost", 9, NULL);
		flow_tell(d->k, &(struct flow_news){.id = note->id,
						    .state = FLOW_CAME,
						    .target = &t,
						    .addr = &note->addr[0],
						    .why = "published"});
		return;
	}
	if (!p || !p->wanted)
		return;
	p->published = note->code == 0;
	p->wanted = p->published;
	tell(d, p, p->published ? PORT_PUBLISHED : PORT_FAILED, 0, note->code);
}

void port_drop(struct ldoor *d)
{
	for (size_t i = 0; i < d->n_servers; i++)
		free(d->servers[i].by);
	free(d->servers);
	d->servers = NULL;
	d->n_servers = 0;
}
