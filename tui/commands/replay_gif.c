/* replay_gif - exports a recording as an animated GIF: the terminal's screens in a bitmap font. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tui/commands/gif.h"
#include "tui/commands/replay.h"
#include "tui/look/raster.h"
#include "tui/term/term.h"

#define FRAME_US   100000  /* least time between pictures; faster changes are one picture */
#define END_US	   2000000 /* duration of the last picture */
#define CELLS_MAX  65536   /* most cells of the screen: 8 million pixels */
#define FRAMES_MAX 36000   /* an hour of ten pictures a second */
#define BYTES_MAX  ((size_t)100 << 20)
#define PIXELS_MAX ((int64_t)1 << 32) /* in all pictures: a minute of a processor */

struct film {
	struct term *term;
	struct surface now, shown; /* as large as the picture */
	struct font *font;
	struct gif *gif;
	uint32_t *rgb;
	struct film_options opt;
	int64_t at_us;	/* position in the recording */
	double out_us;	/* position in the animation: faster, and without long pauses */
	int64_t due_us; /* earliest time of the next picture */
	bool changed;	/* the terminal has changed after the last picture */
	bool waited;	/* for the end of a repaint, once */
	bool full;	/* a limit of the GIF is reached */
	size_t bytes;
	int64_t frames, pixels;
};

#define SIZES_MAX 64

struct sizes {
	struct {
		int cols, rows;
		int64_t us; /* total time of this size */
	} list[SIZES_MAX];
	size_t n, now;
	int64_t at_us;
};

/* Records a change of the terminal's size at t. */
static void change_size(struct sizes *s, int64_t t_us, int cols, int rows)
{
	s->list[s->now].us += MAX(t_us - s->at_us, (int64_t)0);
	s->at_us = t_us;
	for (s->now = 0; s->now < s->n; s->now++)
		if (s->list[s->now].cols == cols && s->list[s->now].rows == rows)
			return;
	if (s->n == SIZES_MAX)
		s->now = SIZES_MAX - 1;
	else
		s->n++;
	s->list[s->now].cols = cols;
	s->list[s->now].rows = rows;
}

/* Finds the greatest width and height that the terminal has for a tenth of the time: a short zoom
 * is cut at the right, so that it does not leave a third of all other pictures black. */
static void find_size(struct recording *rec, int *cols, int *rows)
{
	struct sizes s = {.n = 1, .list[0] = {.cols = *cols, .rows = *rows}};
	const int64_t all = recording_duration(rec);
	struct batch b = BATCH_INIT;
	int w, h;

	for (size_t i = 0; i < recording_blocks(rec); i++) {
		recording_batch(rec, i, false, &b);
		for (size_t k = 0; k < b.n; k++) {
			const struct moment *e = &b.list[k];

			if (e->code == CAST_RESIZE && cast_size(e->data.data, e->data.len, &w, &h))
				change_size(&s, e->t_us, w, h);
		}
	}
	change_size(&s, all, *cols, *rows);
	*cols = *rows = TERM_MIN;
	for (size_t i = 0; i < s.n; i++) {
		if (s.list[i].us * 10 < all)
			continue;
		*cols = MAX(*cols, s.list[i].cols);
		*rows = MAX(*rows, s.list[i].rows);
	}
	batch_done(&b);
}

/* ---- changes --------------------------------------------------------------------------------- */

static void include(struct rect *r, int x, int y, int w)
{
	int right = MAX(r->x + r->w, x + w), bottom = MAX(r->y + r->h, y + 1);

	if (r->w == 0) {
		*r = (struct rect){x, y, w, 1};
		return;
	}
	r->x = MIN(r->x, x);
	r->y = MIN(r->y, y);
	r->w = right - r->x;
	r->h = bottom - r->y;
}

static bool same_look(const struct cell *a, const struct cell *b)
{
	return a->width == b->width && strcmp(a->text, b->text) == 0 &&
	       a->style.fg == b->style.fg && a->style.bg == b->style.bg &&
	       a->style.attr == b->style.attr && a->style.line == b->style.line;
}

static bool same_cursor(const struct cursor *a, const struct cursor *b)
{
	return a->visible == b->visible && a->x == b->x && a->y == b->y && a->shape == b->shape;
}

static void include_cursor(const struct surface *s, struct rect *r)
{
	if (s->cursor.visible) /* two columns: its character may be wide */
		include(r, s->cursor.x, s->cursor.y, s->cursor.x + 1 < s->w ? 2 : 1);
}

/* Returns the smallest rectangle with all changes, and no half of a character at its left. */
static struct rect changed_rect(const struct film *f)
{
	const struct surface *a = &f->now, *b = &f->shown;
	struct rect r = {0};

	for (int i = 0; i < a->w * a->h; i++) {
		int x = i % a->w, wide = MAX(a->cells[i].width, b->cells[i].width);

		if (!same_look(&a->cells[i], &b->cells[i]))
			include(&r, x, i / a->w, wide == 2 && x + 1 < a->w ? 2 : 1);
	}
	if (!same_cursor(&a->cursor, &b->cursor)) {
		include_cursor(a, &r);
		include_cursor(b, &r);
	}
	for (int y = r.y; r.x > 0 && y < r.y + r.h; y++) {
		if (surface_cell(a, r.x, y)->width == 0) {
			r.x--;
			r.w++;
			break;
		}
	}
	return r;
}

/* ---- pictures ---------------------------------------------------------------------------------
 */

static void draw(struct film *f)
{
	int rows, cols;
	struct term_cursor at;

	term_size(f->term, &rows, &cols);
	surface_clear(&f->now, &(struct style){0});
	term_draw(f->term, &f->now, (struct rect){0, 0, cols, rows});
	f->now.cursor = (struct cursor){0};
	if (term_cursor(f->term, &at) && at.col < f->now.w && at.row < f->now.h) {
		f->now.cursor.visible = true;
		f->now.cursor.x = at.col;
		f->now.cursor.y = at.row;
		f->now.cursor.shape = at.shape;
	}
}

