/* rules - which of the rules that match a path decides. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/rules.h"

#include <assert.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/policy/pattern.h"
#include "core/policy/policy_priv.h"

/* Three sums in one weight; each is more than there can be patterns. */
#define WEIGHT_ASK  UINT64_C(1)
#define WEIGHT_DENY (UINT64_C(1) << 20)
#define WEIGHT_READ (UINT64_C(1) << 40)

const char *const rule_kind_words[RULE_KINDS] = {
	[RULE_READ] = "read", [RULE_WRITE] = "write", [RULE_EXEC] = "exec", [RULE_UNIX] = "unix"};
const char *const rule_verdict_words[] = {
	[RULE_ALLOW] = "allow", [RULE_ASK] = "ask", [RULE_DENY] = "deny", [RULE_HIDE] = "hide"};
const char *const rule_level_words[] = {
	[LEVEL_BUILTIN] = "built in", [LEVEL_PROFILE] = "profile", [LEVEL_ORG] = "org",
	[LEVEL_USER] = "user",	      [LEVEL_PROJECT] = "project", [LEVEL_OPTION] = "option",
	[LEVEL_SESSION] = "session"};

struct placed {
	const char *pattern;
	uint32_t len;	     /* of the path at its head; 0: not as it is written */
	unsigned char place; /* enum rule_place */
	bool is_fold;	     /* its own folded form: it is among the folded ones alone */
};

struct kept {
	struct rule rule;
	struct placed first, *more; /* nearly all have one pattern */
	const char *words;	    /* NULL: nobody has asked yet */
	uint32_t n;
	bool removed;
};

struct rules {
	struct kept *list;
	size_t n, cap;
	size_t n_of[RULE_KINDS], n_strict[RULE_KINDS]; /* live ones */
	struct rule_index *exact, *folded; /* folded: what also matches aliases of names */
	struct arena strings;
	struct buf scratch;	       /* a folded path */
	struct pattern pattern, alias; /* large: not on the stack */
};

/* ---- life ------------------------------------------------------------------------------------ */

struct rules *rules_new(void)
{
	struct rules *r = xcalloc(1, sizeof(*r));

	r->exact = index_new();
	r->folded = index_new();
	r->scratch = (struct buf)BUF_INIT;
	r->pattern.text = r->pattern.literal = (struct buf)BUF_INIT;
	r->alias.text = r->alias.literal = (struct buf)BUF_INIT;
	return r;
}

void rules_free(struct rules *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		free(r->list[i].more);
	free(r->list);
	index_free(r->exact);
	index_free(r->folded);
	buf_done(&r->scratch);
	pattern_done(&r->pattern);
	pattern_done(&r->alias);
	arena_done(&r->strings);
	free(r);
}

/* ---- adding and removing --------------------------------------------------------------------- */

static void count(struct rules *r, const struct rule *rule, int by)
{
	for (int k = 0; k < RULE_KINDS; k++) {
		size_t one = rule->kinds >> k & 1 ? (size_t)by : 0;

		r->n_of[k] += one;
		r->n_strict[k] += rule->verdict == RULE_ALLOW ? 0 : one;
	}
}

uint32_t rules_add(struct rules *r, const struct rule *rule)
{
	const struct rule *last = r->n ? &r->list[r->n - 1].rule : NULL;
	struct rule copy = *rule;

	copy.name = arena_again(&r->strings, rule->name, last ? last->name : NULL);
	copy.file = arena_again(&r->strings, rule->file, last ? last->file : NULL);
	copy.reason = arena_again(&r->strings, rule->reason, last ? last->reason : NULL);
	copy.pattern = arena_str(&r->strings, rule->pattern);
	if (r->n == r->cap) {
		r->cap = MAX(r->cap * 2, (size_t)16);
		r->list = xrealloc(r->list, r->cap * sizeof(*r->list));
	}
	count(r, rule, 1);
	r->list[r->n] = (struct kept){.rule = copy};
	return (uint32_t)r->n++;
}

