/* applier - builds a model from the events of a recording. */
/* SPDX-License-Identifier: MIT */
#include "core/record/applier.h"
#include "core/record/recording.h"

#include <errno.h>
#include <string.h>

#define STEPS_MAX 20000 /* what a session makes in a week; each lookup searches them */

void applier_init(struct applier *a)
{
	*a = (struct applier){0};
	audit_record_init(&a->record);
}

void applier_done(struct applier *a)
{
	audit_record_done(&a->record);
}

void applier_reset(struct model *m)
{
	uint64_t version = m->version;

	model_done(m);
	model_init(m);
	m->version = version + 1;
	m->started = true;
}

static int64_t number(const struct applier *a, const char *name)
{
	const char *s = audit_record_get(&a->record, name, NULL);

	return s ? strtoll(s, NULL, 10) : 0;
}

/* Returns the index of a word in an enumeration of n. */
static int choice(const struct applier *a, const char *name, int n)
{
	int64_t v = number(a, name);

	return (int)MIN(MAX(v, (int64_t)0), (int64_t)n - 1);
}

static char *text(const struct applier *a, const char *name)
{
	const char *s = audit_record_get(&a->record, name, NULL);

	return (char *)(uintptr_t)(s ? s : "");
}

/* Returns at most max strings, each ending with a NUL; not copied. */
static size_t list(const struct applier *a, const char *name, char **out, size_t max)
{
	size_t len = 0, n = 0;
	const char *s = audit_record_get(&a->record, name, &len), *end = s ? s + len : NULL;

	while (s && s < end && n < max) {
		out[n++] = (char *)(uintptr_t)s;
		s += strlen(s) + 1;
	}
	return n;
}

static void set(char **to, const char *words)
{
	free(*to);
	*to = xstrdup(words);
}

/* ---- events -----------------------------------------------------------------------------------
 */

static void on_session(struct applier *a, struct model *m)
{
	snprintf(m->session, sizeof(m->session), "%s", text(a, "session"));
	snprintf(m->backend, sizeof(m->backend), "%s", text(a, "backend"));
	snprintf(m->tier, sizeof(m->tier), "%s", text(a, "tier"));
	set(&m->home, text(a, "home"));
	set(&m->command, text(a, "command"));
	m->network = number(a, "network") != 0;
}

static void on_row(struct applier *a, struct model *m)
{
	struct row *r =
		model_add_row(m, (enum row_kind)choice(a, "kind", ROW_EXTERNAL + 1),
			      number(a, "step"), (int)number(a, "pid"), (int)number(a, "result"),
			      text(a, "op"), text(a, "text"), text(a, "more"));

	r->wall_us = number(a, "wall");
	r->unasked = number(a, "unasked") != 0;
	r->expected = number(a, "expected") != 0;
}

static void on_step(struct applier *a, struct model *m)
{
	int64_t id = number(a, "id"), state = number(a, "state");
	struct step_row *s = model_step(m, id);

	if (!s && m->n_steps >= STEPS_MAX)
		return;
	if (!s)
		s = model_add_step(m, id, (enum step_kind)choice(a, "kind", STEP_API + 1),
				   text(a, "command"), number(a, "began"));
	set(&s->command, text(a, "command"));
	s->running = state & 1;
	s->undone = state & 2;
	s->incomplete = state & 4;
	s->over = state & 8;
	s->gone = state & 16;
	s->elsewhere = state & 32;
	s->earlier = state & 64;
	s->granted = state & 128;
	s->ended_us = number(a, "ended");
	s->exit_status = (int)number(a, "status");
	s->paths = (size_t)number(a, "paths");
	s->created = (size_t)number(a, "created");
	s->modified = (size_t)number(a, "modified");
	s->deleted = (size_t)number(a, "deleted");
	s->renamed = (size_t)number(a, "renamed");
}

static void on_step_gone(struct applier *a, struct model *m)
{
	model_remove_step(m, number(a, "id"));
}

static void on_ask(struct applier *a, struct model *m)
{
	int64_t flags = number(a, "flags");
	int64_t t = number(a, "t"), waited = t > 0 && t < a->at_us ? a->at_us - t : 0;
	uint64_t id = (uint64_t)number(a, "id");

	model_remove_ask(m, id);
	model_add_ask(m, &(struct ask){
				 .id = id,
				 .step = number(a, "step"),
				 .pid = (int)number(a, "pid"),
				 .since_us = a->now_us - waited,
				 .kind = (enum rule_kind)choice(a, "kind", RULE_KINDS),
				 .is_dir = flags & 1,
				 .secret = flags & 2,
				 .has_step = flags & 4,
				 .no_dir = flags & 8,
				 .no_tree = flags & 16,
				 .call_only = flags & 32,
				 .timeout_s = (uint32_t)number(a, "timeout"),
				 .op = text(a, "op"),
				 .path = text(a, "path"),
				 .program = text(a, "program"),
				 .command = text(a, "command"),
				 .reason = text(a, "reason"),
				 .via = text(a, "via"),
				 .label = text(a, "label"),
				 .up = (unsigned)choice(a, "up", ANSWER_UP_MAX + 1),
				 .bundle = text(a, "bundle"),
				 .places = text(a, "places"),
			 });
}

static void on_ask_gone(struct applier *a, struct model *m)
{
	model_remove_ask(m, (uint64_t)number(a, "id"));
}

