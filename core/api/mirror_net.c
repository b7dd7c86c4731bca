/* mirror_net - the connections of a session that runs elsewhere, as they are told. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "core/api/mirror_priv.h"
#include "core/base/clock.h"

static void add(struct mirror *m, uint64_t id)
{
	struct connection c = {
		.id = id,
		.step = mirror_number(m, "step"),
		.pid = (int)mirror_number(m, "pid"),
		.target = mirror_text(m, "target"),
		.addr = mirror_text(m, "addr"),
		.why = mirror_text(m, "why"),
		.began_us = clock_mono_us() - (clock_wall_us() - mirror_number(m, "began_us")),
	};

	snprintf(c.program, sizeof(c.program), "%s", mirror_text(m, "program"));
	model_add_connection(&m->model, &c);
}

static void on_connection(struct mirror *m)
{
	uint64_t id = mirror_id_of(m, "connection");
	int64_t ended_us = mirror_number(m, "ended_us");
	struct connection *c = model_connection(&m->model, id);

	if (!c) {
		add(m, id);
		c = model_connection(&m->model, id);
	}
	model_count_connection(&m->model, c, mirror_id_of(m, "sent"), mirror_id_of(m, "received"));
	if (ended_us && !c->ended_us)
		c->ended_us =
			MAX(c->began_us + ended_us - mirror_number(m, "began_us"), (int64_t)1);
}

void mirror_net_apply(struct mirror *m, const char *type)
{
	if (str_eq(type, "event.connection"))
		on_connection(m);
	else if (str_eq(type, "event.connection_gone"))
		model_remove_connection(&m->model, mirror_id_of(m, "connection"));
}

/* ---- what is asked --------------------------------------------------------------------------- */

void mirror_disconnect(struct mirror *m, uint64_t connection, bool forbid)
{
	buf_fmt(&m->out, "{\"type\":\"cmd.%s\",\"connection\":\"%" PRIu64 "\"}\n",
		forbid ? "forbid" : "disconnect", connection);
	mirror_send(m);
}

void mirror_publish(struct mirror *m, uint16_t port)
{
	buf_fmt(&m->out, "{\"type\":\"cmd.publish\",\"port\":%u}\n", port);
	mirror_send(m);
}
