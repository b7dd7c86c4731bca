/* test_layout - layouts by size and by request, borders by keys and mouse, hidden panes, memory. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <unistd.h>

#include "core/base/io.h"
#include "tests/screen/scene.h"
#include "tests/support/check.h"

/* For every size, request and focus: panes are in the body, do not overlap, and fill it. */
TEST(nothing_overlaps)
{
	for (unsigned i = 0; i < 60000; i++) {
		int w = LAYOUT_MIN_W + (int)(i * 7 % 190), h = LAYOUT_MIN_H + (int)(i * 13 % 60);
		struct layout_wish wish = {.mode = (enum layout_mode)(i % LAYOUT_MODES),
					   .main = (int)(i * 31 % 100),
					   .side = (int)(i * 17 % 100),
					   .hidden = i / 7 % 7};
		struct layout l = layout_compute(w, h, (enum pane)(i % 3), i % 11 == 0, &wish);
		int area = l.divider.w * l.divider.h + l.divider_low.w * l.divider_low.h +
			   l.tabs.w * l.tabs.h;

		for (int p = 0; p < PANE_COUNT; p++) {
			struct rect r = l.pane[p];

			assert_true(r.w >= 0 && r.h >= 0 && r.x >= 0 && r.y >= 0);
			assert_true(r.x + r.w <= w && r.y + r.h <= h - 2);
			area += l.title[p].w * l.title[p].h + r.w * r.h;
			for (int q = 0; q < p; q++) {
				struct rect both = rect_intersect(r, l.pane[q]);

				assert_int_equal(both.w * both.h, 0);
			}
		}
		assert_int_equal(area, w * (h - 2));
	}
}

