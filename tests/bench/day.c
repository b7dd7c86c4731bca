/* day - a day of work in a minute: the console's time to paint afterwards, and its memory. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "tui/console/frame/ui.h"
#include "tui/look/paint.h"
#include "tui/term/term.h"

#define EVENTS	   1000000
#define STEPS	   2000
#define PROMPTS	   1000 /* turns that these steps belong to */
#define QUESTIONS  100
#define OUTPUT_MIB 1024
#define BATCH	   100 /* events between two frames of the console */
#define WIDTH	   200
#define HEIGHT	   60
#define TURNS	   7 /* of each view; the least counts: others waited for the processor */

struct day {
	struct model model;
	struct keymap *keymap;
	struct theme theme;
	struct term *term;
	struct surface surface;
	struct paint paint;
	struct ui *ui;
	int64_t now_us;
};

static void nothing(void *data)
{
	(void)data;
}

static uint64_t no_plan(void *data, enum undo_kind kind, size_t n, unsigned flags)
{
	(void)data;
	(void)kind;
	(void)n;
	(void)flags;
	return 0;
}

static const struct ui_verbs verbs = {
	.alert = nothing,
	.bell = nothing,
	.redraw = nothing,
	.plan = no_plan,
	.undo = no_plan,
};

static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static double rss_mib(void)
{
	AUTO_FILE FILE *f = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		return 0;
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

static void open_day(struct day *d)
{
	struct err err = {0};
	struct rect pane;

	model_init(&d->model);
	d->model.folder = "/home/u/project";
	d->model.started = true;
	d->model.command = xstrdup("claude");
	d->now_us = clock_mono_us();
	if (keymap_load(&d->keymap, "default", NULL, &err) < 0 ||
	    theme_load(&d->theme, "dark", NULL, DEPTH_TRUE, &err) < 0) {
		fprintf(stderr, "day: %s\n", err.text);
		_exit(1);
	}
	surface_init(&d->surface, WIDTH, HEIGHT);
	d->surface.roles = d->theme.roles;
	d->term = term_new(HEIGHT, WIDTH, NULL, NULL);
	paint_init(&d->paint, DEPTH_TRUE, false, false);
	d->ui = ui_new(&(struct ui_spec){.model = &d->model,
					 .keymap = d->keymap,
					 .term = d->term,
					 .verbs = &verbs,
					 .data = d,
					 .folder = d->model.folder});
	pane = ui_resize(d->ui, WIDTH, HEIGHT);
	term_resize(d->term, pane.h, pane.w);
}

static void close_day(struct day *d)
{
	ui_free(d->ui);
	paint_done(&d->paint);
	term_free(d->term);
	surface_done(&d->surface);
	keymap_free(d->keymap);
	model_done(&d->model);
}

/* Returns the processor time of one frame. */
static int64_t frame(struct day *d)
{
	AUTO_BUF struct buf bytes = BUF_INIT;
	int64_t from = cpu_us();

	d->now_us += 16000;
	ui_draw(d->ui, &d->surface, d->now_us);
	paint_frame(&d->paint, &d->surface, &bytes);
	return cpu_us() - from;
}

static void one_event(struct day *d, unsigned n)
{
	struct model *m = &d->model;
	int64_t step = 1 + (int64_t)n * STEPS / EVENTS;
	char path[120];

	if (n % (EVENTS / STEPS) == 0) {
		struct step_row *last = model_step(m, step - 1);

		if (last)
			last->running = false;
		snprintf(path, sizeof(path), "npm run build -- --target %u", n);
		model_add_step(m, step, STEP_COMMAND, path, (int64_t)n * 86400);
		model_add_exec(m, step, (int)(n % 30000), path, "/usr/bin/npm");
		return;
	}
	snprintf(path, sizeof(path), "/home/u/project/src/part%u/module%u/file-%u.c", n % 37,
		 n % 911, n * 2654435761u % 40000);
	if (n % 1000 == 7)
		model_add_row(m, ROW_DENY, step, 12, -13, "write", "/etc/hosts", "outside");
	else
		model_add_row(m, ROW_TOUCH, step, 11, 0, n % 5 ? "write" : "unlink", path, NULL);
}

/* Returns the longest time that the console took for a batch. */
static int64_t live_through(struct day *d)
{
	int64_t longest = 0;

	for (unsigned n = 0; n < EVENTS; n++) {
		int64_t from;

		one_event(d, n);
		if (n % BATCH)
			continue;
		from = cpu_us();
		ui_changed(d->ui);
		longest = MAX(longest, cpu_us() - from);
	}
	ui_changed(d->ui);
	return longest;
}

static void add_turns(struct day *d)
{
	struct turn_mark *list = xcalloc(PROMPTS, sizeof(*list));

	for (int i = 0; i < PROMPTS; i++) {
		list[i].after = (int64_t)i * STEPS / PROMPTS;
		list[i].us = (int64_t)i * 86400;
		list[i].words = xasprintf("make part %d of the parser faster", i);
	}
	model_set_turns(&d->model, list, PROMPTS);
}

static void add_questions(struct day *d)
{
	char op[] = "write", program[] = "/usr/bin/node", command[] = "node build.js";
	char reason[] = "it is outside this project", none[] = "";

	for (int i = 0; i < QUESTIONS; i++) {
		AUTO_FREE char *path = xasprintf("/home/u/notes/%d/secret plan %d.md", i, i);
		struct ask ask = {.id = (uint64_t)i + 1,
				  .step = STEPS,
				  .pid = 1000 + i,
				  .since_us = d->now_us,
				  .kind = RULE_WRITE,
				  .op = op,
				  .path = path,
				  .program = program,
				  .command = command,
				  .reason = reason,
				  .via = none,
				  .label = command,
				  .bundle = none,
				  .places = none};

		model_add_ask(&d->model, &ask);
	}
	ui_changed(d->ui);
}

static size_t some_lines(char *out, size_t size, unsigned n)
{
	size_t len = 0;

	for (unsigned i = 0; len + 200 < size; i++)
		len += (size_t)snprintf(
			out + len, size - len,
			"\033[32m%8u\033[m compiled \033[1mmodule-%u.c\033[m in %u ms "
			"\xe2\x9c\x93 \xe6\xbc\xa2\r\n",
			n + i, n * 7919 + i, (n + i) % 977);
	return len;
}

static void print_output(struct day *d)
{
	char piece[65536];
	size_t total = 0;

	for (unsigned n = 0; total < (size_t)OUTPUT_MIB << 20; n++) {
		size_t len = some_lines(piece, sizeof(piece), n);

		term_feed(d->term, piece, len);
		total += len;
	}
}

static void type(struct day *d, const char *words)
{
	AUTO_FREE char *copy = xstrdup(words);
	struct event ev = {.type = EVENT_KEY};
	char *save = NULL;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		struct keys one;

		if (keys_parse(&one, w, NULL) < 0)
			continue;
		ev.key = one.key[0];
		ui_event(d->ui, &ev, d->now_us);
	}
}

