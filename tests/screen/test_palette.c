/* test_palette - actions are found by letters, and a key says what it would do. */
/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/screen/scene.h"

static void open_scene(struct scene *s, int w, int h)
{
	scene_init(s, w, h, DEPTH_256);
	scene_fill(s);
}

static void an_action_is_found_and_done(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 120, 40);
	scene_keys(&s, "C-] : a c t i");
	assert_true(scene_shows(&s, ": acti"));
	scene_golden(&s, "palette", DEPTH_256);
	scene_keys(&s, "Enter");
	assert_int_equal(s.ui->n_popups, 0);
	assert_int_equal(s.ui->focus, PANE_AUDIT);
	scene_keys(&s, ": z z z");
	assert_true(scene_shows(&s, "No action here has these letters."));
	scene_keys(&s, "Backspace Backspace Enter"); /* z: zoom */
	assert_true(s.ui->zoom);
	scene_keys(&s, ": j k q Esc"); /* letters are no keys here */
	assert_int_equal(s.ui->n_popups, 0);
	assert_string_equal(s.said.data, "");
	assert_int_equal(s.to_agent.len, 0);
	scene_done(&s);
}

static void it_fits_a_narrow_screen(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 40, 24);
	scene_keys(&s, "C-] :");
	scene_golden(&s, "palette", DEPTH_256);
	scene_keys(&s, "s t e p s C-n C-p Enter");
	assert_int_equal(s.ui->focus, PANE_STEPS);
	scene_done(&s);
}

/* Enter is typed by reflex: what decides is told its key. */
static void nothing_is_allowed_from_it(void **state)
{
	static const char *const words[] = {"a l l o w", "a l l o w Space c", "d e n y"};
	struct scene s;

	(void)state;
	open_scene(&s, 120, 40);
	scene_ask(&s, 7, "/home/u/project/.git/hooks/x");
	scene_keys(&s, "C-] a");
	scene_wait(&s, 2000);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		scene_keys(&s, "C-] :");
		scene_wait(&s, 2000);
		scene_keys(&s, words[i]);
		scene_wait(&s, 2000);
		scene_keys(&s, "Enter");
		assert_true(scene_shows(&s, "has to be its own key"));
		assert_null(strstr(s.said.data, "allow"));
		assert_null(strstr(s.said.data, "deny"));
		assert_int_equal(s.ui->n_popups, 1);
	}
	scene_done(&s);
}

static void a_key_says_what_it_does(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 120, 40);
	scene_keys(&s, "C-] ? ? C-] a");
	assert_true(scene_shows(&s, "C-] a: Look at what waits for an answer (focus-approvals)"));
	assert_int_equal(s.ui->n_popups, 1);
	scene_keys(&s, "? x");
	assert_true(scene_shows(&s, "x: goes to the agent."));
	scene_keys(&s, "Esc C-] s F1 ? u");
	assert_true(scene_shows(&s, "u: Roll the files back to before the selected step (undo)"));
	assert_string_equal(s.said.data, "");
	scene_keys(&s, "? F9");
	assert_true(scene_shows(&s, "F9: nothing here."));
	scene_done(&s);
}

/* What the focused view does not do is not in its help. */
static void help_is_of_the_view_alone(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 120, 60);
	scene_keys(&s, "C-] l ?");
	assert_true(scene_shows(&s, "keys: activity"));
	assert_true(scene_shows(&s, "Show only lines with these words"));
	assert_false(scene_shows(&s, "Scroll left"));
	assert_false(scene_shows(&s, "Next hunk"));
	scene_keys(&s, "Esc C-] v ?");
	assert_false(scene_shows(&s, "Show only lines with these words"));
	assert_true(scene_shows(&s, "Take this answer back"));
	scene_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_action_is_found_and_done),
		cmocka_unit_test(it_fits_a_narrow_screen),
		cmocka_unit_test(nothing_is_allowed_from_it),
		cmocka_unit_test(a_key_says_what_it_does),
		cmocka_unit_test(help_is_of_the_view_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
