/* view_help - every key of a place, then the keys that work everywhere; made from the keymap. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "tui/console/frame/ui.h"

struct help_row {
	enum place place;
	enum action action; /* ACTION_NONE: the heading of the place */
};

/* A row has several lines on a narrow screen. */
struct help_line {
	const struct help_row *row;
	size_t part;
};

struct view_help {
	struct view v;
	enum place place;
	bool describing; /* the next keys are described instead of performed */
	struct keymap_state typed;
	struct list list; /* in lines */
	struct help_row rows[2 * ACTION_COUNT + 4];
	size_t n;
	struct help_line *lines;
	size_t n_lines;
	int cols; /* width of the lines */
};

static const enum action hints[] = {ACTION_SEARCH, ACTION_DESCRIBE, ACTION_SEARCH_NEXT, ACTION_DOWN,
				    ACTION_UP,	   ACTION_BACK,	    ACTION_NONE};

/* Returns whether the keys work: in the agent's terminal only those with the prefix. */
static bool reachable(const struct view_help *h, const struct binding *b)
{
	const struct key *prefix = &h->v.ui->spec.keymap->prefix;

	return h->place != PLACE_TERMINAL ||
	       (b->keys.key[0].sym == prefix->sym && b->keys.key[0].mods == prefix->mods);
}

/* Returns whether the place has its own binding for these keys of "everywhere". */
static bool shadowed(const struct view_help *h, const struct binding *b)
{
	const struct keymap *km = h->v.ui->spec.keymap;

	for (size_t i = 0; b->place == PLACE_GLOBAL && i < km->n; i++) {
		const struct keys *k = &km->list[i].keys;

		if (km->list[i].place == h->place && h->place != PLACE_GLOBAL &&
		    k->n <= b->keys.n && memcmp(k->key, b->keys.key, k->n * sizeof(*k->key)) == 0)
			return true;
	}
	return false;
}

/* Appends all keys of an action in one place: "j, Down, C-n". */
static bool all_keys(const struct view_help *h, enum place place, enum action a, struct buf *out)
{
	const struct keymap *km = h->v.ui->spec.keymap;
	char keys[48];
	bool any = false;

	for (size_t i = 0; i < km->n; i++) {
		if (km->list[i].place != place || km->list[i].action != a ||
		    !reachable(h, &km->list[i]) || shadowed(h, &km->list[i]))
			continue;
		keys_format(&km->list[i].keys, keys, sizeof(keys));
		buf_fmt(out, "%s%s", any ? ", " : "", keys);
		any = true;
	}
	return any;
}

/* Collects the shared keys that this view supports. */
static void collect_shared(struct view_help *h, const struct view *of)
{
	for (int a = 1; a < ACTION_COUNT; a++) {
		AUTO_BUF struct buf b = BUF_INIT;

		if (!action_is_general((enum action)a) && ui_holds(h->v.ui, of, (enum action)a) &&
		    all_keys(h, PLACE_GLOBAL, (enum action)a, &b))
			h->rows[h->n++] = (struct help_row){PLACE_GLOBAL, (enum action)a};
	}
}

static void collect(struct view_help *h, const struct view *of, enum place place)
{
	size_t heading = h->n++;

	h->rows[heading] = (struct help_row){place, ACTION_NONE};
	for (int a = 1; a < ACTION_COUNT; a++) {
		AUTO_BUF struct buf b = BUF_INIT;

		if (place == PLACE_GLOBAL &&
		    (!action_is_general((enum action)a) || !ui_holds(h->v.ui, of, (enum action)a)))
			continue;
		if (all_keys(h, place, (enum action)a, &b))
			h->rows[h->n++] = (struct help_row){place, (enum action)a};
	}
	if (place != PLACE_GLOBAL)
		collect_shared(h, of);
	if (h->n == heading + 1)
		h->n = heading;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int keys_width(int cols)
{
	return MAX(10, MIN(26, cols / 3));
}

static int help_width(int cols)
{
	return cols - keys_width(cols) - 1;
}

/* Returns the part of a text on its n-th line, from 0. */
static struct span part_of(const char *text, int cols, size_t number)
{
	const char *next = text;
	size_t len = 0;

	for (size_t i = 0; i <= number; i++) {
		text = next;
		len = ui_fitting(text, MAX(cols, 2), &next);
	}
	return (struct span){text, len};
}

static size_t lines_of(const struct view_help *h, const struct help_row *r, int cols)
{
	AUTO_BUF struct buf keys = BUF_INIT;
	size_t n = 1;

	if (r->action == ACTION_NONE)
		return 1;
	all_keys(h, r->place, r->action, &keys);
	while (part_of(keys.data, keys_width(cols) - 1, n).len ||
	       part_of(action_help(r->action), help_width(cols), n).len)
		n++;
	return n;
}

static void break_lines(struct view_help *h, int cols)
{
	if (h->lines && h->cols == cols)
		return;
	h->cols = cols;
	h->n_lines = 0;
	for (size_t i = 0; i < h->n; i++) {
		size_t n = lines_of(h, &h->rows[i], cols);

		h->lines = xrealloc(h->lines, (h->n_lines + n) * sizeof(*h->lines));
		for (size_t part = 0; part < n; part++)
			h->lines[h->n_lines++] = (struct help_line){&h->rows[i], part};
	}
}

/* ---- the view -------------------------------------------------------------------------------- */

static void row_text(void *data, size_t i, struct buf *out)
{
	const struct view_help *h = data;
	const struct help_row *r = h->lines[i].row;

	if (h->lines[i].part > 0) /* searched by its first line */
		return;
	if (r->action == ACTION_NONE) {
		buf_str(out, place_title(r->place));
		return;
	}
	all_keys(h, r->place, r->action, out);
	buf_fmt(out, " %s %s", action_help(r->action), action_name(r->action));
}

static struct rect size(struct view *v, struct rect body)
{
	struct view_help *h = (struct view_help *)v;
	int w = MIN(body.w, 96), high;

	break_lines(h, ui_modal_cols(w));
	high = MIN(body.h, (int)h->n_lines + 3);
	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - high) / 2, w, high};
}

