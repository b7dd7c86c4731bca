/* test_rules - which rule decides: a table, an oracle that tries each rule, ten thousand rules. */
/* SPDX-License-Identifier: MIT */
#include <fnmatch.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/policy/rules/pattern.h"
#include "core/policy/rules/rules.h"
#include "tests/support/check.h"

/* ---- patterns -------------------------------------------------------------------------------- */

TEST(impossible)
{
	static const struct {
		const char *pattern, *words;
	} list[] = {
		{"", "not absolute"},
		{"a/b", "not absolute"},
		{"/a//b", "'//'"},
		{"/a/", "ends in '/'"},
		{"/a/../b", "'..'"},
		{"/./a", "'.'"},
		{"/a**b", "'**' stands alone"},
		{"/***", "'**' stands alone"},
		{"/a[b", "'[' without"},
		{"/a[]", "holds nothing"},
		{"/a[!]", "holds nothing"},
		{"/a[z-a]", "ends before"},
		{"/a\\", "nothing behind"},
		{"/a[a/b]", "'[' without"},
		{"/**/a/**/a/**/a/**/a/**/a", "more than four"},
	};
	AUTO_PATTERN struct pattern p = PATTERN_INIT;
	const char *why;

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		if (pattern_parse(&p, list[i].pattern, &why))
			fail_msg("'%s' is taken", list[i].pattern);
		if (!strstr(why, list[i].words))
			fail_msg("'%s': '%s' lacks '%s'", list[i].pattern, why, list[i].words);
	}
}

/* A pattern is matched only from its difference to the one before on. The result is the same. */
TEST(one_after_another)
{
	static const char *const list[] = {
		"/",	     "/a",	"/a/b",	     "/a/b/c",	   "/a/b/cc",  "/a/bb/c",
		"/a/b/c/**", "/a/b/**", "/a/**/b",   "/a/**/**/b", "/a/**/**", "/a/**/bb",
		"/a/b*",     "/a/b*/c", "/a/b\\*/c", "/a/*/c",	   "/a/*",     "/a/**",
		"/**/c",     "/**",	"/a//b",     "/a/b/",	   "/a/b[",    "/a/b/[x]y*z",
		"a/b",	     "/aa/b/c", "/a/b/c/d",  "/a/b/c*d/e", "/a/b/c/.", "/a/b/\\c",
	};
	const char *why;

	for (size_t i = 0; i < ARRAY_LEN(list) * ARRAY_LEN(list); i++) {
		AUTO_PATTERN struct pattern p = PATTERN_INIT;
		AUTO_PATTERN struct pattern alone = PATTERN_INIT;
		const char *first = list[i / ARRAY_LEN(list)], *then = list[i % ARRAY_LEN(list)];
		bool good = pattern_parse(&p, first, &why), want = false;

		(void)good;
		want = pattern_parse(&alone, then, &why);
		if (pattern_parse(&p, then, &why) != want)
			fail_msg("'%s' after '%s'", then, first);
		if (!want)
			continue;
		if (p.n != alone.n || p.total != alone.total || p.min != alone.min ||
		    p.max != alone.max || p.literals != alone.literals || p.plain != alone.plain ||
		    strcmp(p.literal.data, alone.literal.data) != 0 ||
		    strcmp(p.text.data, then) != 0)
			fail_msg("'%s' is another after '%s'", then, first);
		for (size_t k = 0; k < p.total; k++)
			if (p.parts[k].from != alone.parts[k].from ||
			    p.parts[k].len != alone.parts[k].len ||
			    p.parts[k].at != alone.parts[k].at ||
			    p.parts[k].deep != alone.parts[k].deep ||
			    p.parts[k].shape.form != alone.parts[k].shape.form)
				fail_msg("part %zu of '%s' is another after '%s'", k, then, first);
	}
}

