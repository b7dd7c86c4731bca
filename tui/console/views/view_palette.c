/* view_palette - lists the actions that have an effect here; found by some of their letters. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>
#include <utf8proc.h>

#include "core/base/text.h"
#include "tui/console/frame/ui.h"

/* Searches the typed letters in the label and the sentence of each action; the best match is first.
 * Enter performs it in the view below. Decisions and actions that end the agent are listed with
 * their keys but not performed from here: Enter is typed by reflex. */
#define PALETTE_W 116
#define PALETTE_H 18
#define TYPED_MAX 48

struct palette_row {
	enum action action;
	int score;
};

struct view_palette {
	struct view v;
	enum place place; /* place of the view below */
	enum action all[ACTION_COUNT];
	size_t n_all;
	struct palette_row rows[ACTION_COUNT];
	size_t n;
	struct list list;
	char typed[TYPED_MAX];
};

static const enum action hints[] = {ACTION_OPEN, ACTION_DOWN, ACTION_UP, ACTION_BACK, ACTION_NONE};

/* ---- finding -------------------------------------------------------------------------------- */

/* Returns how well text matches: all letters of the needle, in order; more points for adjacent
 * letters and heads of words. 0: no match. */
static int score(const char *needle, const char *text)
{
	int total = 1, run = 0;
	const char *at = text;

	for (; *needle; needle++) {
		int c = tolower((unsigned char)*needle);
		const char *from = at;

		if (c == ' ')
			continue;
		while (*at && tolower((unsigned char)*at) != c)
			at++;
		if (!*at)
			return 0;
		run = at == from ? run + 1 : 0;
		total += 1 + 3 * run + (at == text || at[-1] == ' ' || at[-1] == '-' ? 6 : 0);
		at++;
	}
	return total;
}

static int score_of(const struct view_palette *p, enum action a)
{
	int label = score(p->typed, action_label(a)), name = score(p->typed, action_name(a));

	if (label || name)
		return 1000 + MAX(label, name) * 10 - (int)strlen(action_label(a));
	return strcasestr(action_help(a), p->typed) ? 500 : 0;
}

static int better(const void *a, const void *b)
{
	const struct palette_row *x = a, *y = b;

	return x->score != y->score ? y->score - x->score : (int)x->action - (int)y->action;
}

static void find(struct view_palette *p)
{
	p->n = 0;
	for (size_t i = 0; i < p->n_all; i++) {
		int s = *p->typed ? score_of(p, p->all[i]) : 1;

		if (s > 0)
			p->rows[p->n++] = (struct palette_row){p->all[i], s};
	}
	qsort(p->rows, p->n, sizeof(*p->rows), better);
	p->list.cursor = p->list.top = 0;
	p->v.ui->dirty = true;
}

/* ---- the view ------------------------------------------------------------------------------- */

static struct rect size(struct view *v, struct rect body)
{
	int w = MIN(body.w, PALETTE_W), h = MIN(body.h, PALETTE_H);

	(void)v;
	return (struct rect){body.x + (body.w - w) / 2, body.y + MIN(2, body.h - h), w, h};
}

/* Widths: of the widest text, so that the column of sentences gets the rest. */
struct columns {
	int keys, label, help;
};

static const char *keys_of(const struct view_palette *p, enum action a, char *out, size_t size)
{
	return str_eq(ui_keys(p->v.ui, p->place, a, out, size), "unbound") ? "" : out;
}

static struct columns columns_of(const struct view_palette *p, int w)
{
	struct columns c = {.keys = 8};
	char keys[48];

	for (size_t i = 0; i < p->n_all; i++) {
		c.keys = MAX(c.keys, text_width(keys_of(p, p->all[i], keys, sizeof(keys))));
		c.label = MAX(c.label, text_width(action_label(p->all[i])));
	}
	c.keys = MIN(c.keys, MAX(8, MIN(14, w / 4)));
	c.label = MIN(c.label, (w - c.keys) / 2);
	c.help = MAX(0, w - c.keys - c.label - 3);
	return c;
}

/* Returns how many rows below the list show the selected sentence: as many as the longest needs, 0
 * if the column has room for each. */
static int foot_rows(const struct view_palette *p, int w, int room)
{
	int most = 0;

	for (size_t i = 0; i < p->n_all; i++) {
		const char *rest = action_help(p->all[i]);
		int rows = 0;

		if (text_width(rest) <= room)
			continue;
		for (; *rest; rows++)
			ui_fitting(rest, w, &rest);
		most = MAX(most, rows);
	}
	return most;
}

/* Draws the selected sentence in whole, on the last rows of the box. */
static void draw_foot(const struct view_palette *p, struct surface *s, struct rect foot)
{
	const char *rest = p->n ? action_help(p->rows[p->list.cursor].action) : "";

	for (int y = 0; y < foot.h && *rest; y++) {
		const char *row = rest;
		AUTO_FREE char *part = xstrndup(row, ui_fitting(row, foot.w, &rest));

		surface_text(s, foot.x, foot.y + y, foot.w, ROLE_MODAL, part);
	}
}

