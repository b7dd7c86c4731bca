/* view_detail - shows a row of the activity in full: object, processes, step, rule and times. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/session/answers/answers.h"
#include "tui/console/views/activity.h"
#include "tui/console/replay/moment.h"

#define LABEL_COLS    10
#define ANCESTORS_MAX 12
#define LINES_MAX     (ANCESTORS_MAX + 12)

/* A copy of all facts: the model may drop the row while the view is open. */
struct view_detail {
	struct view v;
	struct detail_line {
		const char *label; /* "": continues the fact above */
		char *text;	   /* escaped */
	} lines[LINES_MAX];
	size_t n;
	char *object; /* raw: for copying */
	int64_t step, wall_us;
	int top; /* first visible row */
};

static const enum action hints[] = {ACTION_OPEN, ACTION_MOMENT, ACTION_COPY,
				    ACTION_DOWN, ACTION_BACK,	ACTION_NONE};

static void add(struct view_detail *d, const char *label, const char *raw)
{
	AUTO_BUF struct buf b = BUF_INIT;

	if (!raw || !*raw || d->n == LINES_MAX)
		return;
	text_escape(&b, raw, strlen(raw));
	d->lines[d->n++] = (struct detail_line){label, buf_take(&b)};
}

/* Returns the newest program of the process, up to that row. */
static const struct row *exec_of(const struct model *m, int pid, uint64_t upto)
{
	for (size_t i = m->row_count; i-- > 0;) {
		const struct row *r = model_row(m, i);

		if (r->kind == ROW_EXEC && r->pid == pid && r->seq <= upto)
			return r;
	}
	return NULL;
}

/* Adds "4711 vim a.c", then its parents, as far as their programs are known. */
static void add_processes(struct view_detail *d, const struct row *row)
{
	const struct model *m = d->v.ui->spec.model;
	int pid = row->pid, before = 0;
	uint64_t upto = row->seq;

	for (int i = 0; pid > 0 && pid != before && i < ANCESTORS_MAX; i++) {
		const struct row *r = exec_of(m, pid, upto);
		AUTO_FREE char *words =
			xasprintf("%*s%d %s", 2 * i, "", pid, r && r->text ? r->text : "");

		if (!r && i > 0)
			break;
		add(d, i ? "" : "process", words);
		before = pid;
		pid = r ? r->parent : 0;
		upto = r ? r->seq : 0;
	}
}

static void add_times(struct view_detail *d, const struct activity_item *item)
{
	char from[16], to[16];
	AUTO_FREE char *words = NULL;

	clock_hms(from, item->began_us);
	clock_hms(to, item->ended_us);
	words = item->rows > 1 ? xasprintf("%s to %s, %zu times", from, to, item->rows)
			       : xstrdup(from);
	add(d, "when", words);
}

static void add_step(struct view_detail *d, int64_t step)
{
	const struct model *m = d->v.ui->spec.model;

	for (size_t i = 0; i < m->n_steps; i++) {
		const struct step_row *s = &m->steps[i];
		AUTO_FREE char *words = NULL;

		if (s->id != step)
			continue;
		words = xasprintf("%lld  %s%s", (long long)step,
				  s->command && *s->command ? s->command : "(background)",
				  s->undone ? "  (undone)" : "");
		add(d, "step", words);
	}
}

static const char *kind_words(const struct row *r)
{
	switch (r->kind) {
	case ROW_TOUCH:
		return "done";
	case ROW_DENY:
		return "refused";
	case ROW_EXEC:
		return "a program was started";
	case ROW_ASK:
		return "asked about";
	case ROW_DECISION:
		return "decided";
	case ROW_EXTERNAL:
		return "edited by you or another program";
	case ROW_NOTE:
		break;
	}
	return "said by cordon";
}

/* The reason for the question that this row answers. */
static void add_question(struct view_detail *d, const struct row *decision)
{
	const struct model *m = d->v.ui->spec.model;

	for (size_t i = m->row_count; i-- > 0;) {
		const struct row *r = model_row(m, i);

		if (r->kind != ROW_ASK || r->seq > decision->seq || r->pid != decision->pid ||
		    !str_eq(r->text ? r->text : "", decision->text ? decision->text : ""))
			continue;
		add(d, "asked for", r->more);
		return;
	}
}

static const char *more_label(const struct row *r)
{
	if (r->kind == ROW_TOUCH)
		return "to";
	return r->kind == ROW_EXEC ? "program" : r->kind == ROW_DECISION ? "answer" : "why";
}

