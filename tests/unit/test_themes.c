/* test_themes - every shipped theme is readable on its own background, and the prefix is a
 * setting. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "tests/support/check.h"
#include "tests/support/contrast.h"
#include "tui/look/keymap.h"

TEST(everything_can_be_read)
{
	AUTO_BUF struct buf names = BUF_INIT;
	char *save = NULL;
	int own = 0;

	look_list("theme", NULL, &names);
	for (char *n = strtok_r(names.data, "\n", &save); n; n = strtok_r(NULL, "\n", &save)) {
		struct theme t;
		double has, want;
		int role;

		assert_int_equal(theme_load(&t, n, NULL, DEPTH_TRUE, NULL), 0);
		if (t.roles[ROLE_TEXT].bg == COLOR_DEFAULT) /* the terminal's own background */
			continue;
		own++;
		role = contrast_fault(&t, str_eq(n, "high-contrast"), &has, &want);
		if (role >= 0)
			fail_msg("%s: role %d has a contrast of %.2f, less than %.1f", n, role, has,
				 want);
	}
	assert_true(own >= 5);
}

/* Lists all that are shipped, each once. */
TEST(themes_are_listed)
{
	static const char *const known[] = {
		"default", "dark",    "light", "high-contrast",	 "deuteranopia",    "tritanopia",
		"mono",	   "gruvbox", "nord",  "solarized-dark", "solarized-light", "catppuccin"};
	AUTO_BUF struct buf names = BUF_INIT;
	size_t lines = 0;

	look_list("theme", NULL, &names);
	for (const char *at = names.data; *at; at++)
		lines += *at == '\n';
	assert_int_equal(lines, ARRAY_LEN(known));
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		struct theme t;

		assert_non_null(strstr(names.data, known[i]));
		for (int depth = DEPTH_MONO; depth <= DEPTH_TRUE; depth++)
			assert_int_equal(theme_load(&t, known[i], NULL, (enum depth)depth, NULL),
					 0);
	}
}

/* In themes that promise it, good and bad never differ by red and green alone. */
TEST(colour_blind_sets)
{
	struct theme t;

	assert_int_equal(theme_load(&t, "deuteranopia", NULL, DEPTH_TRUE, NULL), 0);
	/* Blue against orange: far apart in blue. */
	assert_true((color_rgb(t.roles[ROLE_EVENT_ALLOW].fg) & 0xff) >
		    (color_rgb(t.roles[ROLE_EVENT_DENY].fg) & 0xff) + 100);
	assert_int_equal(theme_load(&t, "tritanopia", NULL, DEPTH_TRUE, NULL), 0);
	assert_true((color_rgb(t.roles[ROLE_EVENT_DENY].fg) >> 16) >
		    (color_rgb(t.roles[ROLE_EVENT_ALLOW].fg) >> 16) + 100);
}

TEST(the_prefix_is_a_setting)
{
	struct keymap *km = NULL;
	struct err err = {0};
	char keys[48];

	assert_int_equal(keymap_load(&km, "default", NULL, NULL), 0);
	assert_int_equal(keymap_set_prefix(km, "C-g", &err), 0);
	assert_true(keymap_keys_of(km, PLACE_TERMINAL, ACTION_HELP, keys, sizeof(keys)));
	assert_string_equal(keys, "C-g ?");
	assert_true(keymap_keys_of(km, PLACE_TERMINAL, ACTION_SEND_PREFIX, keys, sizeof(keys)));
	assert_string_equal(keys, "C-g C-g");
	assert_int_equal(keymap_set_prefix(km, "a", &err), -EINVAL);
	assert_non_null(strstr(err.text, "prefix is one key with C-"));
	err = (struct err){0};
	assert_int_equal(keymap_set_prefix(km, "C-n", &err), -EINVAL); /* "down" everywhere */
	assert_non_null(strstr(err.text, "clashes with the key of"));
	assert_true(keymap_keys_of(km, PLACE_TERMINAL, ACTION_HELP, keys, sizeof(keys)));
	assert_string_equal(keys, "C-g ?"); /* as it was */
	keymap_free(km);
}

TESTS(NULL, NULL)
