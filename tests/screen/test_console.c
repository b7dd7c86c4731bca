/* test_console - whole screens against tests/golden; UPDATE=1 writes them anew. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/screen/scene.h"

static void open_main(struct scene *s)
{
	(void)s;
}

static void open_steps(struct scene *s)
{
	scene_keys(s, "C-] s k k");
}

static void open_audit(struct scene *s)
{
	scene_keys(s, "C-] l & c Enter");
}

static void open_search(struct scene *s)
{
	scene_keys(s, "C-] l / m a i n");
}

static void open_help(struct scene *s)
{
	scene_keys(s, "C-] ?");
}

static void open_leave(struct scene *s)
{
	scene_keys(s, "C-] q");
}

static void open_alert(struct scene *s)
{
	scene_ask(s, 1, "/home/u/project/.git/hooks/pre-commit\342\200\256x");
	scene_ask(s, 2, "/home/u/project/.envrc");
}

static void open_approval(struct scene *s)
{
	open_alert(s);
	scene_keys(s, "C-] a");
	scene_wait(s, 600);
}

static void open_read(struct scene *s)
{
	char via[] = "../notes/today";

	scene_read(s, 1, "/home/u/notes/2026/.env");
	scene_read(s, 2, "/home/u/notes/2026/b\342\200\256x");
	scene_read(s, 3, "/home/u/notes/2026/c.md");
	s->model.asks[0].via = xstrdup(via);
	s->model.asks[0].secret = true;
	s->model.asks[0].timeout_s = 60;
	scene_keys(s, "C-] a");
	scene_wait(s, 600);
	scene_keys(s, "s s");
}

static void open_rules(struct scene *s)
{
	scene_given(s);
	scene_keys(s, "C-] v");
}

static void open_host(struct scene *s)
{
	scene_host(s, 1);
	scene_keys(s, "C-] a");
	scene_wait(s, 600);
	scene_keys(s, "s s e");
}

static void open_connections(struct scene *s)
{
	scene_connections(s);
	scene_keys(s, "C-] n");
}

static void open_held_alert(struct scene *s)
{
	scene_held(s, 1, LOSS_DELETE);
}

static void open_held(struct scene *s)
{
	open_held_alert(s);
	scene_keys(s, "C-] a");
	scene_wait(s, 600);
}

static void open_plan(struct scene *s)
{
	scene_keys(s, "C-] s k k u");
	scene_plan(s, false);
	scene_wait(s, 600);
}

static void open_conflict(struct scene *s)
{
	scene_keys(s, "C-] s k k u");
	scene_plan(s, true);
	scene_wait(s, 600);
}

static void open_busy(struct scene *s)
{
	scene_keys(s, "C-] s u");
	scene_refuse_plan(s, -EBUSY, "'make -j8 all' (process 4711) is still running");
	scene_wait(s, 600);
}

static void open_progress(struct scene *s)
{
	open_plan(s);
	scene_keys(s, "U");
}

static const struct {
	const char *name;
	void (*open)(struct scene *s);
} scenes[] = {
	{"main", open_main},	     {"steps", open_steps},	  {"audit", open_audit},
	{"search", open_search},     {"help", open_help},	  {"leave", open_leave},
	{"alert", open_alert},	     {"approval", open_approval}, {"held-alert", open_held_alert},
	{"held", open_held},	     {"plan", open_plan},	  {"conflict", open_conflict},
	{"progress", open_progress}, {"busy", open_busy},	  {"read", open_read},
	{"rules", open_rules},	     {"host", open_host},	  {"connections", open_connections},
};

static void play(int w, int h, enum depth depth)
{
	for (size_t i = 0; i < ARRAY_LEN(scenes); i++) {
		struct scene s;

		scene_init(&s, w, h, depth);
		scene_fill(&s);
		scenes[i].open(&s);
		scene_golden(&s, scenes[i].name, depth);
		scene_done(&s);
	}
}

static void screens_80x24(void **state)
{
	(void)state;
	play(80, 24, DEPTH_256);
}

static void screens_80x24_mono(void **state)
{
	(void)state;
	play(80, 24, DEPTH_MONO);
}

static void screens_120x40(void **state)
{
	(void)state;
	play(120, 40, DEPTH_256);
}

static void screens_40x12(void **state)
{
	(void)state;
	play(40, 12, DEPTH_256);
}

static void too_small_says_both_sizes(void **state)
{
	struct scene s;

	(void)state;
	scene_init(&s, 24, 6, DEPTH_256);
	scene_fill(&s);
	scene_golden(&s, "small", DEPTH_256);
	scene_done(&s);
}

/* Any size at all, with every popup: no access outside of the grid, nothing on the agent's part of
 * the bottom rows. */
static void every_size_draws(void **state)
{
	(void)state;
	for (int w = 1; w < 140; w += 7) {
		for (int h = 1; h < 50; h += 3) {
			size_t i = (size_t)(w + h) % ARRAY_LEN(scenes);
			struct scene s;

			scene_init(&s, w, h, DEPTH_256);
			scene_fill(&s);
			scenes[i].open(&s);
			scene_draw(&s);
			scene_done(&s);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(screens_80x24),
		cmocka_unit_test(screens_80x24_mono),
		cmocka_unit_test(screens_120x40),
		cmocka_unit_test(screens_40x12),
		cmocka_unit_test(too_small_says_both_sizes),
		cmocka_unit_test(every_size_draws),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
