/* view_terminal - the agent's pane: live, or scrolled back for reading and searching. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/frame/ui.h"
#include "tui/term/term.h"

#define WHEEL_LINES 3

/* Two modes: live (all keys go to the agent) and copy mode (keys are cordon's). */
struct view_terminal {
	struct view v;
	bool searched;
	bool pressed; /* a button was pressed here, at press_x and press_y of the pane */
	int press_x, press_y;
};

static const enum action live_hints[] = {ACTION_FOCUS_AUDIT, ACTION_FOCUS_STEPS, ACTION_UNDO,
					 ACTION_SCROLL,	     ACTION_ZOOM,	 ACTION_QUIT,
					 ACTION_NONE};
static const enum action scroll_hints[] = {ACTION_UP,	  ACTION_DOWN, ACTION_PAGE_UP,
					   ACTION_SELECT, ACTION_COPY, ACTION_SEARCH,
					   ACTION_BACK,	  ACTION_NONE};

static const struct view_ops live_ops, scroll_ops;

/* Replaces the terminal's default colours by the theme's. */
static void tint(struct surface *s, struct rect r, bool still)
{
	struct style st = surface_role(s, ROLE_TERMINAL);

	for (int y = r.y; y < r.y + r.h; y++) {
		for (int x = r.x; x < r.x + r.w; x++) {
			struct cell *c = surface_cell(s, x, y);

			if (c && still)
				c->style.attr &= ~(uint32_t)STYLE_BLINK;
			if (c && c->style.fg == COLOR_DEFAULT)
				c->style.fg = st.fg;
			if (c && c->style.bg == COLOR_DEFAULT)
				c->style.bg = st.bg;
		}
	}
}

static bool is_blank(const struct surface *s, struct rect r)
{
	for (int y = r.y; y < r.y + r.h; y++) {
		for (int x = r.x; x < r.x + r.w; x++) {
			const struct cell *c = surface_cell(s, x, y);

			if (c && *c->text && *c->text != ' ')
				return false;
		}
	}
	return true;
}

/* Draws centred text over at most `rows` rows; returns the next row. */
static int draw_centred(struct surface *s, struct rect r, int y, int role, const char *text,
			int rows)
{
	AUTO_BUF struct buf safe = BUF_INIT;
	const char *next;

	text_escape(&safe, text, strlen(text));
	for (const char *rest = safe.data; *rest && rows > 0; rows--, rest = next) {
		size_t len = ui_fitting(rest, r.w - 4, &next);
		AUTO_FREE char *part = xstrndup(rest, rows > 1 ? len : strlen(rest));
		AUTO_BUF struct buf fit = BUF_INIT;

		text_fit_end(&fit, part, r.w - 4);
		surface_text(s, r.x + (r.w - text_width(fit.data)) / 2, y++, r.w, role, fit.data);
	}
	return y;
}

/* Explains an empty pane: an agent that waits for an answer before its first output would seem to
 * hang. Keys still go to the agent. */
static void draw_waiting(struct ui *ui, struct surface *s, struct rect r)
{
	const struct ask *ask = &ui->spec.model->asks[0];
	AUTO_FREE char *what = NULL, *how = NULL;
	char keys[48];
	int y = r.y + r.h / 2 - 3;

	if (r.h < 8 || r.w < 20 || ask->held || !is_blank(s, r))
		return;
	what = ui_headline(ui, ask);
	y = draw_centred(s, r, y, ROLE_STRONG, what, 1);
	y = draw_centred(s, r, y, ROLE_TEXT, ask->reason ? ask->reason : "", 3);
	ui_keys(ui, PLACE_TERMINAL, ACTION_FOCUS_APPROVALS, keys, sizeof(keys));
	how = xasprintf("It waits for your answer: %s", keys);
	draw_centred(s, r, y + 1, ROLE_BAR_KEY, how, 1);
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct term *t = v->ui->spec.term;
	struct term_cursor cur;
	int row, col;

	if (!t) {
		surface_fill(s, r, ROLE_TERMINAL);
		return;
	}
	term_draw(t, s, r);
	tint(s, rect_intersect(r, s->clip), v->ui->spec.still);
	if (v->ops == &live_ops && v->ui->spec.model->n_asks > 0)
		draw_waiting(v->ui, s, r);
	if (focused && term_copying(t) && term_copy_cursor(t, &row, &col) && row < r.h && col < r.w)
		s->cursor = (struct cursor){.visible = true, .x = r.x + col, .y = r.y + row};
	else if (focused && term_cursor(t, &cur) && cur.row < r.h && cur.col < r.w)
		s->cursor = (struct cursor){.visible = v->ops == &live_ops,
					    .x = r.x + cur.col,
					    .y = r.y + cur.row,
					    .shape = cur.shape};
}

