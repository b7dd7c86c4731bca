/* replay_html - exports a recording as one page that plays offline: its rows as they changed. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/text.h"
#include "tui/commands/replay.h"
#include "tui/commands/replay_page.h"
#include "tui/commands/replay_story.h"
#include "tui/look/raster.h"
#include "tui/look/theme.h"
#include "tui/term/term.h"

#define FRAME_US 66000 /* least time between frames; faster changes are one frame */
#define WHOLE	 150   /* after so many frames a complete one, where a seek can begin */
#define STYLES	 4096

struct page {
	struct term *term;
	struct surface surface;
	struct buf out;
	char **rows; /* as written last */
	int n_rows;
	struct style *styles; /* 0: plain */
	size_t n_styles;
	size_t frames;
	int64_t shown_us, first_us; /* of the first picture that is not empty; -1: none yet */
	bool whole, changed;
};

/* Appends a string for a script; no `<` ends the script early. */
static void quote(struct buf *out, const char *s, size_t len)
{
	size_t from = out->len;
	AUTO_BUF struct buf text = BUF_INIT;

	cast_quote(out, s, len);
	buf_add(&text, out->data + from, out->len - from);
	buf_truncate(out, from);
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '<')
			buf_str(out, "\\u003c");
		else
			buf_ch(out, text.data[i]);
	}
}

static size_t style_of(struct page *p, const struct style *st)
{
	for (size_t i = 0; i < p->n_styles; i++)
		if (memcmp(&p->styles[i], st, sizeof(*st)) == 0)
			return i;
	if (p->n_styles == STYLES)
		return 0;
	p->styles[p->n_styles] = *st;
	return p->n_styles++;
}

static void put_css(struct buf *out, const struct style *st)
{
	uint32_t fg = st->fg ? color_rgb(st->fg) : RASTER_TEXT;
	uint32_t bg = st->bg ? color_rgb(st->bg) : RASTER_GROUND;

	if (st->attr & STYLE_REVERSE) {
		uint32_t swap = fg;

		fg = bg;
		bg = swap;
	}
	buf_fmt(out, "\"color:#%06x;background:#%06x%s%s%s%s%s\"", fg, bg,
		st->attr & STYLE_BOLD ? ";font-weight:bold" : "",
		st->attr & STYLE_DIM ? ";opacity:.6" : "",
		st->attr & STYLE_ITALIC ? ";font-style:italic" : "",
		st->attr & STYLE_UNDERLINE ? ";text-decoration:underline" : "",
		st->attr & STYLE_STRIKE ? ";text-decoration:line-through" : "");
}

/* Returns [["text", style], ...] for a row, without plain blanks at its end. */
static char *row_text(struct page *p, int y)
{
	AUTO_BUF struct buf out = BUF_INIT;
	AUTO_BUF struct buf run = BUF_INIT;
	struct style now = {0};
	const char *comma = "";

	buf_ch(&out, '[');
	for (int x = 0; x <= p->surface.w; x++) {
		const struct cell *c = surface_cell(&p->surface, x, y);

		if (run.len && (!c || memcmp(&c->style, &now, sizeof(now)) != 0)) {
			size_t style = style_of(p, &now);

			while (!c && !style && run.len && run.data[run.len - 1] == ' ')
				buf_truncate(&run, run.len - 1);
			buf_fmt(&out, "%s[", comma);
			quote(&out, run.data, run.len);
			buf_fmt(&out, ",%zu]", style);
			buf_clear(&run);
			comma = ",";
		}
		if (!c)
			break;
		now = c->style;
		if (c->width)
			buf_str(&run, *c->text ? c->text : " ");
	}
	buf_ch(&out, ']');
	return buf_take(&out);
}

static bool is_blank(const struct page *p, int y)
{
	for (int x = 0; x < p->surface.w; x++) {
		const struct cell *c = surface_cell(&p->surface, x, y);

		if (c->width && *c->text && !str_eq(c->text, " "))
			return false;
	}
	return true;
}

static void forget_rows(struct page *p, int n)
{
	for (int i = 0; i < p->n_rows; i++)
		free(p->rows[i]);
	free(p->rows);
	p->rows = xcalloc((size_t)n + 1, sizeof(*p->rows));
	p->n_rows = n;
}

static void put_frame(struct page *p, int64_t t_us)
{
	int rows, cols;
	const char *comma = "";

	term_size(p->term, &rows, &cols);
	p->whole = p->whole || p->frames % WHOLE == 0;
	if (p->surface.w != cols || p->surface.h != rows)
		surface_resize(&p->surface, cols, rows);
	if (p->whole)
		forget_rows(p, rows);
	term_draw(p->term, &p->surface, (struct rect){0, 0, cols, rows});
	buf_fmt(&p->out, "%s[%" PRId64 ",%d,[", p->frames ? ",\n" : "", t_us / 1000,
		p->whole ? rows : 0);
	for (int y = 0; y < rows; y++) {
		char *text = row_text(p, y);

		if (str_eq(p->rows[y] ? p->rows[y] : "[]", text)) {
			free(text);
			continue;
		}
		buf_fmt(&p->out, "%s[%d,%s]", comma, y, text);
		comma = ",";
		if (p->first_us < 0 && !is_blank(p, y))
			p->first_us = t_us;
		free(p->rows[y]);
		p->rows[y] = text;
	}
	buf_str(&p->out, "]]");
	p->frames++;
	p->shown_us = t_us;
	p->whole = p->changed = false;
}