static void draw_part(struct surface *s, int x, int y, int cols, int role, const char *text,
		      size_t number)
{
	struct span part = part_of(text, cols, number);
	AUTO_BUF struct buf words = BUF_INIT;

	buf_add(&words, part.data, part.len);
	surface_text(s, x, y, cols, role, words.data);
}

static void draw_line(const struct view_help *h, struct surface *s, struct rect line, size_t i)
{
	const struct help_row *row = h->lines[i].row;
	AUTO_BUF struct buf keys = BUF_INIT;
	int keys_w = keys_width(line.w);

	if (row->action == ACTION_NONE) {
		surface_text(s, line.x, line.y, line.w, ROLE_MODAL_TITLE, place_title(row->place));
		return;
	}
	all_keys(h, row->place, row->action, &keys);
	draw_part(s, line.x + 1, line.y, keys_w - 1, ROLE_MODAL_KEY, keys.data, h->lines[i].part);
	draw_part(s, line.x + keys_w + 1, line.y, help_width(line.w), ROLE_MODAL,
		  action_help(row->action), h->lines[i].part);
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_help *h = (struct view_help *)v;
	char title[64];
	struct rect in;
	size_t below;

	snprintf(title, sizeof(title), "keys: %s", place_title(h->place));
	in = ui_modal(s, r, title, false);
	break_lines(h, in.w);
	list_fit(&h->list, h->n_lines, in.h);
	for (int y = 0; y < in.h && h->list.top + (size_t)y < h->n_lines; y++) {
		struct rect line = {in.x, in.y + y, in.w, 1};
		size_t i = h->list.top + (size_t)y;

		draw_line(h, s, line, i);
		ui_row_style(s, line, i == h->list.cursor && focused, true);
		ui_mark(s, line, h->list.search);
	}
	below = h->n_lines - MIN(h->n_lines, h->list.top + h->list.page);
	if (below)
		surface_fmt(s, r.x + 2, r.y + r.h - 1, r.w - 4, ROLE_MODAL_TITLE,
			    " %zu more below ", below);
}

static void query(struct view *v, enum query what, const char *text)
{
	struct view_help *h = (struct view_help *)v;

	if (what == QUERY_SEARCH && !list_search(&h->list, text, h->n_lines, row_text, h))
		ui_say(v->ui, "Nothing here is called '%s'.", text);
}

static bool act(struct view *v, enum action a)
{
	struct view_help *h = (struct view_help *)v;

	if (list_keys(&h->list, v->ui, a, h->n_lines, row_text, h))
		return true;
	if (a == ACTION_BACK || a == ACTION_HELP) {
		ui_pop(v->ui);
		return true;
	}
	if (a == ACTION_DESCRIBE) {
		h->describing = true;
		ui_say(v->ui, "Which key? It is said what it does, and not done.");
		return true;
	}
	return false;
}

static void describe(struct view_help *h, const struct keys *typed, enum action a)
{
	struct ui *ui = h->v.ui;
	char keys[64];

	keys_format(typed, keys, sizeof(keys));
	if (a == ACTION_NONE && h->place == PLACE_TERMINAL && typed->n == 1)
		ui_say(ui, "%s: goes to the agent.", keys);
	else if (a == ACTION_NONE)
		ui_say(ui, "%s: nothing here.", keys);
	else
		ui_say(ui, "%s: %s (%s)", keys, action_help(a), action_name(a));
}

static bool key(struct view *v, const struct key *k)
{
	struct view_help *h = (struct view_help *)v;
	struct keys typed = h->typed.typed;
	enum action a = ACTION_NONE;

	if (!h->describing)
		return false;
	if (typed.n < KEYS_MAX)
		typed.key[typed.n++] = *k;
	switch (keymap_feed(v->ui->spec.keymap, &h->typed, h->place, *k, &a)) {
	case KEYMAP_PENDING:
		return true;
	case KEYMAP_NONE:
		a = ACTION_NONE;
		break;
	case KEYMAP_FOUND:
		break;
	}
	h->describing = false;
	describe(h, &typed, a);
	return true;
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_help *h = (struct view_help *)v;

	(void)r;
	if (m->action == MOUSE_WHEEL_UP || m->action == MOUSE_WHEEL_DOWN)
		list_scroll(&h->list, m->action == MOUSE_WHEEL_UP ? -3 : 3, h->n_lines);
}

static void view_free(struct view *v)
{
	free(((struct view_help *)v)->lines);
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_HELP,
	.size = size,
	.draw = draw,
	.act = act,
	.query = query,
	.does = DOES_MOVE,
	.key = key,
	.mouse = mouse,
	.free = view_free,
	.hints = hints,
};

struct view *view_help_new(struct ui *ui)
{
	const struct view *of = ui_top(ui);
	struct view_help *h = xcalloc(1, sizeof(*h));
	enum place place = of->ops->place;

	h->v = (struct view){.ops = &ops, .ui = ui};
	h->place = place;
	if (place != PLACE_GLOBAL)
		collect(h, of, place);
	collect(h, of, PLACE_GLOBAL);
	return &h->v;
}
