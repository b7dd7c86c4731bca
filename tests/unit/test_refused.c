/* test_refused - the report of refused writes after a run without a user. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/policy/policy.h"
#include "tests/support/check.h"
#include "tui/commands/refused.h"

struct fix {
	struct model m;
	struct refused r;
	struct buf words;
};

static int setup(void **state)
{
	struct fix *f = xcalloc(1, sizeof(*f));

	model_init(&f->m);
	f->words = (struct buf)BUF_INIT;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	refused_done(&f->r);
	model_done(&f->m);
	buf_done(&f->words);
	free(f);
	return 0;
}

static void deny(struct fix *f, const char *op, const char *path, const char *reason)
{
	model_add_row(&f->m, ROW_DENY, 1, 2, -13, op, path, reason);
}

static void unasked(struct fix *f, int result, const char *path, const char *reason)
{
	model_add_row(&f->m, ROW_DENY, 1, 2, result, "openat", path, reason)->unasked = true;
}

static const char *words(struct fix *f)
{
	refused_note(&f->r, &f->m, "/home/me");
	buf_clear(&f->words);
	refused_words(&f->r, &f->words);
	return f->words.data;
}

static size_t lines(const char *s)
{
	size_t n = 0;

	for (; (s = strchr(s, '\n')); s++)
		n++;
	return n;
}

TEST(a_tree_is_told_once)
{
	struct fix *f = *state;

	assert_string_equal(words(f), "");
	deny(f, "read", "/home/me/docs/a", policy_ungranted);
	deny(f, "read", "/home/me/docs/sub/b", policy_ungranted);
	words(f);
	deny(f, "exec", "/home/me/docs/c", policy_ungranted);
	assert_int_equal(lines(words(f)), 6);
	assert_non_null(strstr(f->words.data, "~/docs/** was refused (3 places, like ~/docs/a)"));
	assert_non_null(strstr(f->words.data, "\n[rule \"refused before\"]\n"
					      "\tallow = read,exec ~/docs/a\n"
					      "\tallow = read,exec ~/docs/sub/b\n"
					      "\tallow = read,exec ~/docs/c\n"));
}

/* Only of writes that a user would have been asked about: a rule's denial has no remedy. */
TEST(what_was_not_written_is_told_with_why)
{
	struct fix *f = *state;

	model_add_row(&f->m, ROW_DENY, 1, 2, -EROFS, "openat", "/etc/x", "it is the system's");
	assert_string_equal(words(f), "");
	unasked(f, -EACCES, "/home/me/p/.git/hooks/a", "git runs it; the other name is /x");
	unasked(f, -EROFS, "/home/me/docs/a", policy_ungranted);
	unasked(f, -EROFS, "/home/me/docs/b", policy_ungranted);
	deny(f, "read", "/home/me/docs/c", policy_ungranted);
	assert_int_equal(lines(words(f)), 9);
	assert_non_null(strstr(f->words.data, "writing ~/p/.git/hooks/a was refused (1 place): "
					      "git runs it (a headless run cannot ask)\n"));
	assert_non_null(strstr(f->words.data, "\tallow = write ~/p/.git/hooks/a\n"));
	unasked(f, -EACCES, "/home/me/**", policy_ungranted);
	assert_non_null(strstr(words(f), "\tallow = \"write ~/\\\\*\\\\*\"\n"));
	assert_non_null(
		strstr(f->words.data, "writing ~/docs/** was refused (2 places, like ~/docs/a)"));
	assert_non_null(strstr(f->words.data, "reading ~/docs/c was refused (1 place)"));
	/* A profile's question is nearer than a rule about the whole directory. */
	unasked(f, -EROFS, "/home/me/.codex/config.toml", "codex saves its own settings here");
	assert_non_null(strstr(words(f), "\tallow = write ~/.codex/config.toml\n"));
}