/* Returns the time of one view: opened and painted, or moved in with new rows and painted, the
 * longer of the two. */
static int64_t view_takes(struct day *d, const char *before, const char *open, const char *move)
{
	int64_t least = INT64_MAX;

	for (int i = 0; i < TURNS; i++) {
		int64_t from, opened, moved;

		type(d, "Esc");
		type(d, "Esc");
		type(d, before);
		d->now_us += 1000000;
		from = cpu_us();
		type(d, open);
		frame(d);
		opened = cpu_us() - from;
		from = cpu_us();
		type(d, move);
		one_event(d, EVENTS - 3);
		ui_changed(d->ui);
		frame(d);
		moved = cpu_us() - from;
		least = MIN(least, MAX(opened, moved));
	}
	return least;
}

int main(void)
{
	static const struct {
		const char *name, *before, *open, *move;
	} views[] = {
		{"terminal", "", "C-] t", ""},
		{"activity", "", "C-] l", "PageUp"},
		{"activity's top", "", "C-] l", "g"},
		{"activity, filtered", "C-] l & f i l e -", "1", "Enter"},
		{"activity, searched", "C-] l / f i l e - 1", "Enter", "n"},
		{"steps", "", "C-] s", "PageUp"},
		{"steps' top", "", "C-] s", "g"},
		{"steps, filtered", "C-] s & b u i l", "d", "Enter"},
		{"a turn folded", "C-] s g", "Enter", "j"},
		{"one of 100 questions", "", "C-] a", "n"},
		{"help", "", "C-] ?", "j"},
		{"log", "", "C-] e", "k"},
		{"resources", "", "C-] m", ""},
		{"palette", "", "C-] :", "j"},
		{"connections", "", "C-] n", "j"},
		{"rules", "", "C-] V", "j"},
		{"scrolled back", "C-] [", "PageUp", "PageUp"},
		{"scrolled back, searched", "C-] [ / 9 7", "7", "Enter"},
	};
	struct day d = {0};
	int64_t from = cpu_us(), longest;

	open_day(&d);
	printf("first %.2f\n", (double)(cpu_us() - from + frame(&d)) / 1000);
	from = cpu_us();
	longest = live_through(&d);
	add_turns(&d);
	add_questions(&d);
	printf("events %.2f\nbatch %.2f\n", (double)(cpu_us() - from) / 1e6,
	       (double)longest / 1000);
	from = cpu_us();
	print_output(&d);
	printf("output %.2f\n", (double)(cpu_us() - from) / 1e6);
	longest = 0;
	for (size_t i = 0; i < ARRAY_LEN(views); i++) {
		int64_t took = view_takes(&d, views[i].before, views[i].open, views[i].move);

		printf("view %.2f %s\n", (double)took / 1000, views[i].name);
		longest = MAX(longest, took);
	}
	printf("paint %.2f\nmemory %.1f\n", (double)longest / 1000, rss_mib());
	close_day(&d);
	return 0;
}