static void draw_row(const struct view_palette *p, struct surface *s, struct rect line, size_t i,
		     const struct columns *c)
{
	enum action a = p->rows[i].action;
	int x = line.x + 1;
	char keys[48];

	surface_text(s, x, line.y, c->keys, ROLE_MODAL_KEY, keys_of(p, a, keys, sizeof(keys)));
	x += c->keys + 1;
	surface_text(s, x, line.y, c->label, ROLE_MODAL, action_label(a));
	x += c->label + 1;
	surface_hostile_end(s, x, line.y, c->help, ROLE_MODAL_LABEL, action_help(a));
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_palette *p = (struct view_palette *)v;
	struct rect in = ui_modal(s, r, "do", false);
	int used = surface_fmt(s, in.x, in.y, in.w, ROLE_MODAL_KEY, ": %s", p->typed);
	struct columns c = columns_of(p, in.w);
	int foot = MIN(foot_rows(p, in.w - 2, c.help), MAX(0, in.h - 3));

	in.h -= foot;
	list_fit(&p->list, p->n, in.h - 1);
	if (p->n == 0)
		surface_text(s, in.x + 1, in.y + 1, in.w, ROLE_MODAL_LABEL,
			     "No action here has these letters.");
	for (int y = 1; y < in.h && p->list.top + (size_t)y - 1 < p->n; y++) {
		size_t i = p->list.top + (size_t)y - 1;
		struct rect line = {in.x, in.y + y, in.w, 1};

		draw_row(p, s, line, i, &c);
		ui_row_style(s, line, i == p->list.cursor, true);
	}
	draw_foot(p, s, (struct rect){in.x + 1, in.y + in.h, in.w - 2, foot});
	if (focused)
		s->cursor = (struct cursor){
			.visible = true, .x = in.x + used, .y = in.y, .shape = CURSOR_BAR};
}

static bool key(struct view *v, const struct key *k)
{
	struct view_palette *p = (struct view_palette *)v;
	size_t len = strlen(p->typed);

	if (k->sym == SYM_BACKSPACE) {
		while (len > 0 && ((unsigned char)p->typed[len - 1] & 0xc0) == 0x80)
			len--;
		p->typed[len ? len - 1 : 0] = '\0';
	} else if (k->sym == 'u' && k->mods == MOD_CTRL) {
		p->typed[0] = '\0';
	} else if (k->mods == 0 && k->sym >= ' ' && k->sym < 0x110000) {
		utf8proc_uint8_t utf8[4];
		utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)k->sym, utf8);
		char safe[24];

		text_escape_into(safe, sizeof(safe), (const char *)utf8, (size_t)MAX(n, 0));
		if (len + strlen(safe) < sizeof(p->typed))
			memcpy(p->typed + len, safe, strlen(safe) + 1);
	} else {
		return false;
	}
	find(p);
	return true;
}

static void run(struct view_palette *p)
{
	struct ui *ui = p->v.ui;
	enum action a;
	char keys[48];

	if (p->list.cursor >= p->n)
		return;
	a = p->rows[p->list.cursor].action;
	ui_keys(ui, p->place, a, keys, sizeof(keys));
	ui_pop(ui); /* frees p */
	if (keymap_is_grave(a) || a == ACTION_DENY)
		ui_say(ui, "\"%s\" has to be its own key: %s.", action_label(a), keys);
	else
		ui_do(ui, a);
}

static bool act(struct view *v, enum action a)
{
	struct view_palette *p = (struct view_palette *)v;

	if (list_act(&p->list, a, p->n)) {
		p->list.follow = false;
		return true;
	}
	if (a == ACTION_OPEN)
		run(p);
	else if (a == ACTION_BACK)
		ui_pop(v->ui);
	return a == ACTION_OPEN || a == ACTION_BACK;
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_palette *p = (struct view_palette *)v;
	struct rect rows = {r.x, r.y + 2, r.w, MAX(0, r.h - 3)};

	list_mouse(&p->list, m, rows, p->n);
	if (m->action == MOUSE_PRESS && m->twice && rect_has(rows, m->x, m->y))
		run(p);
}

static const struct view_ops ops = {
	.place = PLACE_PALETTE,
	.size = size,
	.draw = draw,
	.act = act,
	.does = DOES_MOVE | DOES_OPEN,
	.key = key,
	.mouse = mouse,
	.hints = hints,
};

struct view *view_palette_new(struct ui *ui)
{
	const struct view *of = ui_top(ui);
	struct view_palette *p = xcalloc(1, sizeof(*p));

	p->v = (struct view){.ops = &ops, .ui = ui};
	p->place = of->ops->place;
	for (int a = 1; a < ACTION_COUNT; a++) {
		if (a != ACTION_PALETTE && a != ACTION_SEND_PREFIX && a != ACTION_BACK &&
		    ui_holds(ui, of, (enum action)a))
			p->all[p->n_all++] = (enum action)a;
	}
	find(p);
	return &p->v;
}
