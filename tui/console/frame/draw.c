/* draw - draws the whole screen of the ui: panes, popups, bars. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/wait.h>

#include "core/base/text.h"
#include "core/session/answers/answers.h"
#include "tui/console/frame/ui.h"

static const char *const pane_titles[PANE_COUNT] = {"agent", "activity", "steps"};

void ui_op(const char *op, char *out, size_t size)
{
	const char *word = answers_op(op ? op : "");

	text_escape_into(out, size, word, strlen(word));
}

void ui_wish(const struct ask *ask, char *out, size_t size)
{
	const char *word = ask->kind == RULE_READ && ask->is_dir ? "list" : answers_wish(ask->op);

	text_escape_into(out, size, word, strlen(word));
}

size_t ui_fitting(const char *text, int cols, const char **next)
{
	size_t len = 0, words = 0, size;
	int32_t cp;

	for (int w = 0; text[len]; len += size) {
		size = text_decode(text + len, strlen(text + len), &cp);
		w += text_cp_width(cp);
		if (text[len] == ' ')
			words = len;
		if (w > cols)
			break;
	}
	if (text[len] && words)
		len = words;
	*next = text + len + (text[len] == ' ');
	return len;
}

static int modal_margin(int w)
{
	return w > 50 ? 3 : 2;
}

struct rect ui_modal(struct surface *s, struct rect r, const char *title, bool danger)
{
	int role = danger ? ROLE_MODAL_DANGER : ROLE_MODAL_BORDER;

	surface_fill(s, r, ROLE_MODAL);
	surface_box(s, r, role, BORDER_DOUBLE);
	if (r.w > 8)
		surface_fmt(s, r.x + 2, r.y, r.w - 4, danger ? ROLE_MODAL_DANGER : ROLE_MODAL_TITLE,
			    " %s ", title);
	return rect_inset(r, modal_margin(r.w), 1);
}

int ui_modal_cols(int w)
{
	return MAX(0, w - 2 * modal_margin(w));
}

int ui_modal_text(struct surface *s, int x, int y, int cols, int role, const char *text)
{
	struct style st = surface_role(s, role);

	st.bg = surface_role(s, ROLE_MODAL).bg;
	return surface_text_style(s, x, y, cols, &st, text);
}

void ui_row_style(struct surface *s, struct rect row, bool selected, bool focused)
{
	struct style st;

	if (!selected)
		return;
	st = surface_role(s, focused ? ROLE_SELECT : ROLE_SELECT_BLUR);
	if (!focused)
		st.fg = COLOR_DEFAULT;
	surface_paint(s, row, &st);
	if (focused) {
		s->cursor.x = row.x; /* read by screen readers and magnifiers */
		s->cursor.y = row.y;
	}
}

void ui_row_point(struct surface *s, struct rect row)
{
	struct style st = surface_role(s, ROLE_SELECT);

	for (int x = row.x; x < row.x + row.w; x++) {
		struct cell *c = rect_has(s->clip, x, row.y) ? surface_cell(s, x, row.y) : NULL;

		if (!c)
			continue;
		c->style.bg = st.bg != COLOR_DEFAULT ? st.bg : c->style.bg;
		c->style.attr |= st.attr;
	}
	s->cursor.x = row.x;
	s->cursor.y = row.y;
}

/* Reads the text of a row of cells, and the column of each byte. */
static void row_text(const struct surface *s, struct rect row, struct buf *text, struct buf *cols)
{
	for (int x = row.x; x < row.x + row.w; x++) {
		const struct cell *c = surface_cell(s, x, row.y);
		const char *bytes = c && c->width == 0 ? "" : c && *c->text ? c->text : " ";

		for (; *bytes; bytes++) {
			buf_ch(text, *bytes);
			buf_add(cols, &x, sizeof(x));
		}
	}
}

void ui_mark(struct surface *s, struct rect row, const char *needle)
{
	AUTO_BUF struct buf text = BUF_INIT, cols = BUF_INIT;
	struct style st = surface_role(s, ROLE_MATCH);
	const int *col;

	if (!*needle)
		return;
	row = rect_intersect(row, s->clip);
	row_text(s, row, &text, &cols);
	col = (const int *)(const void *)cols.data;
	for (const char *at = text.data; text.len && (at = strcasestr(at, needle)); at++) {
		size_t from = (size_t)(at - text.data), to = from + strlen(needle) - 1;

		surface_paint(s, (struct rect){col[from], row.y, col[to] - col[from] + 1, 1}, &st);
	}
}

