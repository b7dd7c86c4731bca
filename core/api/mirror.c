/* mirror - the model of a session that runs elsewhere, rebuilt from what its socket tells. */
/* SPDX-License-Identifier: MIT */
#include "core/api/mirror_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/policy/rules.h"
#include "core/session/answers.h"

int64_t mirror_number(const struct mirror *m, const char *name)
{
	return strtoll(link_field(&m->link, name), NULL, 10);
}

uint64_t mirror_id_of(const struct mirror *m, const char *name)
{
	return strtoull(link_field(&m->link, name), NULL, 10);
}

bool mirror_truth(const struct mirror *m, const char *name)
{
	return str_eq(link_field(&m->link, name), "true");
}

/* "null" is how the reader gives what is not there. */
char *mirror_text(const struct mirror *m, const char *name)
{
	const char *s = link_field(&m->link, name);

	return (char *)(uintptr_t)(str_eq(s, "null") ? "" : s);
}

int mirror_word(const struct mirror *m, const char *name, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(link_field(&m->link, name), words[i]))
			return (int)i;
	return 0;
}

static enum rule_kind kind_of(const struct mirror *m)
{
	return (enum rule_kind)mirror_word(m, "kind", rule_kind_words, RULE_KINDS);
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void on_hello(struct mirror *m)
{
	struct model *to = &m->model;

	m->folder = xstrdup(mirror_text(m, "folder"));
	to->folder = m->folder;
	to->command = xstrdup(mirror_text(m, "command"));
	to->home = xstrdup(getenv("HOME"));
	to->started = true;
	to->persists = true;
	snprintf(to->session, sizeof(to->session), "%s", mirror_text(m, "session"));
	snprintf(to->backend, sizeof(to->backend), "%s", mirror_text(m, "backend"));
	to->network = mirror_truth(m, "network");
	to->asks_network = mirror_truth(m, "asks_network");
	to->undo_home = mirror_truth(m, "undo_home");
	if (*mirror_text(m, "own_settings"))
		to->own_offer = xstrdup(mirror_text(m, "own_settings"));
}

/* Of a step that a safeguard holds: what it has taken away so far stays in the session's console.
 */
static struct guard_report held_report(const struct mirror *m)
{
	struct guard_report r = {
		.ask = mirror_id_of(m, "id"),
		.step = mirror_number(m, "step"),
		.pid = mirror_number(m, "pid"),
		.what = (enum loss)MIN(mirror_id_of(m, "held"), (uint64_t)LOSS_KINDS - 1),
		.by_line = mirror_truth(m, "held_by_line"),
		.count = mirror_id_of(m, "held_count"),
		.held = mirror_id_of(m, "held_calls"),
		.timeout_s = (uint32_t)mirror_number(m, "timeout_s"),
		.command = mirror_text(m, "command"),
	};

