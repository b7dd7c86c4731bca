/* test_look - settings syntax, themes, keymaps and their guards. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/base/builtin.h"
#include "tests/support/check.h"
#include "tui/look/ini.h"
#include "tui/look/keymap.h"
#include "tui/look/theme.h"

static int parse_keys(const char *text, struct err *err)
{
	struct keymap *km = NULL;
	int r = keymap_parse(&km, "t.keys", text, strlen(text), err);

	keymap_free(km);
	return r;
}

static void refuses(const char *text, const char *words)
{
	struct err err = {0};

	assert_int_equal(parse_keys(text, &err), -EINVAL);
	if (!strstr(err.text, words))
		fail_msg("'%s' is not in '%s'", words, err.text);
}

TEST(shipped_files_load_at_every_depth)
{
	struct err err = {0};

	for (const struct builtin_file *f = builtin_files; f->name; f++) {
		if (str_ends(f->name, ".keys") && parse_keys(f->text, &err) < 0)
			fail_msg("%s: %s", f->name, err.text);
		for (int d = DEPTH_MONO; str_ends(f->name, ".theme") && d <= DEPTH_TRUE; d++) {
			struct theme t;

			if (theme_parse(&t, f->name, f->text, strlen(f->text), (enum depth)d,
					&err) < 0)
				fail_msg("%s: %s", f->name, err.text);
			assert_string_not_equal(t.name, "");
		}
	}
}

TEST(no_answer_on_enter_space_or_y)
{
	static const char *const actions[] = {"allow", "confirm", "force", "end-agent"};
	static const char *const keys[] = {"Enter", "Space", "y",	"Y",
					   "C-m",   "C-j",   "a Enter", "M-y"};

	for (size_t a = 0; a < ARRAY_LEN(actions); a++) {
		for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
			char text[128];

			snprintf(text, sizeof(text), "[keys \"approvals\"]\n%s = %s\n", actions[a],
				 keys[k]);
			refuses(text, "t.keys:2: ");
			refuses(text, "typed by reflex");
		}
	}
}

TEST(lasting_allow_needs_two_keys)
{
	refuses("[keys \"approvals\"]\nallow-command = c\n", "at least two keys");
	refuses("[keys \"approvals\"]\nallow-command = c\n", "at least two keys");
	assert_int_equal(parse_keys("[keys \"approvals\"]\nallow-command = A t\n", NULL), 0);
}

TEST(terminal_binds_after_the_prefix_only)
{
	refuses("[keys \"terminal\"]\nhelp = F1\n", "begins with the prefix");
	refuses("[keymap]\nprefix = a\n", "prefix is one key");
	refuses("[keymap]\nprefix = Enter\n", "prefix is one key");
	assert_int_equal(
		parse_keys("[keymap]\nprefix = F12\n[keys \"terminal\"]\nhelp = prefix ?\n", NULL),
		0);
}

TEST(clashes_are_errors)
{
	refuses("[keys \"steps\"]\nundo = u\nredo = u\n", "t.keys:3: redo clashes with undo = u");
	refuses("[keys \"steps\"]\nundo = g\nredo = g g\n", "clashes");
	refuses("[keys]\ntop = g g\n[keys \"steps\"]\nundo = g\n",
		"t.keys:4: undo clashes with top");
	assert_int_equal(parse_keys("[keys]\nquit = q\n[keys \"steps\"]\nback = q\n", NULL), 0);
}

TEST(mistakes_name_the_nearest_word)
{
	struct err err = {0};
	struct theme t;
	const char *bad = "[color \"event\"]\n\tdenny = red\n";

	refuses("[keys]\n\nalow = a\n", "t.keys:3: unknown action 'alow': did you mean 'allow'?");
	refuses("[keys \"stepz\"]\nup = k\n", "unknown part");
	refuses("[keys]\nup = C-\n", "is no key");
	refuses("[keys]\nup = S-a\n", "is no key");
	refuses("up = k\n", "before any [section]");
	assert_int_equal(theme_parse(&t, "x.theme", bad, strlen(bad), DEPTH_256, &err), -EINVAL);
	assert_non_null(strstr(err.text, "x.theme:2: unknown role 'denny': did you mean 'deny'?"));
}

TEST(a_bad_theme_changes_nothing)
{
	struct theme t;
	const char *bad = "[color]\ntext = red\nborder = purpel\n";

	assert_int_equal(theme_load(&t, "default", NULL, DEPTH_256, NULL), 0);
	assert_int_equal(theme_parse(&t, "x", bad, strlen(bad), DEPTH_256, NULL), -EINVAL);
	assert_string_equal(t.name, "Default");
	assert_int_equal(theme_load(&t, "nothere", NULL, DEPTH_256, NULL), -ENOENT);
}

TEST(roles_fall_back_leftwards)
{
	struct theme t;
	const char *text = "[color]\ntext = 7 0\nalert = red\n";

	assert_int_equal(theme_parse(&t, "x", text, strlen(text), DEPTH_256, NULL), 0);
	assert_int_equal(t.roles[ROLE_ALERT_KEY].fg, COLOR_INDEX(1));
	assert_int_equal(t.roles[ROLE_ALERT_KEY].bg, COLOR_INDEX(0));
	assert_int_equal(t.roles[ROLE_DIFF_ADD].fg, COLOR_INDEX(7));
}

TEST(colours_come_down_to_the_depth)
{
	struct theme t;

	assert_int_equal(color_reduce(COLOR_RGB(255, 0, 0), DEPTH_256), COLOR_INDEX(196));
	assert_int_equal(color_reduce(COLOR_RGB(128, 128, 128), DEPTH_256), COLOR_INDEX(244));
	assert_int_equal(color_reduce(COLOR_INDEX(196), DEPTH_16), COLOR_INDEX(1));
	assert_int_equal(color_reduce(COLOR_RGB(1, 2, 3), DEPTH_TRUE), COLOR_RGB(1, 2, 3));
	assert_int_equal(theme_load(&t, "dark", NULL, DEPTH_MONO, NULL), 0);
	for (size_t i = 0; i < ROLE_COUNT; i++)
		assert_int_equal(t.roles[i].fg | t.roles[i].bg, COLOR_DEFAULT);
}

TEST(sequences_and_prefix)
{
	struct keymap *km = NULL;
	struct keymap_state st = {0};
	enum action a = ACTION_NONE;
	char keys[32];

	assert_int_equal(keymap_load(&km, "vim", NULL, NULL), 0);
	assert_int_equal(keymap_feed(km, &st, PLACE_TERMINAL, (struct key){'q', 0}, &a),
			 KEYMAP_NONE);
	assert_int_equal(keymap_feed(km, &st, PLACE_TERMINAL, km->prefix, &a), KEYMAP_PENDING);
	assert_int_equal(keymap_feed(km, &st, PLACE_TERMINAL, km->prefix, &a), KEYMAP_FOUND);
	assert_int_equal(a, ACTION_SEND_PREFIX);
	assert_int_equal(keymap_feed(km, &st, PLACE_STEPS, (struct key){'g', 0}, &a),
			 KEYMAP_PENDING);
	assert_int_equal(keymap_feed(km, &st, PLACE_STEPS, (struct key){'g', 0}, &a), KEYMAP_FOUND);
	assert_int_equal(a, ACTION_TOP);
	assert_true(keymap_keys_of(km, PLACE_TERMINAL, ACTION_FOCUS_APPROVALS, keys, sizeof(keys)));
	assert_string_equal(keys, "C-] a");
	assert_false(
		keymap_keys_of(km, PLACE_APPROVALS, ACTION_FOCUS_APPROVALS, keys, sizeof(keys)) &&
		str_eq(keys, "a"));
	keymap_free(km);
}

TEST(every_action_is_bound)
{
	struct keymap *km = NULL;

	assert_int_equal(keymap_load(&km, "default", NULL, NULL), 0);
	for (int a = 1; a < ACTION_COUNT; a++) {
		bool bound = false;

		for (size_t i = 0; i < km->n; i++)
			bound |= km->list[i].action == (enum action)a;
		if (!bound)
			fail_msg("%s is not bound", action_name((enum action)a));
	}
	keymap_free(km);
}

/* All actions of the agent's pane can be reached by the prefix, with every shipped keymap. */
TEST(the_prefix_reaches_the_same_everywhere)
{
	static const char *const names[] = {"vim", "emacs"};
	struct keymap *base = NULL;

	assert_int_equal(keymap_load(&base, "default", NULL, NULL), 0);
	for (size_t k = 0; k < ARRAY_LEN(names); k++) {
		struct keymap *km = NULL;
		char a[48], b[48];

		assert_int_equal(keymap_load(&km, names[k], NULL, NULL), 0);
		for (int i = 1; i < ACTION_COUNT; i++) {
			if (!keymap_keys_of(base, PLACE_TERMINAL, (enum action)i, a, sizeof(a)))
				continue;
			if (!keymap_keys_of(km, PLACE_TERMINAL, (enum action)i, b, sizeof(b)))
				fail_msg("%s: %s has no keys in the terminal", names[k],
					 action_name((enum action)i));
		}
		keymap_free(km);
	}
	keymap_free(base);
}

static int collect(void *data, const struct ini_line *l, struct err *err)
{
	(void)err;
	buf_fmt(data, "%d %s/%s %s=%s|", l->line, l->section, l->sub, l->name, l->value);
	return 0;
}

TEST(git_config_syntax)
{
	AUTO_BUF struct buf b = BUF_INIT;
	const char *text =
		"# c\n[A \"b\\\"c\"] x = 1 ; c\n\ty=\" a;b \" z \n[d]\nflag\nlong = a\\\n b\n";

	assert_int_equal(ini_parse("f", text, strlen(text), collect, &b, NULL), 0);
	assert_string_equal(b.data, "2 a/b\"c x=1|3 a/b\"c y= a;b  z|5 d/ flag=|7 d/ long=a b|");
}

TESTS(NULL, NULL)