TEST(matching)
{
	static const struct {
		const char *pattern, *path;
		bool match;
	} list[] = {
		{"/", "/", true},
		{"/", "/a", false},
		{"/**", "/", true},
		{"/**", "/a/b/c", true},
		{"/*", "/", false},
		{"/*", "/a", true},
		{"/*", "/a/b", false},
		{"/a/**", "/a", true},
		{"/a/**", "/a/b/c", true},
		{"/a/**", "/ab", false},
		{"/a/*", "/a", false},
		{"/a/**/*", "/a", false},
		{"/a/**/*", "/a/b/c", true},
		{"/a/*/**", "/a/b", true},
		{"/a/*/*", "/a/b", false},
		{"/a/**/c", "/a/c", true},
		{"/a/**/c", "/a/b/b/c", true},
		{"/a/**/c", "/a/b/cc", false},
		{"/**/c", "/c", true},
		{"/**/.env*", "/x/.env.local", true},
		{"/**/*.key", "/x/y/.key", true},
		{"/**/*.key", "/x/y.keys", false},
		{"/a/x*y?z", "/a/xyyz", true},
		{"/a/x*y?z", "/a/x/yyz", false},
		{"/a/?", "/a/\xc3\xa9", true}, /* one character */
		{"/a/?", "/a/\xc3\xa9x", false},
		{"/a/?", "/a/\xff", true}, /* a byte that is no character */
		{"/a/[a-c]x", "/a/bx", true},
		{"/a/[!a-c]x", "/a/bx", false},
		{"/a/[^a-c]x", "/a/dx", true},
		{"/a/[\xc3\xa0-\xc3\xaf]", "/a/\xc3\xa9", true},
		{"/a/[x-]", "/a/-", true},
		{"/a/[\\]]", "/a/]", true},
		{"/a/\\*", "/a/*", true},
		{"/a/\\*", "/a/b", false},
		{"/a/b\\[c", "/a/b[c", true},
		{"/a/*\\*", "/a/b*", true},
		{"/**/a/**/b/**", "/x/a/y/b/z/z", true},
		{"/**/a/**/b/**", "/x/b/y/a/z", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		const struct rule_frame frame = {.level = LEVEL_BUILTIN};
		const struct rule rule = {
			.of = &frame, .verdict = RULE_ALLOW, .kinds = 1u << RULE_READ};
		struct rules *r = rules_new();
		struct rule_match m;
		const char *why = "";

		if (!rules_place(r, rules_add(r, &rule), list[i].pattern, &why))
			fail_msg("'%s': %s", list[i].pattern, why);
		if (rules_decide(r, RULE_READ, list[i].path, 0, &m) != list[i].match)
			fail_msg("'%s' and '%s'", list[i].pattern, list[i].path);
		assert_false(rules_decide(r, RULE_WRITE, list[i].path, 0, &m));
		rules_free(r);
	}
}

/* ---- precedence ------------------------------------------------------------------------------ */

#define ALLOW RULE_ALLOW
#define ASK   RULE_ASK
#define DENY  RULE_DENY
#define HIDE  RULE_HIDE

struct line {
	enum rule_level level;
	enum rule_verdict verdict;
	const char *pattern;
};

TEST(precedence)
{
	static const struct {
		struct line rules[3];
		const char *path;
		int want; /* index into rules; -1: none */
	} list[] = {
		/* A deny inside an allow, and the reverse. */
		{{{LEVEL_USER, ALLOW, "/a/**"}, {LEVEL_USER, DENY, "/a/b/**"}}, "/a/b/c", 1},
		{{{LEVEL_USER, ALLOW, "/a/**"}, {LEVEL_USER, DENY, "/a/b/**"}}, "/a/c", 0},
		{{{LEVEL_USER, DENY, "/a/**"},
		  {LEVEL_USER, ALLOW, "/a/b/**"},
		  {LEVEL_USER, DENY, "/a/b/c"}},
		 "/a/b/c",
		 2},
		/* A name anywhere is nearer than the tree above it. */
		{{{LEVEL_USER, ALLOW, "/home/u/work/**"}, {LEVEL_USER, DENY, "/**/*.key"}},
		 "/home/u/work/x.key",
		 1},
		{{{LEVEL_USER, ALLOW, "/home/u/x.key"}, {LEVEL_USER, DENY, "/**/*.key"}},
		 "/home/u/x.key",
		 0},
		/* The nearest directory of that name. */
		{{{LEVEL_USER, ALLOW, "/**/pub/**"}, {LEVEL_USER, DENY, "/**/priv/**"}},
		 "/priv/pub/x",
		 0},
		{{{LEVEL_USER, ALLOW, "/**/pub/**"}, {LEVEL_USER, DENY, "/**/priv/**"}},
		 "/priv/pub/priv/x",
		 1},
		/* Its content is as near as the directory itself, not nearer. */
		{{{LEVEL_USER, ALLOW, "/a/b/**"}, {LEVEL_USER, DENY, "/a/**/*"}}, "/a/b/c", 0},
		{{{LEVEL_USER, ALLOW, "/a/*"}, {LEVEL_USER, DENY, "/a/**"}}, "/a/b", 0},
		{{{LEVEL_USER, ALLOW, "/a/*"}, {LEVEL_USER, DENY, "/a/**"}}, "/a/b/c", 1},
		/* The nearer level counts, after the pattern. */
		{{{LEVEL_USER, DENY, "/a/**"}, {LEVEL_PROJECT, ALLOW, "/a/**"}}, "/a/x", 1},
		{{{LEVEL_SESSION, ALLOW, "/a/**"}, {LEVEL_USER, DENY, "/a/b/**"}}, "/a/b/x", 1},
		{{{LEVEL_SESSION, DENY, "/a/b"}, {LEVEL_OPTION, ALLOW, "/a/b"}}, "/a/b", 0},
		/* The organisation's deny is final; its allow and ask are not. */
		{{{LEVEL_ORG, DENY, "/a/**"}, {LEVEL_SESSION, ALLOW, "/a/b"}}, "/a/b", 0},
		{{{LEVEL_ORG, HIDE, "/a/**"}, {LEVEL_SESSION, ALLOW, "/a/b"}}, "/a/b", 0},
		{{{LEVEL_ORG, ASK, "/a/**"}, {LEVEL_SESSION, ALLOW, "/a/b"}}, "/a/b", 1},
		{{{LEVEL_ORG, DENY, "/a/**"}, {LEVEL_ORG, ALLOW, "/a/b"}}, "/a/b", 0},
		/* Of equal rules the strictest. */
		{{{LEVEL_USER, ALLOW, "/a"}, {LEVEL_USER, ASK, "/a"}, {LEVEL_USER, DENY, "/a"}},
		 "/a",
		 2},
		{{{LEVEL_USER, ASK, "/a"}, {LEVEL_USER, ALLOW, "/a"}}, "/a", 0},
		/* Of equally strict rules the last. */
		{{{LEVEL_USER, DENY, "/a/x*"}, {LEVEL_USER, HIDE, "/a/*x"}}, "/a/xx", 1},
		{{{LEVEL_USER, ASK, "/a/y*"},
		  {LEVEL_USER, DENY, "/a/*x"},
		  {LEVEL_USER, HIDE, "/a/x*"}},
		 "/a/xx",
		 2},
		/* Other spellings of a name: restrictions match them, an allow does not. */
		{{{LEVEL_USER, DENY, "/a/Secret/**"}}, "/a/sEcReT/x", 0},
		{{{LEVEL_USER, DENY,
		   "/a/stra\xc3\x9f"
		   "e"}},
		 "/a/STRASSE",
		 0},
		{{{LEVEL_USER, HIDE, "/a/[A-Z]x"}}, "/a/qX", 0},
		{{{LEVEL_USER, DENY, "/a/[!A-Z]x"}}, "/a/qx", 0},
		{{{LEVEL_USER, ALLOW, "/a/Secret/**"}}, "/a/secret/x", -1},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct rules *r = rules_new();
		struct rule_match m = {0};
		const char *why;
		int got = -1;

		for (int k = 0; k < 3 && list[i].rules[k].pattern; k++) {
			const struct line *l = &list[i].rules[k];
			const struct rule_frame frame = {.level = l->level};
			const struct rule rule = {.of = &frame,
						  .verdict = l->verdict,
						  .kinds = 1u << RULE_EXEC,
						  .line = k + 1};

			assert_true(rules_place(r, rules_add(r, &rule), l->pattern, &why));
		}
		if (rules_decide(r, RULE_EXEC, list[i].path, 0, &m))
			got = m.rule->line - 1;
		if (got != list[i].want)
			fail_msg("case %zu, %s: %d decides, not %d", i, list[i].path, got,
				 list[i].want);
		rules_free(r);
	}
}

TEST(expiry)
{
	struct rules *r = rules_new();
	const struct rule_frame ends = {.level = LEVEL_USER, .until = 1000};
	const struct rule_frame stays = {.level = LEVEL_USER};
	const struct rule allow = {.of = &ends, .verdict = ALLOW, .kinds = 1u << RULE_READ};
	const struct rule deny = {.of = &stays, .verdict = DENY, .kinds = 1u << RULE_READ};
	struct rule_match m, *list;
	const char *why;

	assert_true(rules_place(r, rules_add(r, &allow), "/a/b", &why));
	assert_true(rules_place(r, rules_add(r, &deny), "/a/**", &why));
	assert_true(rules_decide(r, RULE_READ, "/a/b", 999, &m));
	assert_int_equal(m.rule->verdict, ALLOW);
	assert_true(rules_decide(r, RULE_READ, "/a/b", 1000, &m));
	assert_int_equal(m.rule->verdict, DENY);
	assert_int_equal(rules_explain(r, RULE_READ, "/a/b", 1000, &list), 2);
	assert_int_equal(list[0].rule->verdict, DENY);
	assert_string_equal(rules_why_lost(&list[0], &list[1], 1000), "it has expired");
	free(list);
	rules_free(r);
}

TEST(beneath)
{
	static const struct {
		const char *path;
		enum rule_verdict verdict;
		bool restricted;
	} list[] = {
		{"/", DENY, true},	    {"/w", DENY, true},	 {"/w/keep", DENY, true},
		{"/w/keep/x", ALLOW, true}, {"/s", ASK, true},	 {"/s/soft", ASK, true},
		{"/s/soft/x", ALLOW, true}, {"/v", ALLOW, true}, {"/w/a", DENY, true},
		{"/w/a/b", ALLOW, true},
	};
	struct rules *r = rules_new();
	static const struct line lines[] = {
		{LEVEL_USER, DENY, "/w/keep/x"},
		{LEVEL_USER, ASK, "/s/soft/x"},
		{LEVEL_USER, DENY, "/w/*/b"},
		{LEVEL_USER, DENY, "/**/deep"}, /* at any depth it stays denied */
	};
	uint32_t numbers[ARRAY_LEN(lines)];
	const char *why;

	assert_int_equal(rules_beneath(r, "/w"), ALLOW);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		const struct rule_frame frame = {.level = lines[i].level};
		const struct rule rule = {.of = &frame,
					  .verdict = lines[i].verdict,
					  .kinds = 1u << RULE_WRITE | 1u << RULE_READ};

		numbers[i] = rules_add(r, &rule);
		assert_true(rules_place(r, numbers[i], lines[i].pattern, &why));
	}
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		if (rules_beneath(r, list[i].path) != list[i].verdict)
			fail_msg("%s: %d", list[i].path, rules_beneath(r, list[i].path));
		assert_int_equal(rules_restrict_beneath(r, list[i].path), list[i].restricted);
	}
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		rules_remove(r, numbers[i]);
	assert_int_equal(rules_beneath(r, "/"), ALLOW);
	assert_false(rules_restrict_beneath(r, "/"));
	rules_free(r);
}

