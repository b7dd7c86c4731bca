/* view_resources - cpu, memory, processes and io of the session, as graphs of the last minutes. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "tui/console/frame/ui.h"

#define DOTS 4 /* rows of a braille sign, which has two columns */

enum graph {
	GRAPH_CPU,
	GRAPH_MEMORY,
	GRAPH_PROCESSES,
	GRAPH_READ,
	GRAPH_WRITTEN,
	GRAPHS
};

static const enum action hints[] = {ACTION_COPY, ACTION_BACK, ACTION_NONE};

static const char *const names[GRAPHS] = {"cpu", "memory", "processes", "read", "written"};

static double value(const struct usage_sample *s, enum graph g)
{
	switch (g) {
	case GRAPH_CPU:
		return s->cpu;
	case GRAPH_MEMORY:
		return (double)s->memory;
	case GRAPH_PROCESSES:
		return s->processes;
	case GRAPH_READ:
		return (double)s->read;
	case GRAPH_WRITTEN:
	case GRAPHS:
		break;
	}
	return (double)s->written;
}

static void words(enum graph g, double v, char *out, size_t size)
{
	char bytes[24];

	if (g == GRAPH_CPU) {
		snprintf(out, size, "%.0f%%", v);
	} else if (g == GRAPH_PROCESSES) {
		snprintf(out, size, "%.0f", v);
	} else {
		text_size(bytes, sizeof(bytes), (uint64_t)v);
		snprintf(out, size, "%s%s", bytes, g == GRAPH_MEMORY ? "" : "/s");
	}
}

/* Returns the highest visible value; for cpu at least one core, so that an idle graph is flat. */
static double highest(const struct model *m, enum graph g, size_t n)
{
	double top = g == GRAPH_CPU ? 100 : 1;

	for (size_t i = 0; i < n; i++) {
		const struct usage_sample *s = model_sample(m, i);

		top = s ? MAX(top, value(s, g)) : top;
	}
	return top;
}

/* Returns how many of `all` dots a sample lights; at least one for a value above zero. */
static int lit(const struct model *m, enum graph g, size_t ago, double top, int all)
{
	const struct usage_sample *s = model_sample(m, ago);
	double v = s ? value(s, g) : 0;

	return v <= 0 ? 0 : MAX(1, (int)(v / top * all + 0.5));
}

/* Draws U+2800 with bits: 1 2 3 7 are the left column from the top, 4 5 6 8 the right one. */
static void put_braille(struct surface *s, int x, int y, int role, int left, int right)
{
	static const int bits[2][DOTS] = {{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}};
	int sign = 0;
	char utf8[4] = "";

	for (int i = 0; i < DOTS; i++)
		sign |= (i < left ? bits[0][i] : 0) | (i < right ? bits[1][i] : 0);
	if (!sign)
		return;
	utf8[0] = (char)0xe2;
	utf8[1] = (char)(0xa0 | sign >> 6);
	utf8[2] = (char)(0x80 | (sign & 0x3f));
	surface_text(s, x, y, 1, role, utf8);
}

/* Draws a graph, the newest sample at the right: two seconds a column, or one without braille. */
static void draw_graph(const struct model *m, struct surface *s, struct rect r, enum graph g)
{
	size_t per = s->ascii ? 1 : 2;
	int unit = s->ascii ? 1 : DOTS;
	double top = highest(m, g, (size_t)r.w * per);

	for (int col = 0; col < r.w; col++) {
		size_t ago = (size_t)(r.w - 1 - col) * per;
		int left = lit(m, g, ago + per - 1, top, r.h * unit);
		int right = lit(m, g, ago, top, r.h * unit);

		for (int row = 0; row < r.h; row++) {
			int below = (r.h - 1 - row) * unit;

			if (!s->ascii)
				put_braille(s, r.x + col, r.y + row, ROLE_BAR_KEY, left - below,
					    right - below);
			else if (right > below)
				surface_text(s, r.x + col, r.y + row, 1, ROLE_BAR_KEY, "#");
		}
	}
}

/* Draws "cpu  42%  (most 180%)", and its graph below. */
static void draw_one(const struct model *m, struct surface *s, struct rect r, enum graph g)
{
	const struct usage_sample *now = model_sample(m, 0);
	size_t shown = (size_t)r.w * (s->ascii ? 1 : 2);
	char value_words[32], top_words[32];
	double top = 0;

	for (size_t i = 0; i < shown && model_sample(m, i); i++)
		top = MAX(top, value(model_sample(m, i), g));
	words(g, value(now, g), value_words, sizeof(value_words));
	words(g, top, top_words, sizeof(top_words));
	surface_fmt(s, r.x, r.y, r.w, ROLE_STRONG, "%-10s %s", names[g], value_words);
	if (r.w > 44)
		surface_fmt(s, r.x + 26, r.y, r.w - 26, ROLE_DIM, "most %s", top_words);
	draw_graph(m, s, (struct rect){r.x, r.y + 1, r.w, r.h - 1}, g);
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	const struct model *m = v->ui->spec.model;
	struct rect in = {r.x + 1, r.y + 2, MAX(0, r.w - 2), MAX(0, r.h - 2)};
	int each = MIN(8, in.h / GRAPHS);

	(void)focused;
	surface_fill(s, r, ROLE_TEXT);
	for (int i = 0; i < r.w; i++)
		surface_text(s, r.x + i, r.y, 1, ROLE_BORDER_FOCUS, s->ascii ? "=" : "━");
	surface_text(s, r.x + 1, r.y, r.w - 2, ROLE_TITLE_FOCUS, " > resources ");
	s->cursor.x = in.x;
	s->cursor.y = in.y;
	if (!model_sample(m, 0)) {
		surface_hostile_end(s, in.x + 1, in.y, in.w, ROLE_DIM,
				    "What the session uses will be drawn here each second.");
		return;
	}
	for (int g = 0; g < GRAPHS; g++)
		draw_one(m, s, (struct rect){in.x, in.y + g * MAX(each, 1), in.w, MAX(each - 1, 1)},
			 (enum graph)g);
}

/* Copies "cpu 42%", a line each. */
static void copy(struct ui *ui)
{
	const struct usage_sample *now = model_sample(ui->spec.model, 0);
	AUTO_BUF struct buf b = BUF_INIT;
	char value_words[32];

	for (int g = 0; now && g < GRAPHS; g++) {
		words((enum graph)g, value(now, (enum graph)g), value_words, sizeof(value_words));
		buf_fmt(&b, "%s %s\n", names[g], value_words);
	}
	if (b.len)
		ui_copy(ui, b.data, b.len);
	else
		ui_say(ui, "There is nothing to copy yet.");
}

static bool act(struct view *v, enum action a)
{
	if (a == ACTION_COPY) {
		copy(v->ui);
		return true;
	}
	if (a == ACTION_BACK)
		ui_pop(v->ui);
	return a == ACTION_BACK;
}

static const struct view_ops ops = {
	.place = PLACE_RESOURCES,
	.draw = draw,
	.act = act,
	.hints = hints,
};

struct view *view_resources_new(struct ui *ui)
{
	struct view *v = xcalloc(1, sizeof(*v));

	*v = (struct view){.ops = &ops, .ui = ui};
	return v;
}
