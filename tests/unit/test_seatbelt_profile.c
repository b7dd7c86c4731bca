/* test_seatbelt_profile - profiles agree with the policy: the same cases, rules, random ones. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/seatbelt_fixture.h"

#include <errno.h>

#include "tests/unit/policy_cases.h"

/* ---- the table of the policy ----------------------------------------------------------------- */

static bool has(const char *path, const char *part)
{
	return strcasestr(path, part) != NULL;
}

/* Returns whether profile.h documents that a profile is stricter here. */
static bool is_stricter(enum policy_act act, const char *path)
{
	const char *leaf = path_base(path);

	if (has(path, ".git/") || str_ends(path, ".git"))
		return true; /* git directories are read-only */
	if (strcasecmp(leaf, "head") == 0)
		return true;				 /* the same file on most Macs */
	if (act == POLICY_MKDIR || act == POLICY_REMOVE) /* the same operation as a rename */
		return *leaf == '.' || has(path, "/.direnv/");
	return false;
}

struct tally {
	size_t cases, stricter;
};

static void check_case(struct pair *x, const struct policy_case *c, bool inside, struct tally *t)
{
	AUTO_FREE char *path = *c->path == '/' ? xstrdup(c->path)
			       : *c->path      ? path_join(FOLDER, c->path)
					       : xstrdup(FOLDER);
	bool allowed = pair_acts(x, c->act, path);

	t->cases++;
	if (allowed && c->verdict != POLICY_ALLOW)
		fail_msg("looser: %s, act %d", path, (int)c->act);
	if (allowed || c->verdict != POLICY_ALLOW || !inside || !path_is_beneath(path, FOLDER))
		return;
	if (!is_stricter(c->act, path))
		fail_msg("stricter: %s, act %d", path, (int)c->act);
	t->stricter++;
}

TEST(the_table_of_the_policy)
{
#define TABLE(list)                                                                                \
	{                                                                                          \
		list, ARRAY_LEN(list), &list[0] != &policy_outside[0]                              \
	}
	const struct {
		const struct policy_case *list;
		size_t n;
		bool inside;
	} tables[] = {TABLE(policy_plain_work),	      TABLE(policy_git_works),
		      TABLE(policy_git_is_protected), TABLE(policy_other_names),
		      TABLE(policy_aliases),	      TABLE(policy_secrets),
		      TABLE(policy_outside)};
	struct tally t = {0};
	struct pair x;

	for (int dynamic = 0; dynamic < 2; dynamic++) {
		pair_new(&x, NULL, dynamic, NULL);
		for (size_t i = 0; i < ARRAY_LEN(tables); i++)
			for (size_t k = 0; k < tables[i].n; k++)
				check_case(&x, &tables[i].list[k], tables[i].inside, &t);
		pair_done(&x);
	}
	print_message("# %zu cases, %zu stricter\n", t.cases, t.stricter);
	assert_true(t.cases >= 300);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static const char *const rule_paths[] = {
	HOME "/notes",
	HOME "/notes/a",
	HOME "/notes/private/b",
	HOME "/notes/x.key",
	HOME "/pub/a",
	HOME "/pub/b/c",
	HOME "/.ssh/id",
	HOME "/.ssh/other",
	HOME "/.gitconfig",
	HOME "/.aws/credentials",
	FOLDER "/src/main.c",
	FOLDER "/.env",
	FOLDER "/.env.local",
	FOLDER "/.env.example",
	FOLDER "/diary/x",
	FOLDER "/build/out.key",
	FOLDER "/a/b/c/out.key",
	FOLDER "/.bashrc",
	FOLDER "/.vscode/x",
	FOLDER "/.cordon/y",
	HOME "/.local/state/cordon/x",
	HOME "/NOTES/a",
	HOME "/.profile",
	"/usr/bin/env",
	HOME "/.config/nvim/i",
	FOLDER "/docs/read.me",
	FOLDER "/docs/x\xc3\xa9.md",
	FOLDER "/docs/xe\xcc\x81.md",
};

static bool reads(struct pair *x, enum rule_kind kind, const char *path)
{
	return pair_allows(x, kind == RULE_EXEC ? "process-exec" : "file-read-data", path,
			   "REGULAR-FILE");
}

static enum policy_verdict verdict(const struct pair *x, enum policy_act act, const char *path)
{
	const char *why;

	return path_is_beneath(path, FOLDER) ? policy_check(x->policy, act, path, &why)
					     : policy_check_outside(x->policy, act, path, &why);
}

static const enum policy_act all_acts[] = {POLICY_WRITE,       POLICY_MKDIR,	 POLICY_REMOVE,
					   POLICY_RENAME_FROM, POLICY_RENAME_TO, POLICY_LINK_FROM,
					   POLICY_META,	       POLICY_SYMLINK,	 POLICY_DIR_TO};

/* Checks that the profile is never looser than the policy, nor than `loosest` for writes. Returns
 * how often it is stricter. */
static size_t compare_at(struct pair *x, const char *path, enum policy_verdict loosest)
{
	static const enum rule_kind kinds[] = {RULE_READ, RULE_EXEC};
	size_t stricter = 0;
	const char *why;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		enum policy_verdict v = policy_check_read(x->policy, kinds[i], path, &why);
		bool got = reads(x, kinds[i], path);

		if (got && v > POLICY_ALLOW)
			fail_msg("looser: %s %s\n%s", i ? "exec" : "read", path, x->words);
		stricter += v == POLICY_ALLOW && !got;
	}
	for (size_t i = 0; i < ARRAY_LEN(all_acts); i++) {
		enum policy_verdict v = verdict(x, all_acts[i], path);
		bool got = pair_acts(x, all_acts[i], path);

		if (got && v > loosest)
			fail_msg("looser: act %d %s\n%s", (int)all_acts[i], path, x->words);
		stricter += v == POLICY_ALLOW && !got;
	}
	return stricter;
}

