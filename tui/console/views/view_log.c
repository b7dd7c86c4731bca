/* view_log - the past messages of the bar. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tui/console/frame/ui.h"

struct view_log {
	struct view v;
	struct list list; /* oldest first */
};

static const enum action hints[] = {ACTION_SEARCH, ACTION_COPY, ACTION_BOTTOM, ACTION_BACK,
				    ACTION_NONE};

static size_t count(const struct ui *ui)
{
	return MIN(ui->n_said, (uint64_t)UI_SAID);
}

static const struct said *said_at(const struct ui *ui, size_t i)
{
	return &ui->said[(ui->n_said - count(ui) + i) % UI_SAID];
}

/* Writes "12 s ago", "3 min ago". */
static void ago(const struct ui *ui, const struct said *s, char *out, size_t size)
{
	int64_t seconds = MAX((int64_t)0, (ui->now_us - s->at_us) / 1000000);

	if (seconds < 120)
		snprintf(out, size, "%lld s ago", (long long)seconds);
	else
		snprintf(out, size, "%lld min ago", (long long)seconds / 60);
}

static void draw_row(void *data, struct surface *s, struct rect line, size_t i)
{
	const struct view_log *l = data;
	const struct said *said = said_at(l->v.ui, i);
	char when[32];

	ago(l->v.ui, said, when, sizeof(when));
	surface_fmt(s, line.x + 1, line.y, 12, ROLE_DIM, "%11s", when);
	surface_text(s, line.x + 14, line.y, MAX(0, line.w - 15), ROLE_TEXT, said->words);
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_log *l = (struct view_log *)v;

	for (int i = 0; i < r.w; i++)
		surface_text(s, r.x + i, r.y, 1, ROLE_BORDER_FOCUS, s->ascii ? "=" : "━");
	surface_text(s, r.x + 1, r.y, r.w - 2, ROLE_TITLE_FOCUS, " > log ");
	list_draw(&l->list, s, (struct rect){r.x, r.y + 1, r.w, MAX(0, r.h - 1)}, focused,
		  count(v->ui), "What cordon says in the bar below is kept here.", draw_row, l);
}

static void text_of(void *data, size_t i, struct buf *out)
{
	buf_str(out, said_at(((struct view_log *)data)->v.ui, i)->words);
}

static void query(struct view *v, enum query what, const char *text)
{
	struct view_log *l = (struct view_log *)v;

	if (what == QUERY_SEARCH)
		list_search(&l->list, text, count(v->ui), text_of, l);
}

static bool act(struct view *v, enum action a)
{
	struct view_log *l = (struct view_log *)v;
	struct ui *ui = v->ui;
	const char *words;

	if (list_keys(&l->list, ui, a, count(ui), text_of, l))
		return true;
	if (a == ACTION_COPY && count(ui)) {
		words = said_at(ui, MIN(l->list.cursor, count(ui) - 1))->words;
		ui_copy(ui, words, strlen(words));
	}
	if (a == ACTION_BACK)
		ui_pop(ui);
	return a == ACTION_BACK || a == ACTION_COPY;
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_log *l = (struct view_log *)v;

	list_mouse(&l->list, m, (struct rect){r.x, r.y + 1, r.w, MAX(0, r.h - 1)}, count(v->ui));
}

static const struct view_ops ops = {
	.place = PLACE_LOG,
	.draw = draw,
	.act = act,
	.query = query,
	.does = DOES_MOVE,
	.mouse = mouse,
	.hints = hints,
};

struct view *view_log_new(struct ui *ui)
{
	struct view_log *l = xcalloc(1, sizeof(*l));

	l->v = (struct view){.ops = &ops, .ui = ui};
	l->list.follow = l->list.tails = true;
	return &l->v;
}
