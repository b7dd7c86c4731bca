/* model_changes - writes the changes of a session's model to its recording. */
/* SPDX-License-Identifier: MIT */
#include "core/record/model_changes.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/json.h"
#include "core/record/redact.h"
#include "core/session/answers/answers.h"

#define STATE_US 5000000 /* shortest time between two reports of cpu and memory */

/* A step as the recording knows it. */
struct known_step {
	int64_t id;
	size_t paths;
	unsigned state;
	bool seen;
};

struct teller {
	struct recorder *rec;
	bool begun;
	uint64_t row;
	uint64_t *asks, *held; /* known requests; for each, how many calls are held */
	size_t n_asks;
	struct known_step *steps;
	size_t n_steps;
	uint64_t given_version;
	const struct barrier *edits;
	size_t n_edits;
	uint64_t edits_count;
	unsigned state;
	int64_t state_us, cpu;
	uint64_t memory;
	uint64_t prompts;
	bool named; /* the turn has its prompt */
	struct buf line;
};

struct teller *tell_new(struct recorder *r)
{
	struct teller *t = xcalloc(1, sizeof(*t));

	t->rec = r;
	t->line = (struct buf)BUF_INIT;
	t->state = ~0u;
	return t;
}

void tell_free(struct teller *t)
{
	if (!t)
		return;
	free(t->asks);
	free(t->held);
	free(t->steps);
	buf_done(&t->line);
	free(t);
}

/* ---- one event --------------------------------------------------------------------------------
 */

static void begin(struct teller *t, const char *what)
{
	buf_clear(&t->line);
	buf_fmt(&t->line, "{\"t\":%" PRId64 ",\"e\":\"%s\"", recorder_now(t->rec), what);
}

static bool end(struct teller *t, bool row)
{
	buf_ch(&t->line, '}');
	return recorder_own(t->rec, t->line.data, t->line.len, row);
}

static void number(struct teller *t, const char *name, int64_t v)
{
	if (v)
		buf_fmt(&t->line, ",\"%s\":%" PRId64, name, v);
}

static void bytes(struct teller *t, const char *name, const char *s, size_t len)
{
	AUTO_FREE char *copy = xmalloc(len + 1);

	memcpy(copy, s, len); /* with all NULs */
	copy[len] = '\0';
	redact_text(recorder_redact(t->rec), copy, len);
	buf_fmt(&t->line, ",\"%s\":", name);
	json_quote(&t->line, copy, len);
}

static void text(struct teller *t, const char *name, const char *s)
{
	if (s && *s)
		bytes(t, name, s, strlen(s));
}

/* Writes several strings as one, each followed by a NUL. */
static void list(struct teller *t, const char *name, char *const *strings, size_t n)
{
	AUTO_BUF struct buf all = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		buf_add(&all, strings[i] ? strings[i] : "",
			strlen(strings[i] ? strings[i] : "") + 1);
	if (all.len)
		bytes(t, name, all.data, all.len);
}

static void mark(struct teller *t, enum mark_kind kind, int64_t id, const char *what,
		 const char *words)
{
	AUTO_FREE char *all = xasprintf("%s %" PRId64 "%s%s", what, id, words && *words ? ": " : "",
					words ? words : "");

	recorder_mark(t->rec, kind, id, all);
}

/* ---- the parts of the model --------------------------------------------------------------------
 */

static bool tell_session(struct teller *t, const struct model *m)
{
	begin(t, "session");
	text(t, "session", m->session);
	text(t, "backend", m->backend);
	text(t, "tier", m->tier);
	text(t, "folder", m->folder);
	text(t, "home", m->home);
	text(t, "command", m->command);
	number(t, "network", m->network);
	return end(t, false);
}

static bool tell_row(struct teller *t, const struct row *r)
{
	begin(t, "row");
	number(t, "kind", r->kind);
	number(t, "wall", r->wall_us);
	number(t, "step", r->step);
	number(t, "pid", r->pid);
	number(t, "result", r->result);
	number(t, "unasked", r->unasked);
	number(t, "expected", r->expected);
	text(t, "op", r->op);
	text(t, "text", r->text);
	text(t, "more", r->more);
	if (!end(t, true))
		return false;
	if (r->kind == ROW_EXTERNAL) {
		AUTO_FREE char *words = xasprintf("edit from outside: %s", r->text);

		recorder_mark(t->rec, MARK_EDIT, 0, words);
	}
	return true;
}

static bool tell_rows(struct teller *t, const struct model *m)
{
	size_t first = m->row_count - MIN(m->row_count, (size_t)(m->row_seq - t->row));

	for (size_t i = first; i < m->row_count; i++) {
		const struct row *r = model_row(m, i);

		if (!tell_row(t, r))
			return false;
		t->row = r->seq;
	}
	return true;
}

static unsigned step_state(const struct step_row *s)
{
	return (s->running ? 1u : 0) | (s->undone ? 2u : 0) | (s->incomplete ? 4u : 0) |
	       (s->over ? 8u : 0) | (s->gone ? 16u : 0) | (s->elsewhere ? 32u : 0) |
	       (s->earlier ? 64u : 0) | (s->granted ? 128u : 0);
}