static void note(struct view *v, char *out, size_t size)
{
	struct term *t = v->ui->spec.term;
	const struct model *m = v->ui->spec.model;
	const char *options;
	size_t current = 0, count;
	char safe[120];
	static const char *const kinds[] = {"", "selecting", "selecting lines",
					    "selecting a block"};

	if (t && v->ops == &scroll_ops) {
		count = term_search_count(t, &current);
		if (((struct view_terminal *)v)->searched)
			snprintf(out, size, "match %zu of %zu", current, count);
		else if (term_copy_kind(t) == COPY_NONE && term_copy_link(t))
			snprintf(out, size, "leads to %s", term_copy_link(t));
		else if (term_copy_kind(t) != COPY_NONE)
			snprintf(out, size, "%s, %zu lines back", kinds[term_copy_kind(t)],
				 term_scrolled(t));
		else
			snprintf(out, size, "%zu lines back", term_scrolled(t));
	} else if (t && *term_title(t)) {
		snprintf(out, size, "%s", term_title(t));
	} else if (m->command) {
		/* The title omits options added by a profile. */
		options =
			m->line && str_ends(m->line, m->command) ? NULL : strstr(m->command, " --");
		text_escape_into(safe, sizeof(safe), m->command,
				 options ? (size_t)(options - m->command) : strlen(m->command));
		snprintf(out, size, "%s", safe);
	}
}

static void go_back(struct view *v)
{
	if (v->ui->spec.term) {
		term_search(v->ui->spec.term, "");
		term_copy(v->ui->spec.term, false);
		term_scroll_end(v->ui->spec.term);
	}
	((struct view_terminal *)v)->searched = false;
	v->ops = &live_ops;
}

static void go_copying(struct view *v)
{
	v->ops = &scroll_ops;
	if (v->ui->spec.term)
		term_copy(v->ui->spec.term, true);
}

/* Scrolls the view; the cursor stays within it. */
static void scroll_by(struct term *t, long lines, long page)
{
	int row, col, rows, cols;

	term_scroll(t, lines);
	if (page)
		term_copy_move(t, page > 0 ? COPY_UP : COPY_DOWN, labs(page));
	else if (!term_copy_cursor(t, &row, &col)) {
		term_size(t, &rows, &cols);
		term_copy_at(t, row < 0 ? 0 : rows - 1, col);
	}
}

static bool act_live(struct view *v, enum action a)
{
	if (a != ACTION_SCROLL)
		return false;
	if (v->ui->spec.term && term_alt_screen(v->ui->spec.term))
		ui_say(v->ui, "A full-screen program keeps no lines to scroll back to.");
	go_copying(v);
	return true;
}

/* Opens the link under the cursor, whose address the title shows. An address that could start a
 * program is not opened. */
static void open_link(struct view *v)
{
	static const char *const kinds[] = {"https://", "http://", "mailto:"};
	const char *url = term_copy_link(v->ui->spec.term);
	struct ui *ui = v->ui;
	struct err err = {0};
	bool web = false;
	int r = 1;

	for (size_t i = 0; url && i < ARRAY_LEN(kinds); i++)
		web |= str_starts(url, kinds[i]);
	if (!url) {
		ui_say(ui, "There is no link here.");
		return;
	}
	if (web && ui->spec.verbs->open)
		r = ui->spec.verbs->open(ui->spec.data, url, &err);
	if (r < 0)
		ui_say(ui, "x %s", err.text);
	else if (r == 0)
		ui_say(ui, "Opened: %s", url);
	else if (ui_copy(ui, url, strlen(url)))
		ui_say(ui,
		       web ? "Copied; console.open = xdg-open in your settings opens it: %s"
			   : "Copied; only web and mail addresses are opened: %s",
		       url);
}

/* Copies the selection, or the line of the cursor. */
static void copy(struct view *v)
{
	AUTO_BUF struct buf text = BUF_INIT;
	struct term *t = v->ui->spec.term;

	if (term_copy_kind(t) == COPY_NONE)
		term_copy_select(t, COPY_LINES);
	if (!term_copy_text(t, &text))
		return;
	ui_copy(v->ui, text.data, text.len);
	go_back(v);
}

static bool act_moves(struct term *t, enum action a)
{
	static const struct {
		enum action action;
		enum copy_move move;
	} moves[] = {
		{ACTION_UP, COPY_UP},
		{ACTION_DOWN, COPY_DOWN},
		{ACTION_LEFT, COPY_LEFT},
		{ACTION_RIGHT, COPY_RIGHT},
		{ACTION_TOP, COPY_TOP},
		{ACTION_WORD_NEXT, COPY_WORD_NEXT},
		{ACTION_WORD_END, COPY_WORD_END},
		{ACTION_WORD_PREV, COPY_WORD_PREV},
		{ACTION_LINE_START, COPY_LINE_START},
		{ACTION_LINE_TEXT, COPY_LINE_TEXT},
		{ACTION_LINE_END, COPY_LINE_END},
	};

	for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
		if (moves[i].action == a) {
			term_copy_move(t, moves[i].move, 1);
			return true;
		}
	}
	return false;
}

