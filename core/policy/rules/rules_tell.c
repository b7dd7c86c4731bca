/* rules_tell - lists all rules that match, why one decides, and makes their texts. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/rules/rules_priv.h"

struct collection {
	const struct rules *r;
	unsigned kind;
	int64_t now;
	struct rule_match *list;
	size_t n;
};

/* Adds a rule once, with the strongest of its matches. */
static void on_any_hit(void *data, const struct index_hit *h)
{
	struct collection *c = data;
	const struct rule *rule = &c->r->list[h->number].rule;
	const struct rule_match m = {rule, h->depth, h->literals, h->max, h->min, 0};
	enum rules_order by;

	if (!(rule->kinds & c->kind))
		return;
	for (size_t i = 0; i < c->n; i++) {
		if (c->list[i].rule != rule)
			continue;
		if (rules_compare(&m, &c->list[i], c->now, &by) > 0)
			c->list[i] = m;
		return;
	}
	c->list = xrealloc(c->list, (c->n + 1) * sizeof(*c->list));
	c->list[c->n++] = m;
}

size_t rules_explain(struct rules *r, enum rule_kind kind, const char *path, int64_t now,
		     struct rule_match **ret)
{
	struct collection c = {.r = r, .kind = 1u << kind, .now = now};
	enum rules_order by;

	rules_find(r, path, on_any_hit, &c);
	for (size_t i = 1; i < c.n; i++)
		for (size_t k = i; k > 0 && rules_compare(&c.list[k], &c.list[k - 1], now, &by) > 0;
		     k--) {
			struct rule_match swap = c.list[k];

			c.list[k] = c.list[k - 1];
			c.list[k - 1] = swap;
		}
	*ret = c.list;
	return c.n;
}

const char *rules_why_lost(const struct rule_match *winner, const struct rule_match *loser,
			   int64_t now)
{
	static const char *const words[] = {
		[ORDER_OVER] = "it has expired",
		[ORDER_FINAL] = "what the organisation denies is final",
		[ORDER_DEPTH] = "its pattern names a place farther from it",
		[ORDER_LITERALS] = "its pattern spells out less",
		[ORDER_TAIL] = "its pattern leaves more open",
		[ORDER_LEVEL] = "its level is farther away",
		[ORDER_PORTS] = "it is about more ports",
		[ORDER_VERDICT] = "the stricter of two equals decides",
		[ORDER_AGE] = "another rule says the same",
		[ORDER_PLACE] = "another rule says the same",
	};
	enum rules_order by;

	rules_compare(winner, loser, now, &by);
	return words[by];
}

/* ---- texts of rules
 * --------------------------------------------------------------------------- */

void rules_format(struct buf *out, const struct rule *rule)
{
	const char *sep = " ";

	buf_str(out, rule_verdict_words[rule->verdict]);
	for (size_t k = 0; k < RULE_KINDS; k++) {
		if (!(rule->kinds & 1u << k))
			continue;
		buf_fmt(out, "%s%s", sep, rule_kind_words[k]);
		sep = ",";
	}
	buf_fmt(out, " %s", rule->pattern);
}

void rules_free_words(struct rules *r)
{
	struct words *w, *next;

	HASH_ITER (hh, r->words, w, next) {
		HASH_DEL(r->words, w);
		free(w);
	}
}

static const char *make_words(struct rules *r, const struct rule *rule)
{
	AUTO_BUF struct buf b = BUF_INIT;

	if (rule->of->name)
		buf_fmt(&b, "rule '%s'", rule->of->name);
	else
		buf_str(&b, "the command line");
	if (rule->line)
		buf_fmt(&b, " (%s)", rules_origin(r, rule));
	buf_fmt(&b, " says %s", rule_verdict_words[rule->verdict]);
	if (rule->of->reason)
		buf_fmt(&b, ": %s", rule->of->reason);
	return arena_str(&r->strings, b.data);
}

const char *rules_words(struct rules *r, const struct rule *rule)
{
	uint32_t number = (uint32_t)((const struct kept *)rule - r->list); /* its first member */
	struct words *w;

	/* A profile's author explains why it asks. */
	if (rule->of->level == LEVEL_PROFILE && rule->verdict == RULE_ASK && rule->of->reason)
		return rule->of->reason;
	if (rule->of->level == LEVEL_SESSION)
		return rule->verdict == RULE_ALLOW ? "you allowed it for this session"
						   : "you denied it for this session";
	HASH_FIND(hh, r->words, &number, sizeof(number), w);
	if (!w) {
		w = xcalloc(1, sizeof(*w));
		w->number = number;
		w->text = make_words(r, rule);
		HASH_ADD(hh, r->words, number, sizeof(w->number), w);
	}
	return w->text;
}

bool rules_words_are_profiles(const struct rules *r, const char *words)
{
	for (const struct words *w = r->words; w; w = w->hh.next)
		if (w->text == words) {
			const struct rule *rule = &r->list[w->number].rule;

			return rule->of->level == LEVEL_PROFILE && rule->verdict >= RULE_DENY;
		}
	return false;
}

const char *rules_origin(struct rules *r, const struct rule *rule)
{
	AUTO_BUF struct buf b = BUF_INIT;

	if (rule->of->level == LEVEL_SESSION)
		return "your answer";
	if (!rule->line)
		return rule->of->file ? rule->of->file : rule_level_words[rule->of->level];
	buf_fmt(&b, "%s:%d", rule->of->file, rule->line);
	return arena_str(&r->strings, b.data);
}