static bool tell_step(struct teller *t, const struct step_row *s)
{
	begin(t, "step");
	number(t, "id", s->id);
	number(t, "kind", s->kind);
	number(t, "state", step_state(s));
	number(t, "began", s->began_us);
	number(t, "ended", s->ended_us);
	number(t, "status", s->exit_status);
	number(t, "paths", (int64_t)s->paths);
	number(t, "created", (int64_t)s->created);
	number(t, "modified", (int64_t)s->modified);
	number(t, "deleted", (int64_t)s->deleted);
	number(t, "renamed", (int64_t)s->renamed);
	text(t, "command", s->command);
	return end(t, false);
}

/* Finds a step. Steps are in the model's order, so it is at `likely` unless an earlier one was
 * removed. */
static struct known_step *known_step(struct teller *t, int64_t id, size_t likely)
{
	if (likely < t->n_steps && t->steps[likely].id == id)
		return &t->steps[likely];
	for (size_t i = t->n_steps; i-- > 0;)
		if (t->steps[i].id == id)
			return &t->steps[i];
	t->steps = xrealloc(t->steps, (t->n_steps + 1) * sizeof(*t->steps));
	t->steps[t->n_steps] = (struct known_step){.id = id, .state = ~0u};
	return &t->steps[t->n_steps++];
}

/* Returns a sum that grows if the step's paths are counted again. */
static size_t count_of(const struct step_row *s)
{
	return s->paths + s->created + s->modified + s->deleted + s->renamed;
}

static bool is_news(const struct known_step *k, const struct step_row *s)
{
	return k->state != step_state(s) || (!s->running && k->paths != count_of(s));
}

static bool forget_steps(struct teller *t)
{
	size_t kept = 0;
	bool ok = true;

	for (size_t i = 0; i < t->n_steps; i++) {
		if (ok && !t->steps[i].seen) {
			begin(t, "step-gone");
			number(t, "id", t->steps[i].id);
			ok = end(t, false);
		}
		if (t->steps[i].seen || !ok)
			t->steps[kept++] = t->steps[i];
	}
	t->n_steps = kept;
	return ok;
}

static bool tell_steps(struct teller *t, const struct model *m)
{
	for (size_t i = 0; i < t->n_steps; i++)
		t->steps[i].seen = false;
	for (size_t i = 0; i < m->n_steps; i++) {
		const struct step_row *s = &m->steps[i];
		struct known_step *k = known_step(t, s->id, i);
		bool fresh = k->state == ~0u;

		k->seen = true;
		if (!is_news(k, s))
			continue;
		if (!tell_step(t, s))
			return false;
		if (fresh && !s->undone && !s->earlier)
			mark(t, MARK_STEP, s->id, "step", s->command);
		k->state = step_state(s);
		k->paths = count_of(s);
	}
	return forget_steps(t);
}

static bool tell_held(struct teller *t, const struct guard_report *h)
{
	begin(t, "held");
	number(t, "id", (int64_t)h->ask);
	number(t, "step", h->step);
	number(t, "pid", h->pid);
	number(t, "what", h->what);
	number(t, "ends", h->ends);
	number(t, "by_line", h->by_line);
	number(t, "partial", h->partial);
	number(t, "count", (int64_t)h->count);
	number(t, "calls", (int64_t)h->held);
	number(t, "timeout", h->timeout_s);
	text(t, "command", h->command);
	list(t, "was", h->was, h->n_was);
	list(t, "would", h->would, h->n_would);
	list(t, "ops", h->ops, h->n_would);
	return end(t, false);
}

static bool tell_ask(struct teller *t, const struct ask *a)
{
	int64_t flags = a->is_dir | a->secret << 1 | a->has_step << 2 | a->no_dir << 3 |
			a->no_tree << 4 | a->call_only << 5;

	if (a->held)
		return tell_held(t, a->held);
	begin(t, "ask");
	number(t, "id", (int64_t)a->id);
	number(t, "step", a->step);
	number(t, "pid", a->pid);
	number(t, "kind", a->kind);
	number(t, "flags", flags);
	number(t, "timeout", a->timeout_s);
	text(t, "op", a->op);
	text(t, "path", a->path);
	text(t, "program", a->program);
	text(t, "command", a->command);
	text(t, "reason", a->reason);
	text(t, "via", a->via);
	text(t, "label", a->label);
	number(t, "up", a->up);
	text(t, "bundle", a->bundle);
	text(t, "places", a->places);
	return end(t, false);
}

static void mark_ask(struct teller *t, const struct ask *a)
{
	AUTO_FREE char *words =
		a->held ? xasprintf("held: %s", a->held->command ? a->held->command : "")
			: xasprintf("%s %s", answers_op(a->op ? a->op : ""),
				    a->path ? a->path : "");

	mark(t, MARK_APPROVAL, (int64_t)a->id, "approval", words);
}

static bool tell_ask_gone(struct teller *t, uint64_t id)
{
	begin(t, "ask-gone");
	number(t, "id", (int64_t)id);
	return end(t, false);
}