static void on_held(struct applier *a, struct model *m)
{
	struct guard_report r = {
		.ask = (uint64_t)number(a, "id"),
		.step = number(a, "step"),
		.pid = number(a, "pid"),
		.what = (enum loss)choice(a, "what", LOSS_KINDS),
		.ends = (enum guard_ends)choice(a, "ends", GUARD_ENDS_STRAYS + 1),
		.by_line = number(a, "by_line") != 0,
		.partial = number(a, "partial") != 0,
		.count = (uint64_t)number(a, "count"),
		.held = (uint64_t)number(a, "calls"),
		.timeout_s = (uint32_t)number(a, "timeout"),
		.command = text(a, "command"),
	};
	char *ops[GUARD_SAMPLES];
	size_t n_ops = list(a, "ops", ops, GUARD_SAMPLES);

	r.n_was = list(a, "was", r.was, GUARD_SAMPLES);
	r.n_would = list(a, "would", r.would, GUARD_SAMPLES);
	for (size_t i = 0; i < r.n_would; i++)
		r.ops[i] = i < n_ops ? ops[i] : text(a, "none");
	if (m->n_asks < MODEL_ASKS)
		model_set_held(m, &r);
}

static void on_given(struct applier *a, struct model *m)
{
	struct given g = {
		.ask = (uint64_t)number(a, "ask"),
		.rule = (uint64_t)number(a, "rule"),
		.kind = (enum rule_kind)choice(a, "kind", RULE_KINDS),
		.answer = {.allow = number(a, "allow") != 0,
			   .scope = (enum answer_scope)choice(a, "scope", SCOPE_ORG + 1),
			   .extent = (enum answer_extent)choice(a, "extent", EXTENT_BUNDLE + 1),
			   .up = (unsigned)choice(a, "up", ANSWER_UP_MAX + 1),
			   .until = number(a, "until")},
		.object = text(a, "object"),
		.words = text(a, "words"),
		.left = *text(a, "left") ? text(a, "left") : NULL,
		.wall_us = number(a, "wall"),
		.over = number(a, "over") != 0,
	};
	size_t i = (size_t)number(a, "i");

	if (i >= m->n_given) {
		model_add_given(m, &g);
		return;
	}
	set(&m->given[i].object, g.object);
	set(&m->given[i].words, g.words);
	set(&m->given[i].left, g.left);
	m->given[i].ask = g.ask;
	m->given[i].rule = g.rule;
	m->given[i].kind = g.kind;
	m->given[i].answer = g.answer;
	m->given[i].over = g.over;
	m->given_version++;
}

static void on_edits(struct applier *a, struct model *m)
{
	(void)a;
	model_set_edits(m, NULL, 0);
}

static void on_edit(struct applier *a, struct model *m)
{
	char *paths[20];
	struct barrier b = {.first_us = number(a, "first"),
			    .last_us = number(a, "last"),
			    .count = (size_t)number(a, "count"),
			    .after = number(a, "after"),
			    .paths = paths};

	b.n_paths = list(a, "paths", paths, ARRAY_LEN(paths));
	if (m->n_edits >= STEPS_MAX)
		return;
	m->edits = xrealloc(m->edits, (m->n_edits + 1) * sizeof(*m->edits));
	m->edits[m->n_edits++] = barrier_copy(&b);
}

static void on_state(struct applier *a, struct model *m)
{
	m->started = number(a, "started") != 0;
	m->exited = number(a, "exited") != 0;
	m->wait_status = (int)number(a, "status");
	m->network = number(a, "network") != 0;
	m->cpu_percent = (double)number(a, "cpu") / 10;
	m->memory = (uint64_t)number(a, "memory");
	m->n_stopped = (uint64_t)number(a, "n_stopped");
	if (*text(a, "stopped"))
		set(&m->stopped, text(a, "stopped"));
}

static const struct {
	const char *name;
	void (*fn)(struct applier *a, struct model *m);
} events[] = {
	{"session", on_session},     {"row", on_row},	  {"step", on_step},
	{"step-gone", on_step_gone}, {"ask", on_ask},	  {"ask-gone", on_ask_gone},
	{"held", on_held},	     {"given", on_given}, {"edits", on_edits},
	{"edit", on_edit},	     {"state", on_state},
};

int apply_event(struct applier *a, struct model *m, const char *json, size_t len)
{
	const char *what;

	if (audit_record_parse(&a->record, json, len) < 0)
		return -EBADMSG;
	what = text(a, "e");
	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		if (!str_eq(what, events[i].name))
			continue;
		events[i].fn(a, m);
		m->version++;
	}
	return 0;
}

int apply_peek(const char *json, size_t len, int64_t *ret_us, bool *ret_row)
{
	static const char head[] = "{\"t\":", row[] = ",\"e\":\"row\"";
	const char *p = json + sizeof(head) - 1, *end = json + len;
	int64_t t = 0;

	if (len < sizeof(head) || memcmp(json, head, sizeof(head) - 1) != 0)
		return -EBADMSG;
	for (; p < end && *p >= '0' && *p <= '9' && t < INT64_MAX / 20; p++)
		t = t * 10 + (*p - '0');
	*ret_us = t;
	*ret_row = (size_t)(end - p) >= sizeof(row) - 1 && memcmp(p, row, sizeof(row) - 1) == 0;
	return 0;
}

bool applier_is_row(const struct moment *e)
{
	int64_t t;
	bool row = false;

	return apply_peek(e->data.data, e->data.len, &t, &row) == 0 && row;
}

bool apply_is_measure(const char *json, size_t len)
{
	static const char state[] = ",\"e\":\"state\"", exited[] = "\"exited\":";
	const char *comma = memchr(json, ',', len);
	size_t left = comma ? len - (size_t)(comma - json) : 0;

	return left >= sizeof(state) - 1 && memcmp(comma, state, sizeof(state) - 1) == 0 &&
	       !memmem(comma, left, exited, sizeof(exited) - 1);
}
