/* view_review_draw - draws the rows of a review: files, hunks, lines, comments; and the message. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "tui/console/views/diff_rows.h"
#include "tui/console/views/view_review.h"

enum review_state review_state_of(const struct view_review *p, size_t hunk)
{
	const struct model *m = p->v.ui->spec.model;
	const struct hunk *h = &p->hunks.list[hunk];

	return m->reviewed ? reviewed_state(m->reviewed, h->step, h->path, h->number) : PIECE_OPEN;
}

static const char *review_sign(enum review_state v)
{
	static const char *const signs[] = {
		[PIECE_OPEN] = "",
		[PIECE_KEPT] = "+ kept",
		[PIECE_QUEUED] = "? waits to be taken back",
		[PIECE_TAKEN] = "x taken back",
	};

	return signs[v];
}

static bool is_committed(const struct view_review *p, const struct hunk *h)
{
	const struct reviewed *v = p->v.ui->spec.model->reviewed;

	return v && reviewed_committed(v, h->step, h->path, h->number);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_row(struct view_review *p, enum review_row_kind kind, size_t hunk, size_t at)
{
	if (p->n_rows % 256 == 0)
		p->rows = xrealloc(p->rows, (p->n_rows + 256) * sizeof(*p->rows));
	p->rows[p->n_rows++] = (struct review_row){kind, hunk, at};
}

static bool is_about(const struct point *q, const struct hunk *h)
{
	return q->step == h->step && q->hunk == h->number && str_eq(q->path, h->path);
}

static void add_points(struct view_review *p, size_t hunk)
{
	const struct reviewed *v = p->v.ui->spec.model->reviewed;

	for (size_t i = 0; v && i < v->n_points; i++)
		if (is_about(&v->points[i], &p->hunks.list[hunk]))
			add_row(p, REVIEW_ROW_POINT, hunk, i);
}

/* Returns whether the comment is about a listed hunk of the file whose first hunk this is. */
static bool is_listed(const struct view_review *p, size_t first, const struct point *q)
{
	for (size_t i = first; i < p->hunks.n && str_eq(p->hunks.list[i].path, q->path); i++)
		if (is_about(q, &p->hunks.list[i]))
			return true;
	return false;
}

/* Adds open comments of earlier reviews below the file's name; all of them with `all`. */
static void add_earlier(struct view_review *p, size_t first)
{
	const struct reviewed *v = p->v.ui->spec.model->reviewed;

	for (size_t i = 0; v && i < v->n_points; i++) {
		const struct point *q = &v->points[i];

		if (q->round && (!q->done || p->all) &&
		    str_eq(q->path, p->hunks.list[first].path) && !is_listed(p, first, q))
			add_row(p, REVIEW_ROW_POINT, first, i);
	}
}

/* Moves the cursor to its row, or to its hunk: rows above may have changed. */
static void keep_cursor(struct view_review *p, const struct review_row *was)
{
	for (size_t i = 0; i < p->n_rows; i++) {
		const struct review_row *r = &p->rows[i];

		if (r->hunk != was->hunk)
			continue;
		if (r->kind == REVIEW_ROW_HUNK || (r->kind == was->kind && r->at == was->at))
			p->list.cursor = i;
		if (r->kind == was->kind && r->at == was->at)
			return;
	}
}