/* Users' rules with their expected verdicts; several for one place. */
TEST(rules_of_people)
{
	static const char *const sets[][16] = {
		{NULL},
		{"allow", "read ~/notes/**", "deny", "read ~/notes/private/**", NULL},
		{"allow", "read ~/**", NULL},
		{"allow", "read ~/.ssh/id", NULL},
		{"deny", "read ~/**", NULL},
		{"deny", "read ~/notes/**", "allow", "read ~/notes/a", NULL},
		{"allow", "read ~/pub/**", "ask", "read **/*.key", NULL},
		{"allow", "write ~/notes/**", "deny", "read,write ~/notes/private/**", NULL},
		{"ask", "read $FOLDER/diary/**", "hide", "read $FOLDER/docs/*.md", NULL},
		{"allow", "write $FOLDER/.bashrc", "allow", "read $FOLDER/.env", NULL},
		{"deny", "write $FOLDER/a/b/c/*", NULL},
		{"deny", "write $FOLDER/docs/x\xc3\xa9.md", NULL},
		{"deny", "exec ~/notes/**", "allow", "read,exec ~/notes/**", NULL},
		{"allow", "write /**", NULL},
		{"deny", "read $FOLDER/**", "allow", "read $FOLDER/docs/**", NULL},
		{"allow", "read ~/[a-p]*/**", "deny", "read ~/?otes/a", NULL},
	};
	size_t n = 0, stricter = 0;

	for (size_t s = 0; s < ARRAY_LEN(sets); s++)
		for (int dynamic = 0; dynamic < 2; dynamic++) {
			struct pair x;

			pair_new(&x, sets[s], dynamic, NULL);
			for (size_t i = 0; i < ARRAY_LEN(rule_paths); i++, n++)
				stricter += compare_at(&x, rule_paths[i], POLICY_ALLOW);
			pair_done(&x);
		}
	print_message("# %zu paths, %zu answers stricter\n", n, stricter);
}

/* Places opened by rules are open. */
TEST(rules_open_places)
{
	static const char *const sets[][8] = {
		{"allow", "read ~/notes/**", "deny", "read ~/notes/private/**", NULL},
		{"allow", "read ~/.ssh/id", NULL},
		{"allow", "write $FOLDER/.bashrc", NULL},
		{"allow", "write ~/notes/**", NULL},
		{"deny", "read ~/notes/**", "allow", "read ~/notes/a", NULL},
		{"allow", "read $FOLDER/.env", NULL},
	};
	static const struct {
		size_t set;
		const char *operation, *path;
		bool allowed;
	} list[] = {
		{0, "file-read-data", HOME "/notes/a", true},
		{0, "file-read-data", HOME "/notes/private/b", false},
		{0, "file-read-data", HOME "/pub/a", false},
		{1, "file-read-data", HOME "/.ssh/id", true},
		{1, "file-read-metadata", HOME "/.ssh/other", false},
		{2, "file-write-data", FOLDER "/.bashrc", true},
		{2, "file-write-create", FOLDER "/.zshrc", false},
		{3, "file-write-create", HOME "/notes/x", true},
		{3, "file-write-create", HOME "/notes/.git/hooks/x", false},
		{3, "file-write-create", HOME "/other", false},
		{4, "file-read-data", HOME "/notes/a", true},
		{4, "file-read-data", HOME "/Notes/b", false},
		{5, "file-read-data", FOLDER "/.env", true},
		{5, "file-read-data", FOLDER "/.env.local", false},
		{5, "file-read-data", FOLDER "/.env.sample", true},
	};
	struct pair x;

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		pair_new(&x, sets[list[i].set], true, NULL);
		if (pair_allows(&x, list[i].operation, list[i].path, NULL) != list[i].allowed)
			fail_msg("%s %s\n%s", list[i].operation, list[i].path, x.words);
		pair_done(&x);
	}
}