/* A restriction applies to other spellings, of the name and of paths below it. */
TEST(other_spellings)
{
	static const char *const patterns[] = {"/w/one", "/w/tree/**", "/w/Big",
					       "/w/d/*", "/w/\\*star", "/w/t.c/x/**"};
	static const struct {
		const char *path;
		bool match;
	} list[] = {
		{"/w/one", true},	  {"/W/ONE", true},	      {"/w/one.", true},
		{"/w/one/x", false},	  {"/w/tree", true},	      {"/w/TREE/A/b", true},
		{"/w/tree/\u200b", true}, {"/w/tree/\u200b/x", true}, {"/w/tree./x", true},
		{"/w/treetop", false},	  {"/w/Big", true},	      {"/w/big", true},
		{"/w/D/x", true},	  {"/w/d/\u200b", true},      {"/w/d/x/y", false},
		{"/w/*star", true},	  {"/W/*STAR", true},	      {"/w/xstar", false},
		{"/w/t.c/x/y", true},	  {"/w/T.C/X", true},	      {"/w/one\u200b", true},
	};
	struct rules *r = rules_new();
	uint32_t numbers[ARRAY_LEN(patterns)];
	struct rule_match m, *all = NULL;
	const char *why;

	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		const struct rule_frame frame = {.level = LEVEL_BUILTIN};
		const struct rule rule = {.of = &frame, .verdict = DENY, .kinds = 1u << RULE_WRITE};

		numbers[i] = rules_add(r, &rule);
		assert_true(rules_place(r, numbers[i], patterns[i], &why));
	}
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		if (rules_decide(r, RULE_WRITE, list[i].path, 0, &m) != list[i].match)
			fail_msg("'%s'", list[i].path);
	assert_int_equal(rules_explain(r, RULE_WRITE, "/w/tree/a", 0, &all), 1);
	assert_int_equal(all[0].depth, 2);
	free(all);
	assert_int_equal(rules_beneath(r, "/w"), DENY);
	assert_int_equal(rules_beneath(r, "/W/T.c"), DENY); /* the place would move along */
	assert_int_equal(rules_beneath(r, "/w/one"), ALLOW);
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
		rules_remove(r, numbers[i]);
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		assert_false(rules_decide(r, RULE_WRITE, list[i].path, 0, &m));
	assert_int_equal(rules_beneath(r, "/"), ALLOW);
	rules_free(r);
}

