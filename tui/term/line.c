/* line - one row of cells written as text plus runs of style, and read back. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/extra.h"
#include "tui/term/scrollback.h"

#include <string.h>

#include "core/base/text.h"

void line_begin(struct line_writer *w)
{
	buf_clear(&w->text);
	buf_clear(&w->runs);
	w->run = (struct line_run){0};
	w->flags = 0;
	w->text_keep = w->cols = w->cols_keep = 0;
	/* Reserves room for the number of runs, which is known at the end. */
	buf_add(&w->runs, "\0", LINE_HEAD);
}

static void run_flush(struct line_writer *w)
{
	if (w->run.cols)
		buf_add(&w->runs, &w->run, sizeof(w->run));
}

static struct style run_style(const struct line_run *r)
{
	return (struct style){
		.fg = r->fg, .bg = r->bg, .attr = r->attr, .line = r->line, .link = r->link};
}

/* Appends text of one style, cols columns. keep: its part without blanks at the end that may be
 * cut. */
static void add_cells(struct line_writer *w, struct span text, size_t cols, struct span keep,
		      const struct style *style)
{
	struct style run = run_style(&w->run);

	if (memcmp(&run, style, sizeof(run)) != 0) {
		run_flush(w);
		w->run = (struct line_run){
			.fg = style->fg, .bg = style->bg, .line = style->line, .link = style->link};
		w->run.attr = (uint16_t)style->attr;
	}
	w->run.cols = (uint16_t)(w->run.cols + cols);
	if (keep.len) {
		w->text_keep = w->text.len + keep.len;
		w->cols_keep = w->cols + (keep.len == text.len ? cols : keep.len);
	}
	buf_add(&w->text, text.data, text.len);
	w->cols += cols;
}

/* Returns whether a blank of this style is invisible. */
static bool blank_vanishes(const struct style *style)
{
	return style->bg == COLOR_DEFAULT && !style->link &&
	       !(style->attr & (STYLE_REVERSE | STYLE_UNDERLINE | STYLE_STRIKE));
}

/* Appends invisible blanks in the current run's style if that keeps them invisible: rows that look
 * alike are encoded alike, and words of one colour are one run. */
static void add_blanks(struct line_writer *w, const char *text, size_t len)
{
	static const struct style plain;
	struct style run = run_style(&w->run);
	struct span whole = {.data = text, .len = len};

	add_cells(w, whole, len, (struct span){0}, blank_vanishes(&run) ? &run : &plain);
}

void line_cell(struct line_writer *w, const char *text, size_t len, int cols,
	       const struct style *style)
{
	struct span whole = {.data = text, .len = len};

	if (len == 1 && *text == ' ' && blank_vanishes(style))
		add_blanks(w, text, len);
	else
		add_cells(w, whole, (size_t)cols, whole, style);
}

void line_ascii(struct line_writer *w, const char *text, size_t len, const struct style *style)
{
	struct span whole, keep;
	size_t blanks = 0;

	if (blank_vanishes(style))
		while (blanks < len && text[blanks] == ' ')
			blanks++;
	if (blanks)
		add_blanks(w, text, blanks);
	if (blanks == len)
		return;
	whole = keep = (struct span){.data = text + blanks, .len = len - blanks};
	if (blank_vanishes(style))
		while (keep.data[keep.len - 1] == ' ')
			keep.len--;
	add_cells(w, whole, whole.len, keep, style);
}

struct span line_end(struct line_writer *w)
{
	uint16_t nruns = 0;
	size_t seen = 0, at = LINE_HEAD;
	bool plain = true;

	run_flush(w);
	/* Cut the runs to the length of the text. */
	while (at < w->runs.len && seen < w->cols_keep) {
		struct line_run run;

		memcpy(&run, w->runs.data + at, sizeof(run));
		if (seen + run.cols > w->cols_keep) {
			run.cols = (uint16_t)(w->cols_keep - seen);
			memcpy(w->runs.data + at, &run, sizeof(run));
		}
		plain = plain && !run.fg && !run.bg && !run.attr && !run.line && !run.link;
		seen += run.cols;
		at += sizeof(run);
		nruns++;
	}
	if (plain) {
		at = LINE_HEAD;
		nruns = 0;
	}
	nruns = (uint16_t)(nruns | w->flags);
	memcpy(w->runs.data, &nruns, sizeof(nruns));
	buf_truncate(&w->runs, at);
	buf_add(&w->runs, w->text.data, w->text_keep);
	return (struct span){.data = w->runs.data, .len = w->runs.len};
}

void line_writer_done(struct line_writer *w)
{
	buf_done(&w->text);
	buf_done(&w->runs);
}

void line_read(struct line_reader *r, struct span line)
{
	uint16_t nruns;

	memcpy(&nruns, line.data, sizeof(nruns));
	*r = (struct line_reader){.runs = line.data + LINE_HEAD, .nruns = nruns & LINE_RUNS};
	r->text = r->runs + r->nruns * sizeof(struct line_run);
	r->end = line.data + line.len;
}

/* Returns the bytes and columns of the cell at s: a code point and its combining characters
 * (extra.h). */
static size_t cell_bytes(const char *s, size_t len, int *cols)
{
	int32_t cp;
	bool joins = false;
	size_t n;

	if (*s >= ' ' && *s < 0x7f && (len == 1 || !(s[1] & 0x80))) {
		*cols = 1;
		return 1;
	}
	n = text_decode(s, len, &cp);
	*cols = MAX(1, text_cp_width(cp));
	while (n < len && (s[n] & 0x80)) {
		size_t k = text_decode(s + n, len - n, &cp);

		if (text_cp_width(cp) != 0 && !joins && !(*cols == 2 && EXTRA_TONE(cp)))
			break;
		joins = cp == EXTRA_JOINER;
		n += k;
	}
	return n;
}

bool line_next(struct line_reader *r, struct line_cell *ret)
{
	if (r->text >= r->end)
		return false;
	if (!r->run.cols && r->nruns) {
		memcpy(&r->run, r->runs, sizeof(r->run));
		r->runs += sizeof(r->run);
		r->nruns--;
	}
	ret->text = r->text;
	ret->len = cell_bytes(r->text, (size_t)(r->end - r->text), &ret->cols);
	ret->style = run_style(&r->run);
	r->text += ret->len;
	r->run.cols = (uint16_t)(r->run.cols - MIN(r->run.cols, ret->cols));
	return true;
}

unsigned line_flags(struct span line)
{
	uint16_t head;

	memcpy(&head, line.data, sizeof(head));
	return head & ~LINE_RUNS;
}

struct span line_text(struct span line)
{
	struct line_reader r;

	line_read(&r, line);
	return (struct span){.data = r.text, .len = (size_t)(r.end - r.text)};
}

size_t line_cols(struct span line, size_t bytes)
{
	struct span text = line_text(line);
	size_t cols = 0;

	for (size_t i = 0; i < bytes;) {
		int w;

		i += cell_bytes(text.data + i, text.len - i, &w);
		cols += (size_t)w;
	}
	return cols;
}
