/* listed - a policy as lists, for a sandbox that is built once and cannot ask later. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/listed.h"

#include "core/policy/policy_priv.h"
#include "core/policy/rules/rules_priv.h"

/* ---- built-in lists -------------------------------------------------------------------------- */

const char *policy_guarded_at(const struct policy *p, size_t i)
{
	return i < p->n_guarded ? p->guarded[i].path : NULL;
}

size_t policy_git_dirs(const struct policy *p, const char *const **ret)
{
	*ret = (const char *const *)p->git_dirs.list;
	return p->git_dirs.n;
}

size_t policy_usual(const struct policy *p, const char *const **ret)
{
	*ret = (const char *const *)p->usual.list;
	return p->usual.n;
}

void policy_hidden_parts(const struct policy *p, size_t *ret_uncoverable, size_t *ret_final)
{
	*ret_uncoverable = p->n_builtin;
	*ret_final = p->n_set;
}

/* ---- rules ----------------------------------------------------------------------------------- */

struct lines {
	struct policy_line *list;
	size_t n;
};

static bool has_deep(const struct pattern *p)
{
	return p->n > 0 && p->parts[p->n - 1].deeps > 0;
}

static void add_line(struct lines *l, const struct rule *rule, const char *text)
{
	struct pattern p = PATTERN_INIT;
	struct policy_line *line;
	const char *why;

	if (pattern_parse(&p, text, &why)) {
		l->list = xrealloc(l->list, (l->n + 1) * sizeof(*l->list));
		line = &l->list[l->n++];
		*line = (struct policy_line){.rule = rule, .pattern = xstrdup(text)};
		line->deep = has_deep(&p);
		line->depth = (unsigned)p.n - (line->deep ? p.parts[p.n - 1].deeps : 0);
		line->literals = p.literals;
		line->min = p.min;
		line->max = p.max;
		line->final = rule->of->level == LEVEL_ORG && rule->verdict >= RULE_DENY;
	}
	pattern_done(&p);
}

static bool counts(const struct rule *rule, int64_t now)
{
	const int64_t until = rule->of->until;

	return !until || (rule->verdict != RULE_ALLOW && until > now);
}

static unsigned depth_of(const struct policy_line *l)
{
	return l->deep && l->rule->verdict != RULE_ALLOW ? UINT32_MAX : l->depth;
}

static int by_order(const void *a, const void *b)
{
	const struct policy_line *x = a, *y = b;
	const struct rule_match m = {x->rule, depth_of(x), x->literals, x->max, x->min, 0};
	const struct rule_match o = {y->rule, depth_of(y), y->literals, y->max, y->min, 0};
	enum rules_order by;

	return rules_compare(&m, &o, 0, &by);
}

static size_t collect(struct rules *r, struct policy_line **ret)
{
	const int64_t now = policy_now();
	AUTO_BUF struct buf text = BUF_INIT;
	struct lines l = {0};

	for (uint32_t i = 0; i < rules_count(r); i++) {
		const struct rule *rule = rules_at(r, i);

		if (!rule || !(rule->kinds & ((1u << RULE_PLACES) - 1)) || !counts(rule, now))
			continue;
		for (uint32_t at = 0; (at = rules_next(r, i, at));) {
			rules_text(r, at, &text);
			add_line(&l, rule, text.data);
		}
	}
	if (l.n)
		qsort(l.list, l.n, sizeof(*l.list), by_order);
	*ret = l.list;
	return l.n;
}

size_t policy_lines(const struct policy *p, struct policy_line **ret)
{
	return collect(p->rules, ret);
}

size_t policy_untrusted_lines(const struct policy *p, struct policy_line **ret)
{
	return collect(p->untrusted, ret);
}

void policy_lines_free(struct policy_line *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i].pattern);
	free(list);
}
