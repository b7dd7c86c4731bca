/* test_shelf - rules that wait until they are asked about decide as if each had been placed. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/config/config_priv.h"
#include "core/policy/rules_priv.h"

#define LINES 400

/* A home with a few things in it: what rules name is there, or not, or behind a link. */
struct home {
	char *path, *folder;
	const char *folders[2];
	struct rules_scope scope;
};

static void make_dir(const char *home, const char *name)
{
	AUTO_FREE char *path = path_join(home, name);

	assert_int_equal(io_mkdir_p(AT_FDCWD, path, 0700), 0);
}

static int set_up(void **state)
{
	struct home *h = xcalloc(1, sizeof(*h));
	char made[] = "/tmp/shelf-XXXXXX";
	AUTO_FREE char *link = NULL;

	/* In small letters: other names fold, and do not wait. */
	h->path = mkdtemp(made) ? xasprintf("/tmp/shelf.%d", (int)getpid()) : NULL;
	if (!h->path || rename(made, h->path) < 0)
		return -1;
	h->folder = path_join(h->path, "work");
	h->folders[0] = h->folder;
	h->scope = (struct rules_scope){h->path, h->folders};
	make_dir(h->path, "dir3/src");
	make_dir(h->path, "tools/v4/bin");
	make_dir(h->path, "work/gen/part5");
	for (int i = 0; i < 30; i++) {
		AUTO_FREE char *name = xasprintf("src/file%d.c", i * 10);

		make_dir(h->path, name);
	}
	link = path_join(h->path, "link");
	*state = h;
	return symlink("tools", link);
}

static int tear_down(void **state)
{
	struct home *h = *state;
	int r = io_remove_tree(AT_FDCWD, h->path);

	free(h->path);
	free(h->folder);
	free(h);
	return r;
}

static uint64_t seed = 88172645463325252u;

