/* mirror - the model of a session that runs elsewhere, rebuilt from what its socket tells. */
/* SPDX-License-Identifier: MIT */
#include "core/api/mirror.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/session/answers.h"

struct mirror {
	struct link link;
	struct model model;
	struct buf out;
	char *folder, *refusal;
	int broken; /* what reading failed with before there was a loop to tell it to */
};

static int64_t number(const struct mirror *m, const char *name)
{
	return strtoll(link_field(&m->link, name), NULL, 10);
}

static uint64_t id_of(const struct mirror *m, const char *name)
{
	return strtoull(link_field(&m->link, name), NULL, 10);
}

static bool truth(const struct mirror *m, const char *name)
{
	return str_eq(link_field(&m->link, name), "true");
}

/* "null" is how the reader gives what is not there. */
static char *text(const struct mirror *m, const char *name)
{
	const char *s = link_field(&m->link, name);

	return (char *)(uintptr_t)(str_eq(s, "null") ? "" : s);
}

static int word(const struct mirror *m, const char *name, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(link_field(&m->link, name), words[i]))
			return (int)i;
	return 0;
}

static enum rule_kind kind_of(const struct mirror *m)
{
	static const char *const kinds[RULE_KINDS] = {
		[RULE_READ] = "read", [RULE_WRITE] = "write",	  [RULE_EXEC] = "exec",
		[RULE_UNIX] = "unix", [RULE_CONNECT] = "connect", [RULE_BIND] = "bind"};

	return (enum rule_kind)word(m, "kind", kinds, RULE_KINDS);
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void on_hello(struct mirror *m)
{
	struct model *to = &m->model;

	m->folder = xstrdup(text(m, "folder"));
	to->folder = m->folder;
	to->command = xstrdup(text(m, "command"));
	to->home = xstrdup(getenv("HOME"));
	to->started = true;
	to->persists = true;
	snprintf(to->session, sizeof(to->session), "%s", text(m, "session"));
	snprintf(to->backend, sizeof(to->backend), "%s", text(m, "backend"));
	to->network = truth(m, "network");
	to->asks_network = truth(m, "asks_network");
}

/* Of a step that a safeguard holds: what it has taken away so far stays in the session's console.
 */
static struct guard_report held_report(const struct mirror *m)
{
	struct guard_report r = {
		.ask = id_of(m, "id"),
		.step = number(m, "step"),
		.pid = number(m, "pid"),
		.what = (enum loss)MIN(id_of(m, "held"), (uint64_t)LOSS_KINDS - 1),
		.by_line = truth(m, "held_by_line"),
		.count = id_of(m, "held_count"),
		.held = id_of(m, "held_calls"),
		.timeout_s = (uint32_t)number(m, "timeout_s"),
		.command = text(m, "command"),
	};

	r.would[0] = text(m, "path");
	r.ops[0] = text(m, "op");
	r.n_would = *r.would[0] ? 1 : 0;
	return r;
}

static void on_request(struct mirror *m)
{
	bool held = *link_field(&m->link, "held");
	struct guard_report report = held_report(m);

	model_add_ask(&m->model, &(struct ask){.id = id_of(m, "id"),
					       .step = number(m, "step"),
					       .pid = (int)number(m, "pid"),
					       .since_us = clock_mono_us() - number(m, "waited_us"),
					       .kind = kind_of(m),
					       .is_dir = truth(m, "directory"),
					       .has_step = truth(m, "has_step"),
					       .secret = truth(m, "secret"),
					       .no_dir = truth(m, "no_dir"),
					       .no_tree = truth(m, "no_tree"),
					       .timeout_s = (uint32_t)number(m, "timeout_s"),
					       .op = text(m, "op"),
					       .path = text(m, "path"),
					       .via = text(m, "via"),
					       .program = text(m, "program"),
					       .command = text(m, "command"),
					       .reason = text(m, "reason"),
					       .label = text(m, "step_command"),
					       .up = (unsigned)number(m, "up"),
					       .bundle = text(m, "bundle"),
					       .places = text(m, "bundle_places"),
					       .held = held ? &report : NULL});
}

static void on_row(struct mirror *m)
{
	static const char *const kinds[] = {
		[ROW_TOUCH] = "touch",	 [ROW_DENY] = "deny",	      [ROW_EXEC] = "exec",
		[ROW_ASK] = "ask",	 [ROW_DECISION] = "decision", [ROW_NOTE] = "note",
		[ROW_EXTERNAL] = "edit",
	};

	struct row *row =
		model_add_row(&m->model, (enum row_kind)word(m, "kind", kinds, ARRAY_LEN(kinds)),
			      number(m, "step"), (int)number(m, "pid"), (int)number(m, "result"),
			      text(m, "op"), text(m, "text"), text(m, "more"));

	row->wall_us = number(m, "time_us");
}

static void on_step(struct mirror *m)
{
	int64_t id = number(m, "step");
	struct step_row *s = model_step(&m->model, id);

	if (!s)
		s = model_add_step(&m->model, id, (enum step_kind)number(m, "kind"),
				   text(m, "command"), number(m, "began_us"));
	free(s->command);
	s->command = xstrdup(text(m, "command"));
	s->running = truth(m, "running");
	s->undone = truth(m, "undone");
	s->incomplete = truth(m, "incomplete");
	s->ended_us = number(m, "ended_us");
	s->exit_status = (int)number(m, "status");
	s->paths = (size_t)id_of(m, "paths");
	s->created = (size_t)id_of(m, "created");
	s->modified = (size_t)id_of(m, "modified");
	s->deleted = (size_t)id_of(m, "deleted");
	s->renamed = (size_t)id_of(m, "renamed");
	m->model.version++;
}

static void on_rule(struct mirror *m)
{
	uint64_t rule = id_of(m, "rule");
	int scope = answers_find_scope(text(m, "scope")),
	    extent = answers_find_extent(text(m, "extent"));

	for (size_t i = 0; i < m->model.n_given; i++) {
		if (m->model.given[i].rule != rule)
			continue;
		m->model.given[i].over = truth(m, "over");
		if (*text(m, "left"))
			model_set_left(&m->model, rule, text(m, "left"));
		m->model.version++;
		return;
	}
	model_add_given(&m->model,
			&(struct given){.rule = rule,
					.kind = kind_of(m),
					.answer = {.allow = truth(m, "allow"),
						   .scope = (enum answer_scope)MAX(scope, 0),
						   .extent = (enum answer_extent)MAX(extent, 0),
						   .until = number(m, "until")},
					.object = text(m, "path"),
					.words = text(m, "words"),
					.left = *text(m, "left") ? text(m, "left") : NULL,
					.wall_us = number(m, "time_us"),
					.over = truth(m, "over")});
}

static void on_reply(struct mirror *m)
{
	if (truth(m, "ok"))
		return;
	free(m->refusal);
	m->refusal = xstrdup(text(m, "error"));
	m->model.version++;
}

static void apply(struct mirror *m)
{
	static const struct {
		const char *type;
		void (*fn)(struct mirror *m);
	} known[] = {
		{"event.fs_request", on_request}, {"event.audit", on_row}, {"event.step", on_step},
		{"event.rule", on_rule},	  {"reply", on_reply},	   {"hello", on_hello}};
	const char *type = link_field(&m->link, "type");

	if (str_eq(type, "event.fs_gone"))
		model_remove_ask(&m->model, id_of(m, "id"));
	else if (str_eq(type, "event.step_gone"))
		model_remove_step(&m->model, number(m, "step"));
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(type, known[i].type))
			known[i].fn(m);
}

