/* connections - the agent's connections, for the list, the connections view and the audit log. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/session/answers/answers.h"
#include "core/session/session_priv.h"

static void connection_done(struct connection *c)
{
	free(c->target);
	free(c->addr);
	free(c->why);
}

void model_connections_done(struct model *m)
{
	for (size_t i = 0; i < m->n_connections; i++)
		connection_done(&m->connections[i]);
	free(m->connections);
	m->connections = NULL;
	m->n_connections = 0;
}

static void remove_at(struct model *m, size_t i)
{
	connection_done(&m->connections[i]);
	m->n_connections--;
	memmove(&m->connections[i], &m->connections[i + 1],
		(m->n_connections - i) * sizeof(*m->connections));
}

static void make_room(struct model *m)
{
	size_t i = 0;

	if (m->n_connections < MODEL_CONNECTIONS)
		return;
	while (i < m->n_connections && !m->connections[i].ended_us)
		i++;
	remove_at(m, i == m->n_connections ? 0 : i);
}

bool model_add_connection(struct model *m, const struct connection *c)
{
	struct connection copy = *c;
	bool first = true;

	for (size_t i = 0; i < m->n_connections && first; i++)
		first = !str_eq(m->connections[i].target, c->target);
	if (!m->connections)
		m->connections = xcalloc(MODEL_CONNECTIONS, sizeof(*m->connections));
	make_room(m);
	copy.target = xstrdup(c->target);
	copy.addr = xstrdup(c->addr);
	copy.why = xstrdup(c->why);
	m->connections[m->n_connections++] = copy;
	m->net_version++;
	m->version++;
	return first;
}

struct connection *model_connection(struct model *m, uint64_t id)
{
	for (size_t i = m->n_connections; i-- > 0;)
		if (m->connections[i].id == id)
			return &m->connections[i];
	return NULL;
}

static void model_count_connection(struct model *m, struct connection *c, uint64_t sent,
				   uint64_t received)
{
	m->bytes_sent += sent - c->sent;
	m->bytes_received += received - c->received;
	c->sent = sent;
	c->received = received;
	m->net_version++;
	m->version++;
}

static void begin(struct session *s, const struct client_event *ev)
{
	struct connection c = {.id = ev->id,
			       .step = ev->step,
			       .pid = (int)ev->pid,
			       .target = (char *)(uintptr_t)ev->path,
			       .addr = (char *)(uintptr_t)ev->path2,
			       .why = (char *)(uintptr_t)ev->reason,
			       .came = ev->flow == FLOW_CAME,
			       .began_us = clock_mono_us()};

	const char *op = c.came ? "accept" : "connect";
	AUTO_FREE char *by = session_decided_by(ev->reason);

	snprintf(c.program, sizeof(c.program), "%s", ev->program);
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_TOUCH,
				 .step = ev->step,
				 .pid = (int)ev->pid,
				 .latency_us = -1,
				 .op = op,
				 .path = ev->path,
				 .path2 = ev->path2,
				 .by = by,
				 .detail = ev->reason,
			 });
	if (model_add_connection(&s->model, &c))
		model_add_row(&s->model, ROW_TOUCH, ev->step, (int)ev->pid, 0, op, ev->path,
			      ev->path2);
}

void session_on_flow(struct session *s, const struct client_event *ev)
{
	struct connection *c;

	session_count_flow(s, ev);
	if (ev->flow == FLOW_OPEN || ev->flow == FLOW_CAME) {
		begin(s, ev);
		return;
	}
	c = model_connection(&s->model, ev->id);
	if (!c)
		return;
	if (ev->flow == FLOW_OVER)
		c->ended_us = clock_mono_us();
	model_count_connection(&s->model, c, ev->done, ev->total);
}

void session_on_rewrite(struct session *s, const struct client_event *ev)
{
	const char *op = str_eq(ev->op, "bind") ? REWRITE_BIND : REWRITE_CONNECT;

	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_TOUCH,
				 .step = ev->step,
				 .pid = (int)ev->pid,
				 .latency_us = -1,
				 .op = op,
				 .path = ev->path,
				 .path2 = ev->path2,
			 });
	model_add_row(&s->model, ROW_TOUCH, ev->step, (int)ev->pid, 0, op, ev->path, ev->path2);
}

void session_end_connection(struct session *s, uint64_t id)
{
	client_end_flow(s->client, id);
}

void session_forbid(struct session *s, const char *by, uint64_t id)
{
	const struct connection *c = model_connection(&s->model, id);
	const struct answer deny = {.scope = SCOPE_SESSION};
	AUTO_FREE char *words = NULL;
	uint64_t ask = FORBID_ASKS | ++s->last_forbid;

	if (!c)
		return;
	words = xasprintf("deny connecting to %s, for this session", c->target);
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_DECISION,
				 .pid = c->pid,
				 .result = -EACCES,
				 .latency_us = -1,
				 .op = "connect",
				 .path = c->target,
				 .by = by,
				 .detail = words,
			 });
	session_flush_audit(s);
	model_add_row(&s->model, ROW_DECISION, 0, c->pid, -EACCES, "connect", c->target, words);
	model_add_given(&s->model, &(struct given){.ask = ask,
						   .kind = RULE_CONNECT,
						   .answer = deny,
						   .object = c->target,
						   .words = words,
						   .wall_us = clock_wall_us()});
	client_forbid(s->client, ask, c->target);
	client_end_flow(s->client, id);
}

/* ---- ports inside ---------------------------------------------------------------------------- */