TEST(by_size)
{
	static const struct {
		int w, h;
		enum layout_mode mode;
	} table[] = {{160, 50, LAYOUT_WIDE},	{80, 24, LAYOUT_STACKED},
		     {40, 50, LAYOUT_PORTRAIT}, {40, 24, LAYOUT_TABS},
		     {69, 36, LAYOUT_PORTRAIT}, {69, 35, LAYOUT_TABS},
		     {29, 40, LAYOUT_TOO_SMALL}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_int_equal(layout_compute(table[i].w, table[i].h, 0, false, NULL).mode,
				 table[i].mode);
}

static void open_scene(struct scene *s, int w, int h)
{
	scene_init(s, w, h, DEPTH_256);
	scene_fill(s);
}

TEST(portrait_beside_an_editor)
{
	struct scene s;

	open_scene(&s, 40, 50);
	scene_golden(&s, "main", DEPTH_256);
	scene_done(&s);
}

TEST(borders_move)
{
	struct scene s;
	int was, steps;

	open_scene(&s, 120, 40);
	was = s.ui->layout.divider.x;
	scene_keys(&s, "C-] Left C-] Left");
	assert_in_range(s.ui->layout.divider.x, was - 6, was - 2);
	for (int i = 0; i < 100; i++)
		scene_keys(&s, "C-] Left");
	assert_int_equal(s.ui->layout.divider.x, 20); /* the agent keeps some room */
	for (int i = 0; i < 200; i++)
		scene_keys(&s, "C-] Right");
	assert_int_equal(s.ui->layout.divider.x, 120 - 17);
	steps = s.ui->layout.title[PANE_STEPS].y;
	scene_keys(&s, "C-] Up C-] Up");
	assert_true(s.ui->layout.title[PANE_STEPS].y < steps);
	scene_done(&s);
}

static void mouse(struct scene *s, enum mouse_action action, int x, int y)
{
	struct event ev = {.type = EVENT_MOUSE,
			   .mouse = {.action = action, .button = 1, .x = x, .y = y}};

	ui_event(s->ui, &ev, s->now_us += 600000);
	scene_draw(s);
}

TEST(the_mouse_drags_a_border)
{
	struct scene s;
	int y;

	open_scene(&s, 120, 40);
	scene_draw(&s);
	mouse(&s, MOUSE_PRESS, s.ui->layout.divider.x, 9);
	mouse(&s, MOUSE_DRAG, 60, 9);
	mouse(&s, MOUSE_RELEASE, 60, 9);
	assert_int_equal(s.ui->layout.divider.x, 60);
	mouse(&s, MOUSE_DRAG, 90, 9);
	assert_int_equal(s.ui->layout.divider.x, 60);
	y = s.ui->layout.title[PANE_STEPS].y;
	mouse(&s, MOUSE_PRESS, 90, y);
	mouse(&s, MOUSE_DRAG, 90, y + 5);
	mouse(&s, MOUSE_RELEASE, 90, y + 5);
	assert_in_range(s.ui->layout.title[PANE_STEPS].y, y + 4, y + 6);
	assert_int_equal(s.to_agent.len, 0);
	scene_done(&s);
}

TEST(panes_hide)
{
	struct scene s;

	open_scene(&s, 120, 40);
	scene_keys(&s, "C-] l C-] x");
	assert_int_equal(s.ui->layout.pane[PANE_AUDIT].w, 0);
	assert_int_equal(s.ui->focus, PANE_STEPS);
	scene_keys(&s, "C-] x");
	assert_int_equal(s.ui->layout.pane[PANE_TERMINAL].w, 120);
	scene_keys(&s, "C-] x");
	assert_true(scene_shows(&s, "The last pane stays."));
	scene_keys(&s, "C-] Tab");
	assert_int_equal(s.ui->focus, PANE_TERMINAL);
	scene_keys(&s, "C-] s");
	assert_true(s.ui->layout.pane[PANE_STEPS].w > 0);
	assert_int_equal(s.ui->layout.pane[PANE_AUDIT].w, 0);
	scene_done(&s);
}

TEST(layouts_are_chosen_and_remembered)
{
	char dir[] = "/tmp/cordon-layout-XXXXXX";
	AUTO_FREE char *file = NULL;
	struct layouts l;
	struct layout_wish wish;
	struct scene s;

	assert_non_null(mkdtemp(dir));
	file = xasprintf("%s/layouts", dir);
	open_scene(&s, 120, 40);
	s.ui->spec.state_dir = dir;
	scene_keys(&s, "C-] Space");
	assert_true(scene_shows(&s, "Layout: lists at the right."));
	scene_keys(&s, "C-] Space");
	assert_int_equal(s.ui->layout.mode, LAYOUT_STACKED);
	scene_keys(&s, "C-] Up");
	wish = s.ui->wish;
	scene_done(&s);
	layouts_load(&l, file);
	assert_int_equal(l.n, 1);
	assert_memory_equal(&l.list[0].wish, &wish, sizeof(wish));
	assert_int_equal(layouts_get(&l, 130, 45).mode, LAYOUT_STACKED); /* alike */
	assert_int_equal(layouts_get(&l, 80, 24).mode, LAYOUT_TOO_SMALL);
	for (int i = 0; i < 100; i++)
		layouts_put(&l, 100 + i, 50, &wish);
	assert_int_equal(l.n, LAYOUTS_MAX);
	assert_int_equal(l.list[0].w, 199);
	assert_int_equal(io_write_file(AT_FDCWD, file, 0600, "1 2 99 1 1 1\nx\n120 40 3 50 50 7\n",
				       31, false),
			 0);
	layouts_load(&l, file);
	assert_int_equal(l.n, 0);
	assert_int_equal(io_remove_tree(AT_FDCWD, dir), 0);
}

/* A click on the bar does what the bar shows, but never decides. */
TEST(the_bar_is_clicked)
{
	struct scene s;

	open_scene(&s, 120, 40);
	scene_keys(&s, "C-] s");
	scene_draw(&s);
	mouse(&s, MOUSE_PRESS, 2, 38); /* Enter open */
	assert_true(scene_shows(&s, "> step 5"));
	mouse(&s, MOUSE_PRESS, 117, 38);
	assert_true(scene_shows(&s, "keys: one step"));
	scene_keys(&s, "Esc Esc");
	scene_ask(&s, 7, "/home/u/project/.git/hooks/x");
	scene_draw(&s);
	mouse(&s, MOUSE_PRESS, 30, 38);
	assert_true(scene_shows(&s, "pre-commit"));
	scene_wait(&s, 2000);
	buf_clear(&s.said);
	for (int x = 0; x < 118; x++) {
		mouse(&s, MOUSE_PRESS, x, 38);
		scene_wait(&s, 2000);
	}
	assert_null(strstr(s.said.data, "allow"));
	assert_null(strstr(s.said.data, "deny"));
	scene_done(&s);
}

TESTS(NULL, NULL)