static uint64_t weight_of(const struct rule *rule)
{
	uint64_t weight = 0;

	if (rule->verdict == RULE_ALLOW)
		return 0;
	if (rule->kinds & 1u << RULE_WRITE)
		weight += rule->verdict == RULE_ASK ? WEIGHT_ASK : WEIGHT_DENY;
	if (rule->kinds & (1u << RULE_READ | 1u << RULE_EXEC))
		weight += WEIGHT_READ;
	return weight;
}

/* Does it match aliases of names too? */
static bool is_folded(const struct rule *rule)
{
	return rule->verdict != RULE_ALLOW && rule->level != LEVEL_SESSION;
}

static enum rule_place place_of(const struct pattern *p)
{
	if (!p->plain || p->min || (p->max && p->max != PATTERN_ANY))
		return PLACE_MANY;
	return p->max ? PLACE_TREE : PLACE_ONE;
}

/* Of the path that its head is, where that stands in the pattern as it is. */
static uint32_t path_length(const struct pattern *p)
{
	const struct pattern_part *last = p->n ? &p->parts[p->n - 1] : NULL;
	size_t len = last ? last->from + last->len : 0;

	return len == p->literals + p->n ? (uint32_t)len : 0;
}

/* Into, or out of, the index of folded names. What folding makes unreadable matches nothing more
 * than the pattern itself does. */
static void place_alias(struct rules *r, uint32_t number, bool add)
{
	const char *why;

	if (!pattern_parse(&r->alias, r->scratch.data, &why))
		return;
	if (add)
		index_add(r->folded, &r->alias, number, 0);
	else
		index_remove(r->folded, &r->alias, number, 0);
}

/*
 * A place or tree whose pattern folding leaves alone: whatever matches it has a folded form that
 * does, at the same depth. Not where components behind it are counted, for a name may fold to
 * nothing; nor with wildcards, as one character may fold to two.
 */
static bool is_own_fold(struct rules *r, const struct rule *rule, const char *pattern)
{
	if (!is_folded(rule))
		return false;
	buf_clear(&r->scratch);
	names_fold_path(&r->scratch, pattern);
	return place_of(&r->pattern) != PLACE_MANY && path_length(&r->pattern) &&
	       str_eq(r->scratch.data, pattern);
}

static const struct placed *placed_at(const struct kept *k, size_t i)
{
	return i ? &k->more[i - 1] : &k->first;
}

bool rules_place(struct rules *r, uint32_t number, const char *pattern, const char **why)
{
	struct kept *k = &r->list[number];
	struct placed one;

	if (!pattern_parse(&r->pattern, pattern, why))
		return false;
	one = (struct placed){.pattern = arena_str(&r->strings, pattern),
			      .len = path_length(&r->pattern),
			      .place = (unsigned char)place_of(&r->pattern),
			      .is_fold = is_own_fold(r, &k->rule, pattern)};
	index_add(one.is_fold ? r->folded : r->exact, &r->pattern, number, weight_of(&k->rule));
	if (is_folded(&k->rule) && !one.is_fold)
		place_alias(r, number, true);
	if (k->n)
		k->more = xrealloc(k->more, k->n * sizeof(*k->more));
	*(k->n ? &k->more[k->n - 1] : &k->first) = one;
	k->n++;
	return true;
}

void rules_place_path(struct rules *r, uint32_t number, const char *path, const char *tail)
{
	AUTO_BUF struct buf b = BUF_INIT;
	const char *why;
	bool placed;

	if (!str_eq(path, "/"))
		glob_quote(&b, path);
	buf_str(&b, tail);
	if (!b.len)
		buf_ch(&b, '/');
	placed = rules_place(r, number, b.data, &why);
	(void)placed; /* deeper than any pattern may be: then nothing is granted */
}

void rules_remove(struct rules *r, uint32_t number)
{
	struct kept *k = &r->list[number];
	const char *why;

	if (k->removed)
		return;
	k->removed = true;
	count(r, &k->rule, -1);
	for (size_t i = 0; i < k->n; i++) {
		const struct placed *placed = placed_at(k, i);

		if (!pattern_parse(&r->pattern, placed->pattern, &why))
			continue;
		index_remove(placed->is_fold ? r->folded : r->exact, &r->pattern, number,
			     weight_of(&k->rule));
		if (!is_folded(&k->rule) || placed->is_fold)
			continue;
		buf_clear(&r->scratch);
		names_fold_path(&r->scratch, placed->pattern);
		place_alias(r, number, false);
	}
}