static void play(struct page *p, const struct moment *e)
{
	int rows, cols;

	if (e->code == CAST_OUTPUT) {
		term_feed(p->term, e->data.data, e->data.len);
		p->changed = true;
	} else if (e->code == CAST_RESIZE && cast_size(e->data.data, e->data.len, &cols, &rows)) {
		term_resize(p->term, rows, cols);
		p->whole = p->changed = true;
	}
}

static int put_frames(struct page *p, struct recording *rec)
{
	struct batch b = BATCH_INIT;
	int e = 0;

	put_frame(p, 0);
	for (size_t i = 0; e == 0 && i < recording_blocks(rec); i++) {
		recording_batch(rec, i, false, &b);
		for (size_t k = 0; k < b.n; k++) {
			/* Writes the current frame before the next change. */
			if (p->changed && b.list[k].t_us - p->shown_us >= FRAME_US)
				put_frame(p, k ? b.list[k - 1].t_us : b.list[k].t_us);
			play(p, &b.list[k]);
		}
		e = io_write_all(STDOUT_FILENO, p->out.data, p->out.len);
		buf_clear(&p->out);
	}
	put_frame(p, recording_duration(rec));
	batch_done(&b);
	return e;
}

/* Appends name:"text" to the head. */
static void put_text(struct page *p, const char *name, const char *text)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	text_escape(&shown, text ? text : "", strlen(text ? text : ""));
	buf_fmt(&p->out, ",\n%s:", name);
	quote(&p->out, shown.data, shown.len);
}

/* Escapes a line, except tabs. */
static void escape_line(struct buf *out, const char *line)
{
	for (size_t n; *line; line += n) {
		n = strcspn(line, "\t");
		text_escape(out, line, n);
		if (line[n])
			buf_ch(out, line[n++]);
	}
}

/* Appends a list of strings, escaped for display. */
static void put_lines(struct page *p, const struct step_diff *d)
{
	buf_fmt(&p->out, ",%zu,%zu,[", d->added, d->deleted);
	for (size_t i = 0; i < d->n; i++) {
		AUTO_BUF struct buf shown = BUF_INIT;

		escape_line(&shown, d->lines[i]);
		buf_str(&p->out, i ? "," : "");
		quote(&p->out, shown.data, shown.len);
	}
	buf_str(&p->out, d->cut ? ",\".there is more\"]" : "]");
}

static void put_story(struct page *p, struct recording *rec, struct replay_diffs *diffs)
{
	struct story s;

	replay_story_read(&s, rec, diffs);
	buf_str(&p->out, "],\nm:[");
	for (size_t i = 0; i < s.n; i++) {
		const struct story_entry *e = &s.list[i];

		buf_fmt(&p->out, "%s[%" PRId64 ",%d,", i ? "," : "", e->t_us / 1000, (int)e->kind);
		quote(&p->out, e->words, strlen(e->words));
		if (e->diff.known)
			put_lines(p, &e->diff);
		buf_ch(&p->out, ']');
	}
	buf_fmt(&p->out, "],\nn:[%zu,%zu,%zu]", s.count[STORY_TURN], s.count[STORY_STEP],
		s.count[STORY_QUESTION]);
	replay_story_done(&s);
}

static void put_rest(struct page *p, struct recording *rec, struct replay_diffs *diffs)
{
	const struct cast_header *h = recording_header(rec);

	buf_str(&p->out, "],\ns:[");
	for (size_t i = 0; i < p->n_styles; i++) {
		buf_str(&p->out, i ? "," : "");
		put_css(&p->out, &p->styles[i]);
	}
	put_story(p, rec, diffs);
	put_text(p, "title", h->title ? h->title : h->command);
	put_text(p, "folder", h->folder);
	buf_fmt(&p->out, ",\nbegan:%" PRId64 ",first:%" PRId64 "}", h->timestamp,
		MAX(p->first_us, (int64_t)0) / 1000);
	buf_str(&p->out, replay_page_tail);
}

int replay_export_html(struct recording *rec, struct replay_diffs *diffs)
{
	const struct cast_header *h = recording_header(rec);
	struct page p = {.out = BUF_INIT, .n_styles = 1, .first_us = -1};
	int e;

	p.term = term_new(h->rows, h->cols, NULL, NULL);
	p.styles = xcalloc(STYLES, sizeof(*p.styles));
	surface_init(&p.surface, h->cols, h->rows);
	buf_str(&p.out, replay_page_head);
	buf_str(&p.out, "{f:[");
	e = put_frames(&p, rec);
	put_rest(&p, rec, diffs);
	if (e == 0)
		e = io_write_all(STDOUT_FILENO, p.out.data, p.out.len);
	forget_rows(&p, 0);
	free(p.rows);
	free(p.styles);
	surface_done(&p.surface);
	buf_done(&p.out);
	term_free(p.term);
	return e;
}