/* ---- random ---------------------------------------------------------------------------------- */

static uint64_t seed = 88172645463325252u;

static size_t below(size_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (size_t)(seed % n);
}

#define PICK(list) list[below(ARRAY_LEN(list))]

static const char *const words[] = {
	"a",	   "b",	      "src",	      "notes",	     ".ssh",
	".git",	   "hooks",   "config",	      ".env",	     ".bashrc",
	".claude", ".vscode", "tasks.json",   "HEAD",	     "A",
	".GIT",	   "x.git",   ".cordon",      "mise.toml",   ".config",
	"fish",	   "k",	      "\xe2\x84\xaa", "caf\xc3\xa9", "cafe\xcc\x81",
	"(x)",	   "q\"",     "new\nline",    ".direnv",     "bin",
	".local",  "share",   "x.key",	      "y[1]",
};

static void random_path(struct buf *out)
{
	static const char *const bases[] = {FOLDER, FOLDER, FOLDER, HOME, HOME, "/usr", ""};

	buf_clear(out);
	buf_str(out, PICK(bases));
	for (size_t n = 1 + below(4); n; n--)
		buf_fmt(out, "/%s", PICK(words));
}

static void random_pattern(struct buf *out)
{
	static const char *const bases[] = {"~", "~", "$FOLDER", "$FOLDER", "", "/home"};
	static const char *const globs[] = {"*", "**", "?", "*.key", "[ab]", ".*", "s*c", "[!a]"};

	buf_str(out, PICK(bases));
	for (size_t n = 1 + below(3); n; n--) {
		const char *word = PICK(words);

		buf_ch(out, '/');
		if (below(3) == 0)
			buf_str(out, PICK(globs));
		else
			for (; *word; word++) {
				if (strchr("*?[]\\", *word))
					buf_ch(out, '\\');
				buf_ch(out, *word);
			}
	}
	if (below(2))
		buf_str(out, "/**");
}

/* Random rules, each with random paths. */
TEST(random_rules)
{
	static const char *const verdicts[] = {"allow", "allow", "deny", "ask", "hide"};
	static const char *const kinds[] = {"read", "write", "exec", "read,write", "read,exec"};
	size_t n = 0, stricter = 0;
	static const char *const folders[] = {FOLDER, NULL};
	const struct profile_spec gate = {.home = HOME, .folders = folders, .gate = true};
	AUTO_BUF struct buf path = BUF_INIT;

	for (int round = 0; round < 60; round++) {
		const char *rules[9] = {NULL};
		size_t n_rules = below(5);
		struct pair x;

		for (size_t i = 0; i < n_rules; i++) {
			struct buf value = BUF_INIT;

			buf_fmt(&value, "%s ", PICK(kinds));
			random_pattern(&value);
			rules[2 * i] = PICK(verdicts);
			rules[2 * i + 1] = buf_take(&value);
		}
		pair_new(&x, rules, round % 2, round % 3 ? NULL : &gate);
		for (int i = 0; i < 60; i++, n++) {
			random_path(&path);
			stricter +=
				compare_at(&x, path.data, round % 3 ? POLICY_ALLOW : POLICY_ASK);
		}
		pair_done(&x);
		for (size_t i = 0; i < n_rules; i++)
			free((void *)(uintptr_t)rules[2 * i + 1]);
	}
	print_message("# %zu random paths, %zu answers stricter\n", n, stricter);
	assert_true(stricter < n); /* of eleven answers each */
}

/* Without questions to a client, a rule that asks about reads is a denial in the profile. */
TEST(what_is_asked_about_with_a_client)
{
	static const char *const folders[] = {FOLDER, NULL};
	static const char *const rules[] = {
		"ask", "read $FOLDER/diary/**", "ask", "exec ~/tools/**",
		"ask", "write $FOLDER/docs/**", "ask", "read,write $FOLDER/both/**",
		NULL};
	const struct profile_spec gate = {.home = HOME, .folders = folders, .gate = true};
	struct pair x;

	pair_new(&x, rules, false, &gate);
	assert_false(pair_allows(&x, "file-read-data", FOLDER "/diary/a", NULL));
	assert_false(pair_allows(&x, "file-read-data", FOLDER "/both/a", NULL));
	assert_false(pair_allows(&x, "file-write-unlink", FOLDER "/diary", NULL));
	assert_false(pair_allows(&x, "process-exec", HOME "/tools/a", NULL));
	assert_true(pair_allows(&x, "file-read-data", HOME "/tools/a", NULL));
	assert_true(pair_allows(&x, "file-write-data", FOLDER "/docs/a", NULL));
	pair_done(&x);
}

