/* test_mouse - selections by the mouse, and copies of them. */
/* SPDX-License-Identifier: MIT */
#include "tests/screen/scene.h"
#include "tests/support/check.h"

static void mouse(struct scene *s, enum mouse_action action, int x, int y)
{
	struct event ev = {
		.type = EVENT_MOUSE,
		.mouse = {.action = action, .button = action == MOUSE_PRESS, .x = x, .y = y}};

	ui_event(s->ui, &ev, s->now_us += 1000);
}

/* Drags between two cells of the agent's pane, and copies the text. */
static void drag(struct scene *s, int x, int y, int to_x, int to_y)
{
	scene_draw(s);
	mouse(s, MOUSE_PRESS, x, y);
	ui_resize(s->ui, s->surface.w, s->surface.h); /* as after each key and press */
	mouse(s, MOUSE_DRAG, to_x, to_y);
	mouse(s, MOUSE_RELEASE, to_x, to_y);
	scene_draw(s);
	buf_clear(&s->said);
}

static bool row_has(struct scene *s, int y, int x, const char *words)
{
	for (; *words; words++, x++)
		if (*surface_cell(&s->surface, x, y)->text != *words)
			return false;
	return true;
}

/* Finds the words on the screen. */
static void find(struct scene *s, const char *words, int *ret_x, int *ret_y)
{
	scene_draw(s);
	for (int y = 0; y < s->surface.h; y++) {
		for (int x = 0; x + (int)strlen(words) <= s->surface.w; x++) {
			if (row_has(s, y, x, words)) {
				*ret_x = x;
				*ret_y = y;
				return;
			}
		}
	}
	fail_msg("not on the screen: %s", words);
}

TEST(a_drag_selects_in_any_view)
{
	static const struct {
		const char *keys, *words;
	} views[] = {{"C-] l", "npm"},	     {"C-] s", "npm"},	     {"C-] l o", "when"},
		     {"C-] V", "standing"},  {"C-] n", "npmjs"},     {"C-] e", "log"},
		     {"C-] m", "resources"}, {"C-] ?", "everywhere"}};
	struct scene *s = *state;

	scene_connections(s);
	for (size_t i = 0; i < ARRAY_LEN(views); i++) {
		AUTO_FREE char *want = xasprintf("copy '%s'\n", views[i].words);
		int x, y, n = (int)strlen(views[i].words);

		scene_keys(s, views[i].keys);
		find(s, views[i].words, &x, &y);
		drag(s, x + n - 1, y, x, y); /* backwards as well */
		scene_keys(s, "y");
		assert_string_equal(s->said.data, want);
		buf_clear(&s->said);
		drag(s, x, y, x + n - 1, y);
		assert_true(surface_cell(&s->surface, x, y)->style.attr & STYLE_REVERSE ||
			    surface_role(&s->surface, ROLE_SELECT).attr & STYLE_REVERSE);
		scene_keys(s, "k y"); /* another key ends it */
		assert_string_not_equal(s->said.data, want);
		scene_keys(s, "Esc Esc");
	}
}

/* Whole rows without trailing blanks; with Alt a rectangle; never beyond the pane. */
TEST(a_drag_goes_over_rows)
{
	struct scene *s = *state;
	struct rect pane;
	size_t lines = 0;

	scene_keys(s, "C-] l");
	pane = s->ui->layout.pane[PANE_AUDIT];
	drag(s, pane.x, pane.y, 0, 0);
	drag(s, pane.x + 3, pane.y, pane.x + pane.w + 20, pane.y + 1);
	scene_keys(s, "y");
	for (const char *c = s->said.data; *c; c++) {
		lines += *c == '\n';
		assert_false(c[0] == ' ' && c[1] == '\n');
	}
	assert_int_equal(lines, 2);
	assert_null(strstr(s->said.data, "│"));
	ui_resize(s->ui, 100, 30);
	assert_null(s->ui->selection.view);
}

TEST(dragging_selects)
{
	struct scene *s = *state;

	term_feed(s->term, "\033[H\033[2Jfirst row\r\nsecond row", 28);
	scene_draw(s);
	mouse(s, MOUSE_PRESS, 6, 1);
	mouse(s, MOUSE_DRAG, 3, 2);
	mouse(s, MOUSE_DRAG, 5, 2);
	mouse(s, MOUSE_RELEASE, 5, 2);
	assert_true(scene_shows(s, "selecting"));
	assert_true(surface_cell(&s->surface, 2, 2)->style.attr & STYLE_REVERSE);
	assert_false(surface_cell(&s->surface, 2, 1)->style.attr & STYLE_REVERSE);
	buf_clear(&s->said);
	scene_keys(s, "y");
	assert_string_equal(s->said.data, "copy 'row\nsecond'\n");
	assert_string_equal(s->to_agent.data, "");
}

TEST(the_mouse_focuses_selects_and_scrolls)
{
	struct scene *s = *state;

	scene_draw(s);
	mouse(s, MOUSE_PRESS, 100, 22);
	assert_int_equal(s->ui->focus, PANE_STEPS);
	scene_draw(s);
	assert_true(scene_shows(s, "2 of 6"));
	mouse(s, MOUSE_WHEEL_DOWN, 100, 22);
	assert_true(scene_shows(s, "5 of 6"));
	mouse(s, MOUSE_PRESS, 5, 5);
	assert_int_equal(s->ui->focus, PANE_TERMINAL);
	for (int i = 0; i < 100; i++)
		term_feed(s->term, "line\r\n", 6);
	mouse(s, MOUSE_WHEEL_UP, 5, 5);
	assert_true(scene_shows(s, "3 lines back"));
	mouse(s, MOUSE_WHEEL_DOWN, 5, 5);
	assert_false(scene_shows(s, "lines back"));
	assert_string_equal(s->to_agent.data, "");
	/* After the agent has requested the mouse, it gets its events. */
	term_feed(s->term, "\033[?1000h\033[?1006h", 16);
	mouse(s, MOUSE_PRESS, 5, 5);
	assert_string_equal(s->to_agent.data, "\033[<0;6;5M");
}

TESTS(scene_set_up, scene_tear_down)