size_t rules_of(const struct rules *r, enum rule_kind kind)
{
	return r->n_of[kind];
}

size_t rules_restricting(const struct rules *r, enum rule_kind kind)
{
	return r->n_strict[kind];
}

size_t rules_count(const struct rules *r)
{
	return r->n;
}

const struct rule *rules_at(const struct rules *r, uint32_t number)
{
	return r->list[number].removed ? NULL : &r->list[number].rule;
}

size_t rules_patterns(const struct rules *r, uint32_t number)
{
	return r->list[number].n;
}

const char *rules_pattern(const struct rules *r, uint32_t number, size_t i)
{
	return placed_at(&r->list[number], i)->pattern;
}

enum rule_place rules_place_of(struct rules *r, uint32_t number, size_t i, struct buf *ret)
{
	const struct placed *placed = placed_at(&r->list[number], i);
	const char *why;

	buf_clear(ret);
	if (placed->place == PLACE_MANY)
		return PLACE_MANY;
	if (placed->len)
		buf_add(ret, placed->pattern, placed->len);
	else if (pattern_parse(&r->pattern, placed->pattern, &why))
		pattern_base(&r->pattern, ret);
	return (enum rule_place)placed->place;
}

size_t rules_base(const struct rules *r, uint32_t number, size_t i)
{
	return placed_at(&r->list[number], i)->len;
}

/* ---- deciding -------------------------------------------------------------------------------- */

static bool is_over(const struct rule *rule, int64_t now)
{
	return rule->until && rule->until <= now;
}

static bool is_final(const struct rule *rule)
{
	return rule->level == LEVEL_ORG && rule->verdict >= RULE_DENY;
}

enum order {
	ORDER_OVER,
	ORDER_FINAL,
	ORDER_DEPTH,
	ORDER_LITERALS,
	ORDER_TAIL,
	ORDER_LEVEL,
	ORDER_VERDICT,
	ORDER_AGE,
};

/* Positive: a decides. *by says what made the difference. */
static int compare(const struct rule_match *a, const struct rule_match *b, int64_t now,
		   enum order *by)
{
	const struct rule *x = a->rule, *y = b->rule;
	const int64_t keys[][2] = {
		[ORDER_OVER] = {!is_over(x, now), !is_over(y, now)},
		[ORDER_FINAL] = {is_final(x), is_final(y)},
		[ORDER_DEPTH] = {a->depth, b->depth},
		[ORDER_LITERALS] = {a->literals, b->literals},
		/* a wider tail is looser, whatever it needs at least */
		[ORDER_TAIL] = {(int64_t)a->min - (int64_t)a->max * 1000,
				(int64_t)b->min - (int64_t)b->max * 1000},
		[ORDER_LEVEL] = {x->level, y->level},
		[ORDER_VERDICT] = {MIN(x->verdict, RULE_DENY), MIN(y->verdict, RULE_DENY)},
		[ORDER_AGE] = {x->id > y->id, y->id > x->id},
	};

	for (*by = ORDER_OVER; *by < ORDER_AGE; (*by)++)
		if (keys[*by][0] != keys[*by][1])
			return keys[*by][0] > keys[*by][1] ? 1 : -1;
	return (int)(keys[ORDER_AGE][0] - keys[ORDER_AGE][1]);
}

struct search {
	const struct rules *r;
	unsigned kind; /* 1 << enum rule_kind */
	int64_t now;
	struct rule_match best; /* rule NULL: none */
};

static void on_hit(void *data, const struct index_hit *h)
{
	struct search *s = data;
	const struct rule *rule = &s->r->list[h->number].rule;
	const struct rule_match m = {rule, h->depth, h->literals, h->max, h->min};
	enum order by;

	if (!(rule->kinds & s->kind) || is_over(rule, s->now))
		return;
	if (!s->best.rule || compare(&m, &s->best, s->now, &by) > 0)
		s->best = m;
}