/* Draws "━━ activity ━━━━━━ filter: c ━━": a rule with the pane's name. */
static void draw_title(struct ui *ui, struct surface *s, enum pane p, bool focused)
{
	struct rect r = ui->layout.title[p];
	struct view *v = ui->panes[p];
	char note[160] = "";
	AUTO_BUF struct buf fit = BUF_INIT;
	const char *line = s->ascii ? (focused ? "=" : "-") : (focused ? "━" : "─");
	int used;

	if (r.h == 0)
		return;
	for (int x = 0; x < r.w; x++)
		surface_text(s, r.x + x, r.y, 1, focused ? ROLE_BORDER_FOCUS : ROLE_BORDER, line);
	used = surface_fmt(s, r.x + 1, r.y, r.w - 2, focused ? ROLE_TITLE_FOCUS : ROLE_TITLE,
			   " %s%s ", focused ? "> " : "", pane_titles[p]);
	if (p == PANE_TERMINAL && ui->spec.model->agent_asks && !ui->spec.model->exited)
		used += surface_text(s, r.x + 1 + used, r.y, r.w - used - 2, ROLE_EVENT_ASK,
				     "? asks ");
	if (v->ops->note)
		v->ops->note(v, note, sizeof(note));
	if (!*note || r.w - used < 12)
		return;
	text_fit_middle(&fit, note, r.w - used - 6);
	surface_fmt(s, r.x + r.w - text_width(fit.data) - 4, r.y, r.w, ROLE_DIM, " %s ", fit.data);
}

/* Draws the diff of the selected step in the agent's place, while the list of steps has the
 * focus. */
static bool draw_preview(struct ui *ui, struct surface *s)
{
	struct rect r = ui->layout.pane[PANE_TERMINAL], old;
	struct view *v = ui->focus == PANE_STEPS ? view_steps_preview(ui->panes[PANE_STEPS]) : NULL;

	if (!v || ui->layout.title[PANE_TERMINAL].h == 0)
		return false;
	if (ui->over_us && ui->input_us <= ui->over_us)
		return false; /* the agent's last output stays until a key is pressed */
	r.y--;		      /* its heading is the pane's title */
	r.h++;
	old = surface_clip(s, r);
	v->ops->draw(v, s, r, false);
	s->clip = old;
	return true;
}

static void draw_panes(struct ui *ui, struct surface *s)
{
	const struct layout *l = &ui->layout;

	surface_vline(s, l->divider.x, l->divider.y, l->divider.h, ROLE_BORDER);
	surface_vline(s, l->divider_low.x, l->divider_low.y, l->divider_low.h, ROLE_BORDER);
	for (enum pane p = 0; p < PANE_COUNT; p++) {
		bool focused = ui->n_popups == 0 && ui->focus == p;
		struct rect old = s->clip;

		if (l->pane[p].h == 0 || l->pane[p].w == 0)
			continue;
		if (p == PANE_TERMINAL && draw_preview(ui, s))
			continue;
		draw_title(ui, s, p, focused);
		surface_clip(s, l->pane[p]);
		ui->panes[p]->ops->draw(ui->panes[p], s, l->pane[p], focused);
		s->clip = old;
	}
	if (l->tabs.h > 0)
		bars_draw_tabs(ui, s, l->tabs);
}

static void draw_popup(struct ui *ui, struct surface *s, size_t i)
{
	struct view *v = ui->popups[i];
	struct rect r = v->ops->size ? v->ops->size(v, ui->layout.body) : ui->layout.body;
	struct rect old = surface_clip(s, r);

	s->cursor.visible = false;
	v->ops->draw(v, s, r, i + 1 == ui->n_popups);
	s->clip = old;
}

static void draw_popups(struct ui *ui, struct surface *s)
{
	for (size_t i = 0; i < ui->n_popups; i++)
		draw_popup(ui, s, i);
}

