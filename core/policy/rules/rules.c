/* rules - finds the rule that decides among those that match a path. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/rules/rules_priv.h"

#include <assert.h>
#include <string.h>

#include "core/base/pages.h"
#include "core/config/config.h"
#include "core/policy/policy_priv.h"

/* Three sums in one weight; each has room for more than the largest number of patterns. */
#define WEIGHT_ASK  UINT64_C(1)
#define WEIGHT_DENY (UINT64_C(1) << 20)
#define WEIGHT_READ (UINT64_C(1) << 40)

const char *const rule_kind_words[RULE_KINDS] = {
#define X(id, word, gerund, letter) [RULE_##id] = (word),
	RULE_KINDS_X(X)
#undef X
};
const char *const rule_kind_gerunds[RULE_KINDS] = {
#define X(id, word, gerund, letter) [RULE_##id] = (gerund),
	RULE_KINDS_X(X)
#undef X
};
const char *const rule_verdict_words[] = {
	[RULE_ALLOW] = "allow", [RULE_ASK] = "ask", [RULE_DENY] = "deny", [RULE_HIDE] = "hide"};
const char *const rule_level_words[] = {
	[LEVEL_BUILTIN] = "built in", [LEVEL_PROFILE] = "profile", [LEVEL_ORG] = "org",
	[LEVEL_USER] = "user",	      [LEVEL_PROJECT] = "project", [LEVEL_OPTION] = "option",
	[LEVEL_SESSION] = "session"};

/* ---- life ------------------------------------------------------------------------------------ */

struct rules *rules_new(void)
{
	struct rules *r = xcalloc(1, sizeof(*r));

	r->index = index_new();
	r->scratch = (struct buf)BUF_INIT;
	r->pattern.text = r->pattern.literal = (struct buf)BUF_INIT;
	r->alias.text = r->alias.literal = (struct buf)BUF_INIT;
	return r;
}

void rules_free(struct rules *r)
{
	if (!r)
		return;
	rules_free_words(r);
	free(r->list);
	free(r->hosts);
	index_free(r->index);
	config_free(r->lender);
	while (r->frames) {
		struct frame *next = r->frames->next;

		free(r->frames);
		r->frames = next;
	}
	buf_done(&r->scratch);
	pattern_done(&r->pattern);
	pattern_done(&r->alias);
	arena_done(&r->strings);
	free(r);
}

/* ---- adding and removing --------------------------------------------------------------------- */

static void count(struct rules *r, const struct rule *rule, int by)
{
	size_t one = (size_t)by, strict = rule->verdict == RULE_ALLOW ? 0 : one;

	for (unsigned kinds = rule->kinds, k = 0; kinds; kinds >>= 1, k++) {
		r->n_of[k] += kinds & 1 ? one : 0;
		r->n_strict[k] += kinds & 1 ? strict : 0;
	}
}

static void make_room(struct rules *r, size_t n)
{
	if (r->cap >= n)
		return;
	r->cap = MAX(n, r->cap * 2);
	r->list = xrealloc(r->list, r->cap * sizeof(*r->list));
}

void rules_reserve(struct rules *r, size_t n, const struct config *c)
{
	if (n) {
		make_room(r, r->n + n);
		pages_fill(r->list + r->n, n * sizeof(*r->list));
		index_reserve(r->index, (uint32_t)n);
	}
	assert(!r->lender);
	r->lender = config_ref(c);
}

const struct rule_frame *rules_frame(struct rules *r, const struct rule_frame *frame)
{
	struct frame *copy = xmalloc(sizeof(*copy));

	*copy = (struct frame){*frame, r->frames};
	r->frames = copy;
	return &copy->frame;
}

uint32_t rules_add_lent(struct rules *r, const struct rule *rule)
{
	make_room(r, r->n + 1);
	count(r, rule, 1);
	r->list[r->n] = (struct kept){.rule = *rule};
	return (uint32_t)r->n++;
}