static unsigned rnd(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

/* ---- every line by itself -------------------------------------------------------------------- */

static void no_error(void *data, const char *file, int line, const char *words)
{
	(void)data;
	fail_msg("%s:%d: %s", file, line, words);
}

struct line {
	struct config_rule rule;
	char value[64], file[8];
	struct config *alone;
	struct rules *trusted, *untrusted;
};

static struct rules *load(const struct home *h, const struct config *c, struct rules **untrusted)
{
	struct rules *r = rules_new();

	*untrusted = rules_new();
	assert_true(rules_load(r, *untrusted, c, &h->scope, no_error, NULL));
	return r;
}

static const char *const sorts[] = {
	"read ~/dir%u/**",	     "read,exec ~/tools/v%u/bin/**", "write $FOLDER/gen/part%u",
	"read $FOLDER/**/secret%u*", "write /srv/data/%u/**",	     "read ~/src/file%u.c",
	"read ~/src/file%u*",	     "exec ~/link/v%u/bin",	     "read ~/Dir%u/**",
	"read ~/dir%u./x",	     "write $FOLDER/**/s%u/**",	     "write $FOLDER/**/s%u",
	"write $FOLDER/**/s%u/t",    "write ~/tools/v%u/*",	     "read ~/tools/v%u/**/x",
	"exec ~/src/file%u.c/a*/**", "read,write ~/dir%u",	     "read /srv/data/%u/x?",
	"write $HOME/dir%u/a/b/c",
};

static void make_lines(const struct home *h, struct line *lines, struct config *all)
{
	static const char *const keys[] = {"allow", "ask", "deny", "hide"};
	unsigned left = 0, sort = 0, key = 0;

	for (unsigned i = 0; i < LINES; i++) {
		struct line *l = &lines[i];

		if (!left--) {
			left = rnd(3) ? rnd(120) : rnd(4);
			sort = rnd(ARRAY_LEN(sorts));
			key = rnd(ARRAY_LEN(keys));
		}
		key = rnd(20) ? key : rnd(ARRAY_LEN(keys));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(l->value, sizeof(l->value), sorts[rnd(40) ? sort : rnd(ARRAY_LEN(sorts))],
			 rnd(12));
#pragma GCC diagnostic pop
		snprintf(l->file, sizeof(l->file), "f%u", i / 50);
		l->rule = (struct config_rule){
			.name = i % 3 ? "one" : "another",
			.key = keys[key],
			.value = l->value,
			.file = l->file,
			.line = (int)i + 1,
			.level = (enum config_level)(CONFIG_PROFILE + i / 100)};
		l->rule.untrusted = key && i >= 300;
		l->alone = config_of_rules();
		config_add_rule(l->alone, &l->rule);
		config_add_rule(all, &l->rule);
		l->trusted = load(h, l->alone, &l->untrusted);
	}
}

static void free_lines(struct line *lines)
{
	for (unsigned i = 0; i < LINES; i++) {
		rules_free(lines[i].trusted);
		rules_free(lines[i].untrusted);
		config_free(lines[i].alone);
	}
}

/* rules.h says in which order, the later of equals last. */
static bool decides(const struct rule_match *a, const struct rule_match *b)
{
	const struct rule *x = a->rule, *y = b->rule;
	const int64_t keys[][2] = {
		{x->of->level == LEVEL_ORG && x->verdict >= RULE_DENY,
		 y->of->level == LEVEL_ORG && y->verdict >= RULE_DENY},
		{a->depth, b->depth},
		{a->literals, b->literals},
		{b->max, a->max},
		{a->min, b->min},
		{x->of->level, y->of->level},
		{MIN(x->verdict, RULE_DENY), MIN(y->verdict, RULE_DENY)},
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] > keys[i][1];
	return true;
}

static struct rules *of(const struct line *l, bool trusted)
{
	return trusted ? l->trusted : l->untrusted;
}

static void ask(struct rules *r, const struct line *lines, bool trusted, const char *path)
{
	enum rule_kind kind = (enum rule_kind)rnd(RULE_PLACES);
	struct rule_match best = {0}, m, got = {0}, *list = NULL;
	enum rule_verdict beneath = RULE_ALLOW;
	bool restricted = false;
	size_t n = 0;

	for (unsigned i = 0; i < LINES; i++) {
		struct rules *alone = of(&lines[i], trusted);
		enum rule_verdict v = rules_beneath(alone, path);

		beneath = MAX(beneath, v);
		restricted = restricted || rules_restrict_beneath(alone, path);
		if (!rules_decide(alone, kind, path, 0, &m))
			continue;
		n++;
		if (!best.rule || decides(&m, &best))
			best = m;
	}
	if (rnd(2) &&
	    (rules_beneath(r, path) != beneath || rules_restrict_beneath(r, path) != restricted))
		fail_msg("beneath %s: not %d, %d", path, beneath, restricted);
	rules_decide(r, kind, path, 0, &got);
	if ((best.rule == NULL) != (got.rule == NULL) ||
	    (got.rule && (got.rule->line != best.rule->line ||
			  strcmp(got.rule->of->file, best.rule->of->file) != 0)))
		fail_msg("%s: line %d decides, not %d", path, got.rule ? got.rule->line : 0,
			 best.rule ? best.rule->line : 0);
	assert_int_equal(rules_explain(r, kind, path, 0, &list), n);
	free(list);
}

static const char *const forms[] = {
	"~/dir%u/src/a",
	"~/tools/v%u/bin/x",
	"$/gen/part%u",
	"$/a/b/secret%ux/c",
	"$/Secret%u",
	"/srv/data/%u",
	"~/src/file%u.c/ab/x",
	"~/tools/v%u/a",
	"~/DIR%u/x",
	"$/x/s%u/y",
	"/srv/data",
	"/srv/data/%u/xy",
	"~",
	"$",
	"/",
	"~/tools",
	"~/tools/v%u",
	"$/a",
	"/srv",
	"~/dir%u/a/b/c",
	"~/SRC/file%u.C",
	"/usr/lib",
	"$/gen",
	"~/tools/v%u/x/y/x",
	"~/dir%u",
	"~/dir%u./x",
	"~/src",
	"/srv/data/%u/a/b",
	"$/x/s%u",
};

static void make_path(const struct home *h, const char *form, char *out, size_t size)
{
	char rest[64];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(rest, sizeof(rest), form + (*form != '/'), rnd(4));
#pragma GCC diagnostic pop
	snprintf(out, size, "%s%s", *form == '/' ? "" : *form == '$' ? h->folder : h->path, rest);
}

/* What is there is known as if each had been looked at. */
static void same_places(const struct line *lines, const struct rules *r,
			const struct rules *untrusted)
{
	uint32_t trusted = 0, others = 0;

	for (unsigned i = 0; i < LINES; i++) {
		const struct line *l = &lines[i];
		bool absent = l->rule.untrusted ? rules_is_absent(untrusted, others++)
						: rules_is_absent(r, trusted++);

		if (absent != rules_is_absent(of(l, !l->rule.untrusted), 0))
			fail_msg("%s is absent: %d", l->value, absent);
	}
}

static void as_each_by_itself(void **state)
{
	const struct home *h = *state;

	for (int i = 0; i < 25; i++) {
		struct line *lines = xcalloc(LINES, sizeof(*lines));
		struct config *all = config_of_rules();
		struct rules *r, *untrusted;
		char path[128];

		make_lines(h, lines, all);
		r = load(h, all, &untrusted);
		same_places(lines, r, untrusted);
		for (int k = 0; k < 100; k++) {
			make_path(h, forms[rnd(ARRAY_LEN(forms))], path, sizeof(path));
			ask(r, lines, true, path);
			ask(untrusted, lines, false, path);
		}
		free_lines(lines);
		free(lines);
		rules_free(r);
		rules_free(untrusted);
		config_free(all);
	}
}

/* ---- who waits ------------------------------------------------------------------------------- */

static size_t waiting(const struct rules *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->list[i].waits;
	return n;
}

static struct rules *load_many(const struct home *h, const char *sort, int n, struct config **ret)
{
	struct config *c = config_of_rules();
	struct rules *r, *untrusted;

	for (int i = 0; i < n; i++) {
		AUTO_FREE char *value = NULL;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		value = xasprintf(sort, (i + 40) % n);
#pragma GCC diagnostic pop
		config_add_rule(c, &(struct config_rule){.name = "many",
							 .key = i < 40 ? "allow" : "deny",
							 .value = value,
							 .file = "f",
							 .line = i + 1,
							 .level = CONFIG_USER});
	}
	r = load(h, c, &untrusted);
	rules_free(untrusted);
	*ret = c;
	return r;
}

/* The first path that comes near has all of them looked up; others none. */
static void until_one_comes_near(void **state)
{
	static const struct {
		const char *sort, *far, *near;
	} list[] = {
		{"read ~/dir%d/**", "~/notes/dir1", "~/dir"},
		{"read,exec ~/tools/v%d/bin/**", "~/tools/x", "~/TOOLS/v3"},
		{"read ~/src/file%d.c", "~/src/fil", "~/src/file7"},
		{"read $FOLDER/**/secret%d*", "~/work/a/asecret", "~/work/a/b/Secret/x"},
		{"read ~/nowhere/%d/**", "~/nowhere", "~/nowhere/x"},
	};
	const struct home *h = *state;

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		AUTO_FREE char *far = path_expand_home(list[i].far, h->path);
		AUTO_FREE char *near = path_expand_home(list[i].near, h->path);
		struct config *c;
		struct rules *r = load_many(h, list[i].sort, 1000, &c);
		size_t n = waiting(r);
		struct rule_match m;

		assert_true(n > 900);
		rules_decide(r, RULE_READ, far, 0, &m);
		rules_decide(r, RULE_WRITE, near, 0, &m);
		rules_restrict_beneath(r, h->path);
		assert_int_equal(waiting(r), n);
		rules_decide(r, RULE_READ, near, 0, &m);
		assert_int_equal(waiting(r), 0);
		rules_free(r);
		config_free(c);
	}
}

