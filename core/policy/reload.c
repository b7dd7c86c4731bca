/* reload - replaces the rules of settings in a policy that is in use. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/net/host.h"
#include "core/policy/policy_priv.h"

/* Copies a rule without a name, of the command line or an answer. Rules of settings have names. */
static uint32_t carry_one(struct rules *to, struct rules *from, uint32_t number)
{
	uint32_t as = rules_add(to, rules_at(from, number));
	AUTO_BUF struct buf text = BUF_INIT;
	const char *why;

	for (uint32_t at = 0; (at = rules_next(from, number, at));) {
		rules_text(from, at, &text);
		if (!rules_place(to, as, text.data, &why))
			continue; /* cannot fail: it was a valid pattern */
	}
	rules_carry_hosts(to, as, from, number);
	return as;
}

static void carry(struct policy *p, struct rules *to)
{
	for (uint32_t i = 0; i < rules_count(p->rules); i++) {
		const struct rule *rule = rules_at(p->rules, i);

		if (rule && !rule->of->name && rule->of->level != LEVEL_SESSION)
			carry_one(to, p->rules, i);
	}
	for (size_t i = 0; i < p->n_given; i++)
		p->given[i].rule = carry_one(to, p->rules, p->given[i].rule);
}

int policy_reload(struct policy *p, const struct config *config, struct err *err)
{
	const struct rules_scope scope = {.home = p->home,
					  .folders = (const char *const *)p->folders.list};
	struct rules *trusted = rules_new(), *untrusted = rules_new();
	struct err first = {0};

	if (!rules_load(trusted, untrusted, config, &scope, policy_first_error, &first)) {
		rules_free(trusted);
		rules_free(untrusted);
		return err_say(err, -EINVAL, "%s", first.text);
	}
	carry(p, trusted);
	policy_forget_old(p);
	p->old = p->rules;
	p->old_untrusted = p->untrusted;
	p->rules = trusted;
	p->untrusted = untrusted;
	return 0;
}

static void swap(struct rules **a, struct rules **b)
{
	struct rules *r = *a;

	*a = *b;
	*b = r;
}

static enum policy_verdict judge(const struct policy *p, enum rule_kind kind, const char *path)
{
	struct net_target t;
	const char *why;

	if (kind >= RULE_PLACES)
		return net_target_parse(&t, path, &why) ? policy_check_flow(p, kind, &t, NULL, &why)
							: POLICY_DENY;
	if (kind != RULE_WRITE)
		return policy_check_read(p, kind, path, &why);
	return places_cover(&p->folders, path) ? policy_check(p, POLICY_WRITE, path, &why)
					       : policy_check_outside(p, POLICY_WRITE, path, &why);
}

static enum policy_verdict judge_before(struct policy *p, enum rule_kind kind, const char *path)
{
	enum policy_verdict v;

	swap(&p->rules, &p->old);
	swap(&p->untrusted, &p->old_untrusted);
	v = judge(p, kind, path);
	swap(&p->rules, &p->old);
	swap(&p->untrusted, &p->old_untrusted);
	return v;
}

bool policy_takes_back(struct policy *p, const char *path)
{
	return p->old && judge(p, RULE_READ, path) != POLICY_ALLOW &&
	       judge_before(p, RULE_READ, path) == POLICY_ALLOW;
}

bool policy_judges_anew(struct policy *p, enum rule_kind kind, const char *path)
{
	return p->old && judge(p, kind, path) != judge_before(p, kind, path);
}

void policy_forget_old(struct policy *p)
{
	rules_free(take_ptr(&p->old));
	rules_free(take_ptr(&p->old_untrusted));
}

/* ---- what has changed ------------------------------------------------------------------------ */

/* What rules say, wherever that is written. */
struct effect {
	uint64_t hash;
	const struct rule *rule;
};

struct effects {
	struct effect *list; /* in the order of the rules */
	uint64_t *sorted;    /* the hashes */
	size_t n;
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Adds the rules of settings and profiles, which have names. */
static void collect(struct effects *e, const struct rules *r)
{
	AUTO_BUF struct buf text = BUF_INIT;

	for (uint32_t i = 0; r && i < rules_count(r); i++) {
		const struct rule *rule = rules_at(r, i);

		if (!rule || !rule->of->name || !rule->pattern)
			continue;
		buf_clear(&text);
		buf_fmt(&text, "%d %lld ", rule->of->level, (long long)rule->of->until);
		rules_format(&text, rule);
		e->list[e->n] = (struct effect){XXH3_64bits(text.data, text.len), rule};
		e->sorted[e->n] = e->list[e->n].hash;
		e->n++;
	}
}

static struct effects effects_of(const struct rules *trusted, const struct rules *untrusted)
{
	size_t max =
		(trusted ? rules_count(trusted) : 0) + (untrusted ? rules_count(untrusted) : 0);
	struct effects e = {.list = xcalloc(max + 1, sizeof(*e.list)),
			    .sorted = xcalloc(max + 1, sizeof(*e.sorted))};

	collect(&e, trusted);
	collect(&e, untrusted);
	qsort(e.sorted, e.n, sizeof(*e.sorted), by_value);
	return e;
}

static void effects_done(struct effects *e)
{
	free(e->list);
	free(e->sorted);
}

/* Returns whether the rule is what an answer of this session was written as. */
static bool is_own_answer(const struct policy *p, const struct rule *rule)
{
	for (size_t i = 0; i < p->n_given; i++) {
		const struct rule *g = rules_at(p->rules, p->given[i].rule);
		size_t dir = strlen(rule->pattern);

		if (g && g->pattern && g->verdict == rule->verdict && g->kinds == rule->kinds &&
		    str_starts(g->pattern, rule->pattern) &&
		    (!g->pattern[dir] || str_eq(g->pattern + dir, "/*")))
			return true;
	}
	return false;
}

/* Appends the rules of one that the other lacks: the first, and the number of the others. */
static void compare(const struct policy *p, const struct effects *one, const struct effects *other,
		    const char *before, struct buf *words, bool *restricts)
{
	size_t n = 0;

	for (size_t i = 0; i < one->n; i++) {
		const struct rule *rule = one->list[i].rule;

		if (bsearch(&one->list[i].hash, other->sorted, other->n, sizeof(*other->sorted),
			    by_value) ||
		    is_own_answer(p, rule))
			continue;
		if (restricts && rule->verdict != RULE_ALLOW &&
		    rule->kinds & (1u << RULE_READ | 1u << RULE_EXEC))
			*restricts = true;
		if (n++)
			continue;
		buf_fmt(words, "%s%s ", words->len ? "; " : "", before);
		rules_format(words, rule);
	}
	if (n > 1)
		buf_fmt(words, " and %zu more", n - 1);
}

void policy_news(const struct policy *p, struct buf *words, bool *restricts)
{
	struct effects new = effects_of(p->rules, p->untrusted);
	struct effects old = effects_of(p->old, p->old_untrusted);

	*restricts = false;
	compare(p, &new, &old, "now", words, restricts);
	compare(p, &old, &new, "no longer", words, NULL);
	effects_done(&new);
	effects_done(&old);
}