/* ---- oracle ---------------------------------------------------------------------------------- */

static uint64_t seed = 88172645463325252u;

static unsigned rnd(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

struct parts {
	char list[12][16];
	unsigned n;
};

static void split(struct parts *p, const char *path)
{
	p->n = 0;
	for (const char *c = path + 1; *c;) {
		size_t len = strcspn(c, "/");

		snprintf(p->list[p->n++], sizeof(p->list[0]), "%.*s", (int)len, c);
		c += len + (c[len] == '/');
	}
}

/* Returns whether the pattern from i to n matches exactly the path from k to m. */
static bool naive(const struct parts *p, unsigned i, unsigned n, const struct parts *c, unsigned k,
		  unsigned m)
{
	if (i == n)
		return k == m;
	if (str_eq(p->list[i], "**"))
		return naive(p, i + 1, n, c, k, m) || (k < m && naive(p, i, n, c, k + 1, m));
	return k < m && fnmatch(p->list[i], c->list[k], 0) == 0 && naive(p, i + 1, n, c, k + 1, m);
}

struct score {
	int64_t keys[7];
};

/* Finds the best way in which this pattern matches. Returns false if there is none. */
static bool score_of(const char *pattern, const char *path, struct score *ret)
{
	struct parts p, c;
	int64_t literals = 0, min = 0;
	bool deep = false;
	unsigned head;

	split(&p, pattern);
	split(&c, path);
	for (head = p.n; head && (str_eq(p.list[head - 1], "*") || str_eq(p.list[head - 1], "**"));
	     head--) {
		deep = deep || p.list[head - 1][1] == '*';
		min += p.list[head - 1][1] != '*';
	}
	for (unsigned i = 0; i < head; i++) {
		bool set = false;

		for (const char *s = p.list[i]; *s; s++) {
			set = set || *s == '[';
			literals += !set && *s != '*' && *s != '?';
			set = set && *s != ']';
		}
	}
	for (unsigned k = c.n + 1; k-- > 0;) {
		int64_t rest = c.n - k;

		if (rest < min || (!deep && rest > min) || !naive(&p, 0, head, &c, 0, k))
			continue;
		*ret = (struct score){{k, literals, deep ? -1000 : -min, min}};
		return true;
	}
	return false;
}

static void lower(char *out, size_t size, const char *s)
{
	size_t i = 0;

	for (; *s && i + 1 < size; s++)
		out[i++] = (char)(*s >= 'A' && *s <= 'Z' ? *s | 0x20 : *s);
	out[i] = '\0';
}

struct candidate {
	struct rule_frame frame;
	struct rule rule;
	char pattern[128];
	bool removed;
};

static bool better(const struct score *a, const struct score *b)
{
	for (size_t i = 0; i < ARRAY_LEN(a->keys); i++)
		if (a->keys[i] != b->keys[i])
			return a->keys[i] > b->keys[i];
	return false;
}

/* Decides as rules.h says, without an index. */
static const struct candidate *oracle(const struct candidate *list, size_t n, unsigned kind,
				      const char *path, int64_t now)
{
	const struct candidate *best = NULL;
	struct score top = {{0}};
	bool final = false;
	char low[128];

	lower(low, sizeof(low), path);
	for (size_t i = 0; i < n; i++) {
		const struct candidate *c = &list[i];
		bool strict = c->rule.verdict >= RULE_DENY;
		struct score s = {{0}}, folded = {{0}};
		char pattern[128];
		bool hit;

		if (c->removed || !(c->rule.kinds & kind) ||
		    (c->frame.until && c->frame.until <= now))
			continue;
		hit = score_of(c->pattern, path, &s);
		lower(pattern, sizeof(pattern), c->pattern);
		if (c->rule.verdict != RULE_ALLOW && c->frame.level != LEVEL_SESSION &&
		    score_of(pattern, low, &folded)) {
			if (!hit || better(&folded, &s))
				s = folded;
			hit = true;
		}
		if (!hit)
			continue;
		s.keys[4] = c->frame.level;
		s.keys[5] = strict ? RULE_DENY : c->rule.verdict;
		s.keys[6] = (int64_t)c->frame.id;
		strict = strict && c->frame.level == LEVEL_ORG;
		if (best && (strict < final || (strict == final && !better(&s, &top))))
			continue;
		best = c;
		top = s;
		final = strict;
	}
	return best;
}

static void make_path(char *out, size_t size, const char *const *names, unsigned n)
{
	size_t len = 0;

	for (unsigned i = rnd(6); i > 0; i--)
		len += (size_t)snprintf(out + len, size - len, "/%s", names[rnd(n)]);
	if (!len)
		snprintf(out, size, "/");
}

static void one_set(void)
{
	static const char *const names[] = {"a", "b", "A", "ab", "b.x", "a.x", "B.X", "abab.x"};
	static const char *const globs[] = {"a",     "b",     "A", "ab", "*.x", "a*",
					    "?",     "[ab]",  "*", "**", "**",	"b.x",
					    "[!a]*", "a*b*x", "*", "?b", "*b*", "B.X"};
	struct candidate list[40];
	struct rules *r = rules_new();
	size_t n = 0, want = 1 + rnd(ARRAY_LEN(list));
	char path[128];

	while (n < want) {
		struct candidate *c = &list[n];
		const char *why;
		uint32_t number;

		*c = (struct candidate){.frame = {.level = (enum rule_level)(1 + rnd(5)),
						  .until = rnd(4) ? 0 : 50 + rnd(100),
						  .id = n + 1},
					.rule = {.of = &c->frame,
						 .verdict = (enum rule_verdict)rnd(4),
						 .kinds = 1 + rnd(15)}};
		make_path(c->pattern, sizeof(c->pattern), globs, ARRAY_LEN(globs));
		number = rules_add(r, &c->rule);
		assert_int_equal(number, n);
		c->removed = !rules_place(r, number, c->pattern, &why);
		n++;
	}
	for (int i = 0; i < 200; i++) {
		unsigned kind = rnd(RULE_PLACES);
		int64_t now = rnd(200);
		const struct candidate *c;
		struct rule_match m = {0}, *all;
		size_t n_all;

		if (i % 20 == 19) {
			uint32_t number = rnd((unsigned)n);

			if (!list[number].removed)
				rules_remove(r, number);
			list[number].removed = true;
		}
		make_path(path, sizeof(path), names, ARRAY_LEN(names));
		c = oracle(list, n, 1u << kind, path, now);
		rules_decide(r, (enum rule_kind)kind, path, now, &m);
		if ((c == NULL) != (m.rule == NULL) || (c && c->frame.id != m.rule->of->id))
			fail_msg("%s: '%s' decides, not '%s'", path,
				 m.rule ? list[m.rule->of->id - 1].pattern : "none",
				 c ? c->pattern : "none");
		n_all = rules_explain(r, (enum rule_kind)kind, path, now, &all);
		if (c)
			assert_ptr_equal(all[0].rule, m.rule);
		free(all);
		(void)n_all;
	}
	rules_free(r);
}

TEST(as_the_oracle_says)
{
	for (int i = 0; i < 400; i++)
		one_set();
}

/* ---- size ------------------------------------------------------------------------------------ */

static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Processor time; with sanitizers several times as much. */
#ifdef __SANITIZE_ADDRESS__
#define DECISION_US 25
#else
#define DECISION_US 5
#endif

/* Ten thousand rules of each common sort, and each sort at its worst. */
TEST(ten_thousand)
{
	static const struct {
		const char *before, *after, *path;
	} list[] = {
		{"/home/u/dir", "/**", "/home/u/dir4711/src/a/b/c/file.c"},
		{"/home/u/src/project/file", ".c", "/home/u/src/project/file4711.c"},
		{"/**/name", "/**", "/home/u/src/name4711/a/b/c"},
		{"/**/*.key", "", "/home/u/src/project/x.key4711"},
		{"/home/**/pre", "*", "/home/u/src/project/a/pre4711x"},
		{"/home/u/*/sub", "/**", "/home/u/src/sub4711/a/b/c"},
	};
	const int n = 10000, rounds = 20000;

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct rules *r = rules_new();
		int64_t t = cpu_us(), built;
		struct rule_match m;
		const char *why;

		for (int k = 0; k < n; k++) {
			const struct rule_frame frame = {.level = LEVEL_USER};
			struct rule rule = {.of = &frame,
					    .verdict = k % 2 ? DENY : ALLOW,
					    .kinds = 1u << RULE_READ};
			char pattern[64];

			snprintf(pattern, sizeof(pattern), "%s%d%s", list[i].before, k,
				 list[i].after);
			assert_true(rules_place(r, rules_add(r, &rule), pattern, &why));
		}
		built = cpu_us() - t;
		t = cpu_us();
		for (int k = 0; k < rounds; k++)
			assert_true(rules_decide(r, RULE_READ, list[i].path, 0, &m));
		t = cpu_us() - t;
		print_message("# %.2f us a decision, built in %.1f ms: %sN%s\n", (double)t / rounds,
			      (double)built / 1000, list[i].before, list[i].after);
		assert_true(t / rounds < DECISION_US);
		rules_free(r);
	}
}

/* ---- the end of a permission ------------------------------------------------------------------
 */

TEST(a_clock_that_is_set_back_prolongs_nothing)
{
	_Atomic int64_t ahead = INT64_MIN;

	assert_int_equal(clock_not_back_us(&ahead, 1000, 10), 1000);
	assert_int_equal(clock_not_back_us(&ahead, 500, 20), 1010);
	assert_int_equal(clock_not_back_us(&ahead, 600, 120), 1110);
	assert_int_equal(clock_not_back_us(&ahead, 5000, 130), 5000); /* set forward */
	assert_int_equal(clock_not_back_us(&ahead, 100, 131), 5001);
}

TESTS(NULL, NULL)