/* ---- life ------------------------------------------------------------------------------------ */

struct mirror *mirror_open(struct link *l)
{
	struct mirror *m = xcalloc(1, sizeof(*m));

	m->link = *l;
	*l = (struct link){.fd = -1, .in = (struct buf)BUF_INIT};
	audit_record_init(&l->record);
	m->out = (struct buf)BUF_INIT;
	model_init(&m->model);
	io_set_nonblock(m->link.fd, true);
	apply(m); /* the greeting, which the link has read */
	buf_str(&m->out, "{\"type\":\"cmd.history\"}\n");
	/* and with it what was sent at once: no event will come for that */
	m->broken = mirror_ready(m, true, true);
	return m;
}

void mirror_close(struct mirror *m)
{
	if (!m)
		return;
	link_done(&m->link);
	model_done(&m->model);
	buf_done(&m->out);
	free(m->folder);
	free(m->refusal);
	free(m);
}

struct model *mirror_model(struct mirror *m)
{
	return &m->model;
}

const char *mirror_folder(const struct mirror *m)
{
	return m->folder;
}

int mirror_fd(const struct mirror *m)
{
	return m->link.fd;
}

bool mirror_wants_write(const struct mirror *m)
{
	return m->out.len > 0;
}

static int send_out(struct mirror *m)
{
	while (m->out.len) {
		ssize_t n = send(m->link.fd, m->out.data, m->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -EPIPE;
		buf_drop_front(&m->out, (size_t)n);
	}
	return 0;
}

int mirror_ready(struct mirror *m, bool readable, bool writable)
{
	struct err err = {0};
	int r = m->broken ? m->broken : writable ? send_out(m) : 0;

	while (r == 0 && readable) {
		r = link_poll(&m->link, &err);
		if (r == 0)
			return 0;
		if (r > 0) {
			apply(m);
			r = 0;
		}
	}
	return r < 0 ? -EPIPE : 0;
}

char *mirror_refusal(struct mirror *m)
{
	return take_ptr(&m->refusal);
}

void mirror_answer(struct mirror *m, uint64_t ask, const struct answer *a)
{
	buf_fmt(&m->out,
		"{\"type\":\"cmd.%s\",\"id\":%" PRIu64
		",\"scope\":\"%s\",\"extent\":\"%s\",\"up\":%u,\"until\":%" PRId64 "}\n",
		a->allow ? "approve" : "deny", ask, answers_scope_name(a->scope),
		answers_extent_name(a->extent), a->up, a->scope == SCOPE_ONCE ? 0 : a->until);
	send_out(m);
}

void mirror_revoke(struct mirror *m, uint64_t rule)
{
	buf_fmt(&m->out, "{\"type\":\"cmd.revoke\",\"rule\":\"%" PRIu64 "\"}\n", rule);
	send_out(m);
}
