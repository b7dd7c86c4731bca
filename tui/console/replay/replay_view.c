/* replay_view - the pane of a replay, and its time line with marks at the bottom. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "tui/console/replay/moment.h"
#include "tui/console/replay/replay.h"

struct view_replay {
	struct view v;
};

static const enum action hints[] = {ACTION_PAUSE,      ACTION_SEEK_FORWARD, ACTION_SEEK_BACK,
				    ACTION_NEXT_MARK,  ACTION_NEXT_STEP,    ACTION_NEXT_APPROVAL,
				    ACTION_NEXT_FRAME, ACTION_FASTER,	    ACTION_SEARCH,
				    ACTION_SEEK_TIME,  ACTION_FOCUS_STEPS,  ACTION_QUIT,
				    ACTION_NONE};

/* ---- the pane -------------------------------------------------------------------------------- */

/* Draws the terminal; if it is larger than the pane, the rows around the cursor. */
static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct term *t = replay_term(v->ui->spec.replay);
	struct term_cursor cur;
	bool shown = term_cursor(t, &cur);
	int rows, cols, off = 0;

	term_size(t, &rows, &cols);
	if (shown && rows > r.h)
		off = MIN(MAX(0, cur.row - r.h + 1), rows - r.h);
	surface_fill(s, r, ROLE_TERMINAL);
	term_draw(t, s, (struct rect){r.x, r.y - off, MIN(cols, r.w), rows});
	if (cols < r.w)
		surface_vline(s, r.x + cols, r.y, MIN(rows, r.h), ROLE_BORDER);
	if (focused && shown && cur.row - off < r.h && cur.col < r.w)
		s->cursor = (struct cursor){
			.x = r.x + cur.col, .y = r.y + cur.row - off, .shape = cur.shape};
}

static void note(struct view *v, char *out, size_t size)
{
	struct term *t = replay_term(v->ui->spec.replay);
	const struct cast_header *h = recording_header(replay_recording(v->ui->spec.replay));
	int rows, cols;

	term_size(t, &rows, &cols);
	if (term_scrolled(t))
		snprintf(out, size, "%zu lines back", term_scrolled(t));
	else if (cols > v->ui->layout.pane[PANE_TERMINAL].w)
		snprintf(out, size, "%dx%d, z shows more", cols, rows);
	else if (*term_title(t))
		snprintf(out, size, "%s", term_title(t));
	else if (h->command)
		text_escape_into(out, size, h->command, strlen(h->command));
}

static bool act(struct view *v, enum action a)
{
	struct term *t = replay_term(v->ui->spec.replay);
	long page = MAX(1, v->ui->layout.pane[PANE_TERMINAL].h - 1);

	switch ((int)a) {
	case ACTION_UP:
		term_scroll(t, 1);
		return true;
	case ACTION_DOWN:
		term_scroll(t, -1);
		return true;
	case ACTION_PAGE_UP:
		term_scroll(t, page);
		return true;
	case ACTION_PAGE_DOWN:
		term_scroll(t, -page);
		return true;
	case ACTION_BACK:
		if (moment_back(v->ui))
			return true;
		term_search(t, "");
		term_scroll_end(t);
		return true;
	default:
		return false;
	}
}

/* Marks the text on the screen while it is typed; Enter seeks (replay_prompt). */
static void query(struct view *v, enum query what, const char *text)
{
	if (what == QUERY_SEARCH)
		term_search(replay_term(v->ui->spec.replay), text);
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct term *t = replay_term(v->ui->spec.replay);

	(void)r;
	if (m->action == MOUSE_WHEEL_UP || m->action == MOUSE_WHEEL_DOWN)
		term_scroll(t, m->action == MOUSE_WHEEL_UP ? 3 : -3);
}

static const struct view_ops ops = {
	.place = PLACE_REPLAY,
	.draw = draw,
	.act = act,
	.note = note,
	.query = query,
	.mouse = mouse,
	.hints = hints,
};