	r.would[0] = mirror_text(m, "path");
	r.ops[0] = mirror_text(m, "op");
	r.n_would = *r.would[0] ? 1 : 0;
	return r;
}

static void on_request(struct mirror *m)
{
	bool held = *link_field(&m->link, "held");
	struct guard_report report = held_report(m);

	model_add_ask(&m->model,
		      &(struct ask){.id = mirror_id_of(m, "id"),
				    .step = mirror_number(m, "step"),
				    .pid = (int)mirror_number(m, "pid"),
				    .since_us = clock_mono_us() - mirror_number(m, "waited_us"),
				    .kind = kind_of(m),
				    .is_dir = mirror_truth(m, "directory"),
				    .has_step = mirror_truth(m, "has_step"),
				    .secret = mirror_truth(m, "secret"),
				    .no_dir = mirror_truth(m, "no_dir"),
				    .no_tree = mirror_truth(m, "no_tree"),
				    .timeout_s = (uint32_t)mirror_number(m, "timeout_s"),
				    .op = mirror_text(m, "op"),
				    .path = mirror_text(m, "path"),
				    .via = mirror_text(m, "via"),
				    .program = mirror_text(m, "program"),
				    .command = mirror_text(m, "command"),
				    .reason = mirror_text(m, "reason"),
				    .label = mirror_text(m, "step_command"),
				    .up = (unsigned)mirror_number(m, "up"),
				    .bundle = mirror_text(m, "bundle"),
				    .places = mirror_text(m, "bundle_places"),
				    .held = held ? &report : NULL});
}

/* Rows are numbered: a session skips what is old, or comes faster than it is read. */
static void note_left_out(struct mirror *m, uint64_t seq)
{
	char words[128];

	if (seq > m->row + 1) {
		snprintf(words, sizeof(words),
			 "%" PRIu64 " row%s left out here: the session's own console has them",
			 seq - m->row - 1, seq - m->row == 2 ? "" : "s");
		model_add_row(&m->model, ROW_NOTE, 0, 0, 0, "note", words, NULL)->wall_us =
			mirror_number(m, "time_us");
	}
	m->row = MAX(m->row, seq);
}

static void on_row(struct mirror *m)
{
	static const char *const kinds[] = {
		[ROW_TOUCH] = "touch",	 [ROW_DENY] = "deny",	      [ROW_EXEC] = "exec",
		[ROW_ASK] = "ask",	 [ROW_DECISION] = "decision", [ROW_NOTE] = "note",
		[ROW_EXTERNAL] = "edit",
	};

	struct row *row;

	note_left_out(m, mirror_id_of(m, "seq"));
	row = model_add_row(&m->model,
			    (enum row_kind)mirror_word(m, "kind", kinds, ARRAY_LEN(kinds)),
			    mirror_number(m, "step"), (int)mirror_number(m, "pid"),
			    (int)mirror_number(m, "result"), mirror_text(m, "op"),
			    mirror_text(m, "text"), mirror_text(m, "more"));

	row->wall_us = mirror_number(m, "time_us");
	if (mirror_id_of(m, "port") <= UINT16_MAX)
		model_add_offer(&m->model, row->seq, (uint16_t)mirror_id_of(m, "port"));
}

/* Steps of earlier sessions may be told after newer ones. */
static struct step_row *add_step(struct mirror *m, int64_t id)
{
	model_add_step(&m->model, id, (enum step_kind)mirror_number(m, "kind"),
		       mirror_text(m, "command"), mirror_number(m, "began_us"));
	model_sort_steps(&m->model);
	return model_step(&m->model, id);
}

static void on_step(struct mirror *m)
{
	int64_t id = mirror_number(m, "step");
	struct step_row *s = model_step(&m->model, id);

	if (!s)
		s = add_step(m, id);
	free(s->command);
	s->command = xstrdup(mirror_text(m, "command"));
	s->running = mirror_truth(m, "running");
	s->undone = mirror_truth(m, "undone");
	s->incomplete = mirror_truth(m, "incomplete");
	s->earlier = mirror_truth(m, "earlier");
	s->elsewhere = mirror_truth(m, "elsewhere");
	s->over = mirror_truth(m, "over");
	s->gone = mirror_truth(m, "gone");
	s->ended_us = mirror_number(m, "ended_us");
	s->exit_status = (int)mirror_number(m, "status");
	s->paths = (size_t)mirror_id_of(m, "paths");
	s->created = (size_t)mirror_id_of(m, "created");
	s->modified = (size_t)mirror_id_of(m, "modified");
	s->deleted = (size_t)mirror_id_of(m, "deleted");
	s->renamed = (size_t)mirror_id_of(m, "renamed");
	m->model.version++;
}

static void on_rule(struct mirror *m)
{
	uint64_t rule = mirror_id_of(m, "rule");
	int scope = answers_find_scope(mirror_text(m, "scope")),
	    extent = answers_find_extent(mirror_text(m, "extent"));

	for (size_t i = 0; i < m->model.n_given; i++) {
		if (m->model.given[i].rule != rule)
			continue;
		m->model.given[i].over = mirror_truth(m, "over");
		if (*mirror_text(m, "left"))
			model_set_left(&m->model, rule, mirror_text(m, "left"));
		m->model.version++;
		return;
	}
	model_add_given(
		&m->model,
		&(struct given){.rule = rule,
				.kind = kind_of(m),
				.answer = {.allow = mirror_truth(m, "allow"),
					   .scope = (enum answer_scope)MAX(scope, 0),
					   .extent = (enum answer_extent)MAX(extent, 0),
					   .until = mirror_number(m, "until")},
				.object = mirror_text(m, "path"),
				.words = mirror_text(m, "words"),
				.left = *mirror_text(m, "left") ? mirror_text(m, "left") : NULL,
				.wall_us = mirror_number(m, "time_us"),
				.over = mirror_truth(m, "over")});
}

static void on_turn(struct mirror *m)
{
	struct model *to = &m->model;
	struct turn_mark *last = to->n_turns ? &to->turns[to->n_turns - 1] : NULL;

	to->version++;
	if (last && last->us == mirror_number(m, "time_us")) { /* it has words now */
		free(last->words);
		last->words = xstrdup(mirror_text(m, "words"));
		return;
	}
	to->turns = xrealloc(to->turns, (to->n_turns + 1) * sizeof(*to->turns));
	to->turns[to->n_turns++] = (struct turn_mark){
		.after = mirror_number(m, "after"),
		.us = mirror_number(m, "time_us"),
		.session = mirror_truth(m, "begins_session"),
		.agent = *mirror_text(m, "agent") ? xstrdup(mirror_text(m, "agent")) : NULL,
		.words = *mirror_text(m, "words") ? xstrdup(mirror_text(m, "words")) : NULL,
	};
}

static void on_reply(struct mirror *m)
{
	if (mirror_truth(m, "ok"))
		return;
	free(m->refusal);
	m->refusal = xstrdup(mirror_text(m, "error"));
	m->model.version++;
}

static void apply(struct mirror *m)
{
	static const struct {
		const char *type;
		void (*fn)(struct mirror *m);
	} known[] = {{"event.fs_request", on_request},
		     {"event.audit", on_row},
		     {"event.step", on_step},
		     {"event.rule", on_rule},
		     {"event.turn", on_turn},
		     {"reply", on_reply},
		     {"hello", on_hello}};
	const char *type = link_field(&m->link, "type");

	if (str_eq(type, "event.fs_gone"))
		model_remove_ask(&m->model, mirror_id_of(m, "id"));
	else if (str_eq(type, "event.step_gone"))
		model_remove_step(&m->model, mirror_number(m, "step"));
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(type, known[i].type))
			known[i].fn(m);
	mirror_undo_apply(m, type);
	mirror_net_apply(m, type);
	mirror_edits_apply(m, type);
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
	undo_plan_free(m->coming);
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

int mirror_send(struct mirror *m)
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
	int r = m->broken ? m->broken : writable ? mirror_send(m) : 0;

	while (r == 0 && readable) {
		r = link_poll(&m->link, &err);
		if (r == 0)
			return 0;
		if (r > 0) {
			apply(m);
			r = 0;
		}
	}
	if (r < 0)
		mirror_undo_lost(m);
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
	mirror_send(m);
}

void mirror_own_settings(struct mirror *m, uint64_t ask)
{
	buf_fmt(&m->out, "{\"type\":\"cmd.own_settings\",\"id\":%" PRIu64 "}\n", ask);
	mirror_send(m);
}

void mirror_revoke(struct mirror *m, uint64_t rule)
{
	buf_fmt(&m->out, "{\"type\":\"cmd.revoke\",\"rule\":\"%" PRIu64 "\"}\n", rule);
	mirror_send(m);
}