/* ---- size ------------------------------------------------------------------------------------ */

TEST(too_many_rules)
{
	static const char *const folders[] = {FOLDER, NULL};
	struct config *c = config_of_rules();
	const struct policy_spec about = {.config = c, .home = HOME, .folders = folders};
	struct profile_spec spec = {.home = HOME, .folders = folders};
	struct profile p = {.sbpl = SBPL_INIT};
	struct policy *policy = NULL;
	struct err err = {0};

	for (int i = 0; i < 8000; i++) {
		AUTO_FREE char *value = xasprintf("read ~/private/place-%d/**", i);

		config_add_rule(c, &(struct config_rule){.name = "r",
							 .key = "deny",
							 .value = value,
							 .file = "x",
							 .level = CONFIG_USER});
	}
	assert_int_equal(policy_new(&policy, &about, &err), 0);
	spec.policy = policy;
	assert_int_equal(profile_build(&p, &spec, &err), -E2BIG);
	assert_non_null(strstr(err.text, "fewer rules"));
	assert_null(strchr(err.text, '\n'));
	policy_free(policy);
	config_free(c);
}

/* ---- injection ------------------------------------------------------------------------------- */

static const char *const evil[] = {
	"/x\")(allow default)(deny file-read* (literal \"y",
	"/x\\\")(allow default)\n(allow file-write*",
	"/x\n(allow default)\n;",
	"/x))))(allow default)",
	"/x;y",
	"/x#\"y\"",
	"/x\\",
	"/\xe2\x80\xae\xff\x01\x1b[31m",
	"/(param \"P0\")",
	"/\xc3\xa9t\xc3\xa9/\"",
	"/x^$.*[a](b|c)",
};

static size_t rules_in(const char *folder, const char *rule)
{
	const char *const folders[] = {folder, NULL}, *const temp[] = {"/x/tmp", NULL};
	const struct profile_spec spec = {
		.home = HOME, .folders = folders, .temp = temp, .own = folder, .tty = folder};
	const char *const rules[] = {"deny", rule, NULL};
	AUTO_FREE char *below_it = path_join(folder, "plain");
	struct pair x;
	size_t n;

	pair_new(&x, rules, true, &spec);
	n = eval_rules(x.eval);
	assert_true(pair_allows(&x, "file-write-create", below_it, NULL));
	assert_false(pair_allows(&x, "file-write-create", "/etc/passwd", NULL));
	assert_false(pair_allows(&x, "file-read-data", HOME "/.ssh/id", NULL));
	pair_done(&x);
	return n;
}

TEST(names_end_no_string)
{
	size_t plain = rules_in("/plain", "read ~/plain");

	for (size_t i = 0; i < ARRAY_LEN(evil); i++) {
		AUTO_BUF struct buf rule = BUF_INIT;

		buf_str(&rule, "read ~");
		for (const char *c = evil[i]; *c; c++) {
			if (strchr("*?[]\\", *c))
				buf_ch(&rule, '\\');
			buf_ch(&rule, *c);
		}
		assert_int_equal(rules_in(evil[i], rule.data), plain);
	}
}

TEST(every_byte)
{
	for (int c = 1; c < 256; c++) {
		char folder[] = {'/', 'a', (char)c, 'b', '\0'}, other[] = {'/', 'a', 'b', '\0'};
		const char *const folders[] = {folder, NULL};
		const struct profile_spec spec = {.home = HOME, .folders = folders};
		AUTO_FREE char *path = path_join(folder, "x");
		AUTO_FREE char *env = path_join(folder, ".env");
		AUTO_FREE char *beside = path_join(other, "x");
		struct pair x;

		if (c == '/')
			continue;
		pair_new(&x, NULL, false, &spec);
		assert_true(pair_allows(&x, "file-write-data", path, NULL));
		assert_false(pair_allows(&x, "file-write-data", beside, NULL));
		assert_false(pair_allows(&x, "file-read-data", env, NULL));
		pair_done(&x);
	}
}

int main(void)
{
	unsetenv("XDG_STATE_HOME");
	unsetenv("XDG_CONFIG_HOME");
	return run_all(NULL, NULL, NULL, NULL);
}