void review_build(struct view_review *p)
{
	const bool had = p->list.cursor < p->n_rows;
	const struct review_row was = had ? p->rows[p->list.cursor] : (struct review_row){0};
	const char *path = "";

	p->n_rows = 0;
	p->seen = p->v.ui->spec.model->version;
	for (size_t i = 0; i < p->hunks.n; i++) {
		const struct hunk *h = &p->hunks.list[i];
		enum review_state is = review_state_of(p, i);
		bool open = (is == PIECE_OPEN || is == PIECE_QUEUED) != p->pieces[i].toggled;

		if ((p->pieces[i].hidden || is_committed(p, h)) && is == PIECE_KEPT && !p->all)
			continue;
		if (!str_eq(path, h->path)) {
			add_row(p, REVIEW_ROW_FILE, i, 0);
			add_earlier(p, i);
		}
		path = h->path;
		add_row(p, REVIEW_ROW_HUNK, i, 0);
		for (size_t k = 0; open && k < h->n; k++)
			if (p->hunks.lines[h->first + k].kind != DIFF_HUNK &&
			    p->hunks.lines[h->first + k].kind != DIFF_FILE)
				add_row(p, REVIEW_ROW_LINE, i, h->first + k);
		add_points(p, i);
	}
	p->list.cursor = MIN(p->list.cursor, p->n_rows ? p->n_rows - 1 : 0);
	if (had)
		keep_cursor(p, &was);
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *change_word(const struct hunk *h)
{
	static const char *const words[] = {
		[CHANGE_CREATED] = "created",
		[CHANGE_MODIFIED] = "changed as a whole",
		[CHANGE_DELETED] = "deleted",
		[CHANGE_RENAMED] = "renamed",
	};

	return words[h->kind];
}

static void add_heading(const struct view_review *p, const struct hunk *h, struct buf *out)
{
	const struct hunk_line *l = &p->hunks.lines[h->first];

	if (h->number == HUNK_MODE)
		buf_str(out, "mode and owner");
	else if (h->number && h->n && l->kind == DIFF_HUNK)
		diff_expand(p->hunks.text.data + l->at, l->len, 0, out);
	else
		buf_str(out, change_word(h));
	buf_fmt(out, "  step %lld", (long long)h->step);
}

/* Appends "3.1 use strtoul", "3.2 done" when folded, or "3.2 done: use strtoul". */
static void add_point_words(const struct view_review *p, const struct review_row *r,
			    struct buf *out)
{
	const struct point *q = &p->v.ui->spec.model->reviewed->points[r->at];

	if (q->round)
		buf_fmt(out, "%u.%u ", q->round, q->number);
	if (q->done)
		buf_str(out, p->pieces[r->hunk].points ? "done: " : "done");
	if (!q->done || p->pieces[r->hunk].points)
		text_escape(out, q->text, strlen(q->text));
	if (!q->round)
		buf_str(out, "  (not sent)");
}

void review_row_text(void *view, size_t row, struct buf *out)
{
	const struct view_review *p = view;
	const struct review_row *r = &p->rows[row];
	const struct hunk *h = &p->hunks.list[r->hunk];
	const struct hunk_line *l = &p->hunks.lines[r->at];

	if (r->kind == REVIEW_ROW_FILE)
		text_escape(out, h->path, strlen(h->path));
	else if (r->kind == REVIEW_ROW_HUNK)
		add_heading(p, h, out);
	else if (r->kind == REVIEW_ROW_LINE)
		diff_expand(p->hunks.text.data + l->at, l->len, 0, out);
	else
		add_point_words(p, r, out);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static int role_of(enum review_state v)
{
	return v == PIECE_KEPT	  ? ROLE_EVENT_ALLOW
	       : v == PIECE_TAKEN ? ROLE_EVENT_DENY
				  : ROLE_EVENT_ASK;
}

static void draw_hunk(const struct view_review *p, struct surface *s, struct rect line,
		      const struct hunk *h, size_t hunk)
{
	enum review_state is = review_state_of(p, hunk);
	AUTO_BUF struct buf text = BUF_INIT;
	int x = line.x + 2, end = line.x + line.w;

	add_heading(p, h, &text);
	if (is != PIECE_OPEN)
		x += surface_text(s, x, line.y, end - x, role_of(is),
				  is == PIECE_KEPT && is_committed(p, h) ? "+ committed"
									 : review_sign(is)) +
		     2;
	if (x < end)
		surface_text(s, x, line.y, end - x, is == PIECE_OPEN ? ROLE_DIFF_HUNK : ROLE_DIM,
			     text.data);
}

static void draw_line(const struct view_review *p, struct surface *s, struct rect line,
		      const struct hunk_line *l)
{
	AUTO_BUF struct buf text = BUF_INIT;
	int role = l->kind == DIFF_ADD	  ? ROLE_DIFF_ADD
		   : l->kind == DIFF_DEL  ? ROLE_DIFF_DEL
		   : l->kind == DIFF_META ? ROLE_DIFF_META
					  : ROLE_DIFF_CONTEXT;
	const char *sign = l->kind == DIFF_ADD ? "+" : l->kind == DIFF_DEL ? "-" : " ";

	diff_expand(p->hunks.text.data + l->at, l->len, 0, &text);
	surface_text(s, line.x + 1, line.y, 1, role, sign);
	surface_text(s, line.x + 2, line.y, MAX(0, line.w - 2), role, text.data);
}

/* Draws "src/a.c  +3 -1", for the listed hunks. */
static void draw_file(const struct view_review *p, struct surface *s, struct rect line, size_t hunk)
{
	const char *path = p->hunks.list[hunk].path;
	AUTO_BUF struct buf text = BUF_INIT, shown = BUF_INIT;
	char counts[48];
	int added = 0, deleted = 0, used;

	for (size_t i = hunk; i < p->hunks.n && str_eq(p->hunks.list[i].path, path); i++) {
		added += p->hunks.list[i].added;
		deleted += p->hunks.list[i].deleted;
	}
	snprintf(counts, sizeof(counts), "+%d -%d", added, deleted);
	text_escape(&text, path, strlen(path));
	text_fit_middle(&shown, text.data, MAX(1, line.w - (int)strlen(counts) - 3));
	used = surface_text(s, line.x, line.y, line.w, ROLE_DIFF_FILE, shown.data);
	surface_text(s, line.x + used + 2, line.y, MAX(0, line.w - used - 2), ROLE_DIM, counts);
}

static void draw_row(void *view, struct surface *s, struct rect line, size_t row)
{
	const struct view_review *p = view;
	const struct review_row *r = &p->rows[row];
	const struct hunk *h = &p->hunks.list[r->hunk];
	AUTO_BUF struct buf text = BUF_INIT;

	if (r->kind == REVIEW_ROW_FILE) {
		draw_file(p, s, line, r->hunk);
	} else if (r->kind == REVIEW_ROW_HUNK) {
		draw_hunk(p, s, line, h, r->hunk);
	} else if (r->kind == REVIEW_ROW_LINE) {
		draw_line(p, s, line, &p->hunks.lines[r->at]);
	} else {
		/* A sent message is dim. */
		int role = p->v.ui->spec.model->reviewed->points[r->at].round ? ROLE_DIM
									      : ROLE_EVENT_NOTE;

		review_row_text(view, row, &text);
		surface_text(s, line.x + 2, line.y, 2, role, "> ");
		surface_text(s, line.x + 4, line.y, MAX(0, line.w - 4), role, text.data);
	}
}

static void draw_message_row(void *view, struct surface *s, struct rect line, size_t row)
{
	const struct view_review *p = view;
	const char *at = p->message.data;

	while (row-- > 0)
		at = strchr(at, '\n') + 1;
	surface_fmt(s, line.x + 1, line.y, MAX(0, line.w - 1), ROLE_TEXT, "%.*s",
		    (int)strcspn(at, "\n"), at);
}

static size_t message_rows(const struct view_review *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->message.len; i++)
		n += p->message.data[i] == '\n';
	return n;
}

static void draw_title(const struct view_review *p, struct surface *s, struct rect r)
{
	size_t done = 0, waits = 0;
	int x;

	for (size_t i = 0; i < p->hunks.n; i++) {
		enum review_state is = review_state_of(p, i);

		done += is == PIECE_KEPT || is == PIECE_TAKEN;
		waits += is == PIECE_QUEUED;
	}
	for (int i = 0; i < r.w; i++)
		surface_text(s, r.x + i, r.y, 1, ROLE_BORDER_FOCUS, s->ascii ? "=" : "━");
	if (p->message.len) {
		surface_text(s, r.x + 1, r.y, r.w - 2, ROLE_TITLE_FOCUS,
			     " > message for the agent ");
		return;
	}
	x = surface_fmt(s, r.x + 1, r.y, r.w - 2, ROLE_TITLE_FOCUS, " > review  %zu of %zu done ",
			done, p->hunks.n);
	if (waits)
		x += surface_fmt(s, r.x + 1 + x, r.y, MAX(0, r.w - 2 - x), ROLE_EVENT_ASK,
				 " %zu wait%s ", waits, waits == 1 ? "s" : "");
	surface_fmt(s, r.x + 1 + x, r.y, MAX(0, r.w - 2 - x), ROLE_TITLE_FOCUS, " %s%s ",
		    p->words ? p->words : "", p->hunks.cut ? "; more than fits here" : "");
}

/* Writes why there is no row. */
static void say_none(const struct view_review *p, char *out, size_t size)
{
	const struct ui *ui = p->v.ui;
	char keys[32];

	if (!p->read || *p->why || p->hunks.n || !p->n_steps || p->session) {
		snprintf(out, size, "%s",
			 *p->why      ? p->why
			 : !p->read   ? "The changes are being read."
			 : p->hunks.n ? "All of it is kept; F lists it."
			 : p->n_steps ? "No file of the project has changed."
			 : model_running(ui->spec.model, NULL)
				 ? "A step still runs: its files are in the activity now, here "
				   "when it ends."
				 : "The agent has changed nothing yet.");
		return;
	}
	ui_keys(p->v.ui, PLACE_REVIEW, ACTION_REVIEW_SCOPE, keys, sizeof(keys));
	snprintf(out, size, "No file of the project has changed in this turn; %s shows all turns.",
		 keys);
}

void review_draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_review *p = (struct view_review *)v;
	const struct rect body = {r.x, r.y + 1, r.w, MAX(0, r.h - 1)};
	char none[256];

	say_none(p, none, sizeof(none));
	draw_title(p, s, r);
	if (p->message.len)
		list_draw(&p->message_list, s, body, focused, message_rows(p), "", draw_message_row,
			  p);
	else
		list_draw(&p->list, s, body, focused, p->n_rows, none, draw_row, p);
}
