/* model_asks - the questions of a model: which wait, which share a prompt, and what was allowed. */
/* SPDX-License-Identifier: MIT */
#include "core/session/model.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"

static void ask_done(struct ask *a)
{
	free(a->op);
	free(a->path);
	free(a->program);
	free(a->command);
	free(a->reason);
	free(a->via);
	free(a->label);
	free(a->bundle);
	free(a->places);
	guard_report_free(a->held);
}

static void given_done(struct given *g)
{
	free(g->object);
	free(g->words);
	free(g->left);
}

void model_asks_done(struct model *m)
{
	for (size_t i = 0; i < m->n_asks; i++)
		ask_done(&m->asks[i]);
	free(m->asks);
	for (size_t i = 0; i < m->n_given; i++)
		given_done(&m->given[i]);
	free(m->given);
}

int ask_up_to(const struct ask *a, const char *other)
{
	size_t len = strlen(a->path);

	if (!a->is_dir)
		while (len > 0 && a->path[len] != '/')
			len--;
	for (int up = 0; len > 0 && up <= (int)a->up && !a->no_tree; up++) {
		if (strncmp(a->path, other, len) == 0 && other[len] == '/')
			return up;
		do
			len--;
		while (len > 0 && a->path[len] != '/');
	}
	return -1;
}

static bool same_directory(const struct ask *a, const struct ask *b)
{
	const char *x = strrchr(a->path, '/'), *y = strrchr(b->path, '/');

	return x && y && x - a->path == y - b->path &&
	       memcmp(a->path, b->path, (size_t)(x - a->path)) == 0;
}

/* Returns whether one prompt can show both: requests of one program at a time in one tree that may
 * be allowed as a whole, or of one bundle. */
static bool same_prompt(const struct ask *a, const struct ask *b)
{
	int64_t apart = a->since_us - b->since_us;

	if (a->held || b->held || a->own || b->own || a->kind != b->kind || a->is_dir || b->is_dir)
		return false;
	if (a->bundle && *a->bundle)
		return str_eq(a->bundle, b->bundle);
	if (a->pid == b->pid && same_directory(a, b))
		return true;
	return str_eq(a->program, b->program) && apart > -ASK_TOGETHER_US &&
	       apart < ASK_TOGETHER_US && ask_up_to(a, b->path) >= 0 && ask_up_to(b, a->path) >= 0;
}

static void join_prompt(struct model *m, struct ask *a)
{
	a->prompt = a->id;
	a->leads = true;
	for (const struct ask *b = m->asks; b < a && a->leads; b++) {
		if (!b->leads || !same_prompt(a, b))
			continue;
		a->prompt = b->prompt;
		a->leads = false;
	}
	m->n_prompts += a->leads;
}

/* Hands the prompt to the next oldest request. */
static void leave_prompt(struct model *m, const struct ask *a)
{
	if (!a->leads)
		return;
	for (struct ask *b = &m->asks[a - m->asks + 1]; b < m->asks + m->n_asks; b++) {
		if (b->prompt == a->prompt) {
			b->leads = true;
			return;
		}
	}
	m->n_prompts--;
}

void model_add_ask(struct model *m, const struct ask *a)
{
	if (m->n_asks >= MODEL_ASKS && !a->held) /* held steps are few, and reported once */
		return;
	m->asks = xrealloc(m->asks, (m->n_asks + 1) * sizeof(*m->asks));
	m->asks[m->n_asks++] = (struct ask){
		.id = a->id,
		.step = a->step,
		.pid = a->pid,
		.since_us = a->since_us,
		.kind = a->kind,
		.is_dir = a->is_dir,
		.has_step = a->has_step,
		.secret = a->secret,
		.no_dir = a->no_dir,
		.no_tree = a->no_tree,
		.own = a->own,
		.timeout_s = a->timeout_s,
		.call_only = a->call_only,
		.op = xstrdup(a->op),
		.path = xstrdup(a->path),
		.program = xstrdup(a->program),
		.command = xstrdup(a->command),
		.reason = xstrdup(a->reason),
		.via = xstrdup(a->via),
		.label = xstrdup(a->label),
		.up = a->up,
		.bundle = xstrdup(a->bundle),
		.places = xstrdup(a->places),
		.held = a->held ? guard_report_copy(a->held) : NULL,
	};
	join_prompt(m, &m->asks[m->n_asks - 1]);
	m->version++;
}

bool model_set_held(struct model *m, const struct guard_report *r)
{
	for (size_t i = 0; i < m->n_asks; i++) {
		struct ask *a = &m->asks[i];

		if (a->id != r->ask || !a->held)
			continue;
		guard_report_free(a->held);
		a->held = guard_report_copy(r);
		m->version++;
		return false;
	}
	model_add_ask(m, &(struct ask){
				 .id = r->ask,
				 .step = r->step,
				 .pid = (int)r->pid,
				 .since_us = clock_mono_us(),
				 .kind = RULE_WRITE,
				 .timeout_s = r->timeout_s,
				 .op = r->n_would ? r->ops[0] : NULL,
				 .path = r->n_would ? r->would[0] : NULL,
				 .command = r->command,
				 .held = (struct guard_report *)(uintptr_t)r,
			 });
	return true;
}

void model_remove_ask(struct model *m, uint64_t id)
{
	for (size_t i = 0; i < m->n_asks; i++) {
		if (m->asks[i].id != id)
			continue;
		leave_prompt(m, &m->asks[i]);
		ask_done(&m->asks[i]);
		memmove(&m->asks[i], &m->asks[i + 1], (m->n_asks - i - 1) * sizeof(*m->asks));
		m->n_asks--;
		m->version++;
		return;
	}
}

const struct ask *model_ask(const struct model *m, uint64_t id)
{
	for (size_t i = 0; i < m->n_asks; i++)
		if (m->asks[i].id == id)
			return &m->asks[i];
	return NULL;
}

static size_t room_for_given(struct model *m)
{
	size_t i = 0;

	if (m->n_given < MODEL_GIVEN)
		return m->n_given++;
	while (i < m->n_given - 1 && !m->given[i].over)
		i++;
	given_done(&m->given[i]);
	memmove(&m->given[i], &m->given[i + 1], (m->n_given - i - 1) * sizeof(*m->given));
	return m->n_given - 1;
}

void model_add_given(struct model *m, const struct given *g)
{
	size_t i;

	if (!m->given)
		m->given = xcalloc(MODEL_GIVEN, sizeof(*m->given));
	i = room_for_given(m);
	m->given[i] = *g;
	m->given[i].object = xstrdup(g->object);
	m->given[i].words = xstrdup(g->words);
	m->given[i].left = xstrdup(g->left);
	m->given_version++;
	m->version++;
}

static void set_words(struct model *m, char **to, const char *words)
{
	free(*to);
	*to = xstrdup(words);
	m->version++;
}

const struct given *model_set_left(struct model *m, uint64_t rule, const char *words)
{
	for (size_t i = 0; rule && i < m->n_given; i++) {
		if (m->given[i].rule != rule)
			continue;
		set_words(m, &m->given[i].left, words);
		m->given_version++;
		return &m->given[i];
	}
	if (!rule)
		set_words(m, &m->left, words);
	return NULL;
}
