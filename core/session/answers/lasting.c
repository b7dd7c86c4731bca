/* lasting - lists rules of settings files beside this session's answers, and removes some. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/policy/policy.h"
#include "core/policy/rules/rules.h"
#include "core/session/session_priv.h"

static void add(struct model *m, const struct rule *r)
{
	AUTO_BUF struct buf words = BUF_INIT;

	if (m->n_lasting == MODEL_GIVEN)
		return;
	if (!m->lasting)
		m->lasting = xcalloc(MODEL_GIVEN, sizeof(*m->lasting));
	rules_format(&words, r);
	m->lasting[m->n_lasting++] = (struct lasting){.allow = r->verdict == RULE_ALLOW,
						      .words = buf_take(&words),
						      .file = xstrdup(r->of->file),
						      .line = r->line,
						      .name = xstrdup(r->of->name),
						      .by_us = rules_is_answer(r->of->name)};
}

/* Tells which hosts profiles open, as the user was not asked about them. */
static void tell_profiles(struct session *s, const struct rules *rules)
{
	AUTO_BUF struct buf hosts = BUF_INIT;
	AUTO_FREE char *words = NULL;
	size_t n = 0;

	for (uint32_t i = 0; rules && i < rules_count(rules); i++) {
		const struct rule *r = rules_at(rules, i);

		if (!r || r->of->level != LEVEL_PROFILE || r->verdict != RULE_ALLOW ||
		    !(r->kinds & 1u << RULE_CONNECT))
			continue;
		buf_fmt(&hosts, "%s%s", n++ ? ", " : "", r->pattern);
	}
	if (!n)
		return;
	words = xasprintf("allowed: this folder, %zu host%s", n, n == 1 ? "" : "s");
	model_add_row(&s->model, ROW_NOTE, 0, 0, 0, "hosts", words, NULL);
	free(s->model.hosts);
	s->model.hosts = buf_take(&hosts);
}

void session_list_lasting(struct session *s, const struct policy *p)
{
	static const enum rule_level levels[] = {LEVEL_PROJECT, LEVEL_USER, LEVEL_ORG};
	const struct rules *both[2] = {NULL, NULL};

	policy_rules(p, &both[0], &both[1]);
	if (s->model.asks_network)
		tell_profiles(s, both[0]);
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		for (size_t b = 0; b < ARRAY_LEN(both); b++)
			for (uint32_t n = 0; both[b] && n < rules_count(both[b]); n++) {
				const struct rule *r = rules_at(both[b], n);

				if (r && r->of->name && r->of->file && r->pattern &&
				    r->of->level == levels[i])
					add(&s->model, r);
			}
}

int session_forget(struct session *s, size_t i, struct err *err)
{
	struct lasting *l = i < s->model.n_lasting ? &s->model.lasting[i] : NULL;
	AUTO_FREE char *words = NULL;
	int r;

	if (!l || l->removed || !l->by_us)
		return err_say(err, -EINVAL, "there is nothing to take out");
	r = rules_forget_named(l->file, l->name, err);
	if (r < 0)
		return r;
	/* A section can have several rules. */
	for (size_t k = 0; k < s->model.n_lasting; k++) {
		struct lasting *other = &s->model.lasting[k];

		other->removed |= str_eq(other->name, l->name) && str_eq(other->file, l->file);
	}
	words = xasprintf("taken out of %s: %s", l->file, l->words);
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_DECISION,
				 .latency_us = -1,
				 .op = "revoke",
				 .path = l->file,
				 .by = "console",
				 .detail = words,
			 });
	session_flush_audit(s);
	model_add_row(&s->model, ROW_DECISION, 0, 0, 0, "revoke", l->file, words);
	return 0;
}