static void collect(struct view_detail *d, const struct row *r, const struct activity_item *item)
{
	const char *op = answers_op(r->op ? r->op : "");
	bool two = r->kind == ROW_TOUCH && r->more;

	add(d, "what", kind_words(r));
	if (r->kind != ROW_NOTE && r->kind != ROW_EXTERNAL)
		add(d, "call", op);
	add(d, r->kind == ROW_NOTE ? "words" : r->kind == ROW_EXEC ? "command" : "object", r->text);
	if (activity_is_group(item, r)) {
		AUTO_FREE char *words =
			xasprintf(r->kind == ROW_DENY ? "one of %zu names refused there"
						      : "one of %zu files of git's own",
				  item->objects);

		add(d, "", words);
	}
	add(d, more_label(r), r->more);
	if (r->kind == ROW_DECISION)
		add_question(d, r);
	add_times(d, item);
	add_step(d, r->step);
	add_processes(d, r);
	d->object = xstrdup(r->kind == ROW_EXEC || !two ? r->text : r->more);
	d->step = r->step;
	d->wall_us = r->wall_us;
}

/* ---- the view ------------------------------------------------------------------------------- */

/* Returns the rows of a line of facts at this width. */
static int rows_of(const char *text, int cols)
{
	int n = 0;

	do
		n++, ui_fitting(text, cols, &text);
	while (*text && n < 64);
	return n;
}

static int all_rows(const struct view_detail *d, int cols)
{
	int n = 0;

	for (size_t i = 0; i < d->n; i++)
		n += rows_of(d->lines[i].text, cols);
	return n;
}

static struct rect size(struct view *v, struct rect body)
{
	const struct view_detail *d = (const struct view_detail *)v;
	int w = MIN(body.w, 100), h;

	h = MIN(body.h, all_rows(d, MAX(2, ui_modal_cols(w) - LABEL_COLS)) + 2);
	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_detail *d = (struct view_detail *)v;
	struct rect in = ui_modal(s, r, "activity: one row", false);
	int cols = MAX(2, in.w - LABEL_COLS), y = -d->top;

	(void)focused;
	if (d->top > all_rows(d, cols) - in.h)
		y = -(d->top = MAX(0, all_rows(d, cols) - in.h));
	for (size_t i = 0; i < d->n; i++) {
		const char *next = d->lines[i].text;

		for (int part = rows_of(next, cols), k = 0; k < part; k++, y++) {
			const char *at = next;
			AUTO_BUF struct buf words = BUF_INIT;

			buf_add(&words, at, ui_fitting(at, cols, &next));
			if (y < 0 || y >= in.h)
				continue;
			if (k == 0)
				surface_text(s, in.x, in.y + y, LABEL_COLS, ROLE_MODAL_LABEL,
					     d->lines[i].label);
			surface_text(s, in.x + LABEL_COLS, in.y + y, cols, ROLE_MODAL, words.data);
		}
	}
	s->cursor.x = in.x;
	s->cursor.y = in.y;
}

static void open_step(struct view_detail *d)
{
	struct ui *ui = d->v.ui;
	int64_t step = d->step;

	if (!step) {
		ui_say(ui, "This line belongs to no step.");
		return;
	}
	ui_pop(ui);
	ui_push(ui, view_step_new(ui, step));
}

static bool act(struct view *v, enum action a)
{
	struct view_detail *d = (struct view_detail *)v;
	struct ui *ui = v->ui;

	switch ((int)a) {
	case ACTION_UP:
	case ACTION_PAGE_UP:
		d->top = MAX(0, d->top - (a == ACTION_UP ? 1 : 10));
		return true;
	case ACTION_DOWN:
	case ACTION_PAGE_DOWN:
		d->top += a == ACTION_DOWN ? 1 : 10;
		return true;
	case ACTION_OPEN:
		open_step(d);
		return true;
	case ACTION_COPY:
		if (d->object)
			ui_copy(ui, d->object, strlen(d->object));
		return true;
	case ACTION_MOMENT:
		moment_go(ui, d->step, d->object, ui->spec.replay ? 0 : d->wall_us);
		return true;
	case ACTION_BACK:
		ui_pop(ui);
		return true;
	default:
		return false;
	}
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_detail *d = (struct view_detail *)v;

	(void)r;
	if (m->action == MOUSE_WHEEL_UP)
		d->top = MAX(0, d->top - 3);
	else if (m->action == MOUSE_WHEEL_DOWN)
		d->top += 3;
}

static void view_free(struct view *v)
{
	struct view_detail *d = (struct view_detail *)v;

	for (size_t i = 0; i < d->n; i++)
		free(d->lines[i].text);
	free(d->object);
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_DETAIL,
	.size = size,
	.draw = draw,
	.act = act,
	.does = DOES_MOVE | DOES_OPEN,
	.mouse = mouse,
	.free = view_free,
	.hints = hints,
};

struct view *view_detail_new(struct ui *ui, const struct row *r, const struct activity_item *item)
{
	struct view_detail *d = xcalloc(1, sizeof(*d));

	d->v = (struct view){.ops = &ops, .ui = ui};
	collect(d, r, item);
	return &d->v;
}
