/* test_refused - what a run without a human tells of what it did not read. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/policy/policy.h"
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

static void a_tree_is_told_once(void **state)
{
	struct fix *f = *state;

	assert_string_equal(words(f), "");
	deny(f, "read", "/home/me/docs/a", policy_ungranted);
	deny(f, "read", "/home/me/docs/sub/b", policy_ungranted);
	words(f);
	deny(f, "exec", "/home/me/docs/c", policy_ungranted);
	assert_int_equal(lines(words(f)), 4);
	assert_non_null(strstr(f->words.data, "~/docs/** was refused (3 places)"));
	assert_non_null(strstr(f->words.data, "\n[rule \"refused before\"]\n"
					      "\tallow = read,exec ~/docs/**\n"));
}

/* Only where a human would have been asked: what is denied for good has no remedy. */
static void what_was_not_written_is_told_with_why(void **state)
{
	struct fix *f = *state;

	model_add_row(&f->m, ROW_DENY, 1, 2, -EROFS, "openat", "/etc/x", "it is the system's");
	assert_string_equal(words(f), "");
	unasked(f, -EACCES, "/home/me/p/.git/hooks/a", "git runs it; the other name is /x");
	unasked(f, -EROFS, "/home/me/docs/a", policy_ungranted);
	unasked(f, -EROFS, "/home/me/docs/b", policy_ungranted);
	deny(f, "read", "/home/me/docs/c", policy_ungranted);
	assert_int_equal(lines(words(f)), 8);
	assert_non_null(strstr(f->words.data, "writing ~/p/.git/hooks/a was refused (1 place): "
					      "git runs it, and nobody can be asked\n"));
	assert_non_null(strstr(f->words.data, "\tallow = write ~/p/.git/hooks/a\n"));
	unasked(f, -EACCES, "/home/me/**", policy_ungranted);
	assert_non_null(strstr(words(f), "\tallow = \"write ~/\\\\*\\\\*\"\n"));
	assert_non_null(strstr(f->words.data, "writing ~/docs/** was refused (2 places)"));
	assert_non_null(strstr(f->words.data, "reading ~/docs/** was refused (1 place)"));
	/* A profile's question is nearer than a rule about all of the directory. */
	unasked(f, -EROFS, "/home/me/.codex/config.toml", "codex saves its own settings here");
	assert_non_null(strstr(words(f), "\tallow = write ~/.codex/config.toml\n"));
}

static void nothing_wide_is_proposed(void **state)
{
	static const struct {
		const char *path, *pattern;
	} cases[] = {
		{"/home/me", " /home/me "},
		{"/home/me/.rc", " ~/.rc "},
		{"/home/me/.config", " ~/.config "},
		{"/home/me/.config/tool/x/y", " ~/.config/tool/** "},
		{"/home/me/.local/share/tool/x", " ~/.local/share/tool/** "},
		{"/home/me/.local/share", " ~/.local/share "},
		{"/home/me/.local/x/y/z", " ~/.local/x/** "},
		{"/srv/project/a/b", " /srv/project/** "},
		{"/srv", " /srv "},
		{"/home", " /home "},
		{"/home/you/x", " /home/you/** "},
		{"/home/me/**/x", "\tallow = \"read ~/\\\\*\\\\*/**\"\n"},
		{"/srv/[a]?/b", "\tallow = \"read /srv/\\\\[a\\\\]\\\\?/**\"\n"},
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
	(void)state;
}

/* A home that lies deep: what is beside it is no tree that holds it. */
static void never_what_holds_the_home(void **state)
{
	struct fix *f = *state;

	deny(f, "read", "/home/me2/x", policy_ungranted);
	deny(f, "read", "/data/users/x", policy_ungranted);
	refused_note(&f->r, &f->m, "/data/users/me");
	refused_words(&f->r, &f->words);
	assert_null(strstr(f->words.data, "/data/users/**"));
	assert_non_null(strstr(f->words.data, " /data/users/x "));
}

static void only_what_a_rule_would_grant(void **state)
{
	struct fix *f = *state;

	deny(f, "read", "/home/me/.env", "its name says that it holds secrets");
	deny(f, "write", "/home/me/docs/a", policy_ungranted);
	model_add_row(&f->m, ROW_TOUCH, 1, 2, 0, "read", "/x/y", policy_ungranted);
	assert_string_equal(words(f), "");
}

/* What is pasted speaks of the path that was refused, and of nothing else. */
static void a_pasted_rule_says_what_was_refused(void **state)
{
	struct fix *f = *state;

	unasked(f, -EACCES, "/home/me/p/a*b\"c", "direnv runs it");
	unasked(f, -EACCES, "/home/me/p/\nallow = read **", "direnv runs it");
	words(f);
	assert_non_null(strstr(f->words.data, "\tallow = \"write ~/p/a\\\\*b\\\"c\"\n"));
	assert_null(strstr(f->words.data, "\nallow"));
	assert_null(strstr(f->words.data, "\tallow = read"));
}

static void many_are_counted(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 1000; i++) {
		AUTO_FREE char *path = xasprintf("/srv/p%d/\033[2Jfile", i);

		deny(f, "read", path, policy_ungranted);
	}
	deny(f, "read", "/srv/\033[2J", policy_ungranted);
	assert_int_equal(lines(words(f)), 2 * REFUSED_MAX + 3);
	assert_non_null(strstr(f->words.data, "993 more places"));
	assert_null(strchr(f->words.data, '\033'));
}

/* A key used for a host is no file that was written. */
static void keys_of_the_human(void **state)
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keys_of_the_human),
		TEST(a_tree_is_told_once),
		TEST(nothing_wide_is_proposed),
		TEST(what_was_not_written_is_told_with_why),
		TEST(never_what_holds_the_home),
		TEST(only_what_a_rule_would_grant),
		TEST(a_pasted_rule_says_what_was_refused),
		TEST(many_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
