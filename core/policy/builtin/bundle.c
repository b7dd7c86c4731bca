/* bundle - the ask lines of one section of a profile, which share one question. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/policy/policy_priv.h"

/*
 * A program saves many files about itself, again and again: a question for each would add nothing
 * to the first one. So the user answers for the section. Only profiles have bundles: each ask rule
 * of the user's own has its question.
 */
static bool is_of(const struct rule *rule, const char *name)
{
	return rule && rule->of->level == LEVEL_PROFILE && rule->verdict == RULE_ASK &&
	       rule->kinds == 1u << RULE_WRITE && str_eq(rule->of->name, name);
}

const char *policy_bundle(const struct policy *p, const char *path)
{
	size_t len = strlen(path);
	AUTO_FREE char *place = xstrndup(path, len > 1 && path[len - 1] == '/' ? len - 1 : len);
	struct rule_match m;

	if (!rules_decide(p->rules, RULE_WRITE, place, policy_now(), &m) ||
	    !is_of(m.rule, m.rule->of->name))
		return NULL;
	return m.rule->of->name;
}

void policy_bundle_places(const struct policy *p, const char *name, struct buf *out)
{
	for (uint32_t i = 0; i < rules_count(p->rules); i++) {
		const struct rule *rule = rules_at(p->rules, i);

		if (is_of(rule, name))
			buf_fmt(out, "%s%s", out->len ? ", " : "", rule->pattern);
	}
}

char **policy_bundle_patterns(struct policy *p, const char *name)
{
	AUTO_BUF struct buf text = BUF_INIT;
	char **list = xcalloc(1, sizeof(*list));
	size_t n = 0;

	for (uint32_t i = 0; i < rules_count(p->rules); i++) {
		if (!is_of(rules_at(p->rules, i), name))
			continue;
		for (uint32_t at = 0; (at = rules_next(p->rules, i, at));) {
			rules_text(p->rules, at, &text);
			util_list_push(&list, &n, xstrdup(text.data));
		}
	}
	return list;
}

bool bundle_place(struct policy *p, uint32_t answer, const char *name)
{
	char **patterns = policy_bundle_patterns(p, name);
	const char *why;
	bool good = true;

	for (size_t i = 0; good && patterns[i]; i++)
		good = rules_place(p->rules, answer, patterns[i], &why);
	util_free_list(&patterns);
	return good;
}