uint32_t rules_add(struct rules *r, const struct rule *rule)
{
	struct rule_frame frame = *rule->of;
	struct rule copy = *rule;

	frame.name = arena_str(&r->strings, frame.name);
	frame.file = arena_str(&r->strings, frame.file);
	frame.reason = arena_str(&r->strings, frame.reason);
	copy.of = rules_frame(r, &frame);
	copy.pattern = arena_str(&r->strings, rule->pattern);
	return rules_add_lent(r, &copy);
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

/* Returns whether the rule also matches aliases of names. */
static bool is_folded(const struct rule *rule)
{
	return rule->verdict != RULE_ALLOW && rule->of->level != LEVEL_SESSION;
}

/* Adds the folded pattern. If folding makes it invalid, the rule has no aliases. */
static void place_alias(struct rules *r, uint32_t number)
{
	struct kept *k = &r->list[number];
	const char *why;

	if (pattern_parse(&r->alias, r->scratch.data, &why))
		k->patterns = index_add(r->index, &r->alias,
					&(struct index_rule){number, INDEX_FOLDED, 0, k->patterns});
}

/* Adds a pattern for unfolded names, and for folded ones if the rule needs them: one entry serves
 * both if folding does not change it. */
bool rules_place(struct rules *r, uint32_t number, const char *pattern, const char **why)
{
	struct kept *k = &r->list[number];
	struct index_rule about = {number, INDEX_AS_IS, weight_of(&k->rule), k->patterns};
	bool alias = false;

	if (!pattern_parse(&r->pattern, pattern, why))
		return false;
	if (is_folded(&k->rule) && r->pattern.folds) {
		buf_clear(&r->scratch);
		names_fold_path(&r->scratch, pattern);
		alias = !str_eq(r->scratch.data, pattern);
	}
	if (is_folded(&k->rule) && !alias)
		about.names |= INDEX_FOLDED;
	k->patterns = index_add(r->index, &r->pattern, &about);
	if (alias)
		place_alias(r, number);
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
	(void)placed; /* fails if it is too deep: then it grants nothing */
}

/* ---- patterns of rules ----------------------------------------------------------------------- */

void rules_remove(struct rules *r, uint32_t number)
{
	struct kept *k = &r->list[number];

	if (k->removed)
		return;
	k->removed = true;
	count(r, &k->rule, -1);
	for (uint32_t at = k->patterns, also; at; at = also) {
		uint64_t weight =
			index_names(r->index, at) == INDEX_FOLDED ? 0 : weight_of(&k->rule);

		also = index_also(r->index, at);
		index_remove(r->index, at, weight);
	}
	k->patterns = 0;
	if (k->rule.kinds >> RULE_PLACES)
		rules_drop_hosts(r, number);
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

uint32_t rules_next(struct rules *r, uint32_t number, uint32_t pattern)
{
	do
		pattern = pattern ? index_also(r->index, pattern) : r->list[number].patterns;
	while (pattern && index_names(r->index, pattern) == INDEX_FOLDED);
	return pattern;
}

void rules_text(const struct rules *r, uint32_t pattern, struct buf *ret)
{
	buf_clear(ret);
	index_text(r->index, pattern, ret);
}

enum pattern_place rules_place_of(const struct rules *r, uint32_t pattern, struct buf *ret)
{
	buf_clear(ret);
	return index_place(r->index, pattern, ret);
}

void rules_base(struct rules *r, struct rules_base *ret)
{
	const struct pattern *p = &r->pattern;
	size_t n = p->n;

	while (n && !p->parts[n - 1].leading)
		n--;
	ret->len = n ? (size_t)p->parts[n - 1].from + p->parts[n - 1].len : 0;
	ret->is_place = p->plain && !p->min;
	ret->known = n == p->n || p->parts[n].deep || p->parts[n].shape.form != GLOB_LITERAL;
	ret->again = ret->known && p->serial == r->follows && n == r->base_parts && n <= p->same;
	r->follows = ret->known ? p->serial + 1 : 0;
	r->base_parts = n;
}

void rules_note_absent(struct rules *r, uint32_t number)
{
	r->list[number].absent = true;
}

bool rules_is_absent(const struct rules *r, uint32_t number)
{
	return r->list[number].absent;
}

/* ---- deciding -------------------------------------------------------------------------------- */

static bool is_over(const struct rule *rule, int64_t now)
{
	return rule->of->until && rule->of->until <= now;
}

static bool is_final(const struct rule *rule)
{
	return rule->of->level == LEVEL_ORG && rule->verdict >= RULE_DENY;
}

int rules_compare(const struct rule_match *a, const struct rule_match *b, int64_t now,
		  enum rules_order *by)
{
	const struct rule *x = a->rule, *y = b->rule;
	const int64_t keys[][2] = {
		[ORDER_OVER] = {!is_over(x, now), !is_over(y, now)},
		[ORDER_FINAL] = {is_final(x), is_final(y)},
		[ORDER_DEPTH] = {a->depth, b->depth},
		[ORDER_LITERALS] = {a->literals, b->literals},
		/* A tail with a larger maximum is looser, whatever its minimum. */
		[ORDER_TAIL] = {(int64_t)a->min - (int64_t)a->max * 1000,
				(int64_t)b->min - (int64_t)b->max * 1000},
		[ORDER_LEVEL] = {x->of->level, y->of->level},
		[ORDER_PORTS] = {a->ports, b->ports},
		[ORDER_VERDICT] = {MIN(x->verdict, RULE_DENY), MIN(y->verdict, RULE_DENY)},
		[ORDER_AGE] = {x->of->id > y->of->id, y->of->id > x->of->id},
		[ORDER_PLACE] = {x > y, y > x}, /* both are in one list */
	};

	for (*by = ORDER_OVER; *by < ORDER_PLACE && keys[*by][0] == keys[*by][1];)
		(*by)++;
	return (int)((keys[*by][0] > keys[*by][1]) - (keys[*by][0] < keys[*by][1]));
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
	const struct rule_match m = {rule, h->depth, h->literals, h->max, h->min, 0};
	enum rules_order by;

	if (!(rule->kinds & s->kind) || is_over(rule, s->now))
		return;
	if (!s->best.rule || rules_compare(&m, &s->best, s->now, &by) > 0)
		s->best = m;
}

/* Returns the folded path, or NULL if it is the same. Valid until the next call. */
static const char *folded(struct rules *r, const char *path)
{
	buf_clear(&r->scratch);
	names_fold_path(&r->scratch, path);
	return str_eq(r->scratch.data, path) ? NULL : r->scratch.data;
}

void rules_find(struct rules *r, const char *path, index_on_hit on, void *data)
{
	const char *alias = folded(r, path);

	index_find(r->index, path, INDEX_AS_IS | (alias ? 0 : INDEX_FOLDED), on, data);
	if (alias)
		index_find(r->index, alias, INDEX_FOLDED, on, data);
}

bool rules_decide(struct rules *r, enum rule_kind kind, const char *path, int64_t now,
		  struct rule_match *ret)
{
	struct search s = {.r = r, .kind = 1u << kind, .now = now};

	if (!r->n_of[kind])
		return false;
	rules_find(r, path, on_hit, &s);
	*ret = s.best;
	return s.best.rule != NULL;
}

static uint64_t weight_beneath(struct rules *r, const char *path, bool deep)
{
	const char *alias = folded(r, path);

	return index_beneath(r->index, path, deep) +
	       (alias ? index_beneath(r->index, alias, deep) : 0);
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