static void find(struct rules *r, const char *path, index_on_hit on, void *data)
{
	index_find(r->exact, path, on, data);
	buf_clear(&r->scratch);
	names_fold_path(&r->scratch, path);
	index_find(r->folded, r->scratch.data, on, data);
}

bool rules_decide(struct rules *r, enum rule_kind kind, const char *path, int64_t now,
		  struct rule_match *ret)
{
	struct search s = {.r = r, .kind = 1u << kind, .now = now};

	if (!r->n_of[kind])
		return false;
	find(r, path, on_hit, &s);
	*ret = s.best;
	return s.best.rule != NULL;
}

static uint64_t weight_beneath(struct rules *r, const char *path, bool deep)
{
	uint64_t w = index_beneath(r->exact, path, deep);

	buf_clear(&r->scratch);
	names_fold_path(&r->scratch, path);
	return w + index_beneath(r->folded, r->scratch.data, deep);
}

enum rule_verdict rules_beneath(struct rules *r, const char *path)
{
	uint64_t w = r->n_of[RULE_WRITE] ? weight_beneath(r, path, false) % WEIGHT_READ : 0;

	return w >= WEIGHT_DENY ? RULE_DENY : w ? RULE_ASK : RULE_ALLOW;
}

bool rules_restrict_beneath(struct rules *r, const char *path)
{
	return r->n && weight_beneath(r, path, true) >= WEIGHT_READ;
}

/* ---- explaining ------------------------------------------------------------------------------ */

struct collection {
	const struct rules *r;
	unsigned kind;
	int64_t now;
	struct rule_match *list;
	size_t n;
};

/* A rule may match in several ways: the strongest of them is told. */
static void on_any_hit(void *data, const struct index_hit *h)
{
	struct collection *c = data;
	const struct rule *rule = &c->r->list[h->number].rule;
	const struct rule_match m = {rule, h->depth, h->literals, h->max, h->min};
	enum order by;

	if (!(rule->kinds & c->kind))
		return;
	for (size_t i = 0; i < c->n; i++) {
		if (c->list[i].rule != rule)
			continue;
		if (compare(&m, &c->list[i], c->now, &by) > 0)
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
	enum order by;

	find(r, path, on_any_hit, &c);
	for (size_t i = 1; i < c.n; i++)
		for (size_t k = i; k > 0 && compare(&c.list[k], &c.list[k - 1], now, &by) > 0;
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
		[ORDER_VERDICT] = "the stricter of two equals decides",
		[ORDER_AGE] = "another rule says the same",
	};
	enum order by;

	compare(winner, loser, now, &by);
	return words[by];
}

const char *rules_words(struct rules *r, const struct rule *rule)
{
	struct kept *k = (struct kept *)(uintptr_t)rule; /* its first member */
	AUTO_BUF struct buf b = BUF_INIT;

	if (k->words)
		return k->words;
	if (rule->level == LEVEL_SESSION)
		return rule->verdict == RULE_ALLOW ? "you allowed it for this session"
						   : "you denied it for this session";
	if (rule->name)
		buf_fmt(&b, "rule '%s'", rule->name);
	else
		buf_str(&b, "the command line");
	if (rule->line)
		buf_fmt(&b, " (%s)", rules_origin(r, rule));
	buf_fmt(&b, " says %s", rule_verdict_words[rule->verdict]);
	if (rule->reason)
		buf_fmt(&b, ": %s", rule->reason);
	k->words = arena_str(&r->strings, b.data);
	return k->words;
}

const char *rules_origin(struct rules *r, const struct rule *rule)
{
	AUTO_BUF struct buf b = BUF_INIT;

	if (rule->level == LEVEL_SESSION)
		return "your answer";
	if (!rule->line)
		return rule->file ? rule->file : rule_level_words[rule->level];
	buf_fmt(&b, "%s:%d", rule->file, rule->line);
	return arena_str(&r->strings, b.data);
}