static void draw_too_small(struct surface *s)
{
	char words[64];
	int n = snprintf(words, sizeof(words), "cordon needs %dx%d", LAYOUT_MIN_W, LAYOUT_MIN_H);
	int y = MAX(0, s->h / 2 - 1);

	surface_text(s, MAX(0, (s->w - n) / 2), y, s->w, ROLE_TEXT, words);
	n = snprintf(words, sizeof(words), "this is %dx%d", s->w, s->h);
	surface_text(s, MAX(0, (s->w - n) / 2), y + 1, s->w, ROLE_DIM, words);
}

/* Returns the newest refusal that may have ended the agent, or NULL. Refusals that its profile
 * expects do not count. */
static const struct row *last_refused(const struct model *m)
{
	for (size_t i = m->row_count; i-- > 0;) {
		const struct row *r = model_row(m, i);

		if ((r->kind == ROW_DENY && !r->expected) ||
		    (r->kind == ROW_DECISION && r->result < 0))
			return r;
	}
	return NULL;
}

/* Shows "codex ended (1). cordon refused: mkdir ~/.codex/x." and the key that leaves. */
static void say_over(struct ui *ui)
{
	const struct model *m = ui->spec.model;
	const struct row *r = m->wait_status != 0 ? last_refused(m) : NULL;
	AUTO_BUF struct buf path = BUF_INIT;
	char op[24], quit[80], again[32], name[48], what[400] = "";
	int status = m->wait_status; /* not const, because the macros may take its address */

	ui_keys(ui, ui_top(ui)->ops->place, ACTION_QUIT, again, sizeof(again));
	snprintf(quit, sizeof(quit), "%s quits", again);
	if (r) {
		ui_op(r->op, op, sizeof(op));
		text_escape(&path, ui_path(ui, r->text), strlen(ui_path(ui, r->text)));
		snprintf(what, sizeof(what), "; cordon refused last: %s %.300s", op, path.data);
	} else if (m->wait_status != 0 && !m->network && !m->asks_network) {
		snprintf(what, sizeof(what), "; no network: --allow-network");
	}
	ui_keys(ui, ui_top(ui)->ops->place, ACTION_RESTART, again, sizeof(again));
	if (ui->spec.verbs->restart && *again)
		snprintf(quit + strlen(quit), sizeof(quit) - strlen(quit), ", %s restarts", again);
	ui_agent(ui, name, sizeof(name));
	if (m->wait_status == 0)
		ui_say(ui, "%s has ended. Look around, undo what you do not want; %s.", name, quit);
	else if (WIFSIGNALED(status))
		ui_say(ui, "%s ended by signal %d (%s)%s", name, WTERMSIG(status), quit, what);
	else
		ui_say(ui, "%s ended with %d (%s)%s", name, WEXITSTATUS(status), quit, what);
}

/* Gives the keys to cordon after the agent's end. Waits while the user types: the next key was
 * meant for the agent and could be a q. */
static void agent_over(struct ui *ui)
{
	int64_t quiet = ui->input_us + UI_ARM_US;

	if (ui->input_us && ui->now_us < quiet) {
		ui->wake_us = quiet;
		return;
	}
	ui->over = true;
	if (ui->focus == PANE_TERMINAL && ui->n_popups == 0) {
		ui_focus(ui, PANE_STEPS);
		ui->over_us = ui->now_us;
	}
	say_over(ui);
}

void ui_draw(struct ui *ui, struct surface *s, int64_t now_us)
{
	struct style text = surface_role(s, ROLE_TEXT);

	ui->now_us = now_us;
	ui->wake_us = 0;
	ui->dirty = false;
	if (ui->spec.model->exited && !ui->over)
		agent_over(ui);
	surface_clear(s, &text);
	if (ui->layout.mode == LAYOUT_TOO_SMALL) {
		draw_too_small(s);
		if (ui_top(ui)->ops->place == PLACE_LEAVE)
			draw_popup(ui, s, ui->n_popups - 1);
		return;
	}
	if (!ui->spec.board)
		draw_panes(ui, s);
	draw_popups(ui, s);
	select_draw(ui, s);
	if (ui->swallows && !ui->gone_us)
		ui->gone_us = now_us;
	bars_draw_hints(ui, s, ui->layout.hints);
	bars_draw_status(ui, s, ui->layout.status);
	if (ui->message_until_us > now_us && (!ui->wake_us || ui->message_until_us < ui->wake_us))
		ui->wake_us = ui->message_until_us;
}
