/* own_asks - questions about actions for the agent outside the sandbox: no call is held. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/session/session_priv.h"

/* ---- numbers --------------------------------------------------------------------------------- */

uint64_t session_known_ask(const struct session *s, uint64_t keeper)
{
	for (size_t i = s->n_ask_ids; i-- > 0;)
		if (s->ask_ids[i].keeper == keeper)
			return s->ask_ids[i].id;
	return 0;
}

uint64_t session_ask_id(struct session *s, uint64_t keeper)
{
	uint64_t known = session_known_ask(s, keeper);

	if (known)
		return known;
	s->ask_ids = xrealloc(s->ask_ids, (s->n_ask_ids + 1) * sizeof(*s->ask_ids));
	s->ask_ids[s->n_ask_ids++] = (struct ask_id){.id = ++s->last_ask, .keeper = keeper};
	return s->last_ask;
}

uint64_t session_keeper_id(const struct session *s, uint64_t id)
{
	for (size_t i = s->n_ask_ids; i-- > 0;)
		if (s->ask_ids[i].id == id)
			return s->ask_ids[i].keeper;
	return 0;
}

void session_remove_ask(struct session *s, uint64_t id)
{
	model_remove_ask(&s->model, id);
	for (size_t i = 0; i < s->n_ask_ids; i++) {
		if (s->ask_ids[i].id != id)
			continue;
		s->ask_ids[i] = s->ask_ids[--s->n_ask_ids];
		return;
	}
}

/* ---- questions ------------------------------------------------------------------------------- */

uint64_t session_ask(struct session *s, const struct own_ask *a)
{
	static const char editor[] = "the agent's editor";

	if (s->model.n_asks >= MODEL_ASKS)
		return 0;
	s->last_ask++;
	session_note_ask(
		s, &(struct ask){.id = s->last_ask,
				 .since_us = clock_mono_us(),
				 .kind = a->kind,
				 .no_dir = a->whole,
				 .no_tree = a->whole,
				 .own = true,
				 .timeout_s = a->timeout_s,
				 .op = (char *)(uintptr_t)a->op,
				 .path = (char *)(uintptr_t)a->path,
				 .via = (char *)(uintptr_t)a->via,
				 .program = (char *)(uintptr_t)(a->program ? a->program : editor),
				 .command = s->model.command,
				 .label = (char *)(uintptr_t) "",
				 .bundle = (char *)(uintptr_t) "",
				 .places = (char *)(uintptr_t) "",
				 .reason = (char *)(uintptr_t)a->reason});
	session_flush_audit(s);
	if (s->on->changed)
		s->on->changed(s->data);
	return s->last_ask;
}

void session_on_own_answer(struct session *s, uint64_t id, bool allow)
{
	if (s->on->answered)
		s->on->answered(s->data, id, allow);
}

void session_withdraw(struct session *s, uint64_t id)
{
	const struct ask *a = model_ask(&s->model, id);
	AUTO_FREE char *words = a ? xasprintf("withdrawn: %s %s", a->op, a->path) : NULL;

	if (!a)
		return;
	model_add_row(&s->model, ROW_NOTE, 0, 0, 0, "note", words, NULL);
	session_remove_ask(s, id);
	if (s->on->changed)
		s->on->changed(s->data);
}

void session_expire_asks(struct session *s)
{
	int64_t now = clock_mono_us();

	session_tell_crowd(s);
	for (size_t i = s->model.n_asks; i-- > 0;) {
		const struct ask *a = &s->model.asks[i];
		uint64_t id = a->id;

		if (!a->own || !a->timeout_s || now - a->since_us < a->timeout_s * INT64_C(1000000))
			continue;
		session_note_timeout(s, a);
		session_flush_audit(s);
		session_remove_ask(s, id);
		session_on_own_answer(s, id, false);
	}
}

/* ---- lasting answers ------------------------------------------------------------------------- */

static bool is_about(const struct given *g, const char *path)
{
	AUTO_FREE char *dir = path_dir(g->object);
	AUTO_FREE char *parent = path_dir(path);

	if (g->answer.extent == EXTENT_DIR)
		return str_eq(dir, parent);
	if (g->answer.extent == EXTENT_TREE)
		return path_is_beneath(path, dir);
	return str_eq(g->object, path);
}

int session_recall(struct session *s, enum rule_kind kind, const char *path)
{
	int found = -1;

	for (size_t i = 0; found && i < s->model.n_given; i++) {
		const struct given *g = &s->model.given[i];

		if (!session_rule_is_own(g->rule) || g->over || g->kind != kind ||
		    (g->answer.until && g->answer.until <= clock_expiry_s()) || !is_about(g, path))
			continue;
		found = g->answer.allow; /* a denial wins */
	}
	return s->frozen && found > 0 ? -1 : found;
}
