/* term_fixture - a term, its answers, and its screen as text, for the tests of tui/term. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "tests/support/check.h"
#include "tui/term/inside.h"
#include "tui/term/term.h"

struct pane {
	struct term *t;
	struct surface s;
	struct buf out, screen;
	int bells, titles, calls;
};

static void pane_on_output(void *data, const void *bytes, size_t len)
{
	buf_add(&((struct pane *)data)->out, bytes, len);
}

static void pane_on_bell(void *data)
{
	((struct pane *)data)->bells++;
}

static void pane_on_title(void *data, const char *title)
{
	(void)title;
	((struct pane *)data)->titles++;
}

static void pane_on_call(void *data)
{
	((struct pane *)data)->calls++;
}

static const struct term_events pane_events = {
	.call = pane_on_call,
	.output = pane_on_output,
	.bell = pane_on_bell,
	.title = pane_on_title,
};

static inline void pane_init(struct pane *p, int rows, int cols)
{
	*p = (struct pane){.out = BUF_INIT, .screen = BUF_INIT};
	p->t = term_new(rows, cols, &pane_events, p);
	surface_init(&p->s, cols, rows);
}

static inline void pane_done(struct pane *p)
{
	term_free(p->t);
	surface_done(&p->s);
	buf_done(&p->out);
	buf_done(&p->screen);
}

/* For cmocka: each test gets a term of 4 rows and 10 columns. */
static inline int pane_setup(void **state)
{
	static struct pane p;

	pane_init(&p, 4, 10);
	*state = &p;
	return 0;
}

static inline int pane_teardown(void **state)
{
	pane_done(*state);
	return 0;
}

static inline void pane_feed(struct pane *p, const char *text)
{
	term_feed(p->t, text, strlen(text));
}

static inline const struct cell *pane_cell(struct pane *p, int row, int col)
{
	int rows, cols;

	term_size(p->t, &rows, &cols);
	if (p->s.w != cols || p->s.h != rows)
		surface_resize(&p->s, cols, rows);
	term_draw(p->t, &p->s, (struct rect){0, 0, cols, rows});
	return surface_cell(&p->s, col, row);
}

static inline bool is_blank(const struct cell *c)
{
	return !*c->text || str_eq(c->text, " ");
}

/* Returns the visible rows, each ended by '|', without trailing blanks. */
static inline const char *pane_screen(struct pane *p)
{
	pane_cell(p, 0, 0);
	buf_clear(&p->screen);
	for (int y = 0; y < p->s.h; y++) {
		size_t keep = p->screen.len;

		for (int x = 0; x < p->s.w; x++) {
			const struct cell *c = surface_cell(&p->s, x, y);
			if (!c->width)
				continue;
			buf_str(&p->screen, *c->text ? c->text : " ");
			if (!is_blank(c))
				keep = p->screen.len;
		}
		buf_truncate(&p->screen, keep);
		buf_ch(&p->screen, '|');
	}
	return p->screen.data;
}

static inline const char *pane_answers(struct pane *p)
{
	static char copy[4096];

	snprintf(copy, sizeof(copy), "%s", p->out.data);
	buf_clear(&p->out);
	return copy;
}

/* Returns whether two cells look the same. A blank shows no text colour and few attributes. */
static inline bool same_look(const struct cell *a, const struct cell *b)
{
	uint32_t seen = STYLE_REVERSE | STYLE_UNDERLINE | STYLE_STRIKE;
	bool blank = is_blank(a) && is_blank(b);

	if (a->width != b->width)
		return false;
	if (!a->width)
		return true;
	if (!blank)
		return str_eq(a->text, b->text) &&
		       memcmp(&a->style, &b->style, sizeof(a->style)) == 0;
	return a->style.bg == b->style.bg && (a->style.attr & seen) == (b->style.attr & seen);
}

/* Adds the output of a shell command; out NULL drops it. */
static inline void read_command(struct buf *out, const char *command)
{
	FILE *f = popen(command, "r");
	char chunk[4096];
	size_t n;

	assert_non_null(f);
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		if (out)
			buf_add(out, chunk, n);
	pclose(f);
}
