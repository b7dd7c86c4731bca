/* test_console - whole screens compared with tests/golden; UPDATE=1 writes them anew. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include <fcntl.h>

#include "core/base/hash.h"
#include "core/base/io.h"
#include "tests/screen/scene.h"
#include "tests/support/check.h"

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
	scene_keys(s, "C-] V");
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

static void open_palette(struct scene *s)
{
	scene_keys(s, "C-] :");
}

static void open_themes(struct scene *s)
{
	scene_keys(s, "C-] c j j j");
}

static void open_resources(struct scene *s)
{
	for (unsigned i = 0; i < 300; i++)
		model_add_sample(&s->model,
				 &(struct usage_sample){.cpu = i % 90, .memory = i << 20});
	scene_keys(s, "C-] m");
}

static void open_detail(struct scene *s)
{
	scene_keys(s, "C-] l g o");
}

static void open_log(struct scene *s)
{
	ui_say(s->ui, "x The patch cannot be written to ~: No space left on device");
	s->now_us += 200000000;
	ui_say(s->ui, "Copied.");
	scene_keys(s, "C-] e");
}

static void open_restart(struct scene *s)
{
	scene_keys(s, "C-] R");
}

static void open_empty(struct scene *s)
{
	int64_t began_us = s->model.began_us;

	model_done(&s->model);
	model_init(&s->model);
	s->model.began_us = began_us;
	s->model.folder = "/home/u/project";
	s->model.home = xstrdup("/home/u");
	s->model.began_us = s->now_us;
	ui_changed(s->ui);
}

/* The text of each list while it is empty. */
static void open_no_rules(struct scene *s)
{
	open_empty(s);
	scene_keys(s, "C-] V");
}

static void open_no_connections(struct scene *s)
{
	open_empty(s);
	scene_keys(s, "C-] n");
}

static void open_no_samples(struct scene *s)
{
	open_empty(s);
	scene_keys(s, "C-] m");
}

static void open_no_log(struct scene *s)
{
	open_empty(s);
	scene_keys(s, "C-] e");
}

static void open_no_decisions(struct scene *s)
{
	open_empty(s);
	scene_keys(s, "C-] l L L");
}

static void open_no_match(struct scene *s)
{
	scene_keys(s, "C-] l & z z z z Enter");
}

static void open_no_history(struct scene *s)
{
	scene_keys(s, "C-] s Enter");
}

/* "?" in the help asks for a key, and describes it. */
static void open_describe(struct scene *s)
{
	scene_keys(s, "C-] l ? ?");
}

static void open_described(struct scene *s)
{
	scene_keys(s, "C-] l ? ? C-] u");
}

/* One line for each screen in tests/golden/matrix, with its hash, instead of a file. */
static const struct {
	const char *name;
	void (*open)(struct scene *s);
} more_scenes[] = {
	{"palette", open_palette},
	{"themes", open_themes},
	{"resources", open_resources},
	{"detail", open_detail},
	{"log", open_log},
	{"restart", open_restart},
	{"empty", open_empty},
	{"no-rules", open_no_rules},
	{"no-connections", open_no_connections},
	{"no-samples", open_no_samples},
	{"no-log", open_no_log},
	{"no-decisions", open_no_decisions},
	{"no-match", open_no_match},
	{"no-history", open_no_history},
	{"describe", open_describe},
	{"described", open_described},
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

static void add_hash(struct buf *out, const char *name, void (*open)(struct scene *s), int w, int h,
		     enum depth depth)
{
	static const char *const depths[] = {"mono", "16", "256", "true"};
	AUTO_BUF struct buf screen = BUF_INIT;
	struct scene s;

	scene_init(&s, w, h, depth);
	scene_theme(&s, "dark", depth);
	scene_fill(&s);
	open(&s);
	scene_draw(&s);
	surface_dump(&s.surface, &screen);
	for (int y = 0; y < h; y++) /* no bytes of the agent reach the screen unfiltered */
		for (int x = 0; x < w; x++)
			assert_null(strpbrk(surface_cell(&s.surface, x, y)->text, "\033\a\n"));
	buf_fmt(out, "%s %dx%d %s %016llx\n", name, w, h, depths[depth],
		(unsigned long long)XXH3_64bits(screen.data, screen.len));
	scene_done(&s);
}

/* Every view, in every size and colour depth. */
TEST(matrix)
{
	static const int sizes[][2] = {{160, 50}, {120, 40}, {80, 24}, {40, 24}, {24, 6}};
	static const char path[] = "tests/golden/matrix";
	AUTO_BUF struct buf got = BUF_INIT;
	AUTO_FREE char *want = NULL;
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_LEN(scenes) + ARRAY_LEN(more_scenes); i++) {
		size_t k = i < ARRAY_LEN(scenes) ? 0 : i - ARRAY_LEN(scenes);
		bool more = i >= ARRAY_LEN(scenes);

		for (size_t size = 0; size < ARRAY_LEN(sizes); size++)
			for (int depth = DEPTH_MONO; depth <= DEPTH_TRUE; depth++)
				add_hash(&got, more ? more_scenes[k].name : scenes[i].name,
					 more ? more_scenes[k].open : scenes[i].open,
					 sizes[size][0], sizes[size][1], (enum depth)depth);
	}
	if (getenv("UPDATE") && *getenv("UPDATE") == '1') {
		assert_int_equal(io_write_file(AT_FDCWD, path, 0644, got.data, got.len, false), 0);
		return;
	}
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &want, &len), 0);
	for (const char *a = got.data, *b = want; *a || *b;) {
		size_t n = strcspn(a, "\n"), k = strcspn(b, "\n");

		if (n != k || memcmp(a, b, n) != 0)
			fail_msg("%.*s, not %.*s (UPDATE=1 writes it anew)", (int)n, a, (int)k, b);
		a += n + (a[n] != '\0');
		b += k + (b[k] != '\0');
	}
}

TEST(screens_80x24)
{
	play(80, 24, DEPTH_256);
}

TEST(screens_80x24_mono)
{
	play(80, 24, DEPTH_MONO);
}

TEST(screens_120x40)
{
	play(120, 40, DEPTH_256);
}

TEST(screens_40x12)
{
	play(40, 12, DEPTH_256);
}

TEST(too_small_says_both_sizes)
{
	struct scene s;

	scene_init(&s, 24, 6, DEPTH_256);
	scene_fill(&s);
	scene_golden(&s, "small", DEPTH_256);
	scene_done(&s);
}

/* Any size, with every popup: no access outside the grid, and no text over the agent's part of the
 * bottom rows. */
TEST(every_size_draws)
{
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

TESTS(NULL, NULL)