TEST(nothing_wide_is_proposed)
{
	static const struct {
		const char *path, *pattern;
	} cases[] = {
		{"/home/me", " /home/me "},
		{"/home/me/.rc", " ~/.rc "},
		{"/home/me/.config", " ~/.config "},
		{"/home/me/.config/tool/x/y", " ~/.config/tool/x/y "},
		{"/home/me/.local/share/tool/x", " ~/.local/share/tool/x "},
		{"/home/me/.local/share", " ~/.local/share "},
		{"/home/me/.local/x/y/z", " ~/.local/x/y/z "},
		{"/srv/project/a/b", " /srv/project/a/b "},
		{"/srv", " /srv "},
		{"/home", " /home "},
		{"/home/you/x", " /home/you/x "},
		{"/home/me/**/x", "\tallow = \"read ~/\\\\*\\\\*/x\"\n"},
		{"/srv/[a]?/b", "\tallow = \"read /srv/\\\\[a\\\\]\\\\?/b\"\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fix *f;
		void *one = NULL;

		setup(&one);
		f = one;
		deny(f, "read", cases[i].path, policy_ungranted);
		if (!strstr(words(f), cases[i].pattern))
			fail_msg("%s: %s", cases[i].path, f->words.data);
		teardown(&one);
	}
}

/* A rule for several paths is about their deepest common directory, and one for a write about its
 * own. Not if a working folder or documents would be in it, nor for a temporary name. */
TEST(a_directory_is_proposed_where_it_is_narrow)
{
	static const char *const folders[] = {"/home/me/work/proj", NULL};
	static const struct {
		const char *op, *one, *two, *rule, *not ;
	} cases[] = {
		{"read", "/home/me/.tool/a/x", "/home/me/.tool/a/y/z", "~/.tool/a/**\n", "tool/**"},
		{"read", "/home/me/.tool/x", "/home/me/.tool/y", "~/.tool/**\n", "tool/x\n"},
		{"read", "/home/me/.config/a/x", "/home/me/.config/a/y", "~/.config/a/**\n",
		 "/x\n"},
		{"read", "/home/me/d/tax/1", "/home/me/d/tax/2", "~/d/tax/**\n", "~/d/**"},
		{"read", "/home/me/d/1", "/home/me/d/2", "~/d/1\n\tallow = read ~/d/2\n", "**\n"},
		{"write", "/home/me/work/t1", NULL, "write ~/work/t1\n", "**\n"},
		{"write", "/home/me/work/t1", "/home/me/work/t2", "~/work/t2\n", "work/**\n"},
		{"write", "/home/me/.tool/db/f", NULL, "~/.tool/db/**\n", "db/f\n"},
		{"write", "/home/me/work/_tmp_206_374e6a27", NULL, "", "allow"},
		{"read", "/home/you/x", "/home/you/y", "read /home/you/x\n", "you/**"},
		{"read", "/srv/p/a", "/srv/p/b", "read /srv/p/**\n", "/srv/**"},
		{"read", "/home/me/.a", "/home/me/.a", "read ~/.a\n", "**"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *const paths[] = {cases[i].one, cases[i].two};
		const char *rules;
		void *one = NULL;
		struct fix *f;

		setup(&one);
		f = one;
		f->r.folders = folders;
		for (size_t k = 0; k < ARRAY_LEN(paths) && paths[k]; k++) {
			if (str_eq(cases[i].op, "write"))
				unasked(f, -EROFS, paths[k], policy_ungranted);
			else
				deny(f, "read", paths[k], policy_ungranted);
		}
		rules = strstr(words(f), "[rule");
		rules = rules ? rules : "";
		if (!strstr(rules, cases[i].rule) || strstr(rules, cases[i].not ))
			fail_msg("%s: %s", paths[0], f->words.data);
		teardown(&one);
	}
}

/* A home may be deep in the tree: directories beside it are not trees that contain it. */
TEST(never_what_holds_the_home)
{
	struct fix *f = *state;

	deny(f, "read", "/home/me2/x", policy_ungranted);
	deny(f, "read", "/data/users/x", policy_ungranted);
	refused_note(&f->r, &f->m, "/data/users/me");
	refused_words(&f->r, &f->words);
	assert_null(strstr(f->words.data, "/data/users/**"));
	assert_non_null(strstr(f->words.data, " /data/users/x "));
}

TEST(only_what_a_rule_would_grant)
{
	struct fix *f = *state;

	deny(f, "read", "/home/me/.env", "its name says that it holds secrets");
	deny(f, "write", "/home/me/docs/a", policy_ungranted);
	model_add_row(&f->m, ROW_TOUCH, 1, 2, 0, "read", "/x/y", policy_ungranted);
	assert_string_equal(words(f), "");
}

/* The text to paste is about the refused path alone. */
TEST(a_pasted_rule_says_what_was_refused)
{
	struct fix *f = *state;

	unasked(f, -EACCES, "/home/me/p/a*b\"c", "direnv runs it");
	unasked(f, -EACCES, "/home/me/p/\nallow = read **", "direnv runs it");
	words(f);
	assert_non_null(strstr(f->words.data, "\tallow = \"write ~/p/a\\\\*b\\\"c\"\n"));
	assert_null(strstr(f->words.data, "\nallow"));
	assert_null(strstr(f->words.data, "\tallow = read"));
}

TEST(many_are_counted)
{
	struct fix *f = *state;

	for (int i = 0; i < 1000; i++) {
		AUTO_FREE char *path = xasprintf("/srv/p%d/\033[2Jfile", i);

		deny(f, "read", path, policy_ungranted);
	}
	deny(f, "read", "/srv/\033[2J", policy_ungranted);
	assert_int_equal(lines(words(f)), REFUSED_MAX + 1);
	assert_non_null(strstr(f->words.data, "993 more places"));
	assert_null(strchr(f->words.data, '\033'));
}

/* A key used for a host is not a written file. */
TEST(keys_of_the_human)
{
	struct fix *f = *state;

	model_add_row(&f->m, ROW_DENY, 1, 2, -13, "credentials", "git.example:443", "no rule")
		->unasked = true;
	model_add_row(&f->m, ROW_DENY, 1, 2, -13, "sign", "git.example:22", "no rule")->unasked =
		true;
	refused_note(&f->r, &f->m, "/home/me");
	refused_words(&f->r, &f->words);
	assert_non_null(strstr(f->words.data, "using your git credentials for git.example:443"));
	assert_non_null(strstr(f->words.data, "signing in with your SSH key at git.example:22"));
	assert_non_null(strstr(f->words.data, "allow = credentials git.example:443"));
	assert_non_null(strstr(f->words.data, "allow = sign git.example:22"));
}

TESTS(setup, teardown)
