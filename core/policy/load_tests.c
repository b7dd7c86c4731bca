/* load_tests - runs the tests (`match`, `not-match`) in `[rule]` sections of the settings. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/load_priv.h"

#include "core/net/host.h"

struct target {
	struct buf path;
	struct pattern pattern;
};

/* Takes the one path of a test: written as a pattern, but without wildcards. */
static bool take_path(void *data, const char *pattern, const char **why)
{
	struct target *t = data;

	if (!pattern_parse(&t->pattern, pattern, why))
		return false;
	*why = "a test names one path, without wildcards";
	if (!t->pattern.plain || t->pattern.max)
		return false;
	buf_clear(&t->path);
	for (size_t i = 0; i < t->pattern.n; i++) {
		const struct pattern_part *part = &t->pattern.parts[i];

		buf_ch(&t->path, '/');
		buf_add(&t->path, pattern_literal(&t->pattern, part), part->shape.prefix_len);
	}
	return true;
}

/* Runs a test about a host. */
static void run_host_test(struct loader *l, struct rules *r, const struct config_rule *c,
			  unsigned kinds, const char *text)
{
	const unsigned all = (1u << (NET_ADDRS + 1)) - 1;
	struct net_target t;
	const char *why;

	if (!net_target_parse(&t, text, &why)) {
		loader_complain(l, c, "'%s = %s': %s", c->key, c->value, why);
		return;
	}
	for (int k = RULE_PLACES; k < RULE_KINDS; k++) {
		struct rule_match m = {0};
		bool found;

		if (!(kinds & 1u << k))
			continue;
		found = rules_decide_host(r, (enum rule_kind)k, &t, all, 0, &m) &&
			str_eq(m.rule->of->name, c->name) && str_eq(m.rule->of->file, c->file);
		if (found != (c->what == CONFIG_MATCH))
			loader_complain(l, c, "'%s = %s': %s", c->key, c->value,
					found	 ? "this rule decides"
					: m.rule ? "another rule decides"
						 : "no rule matches");
	}
}

/* Reports an error if no rule of this section decides, or for `not-match` if one does. */
static void run_test(struct loader *l, struct rules *r, const struct config_rule *c,
		     struct target *t)
{
	bool want = c->what == CONFIG_MATCH;
	const char *text = NULL, *why = NULL;
	unsigned kinds = words_kinds(c->value, &text, &why);

	buf_clear(&t->path);
	if (kinds >> RULE_PLACES) {
		run_host_test(l, r, c, kinds, text);
		return;
	}
	if (!kinds || !loader_expand(l, text, take_path, t, &why)) {
		loader_complain(l, c, "'%s = %s': %s", c->key, c->value, why);
		return;
	}
	for (int k = 0; k < RULE_PLACES && t->path.len; k++) {
		struct rule_match m = {0};
		bool found;

		if (!(kinds & 1u << k))
			continue;
		found = rules_decide(r, (enum rule_kind)k, t->path.data, 0, &m) &&
			str_eq(m.rule->of->name, c->name) && str_eq(m.rule->of->file, c->file);
		if (found == want)
			continue;
		if (want && m.rule)
			loader_complain(l, c, "'match = %s': rule '%s' decides (line %d)", c->value,
					m.rule->of->name, m.rule->line);
		else if (want)
			loader_complain(l, c, "'match = %s': no rule matches", c->value);
		else
			loader_complain(l, c, "'not-match = %s': this rule decides (line %d)",
					c->value, m.rule->line);
	}
}

bool rules_test(struct rules *r, const struct config *c, const struct rules_scope *scope,
		rules_on_error on_error, void *data)
{
	struct loader l = {.scope = scope, .on_error = on_error, .data = data, .whole = BUF_INIT};
	struct target t = {.path = BUF_INIT, .pattern = PATTERN_INIT};

	for (size_t i = 0; i < config_rules(c); i++) {
		const struct config_rule at = config_rule(c, i);

		if (at.what == CONFIG_MATCH || at.what == CONFIG_NOT_MATCH)
			run_test(&l, r, &at, &t);
	}
	buf_done(&t.path);
	pattern_done(&t.pattern);
	buf_done(&l.whole);
	return l.errors == 0;
}
