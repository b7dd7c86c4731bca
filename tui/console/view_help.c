/* view_help - every key of a place, then those that work everywhere; made from the keymap. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "tui/console/ui.h"

struct help_row {
	enum place place;
	enum action action; /* ACTION_NONE: the place's heading */
};

struct view_help {
	struct view v;
	enum place place;
	struct list list;
	struct help_row rows[2 * ACTION_COUNT + 4];
	size_t n;
};

static const enum action hints[] = {ACTION_SEARCH, ACTION_SEARCH_NEXT, ACTION_DOWN,
				    ACTION_UP,	   ACTION_BACK,	       ACTION_NONE};

/* From the agent's terminal only what begins with the prefix. */
static bool reachable(const struct view_help *h, const struct binding *b)
{
	const struct key *prefix = &h->v.ui->spec.keymap->prefix;

	return h->place != PLACE_TERMINAL ||
	       (b->keys.key[0].sym == prefix->sym && b->keys.key[0].mods == prefix->mods);
}

/* All keys of an action in one place: "j, Down, C-n". */
static bool all_keys(const struct view_help *h, enum place place, enum action a, struct buf *out)
{
	const struct keymap *km = h->v.ui->spec.keymap;
	char keys[48];
	bool any = false;

	for (size_t i = 0; i < km->n; i++) {
		if (km->list[i].place != place || km->list[i].action != a ||
		    !reachable(h, &km->list[i]))
			continue;
		keys_format(&km->list[i].keys, keys, sizeof(keys));
		buf_fmt(out, "%s%s", any ? ", " : "", keys);
		any = true;
	}
	return any;
}

static void collect(struct view_help *h, enum place place)
{
	size_t heading = h->n++;

	h->rows[heading] = (struct help_row){place, ACTION_NONE};
	for (int a = 1; a < ACTION_COUNT; a++) {
		AUTO_BUF struct buf b = BUF_INIT;

		if (all_keys(h, place, (enum action)a, &b))
			h->rows[h->n++] = (struct help_row){place, (enum action)a};
	}
	if (h->n == heading + 1)
		h->n = heading;
}

static void row_text(void *data, size_t i, struct buf *out)
{
	const struct view_help *h = data;
	const struct help_row *r = &h->rows[i];

	if (r->action == ACTION_NONE) {
		buf_str(out, place_title(r->place));
		return;
	}
	all_keys(h, r->place, r->action, out);
	buf_fmt(out, " %s %s", action_help(r->action), action_name(r->action));
}

static struct rect size(struct view *v, struct rect body)
{
	int w = MIN(body.w, 96), h = MIN(body.h, (int)((struct view_help *)v)->n + 3);

	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_help *h = (struct view_help *)v;
	char title[64];
	struct rect in;
	int keys_w;

	snprintf(title, sizeof(title), "keys: %s", place_title(h->place));
	in = ui_modal(s, r, title, false);
	keys_w = MAX(10, MIN(26, in.w / 3));
	list_fit(&h->list, h->n, in.h);
	for (int y = 0; y < in.h && h->list.top + (size_t)y < h->n; y++) {
		const struct help_row *row = &h->rows[h->list.top + (size_t)y];
		struct rect line = {in.x, in.y + y, in.w, 1};
		AUTO_BUF struct buf keys = BUF_INIT;
		AUTO_BUF struct buf fit = BUF_INIT;

		if (row->action == ACTION_NONE) {
			surface_text(s, line.x, line.y, line.w, ROLE_MODAL_TITLE,
				     place_title(row->place));
		} else {
			all_keys(h, row->place, row->action, &keys);
			text_fit_end(&fit, keys.data, keys_w - 1);
			surface_text(s, line.x + 1, line.y, keys_w, ROLE_MODAL_KEY, fit.data);
			buf_clear(&fit);
			text_fit_end(&fit, action_help(row->action), line.w - keys_w - 2);
			surface_text(s, line.x + keys_w + 1, line.y, line.w - keys_w, ROLE_MODAL,
				     fit.data);
		}
		ui_row_style(s, line, h->list.top + (size_t)y == h->list.cursor && focused, true);
	}
}

static void query(struct view *v, enum query what, const char *text)
{
	struct view_help *h = (struct view_help *)v;

	if (what == QUERY_SEARCH && !list_search(&h->list, text, h->n, row_text, h))
		ui_say(v->ui, "Nothing here is called '%s'.", text);
}

static bool act(struct view *v, enum action a)
{
	struct view_help *h = (struct view_help *)v;

	if (list_act(&h->list, a, h->n))
		return true;
	if (a == ACTION_BACK || a == ACTION_HELP) {
		ui_pop(v->ui);
		return true;
	}
	if (a == ACTION_SEARCH_NEXT || a == ACTION_SEARCH_PREV) {
		list_search_next(&h->list, a == ACTION_SEARCH_PREV, h->n, row_text, h);
		return true;
	}
	return false;
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_help *h = (struct view_help *)v;

	(void)r;
	if (m->action == MOUSE_WHEEL_UP || m->action == MOUSE_WHEEL_DOWN)
		list_scroll(&h->list, m->action == MOUSE_WHEEL_UP ? -3 : 3, h->n);
}

static void view_free(struct view *v)
{
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_HELP,
	.size = size,
	.draw = draw,
	.act = act,
	.query = query,
	.mouse = mouse,
	.free = view_free,
	.hints = hints,
};

struct view *view_help_new(struct ui *ui, enum place place)
{
	struct view_help *h = xcalloc(1, sizeof(*h));

	h->v = (struct view){.ops = &ops, .ui = ui};
	h->place = place;
	if (place != PLACE_GLOBAL)
		collect(h, place);
	collect(h, PLACE_GLOBAL);
	return &h->v;
}