static bool act_scroll(struct view *v, enum action a)
{
	struct term *t = v->ui->spec.term;
	long page = MAX(1, v->ui->layout.pane[PANE_TERMINAL].h - 1);

	if (!t)
		return false;
	term_copy(t, true); /* a replay shows another terminal after a seek */
	if (act_moves(t, a))
		return true;
	switch ((int)a) {
	case ACTION_PAGE_UP:
		scroll_by(t, page, page);
		return true;
	case ACTION_PAGE_DOWN:
		scroll_by(t, -page, -page);
		return true;
	case ACTION_SELECT:
		term_copy_select(t, COPY_CHARS);
		return true;
	case ACTION_SELECT_LINES:
		term_copy_select(t, COPY_LINES);
		return true;
	case ACTION_SELECT_BLOCK:
		term_copy_select(t, COPY_BLOCK);
		return true;
	case ACTION_COPY:
		copy(v);
		return true;
	case ACTION_OPEN:
		open_link(v);
		return true;
	case ACTION_BOTTOM:
	case ACTION_BACK:
		if (term_copy_kind(t) != COPY_NONE) {
			if (a == ACTION_BOTTOM)
				term_copy_move(t, COPY_BOTTOM, 1);
			else
				term_copy_select(t, COPY_NONE);
			return true;
		}
		go_back(v);
		return true;
	case ACTION_FOCUS_TERMINAL:
		go_back(v);
		return true;
	case ACTION_SEARCH_NEXT:
	case ACTION_SEARCH_PREV:
		if (!term_search_next(t, a == ACTION_SEARCH_NEXT))
			ui_say(v->ui, "No match.");
		return true;
	default:
		return false;
	}
}

static void query(struct view *v, enum query what, const char *text)
{
	if (what != QUERY_SEARCH || !v->ui->spec.term)
		return;
	((struct view_terminal *)v)->searched = *text != '\0';
	if (!term_search(v->ui->spec.term, text) && *text)
		ui_say(v->ui, "No match.");
}

/* Selects by dragging, as in tmux; with Alt a rectangle. A key copies it. */
static void mouse_selects(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_terminal *vt = (struct view_terminal *)v;
	struct term *t = v->ui->spec.term;

	if (m->action == MOUSE_PRESS && m->button == 1) {
		vt->pressed = true;
		vt->press_x = m->x - r.x;
		vt->press_y = m->y - r.y;
		if (term_copying(t))
			term_copy_select(t, COPY_NONE);
	} else if (m->action == MOUSE_RELEASE) {
		vt->pressed = false;
	} else if (m->action == MOUSE_DRAG && vt->pressed) {
		if (v->ops == &live_ops || term_copy_kind(t) == COPY_NONE) {
			go_copying(v);
			term_copy_at(t, vt->press_y, vt->press_x);
			term_copy_select(t, m->mods & MOD_ALT ? COPY_BLOCK : COPY_CHARS);
		}
		if (m->y < r.y || m->y >= r.y + r.h)
			term_scroll(t, m->y < r.y ? 1 : -1);
		term_copy_at(t, m->y - r.y, m->x - r.x);
	}
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct term *t = v->ui->spec.term;
	struct event ev = {.type = EVENT_MOUSE, .mouse = *m};

	if (!t)
		return;
	if (v->ops == &live_ops && v->ui->focus == PANE_TERMINAL && !v->ui->spec.read_only &&
	    term_input(t, &ev, r))
		return;
	if (m->action == MOUSE_WHEEL_UP && !term_alt_screen(t)) {
		go_copying(v);
		scroll_by(t, WHEEL_LINES, 0);
	} else if (m->action == MOUSE_WHEEL_DOWN && v->ops == &scroll_ops) {
		scroll_by(t, -WHEEL_LINES, 0);
		if (term_scrolled(t) == 0 && term_copy_kind(t) == COPY_NONE)
			go_back(v);
	} else {
		mouse_selects(v, m, r);
	}
}

static const struct view_ops live_ops = {
	.place = PLACE_TERMINAL,
	.draw = draw,
	.act = act_live,
	.note = note,
	.mouse = mouse,
	.hints = live_hints,
};

static const struct view_ops scroll_ops = {
	.place = PLACE_SCROLL,
	.does = DOES_MOVE | DOES_OPEN,
	.draw = draw,
	.act = act_scroll,
	.note = note,
	.query = query,
	.mouse = mouse,
	.hints = scroll_hints,
};

struct view *view_terminal_new(struct ui *ui)
{
	struct view_terminal *t = xcalloc(1, sizeof(*t));

	t->v = (struct view){.ops = &live_ops, .ui = ui};
	return &t->v;
}