static int put_picture(struct film *f, struct rect cells)
{
	struct rect px = {cells.x * FONT_W, cells.y * FONT_H, cells.w * FONT_W, cells.h * FONT_H};
	struct surface was = f->shown;

	raster_cells(f->font, &f->now, cells, f->rgb);
	f->shown = f->now;
	f->now = was;
	f->frames++;
	f->pixels += (int64_t)px.w * px.h;
	return gif_frame(f->gif, f->due_us, px, f->rgb);
}

/* Shows pictures due before the recording continues at out_us. Returns the negative errno of a
 * write. */
static int show_due(struct film *f)
{
	while (f->changed && f->due_us < (int64_t)f->out_us && !f->full) {
		struct rect r;
		int e = 0;

		if (term_repainting(f->term) && !f->waited) {
			f->waited = true; /* once */
			f->due_us += FRAME_US;
			continue;
		}
		f->changed = f->waited = false;
		draw(f);
		r = f->frames ? changed_rect(f) : (struct rect){0, 0, f->now.w, f->now.h};
		f->full = f->frames == FRAMES_MAX || gif_bytes(f->gif) > BYTES_MAX ||
			  f->pixels > PIXELS_MAX;
		if (r.w && !f->full)
			e = put_picture(f, r);
		if (r.w)
			f->due_us += FRAME_US;
		if (e < 0)
			return e;
	}
	return 0;
}

static void pass_time(struct film *f, int64_t t_us)
{
	int64_t gap = MAX(t_us - f->at_us, (int64_t)0);

	if (f->opt.idle_us && gap > f->opt.idle_us)
		gap = f->opt.idle_us;
	f->at_us = MAX(f->at_us, t_us);
	f->out_us += (double)gap / f->opt.speed;
}

static int play(struct film *f, const struct moment *e)
{
	int rows, cols, r;
	bool resize = e->code == CAST_RESIZE && cast_size(e->data.data, e->data.len, &cols, &rows);

	if (e->code != CAST_OUTPUT && !resize)
		return 0; /* invisible: it ends no pause */
	pass_time(f, e->t_us);
	r = show_due(f);
	if (e->code == CAST_OUTPUT)
		term_feed(f->term, e->data.data, e->data.len);
	else
		term_resize(f->term, rows, cols);
	if (!f->changed) {
		f->changed = true;
		f->due_us = MAX(f->due_us, (int64_t)f->out_us);
	}
	return r;
}

static int play_all(struct film *f, struct recording *rec)
{
	struct batch b = BATCH_INIT;
	int r = 0;

	for (size_t i = 0; r == 0 && !f->full && i < recording_blocks(rec); i++) {
		recording_batch(rec, i, false, &b);
		for (size_t k = 0; r == 0 && !f->full && k < b.n; k++)
			r = play(f, &b.list[k]);
	}
	batch_done(&b);
	if (r == 0 && !f->full) {
		pass_time(f, recording_duration(rec));
		f->out_us = MAX(f->out_us, (double)f->due_us + 2 * FRAME_US);
		r = show_due(f);
	}
	return r;
}

static void open_film(struct film *f, const struct cast_header *h, int cols, int rows)
{
	f->term = term_new(h->rows, h->cols, NULL, NULL);
	f->font = font_new(FONT_INSTALLED);
	f->gif = gif_new(STDOUT_FILENO, cols * FONT_W, rows * FONT_H);
	f->rgb = xcalloc((size_t)cols * (size_t)rows * FONT_W * FONT_H, sizeof(*f->rgb));
	surface_init(&f->now, cols, rows);
	surface_init(&f->shown, cols, rows);
	f->changed = true; /* the first picture is the empty screen */
}

static int close_film(struct film *f)
{
	int r;

	f->bytes = gif_bytes(f->gif);
	r = gif_end(f->gif, MAX((int64_t)f->out_us, f->due_us + END_US));
	surface_done(&f->now);
	surface_done(&f->shown);
	free(f->rgb);
	font_free(f->font);
	term_free(f->term);
	return r;
}

int replay_export_gif(struct recording *rec, const struct film_options *opt, struct err *err)
{
	const struct cast_header *h = recording_header(rec);
	struct film f = {.opt = *opt};
	int cols = MAX(h->cols, TERM_MIN), rows = MAX(h->rows, TERM_MIN), r, e;

	if (isatty(STDOUT_FILENO))
		return err_say(
			err, -EINVAL,
			"--export gif: standard output is a terminal: write to a file: > FILE");
	find_size(rec, &cols, &rows);
	if (cols * rows > CELLS_MAX)
		return err_say(err, -EFBIG,
			       "--export gif: the recording's terminal has up to %d columns and %d "
			       "rows: a GIF has room for %d characters: --export html has more",
			       cols, rows, CELLS_MAX);
	open_film(&f, h, cols, rows);
	r = play_all(&f, rec);
	e = close_film(&f);
	if (r < 0 || e < 0)
		return err_set(err, r < 0 ? r : e, "write to standard output");
	if (f.full)
		return err_say(
			err, -EFBIG,
			"--export gif: the GIF ends at %d:%02d:%02d of the recording: it has "
			"%lld pictures and %zu MB: a higher --speed or a lower --idle-limit "
			"makes it smaller",
			(int)(f.at_us / 3600000000), (int)(f.at_us / 60000000 % 60),
			(int)(f.at_us / 1000000 % 60), (long long)f.frames, f.bytes >> 20);
	return 0;
}