static uint64_t news_of(const struct ask *a)
{
	return a->held ? a->held->count + a->held->held : 0;
}

/* Both lists grow only at their end, with growing ids. */
static bool tell_asks(struct teller *t, const struct model *m)
{
	AUTO_FREE uint64_t *ids = xcalloc(m->n_asks + 1, sizeof(*ids));
	AUTO_FREE uint64_t *held = xcalloc(m->n_asks + 1, sizeof(*held));
	size_t known = 0, n = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < m->n_asks; i++) {
		const struct ask *a = &m->asks[i];
		bool fresh;

		while (ok && known < t->n_asks && t->asks[known] < a->id)
			ok = tell_ask_gone(t, t->asks[known++]);
		fresh = known == t->n_asks || t->asks[known] != a->id;
		if (ok && (fresh || t->held[known] != news_of(a)))
			ok = tell_ask(t, a);
		if (!ok)
			break;
		if (fresh)
			mark_ask(t, a);
		known += !fresh;
		ids[n] = a->id;
		held[n++] = news_of(a);
	}
	while (ok && known < t->n_asks)
		ok = tell_ask_gone(t, t->asks[known++]);
	if (!ok) /* written again later, from the same state: readers take the newest */
		return false;
	free(t->asks);
	free(t->held);
	t->asks = take_ptr(&ids);
	t->held = take_ptr(&held);
	t->n_asks = n;
	return true;
}

static bool tell_given(struct teller *t, const struct model *m)
{
	if (t->given_version == m->given_version)
		return true;
	for (size_t i = 0; i < m->n_given; i++) {
		const struct given *g = &m->given[i];

		begin(t, "given");
		number(t, "i", (int64_t)i);
		number(t, "ask", (int64_t)g->ask);
		number(t, "rule", (int64_t)g->rule);
		number(t, "kind", g->kind);
		number(t, "allow", g->answer.allow);
		number(t, "scope", g->answer.scope);
		number(t, "extent", g->answer.extent);
		number(t, "up", g->answer.up);
		number(t, "until", g->answer.until);
		number(t, "wall", g->wall_us);
		number(t, "over", g->over);
		text(t, "object", g->object);
		text(t, "words", g->words);
		text(t, "left", g->left);
		if (!end(t, false))
			return false;
	}
	t->given_version = m->given_version;
	return true;
}

/* Writes all edits if their number or one of them has changed: they are few. */
static bool tell_edits(struct teller *t, const struct model *m)
{
	uint64_t count = 0;

	for (size_t i = 0; i < m->n_edits; i++)
		count += m->edits[i].count + (uint64_t)m->edits[i].last_us;
	if (t->edits == m->edits && t->n_edits == m->n_edits && t->edits_count == count)
		return true;
	begin(t, "edits");
	number(t, "n", (int64_t)m->n_edits);
	if (!end(t, false))
		return false;
	for (size_t i = 0; i < m->n_edits; i++) {
		const struct barrier *b = &m->edits[i];

		begin(t, "edit");
		number(t, "first", b->first_us);
		number(t, "last", b->last_us);
		number(t, "count", (int64_t)b->count);
		number(t, "after", b->after);
		list(t, "paths", b->paths, MIN(b->n_paths, (size_t)20));
		if (!end(t, false))
			return false;
	}
	t->edits = m->edits;
	t->n_edits = m->n_edits;
	t->edits_count = count;
	return true;
}

static bool tell_state(struct teller *t, const struct model *m)
{
	unsigned state =
		m->started | m->exited << 1 | m->network << 2 | (unsigned)m->n_stopped << 3;
	int64_t now = recorder_now(t->rec), cpu = (int64_t)(m->cpu_percent * 10);
	bool same = cpu == t->cpu && m->memory == t->memory;

	if (t->state == state && (same || now - t->state_us < STATE_US))
		return true;
	begin(t, "state");
	number(t, "started", m->started);
	number(t, "exited", m->exited);
	number(t, "status", m->wait_status);
	number(t, "network", m->network);
	number(t, "cpu", cpu);
	number(t, "memory", (int64_t)m->memory);
	number(t, "n_stopped", (int64_t)m->n_stopped);
	text(t, "stopped", m->stopped);
	if (!end(t, false))
		return false;
	t->state = state;
	t->state_us = now;
	t->cpu = cpu;
	t->memory = m->memory;
	return true;
}

static void tell_turn(struct teller *t, const struct model *m)
{
	bool named = m->prompt && *m->prompt;

	if (t->prompts != m->prompts || (m->prompts && named && !t->named))
		mark(t, MARK_TURN, (int64_t)m->prompts, "turn", m->prompt);
	t->prompts = m->prompts;
	t->named = named;
}

void tell_news(struct teller *t, const struct model *m)
{
	if (!t)
		return;
	t->begun = t->begun || tell_session(t, m);
	tell_turn(t, m);
	/* Changes without room are written after the model's next change. */
	(void)(t->begun && tell_state(t, m) && tell_steps(t, m) && tell_asks(t, m) &&
	       tell_given(t, m) && tell_edits(t, m) && tell_rows(t, m));
}