/* Those that wait, and the same ones placed. */
static void same_beneath(const struct home *h, const char *sort)
{
	struct config *c, *d;
	struct rules *placed = load_many(h, sort, 100, &d);
	char path[128];

	for (uint32_t i = 0; i < rules_count(placed); i++)
		rules_next(placed, i, 0);
	assert_int_equal(waiting(placed), 0);
	for (size_t i = 0; i < ARRAY_LEN(forms) * 2; i++) {
		struct rules *r = load_many(h, sort, 100, &c);

		make_path(h, forms[i / 2], path, sizeof(path));
		if (i % 2 ? rules_beneath(r, path) != rules_beneath(placed, path)
			  : rules_restrict_beneath(r, path) != rules_restrict_beneath(placed, path))
			fail_msg("%s, beneath %s", sort, path);
		rules_free(r);
		config_free(c);
	}
	rules_free(placed);
	config_free(d);
}

static void beneath(void **state)
{
	for (int i = 0; i < 6; i++)
		for (size_t k = 0; k < ARRAY_LEN(sorts); k++)
			same_beneath(*state, sorts[k]);
}

/* What asks for a rule's patterns, or takes it away, finds them. */
static void asked_one_by_one(void **state)
{
	const struct home *h = *state;
	AUTO_BUF struct buf text = BUF_INIT;
	AUTO_FREE char *path = path_join(h->path, "nowhere/540");
	struct config *c;
	struct rules *r = load_many(h, "read ~/nowhere/%d/**", 1000, &c), *none;
	struct rule_match m;
	uint32_t at;

	rules_remove(r, 501);
	assert_int_equal(waiting(r), 0);
	at = rules_next(r, 500, 0);
	assert_true(at);
	rules_text(r, at, &text);
	buf_truncate(&text, text.len - strlen("/**"));
	assert_string_equal(text.data, path);
	assert_true(rules_decide(r, RULE_READ, path, 0, &m));
	path[strlen(path) - 1] = '1';
	assert_false(rules_decide(r, RULE_READ, path, 0, &m));
	rules_free(r);
	r = load(h, c, &none);
	rules_free(none);
	assert_true(rules_next(r, 500, 0));
	assert_int_equal(waiting(r), 0);
	rules_free(r);
	config_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_each_by_itself),
		cmocka_unit_test(beneath),
		cmocka_unit_test(until_one_comes_near),
		cmocka_unit_test(asked_one_by_one),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