/* Notes that the row reports a server that may be published; port 0 is a no-op. */
static void model_add_offer(struct model *m, uint64_t seq, uint16_t port)
{
	if (port)
		m->offers[m->n_offers++ % ARRAY_LEN(m->offers)] =
			(struct offer){.seq = seq, .port = port};
}

uint16_t model_offer(const struct model *m, uint64_t seq)
{
	for (size_t i = 0; i < ARRAY_LEN(m->offers); i++)
		if (m->offers[i].seq == seq && seq)
			return m->offers[i].port;
	return 0;
}

static void offer(struct session *s, const struct client_event *ev)
{
	AUTO_FREE char *words = xasprintf("%s listens on %u: p opens it",
					  *ev->program ? ev->program : "a process", ev->port);
	const struct row *row =
		model_add_row(&s->model, ROW_NOTE, 0, (int)ev->pid, 0, "listen", words, NULL);

	model_add_offer(&s->model, row->seq, ev->port);
}

void session_on_port(struct session *s, const struct client_event *ev)
{
	AUTO_FREE char *words = NULL, *by = session_decided_by(ev->reason);

	if (ev->port_state == PORT_OFFERED) {
		offer(s, ev);
		return;
	}
	if (ev->port_state == PORT_PUBLISHED)
		words = xasprintf("published: localhost:%u leads to port %u inside", ev->host_port,
				  ev->port);
	else if (ev->result == -EADDRINUSE)
		words = xasprintf("port %u is taken on this host: publish %u elsewhere: "
				  "--publish %u:%u",
				  ev->host_port, ev->port, ev->port,
				  ev->host_port < 10000 ? ev->host_port + 10000 : 10000);
	else
		words = xasprintf("port %u cannot be published at localhost:%u: %s", ev->port,
				  ev->host_port, strerror(-ev->result));
	model_add_row(&s->model, ROW_NOTE, 0, 0, ev->result, "publish", words, NULL);
	session_audit(s, &(struct audit_entry){.event = AUDIT_DECISION,
					       .result = ev->result,
					       .latency_us = -1,
					       .op = "publish",
					       .by = by || !*ev->reason ? by : ev->reason,
					       .detail = words});
	if (ev->port_state == PORT_FAILED && s->on->stopped)
		s->on->stopped(s->data, words);
}

void session_publish(struct session *s, const char *by, uint16_t port)
{
	client_publish(s->client, port, port, by);
}