struct view *view_replay_new(struct ui *ui)
{
	struct view_replay *p = xcalloc(1, sizeof(*p));

	p->v = (struct view){.ops = &ops, .ui = ui};
	return &p->v;
}

/* ---- the time line --------------------------------------------------------------------------- */

/* Writes "> 0:12 / 1:03:20 x2 ": state, position, speed. */
static int head_text(const struct replay *r, char *out, size_t size)
{
	char at[24], all[24], speed[24] = "";

	clock_length(at, replay_position(r));
	clock_length(all, recording_duration(replay_recording(r)));
	if (replay_speed(r) != 1)
		snprintf(speed, sizeof(speed), " x%g", replay_speed(r));
	return snprintf(out, size, " %s %s / %s%s ", replay_playing(r) ? ">" : "=", at, all, speed);
}

/* Returns the place of the line in the bar. */
static struct rect line_rect(const struct replay *r, struct rect bar)
{
	char head[96];
	int n = head_text(r, head, sizeof(head));

	return (struct rect){bar.x + n, bar.y, MAX(0, bar.w - n - 1), 1};
}

static int column(const struct replay *r, int64_t t_us, int w)
{
	int64_t all = MAX(recording_duration(replay_recording(r)), (int64_t)1);

	return (int)MIN((double)t_us / (double)all * w, (double)(w - 1));
}

static void draw_marks(const struct replay *r, struct surface *s, struct rect line)
{
	/* A rarer kind covers a more frequent one. */
	static const enum mark_kind order[] = {MARK_OTHER, MARK_TURN, MARK_STEP, MARK_EDIT,
					       MARK_APPROVAL};
	static const struct {
		const char *sign;
		int role;
	} looks[MARK_KINDS] = {[MARK_OTHER] = {"+", ROLE_STATUS},
			       [MARK_TURN] = {"t", ROLE_STATUS},
			       [MARK_STEP] = {"|", ROLE_STATUS_OK},
			       [MARK_EDIT] = {"!", ROLE_STATUS_WARN},
			       [MARK_APPROVAL] = {"?", ROLE_STATUS_WARN}};
	size_t n;
	const struct mark *m = recording_marks(replay_recording(r), &n);

	for (size_t k = 0; k < ARRAY_LEN(order); k++)
		for (size_t i = 0; i < n; i++)
			if (m[i].kind == order[k])
				surface_text(s, line.x + column(r, m[i].t_us, line.w), line.y, 1,
					     looks[order[k]].role, looks[order[k]].sign);
}

void replay_draw_bar(struct ui *ui, struct surface *s, struct rect bar)
{
	const struct replay *r = ui->spec.replay;
	struct rect line = line_rect(r, bar);
	char head[96];
	int at;

	surface_fill(s, bar, ROLE_STATUS);
	head_text(r, head, sizeof(head));
	surface_text(s, bar.x, bar.y, bar.w, ROLE_STATUS_OK, head);
	if (line.w < 4)
		return;
	at = column(r, replay_position(r), line.w);
	for (int x = 0; x < line.w; x++)
		surface_text(s, line.x + x, line.y, 1, ROLE_STATUS,
			     x < at	? s->ascii ? "=" : "━"
			     : s->ascii ? "-"
					: "─");
	draw_marks(r, s, line);
	surface_text(s, line.x + at, line.y, 1, ROLE_BAR_KEY, s->ascii ? "O" : "●");
}

void replay_click(struct ui *ui, int x, struct rect bar)
{
	struct replay *r = ui->spec.replay;
	struct rect line = line_rect(r, bar);

	if (x < line.x)
		replay_play(r, !replay_playing(r), ui->now_us);
	else if (line.w > 1)
		replay_seek(r,
			    (int64_t)((double)recording_duration(replay_recording(r)) *
				      (x - line.x) / (line.w - 1)),
			    ui->now_us);
	replay_news(ui);
}
