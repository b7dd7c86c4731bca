/* test_console_options - settings that every console uses: of a run, attached, of a replay. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/check.h"
#include "tui/console/console.h"

static struct config *load(const char *const *settings)
{
	struct config *c = NULL;
	struct err err = {0};

	assert_int_equal(config_load(&c,
				     &(struct config_spec){.home = "/nowhere",
							   .state_dir = "/nowhere",
							   .settings = settings},
				     &err),
			 0);
	return c;
}

TEST(settings_reach_the_console)
{
	static const char *const settings[] = {"console.open=xdg-open",
					       "ui.motion=false",
					       "console.copy-command=wl-copy",
					       "ui.theme=light",
					       "ui.mouse=false",
					       "console.on-hangup=end",
					       NULL};
	struct console_options o = {.record = "file", .at = "90"};
	struct config *c = load(settings);

	console_options_set(&o, c);
	assert_string_equal(o.open, "xdg-open");
	assert_string_equal(o.copy_command, "wl-copy");
	assert_string_equal(o.theme, "light");
	assert_true(o.still);
	assert_false(o.mouse);
	assert_false(o.detach);
	assert_string_equal(o.record, "file"); /* an option without a setting stays */
	assert_string_equal(o.at, "90");
	config_free(c);
}

TEST(without_settings_things_move)
{
	struct console_options o = {0};
	struct config *c = load(NULL);

	console_options_set(&o, c);
	assert_false(o.still);
	assert_true(o.mouse);
	assert_true(o.detach);
	config_free(c);
}

TESTS(NULL, NULL)
