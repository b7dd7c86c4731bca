/* view_steps - every command that changed something, and what others changed between them: the rows
 * that can be opened, and undone. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "tui/console/ui.h"

enum line_kind {
	LINE_STEP,  /* at is an index into model.steps */
	LINE_EDIT,  /* into model.edits */
	LINE_TURN,  /* into model.turns: a heading, never selected */
	LINE_OLDER, /* a heading of sessions that left no mark; at is its first step */
};

struct line {
	enum line_kind kind;
	size_t at;
};

struct view_steps {
	struct view v;
	struct list list;
	struct line *shown; /* those that pass the filter */
	size_t n, cap;
	int state_cols; /* what became of each, at the right: as wide as its widest */
};

static const enum action hints[] = {ACTION_OPEN,	   ACTION_UNDO,	  ACTION_REDO,
				    ACTION_DIFF_SESSION,   ACTION_SEARCH, ACTION_FOCUS_AUDIT,
				    ACTION_FOCUS_TERMINAL, ACTION_NONE};

static void step_text(const struct step_row *st, struct buf *out)
{
	buf_fmt(out, "%lld ", (long long)st->id);
	if (st->command)
		text_escape(out, st->command, strlen(st->command));
	if (st->undone)
		buf_str(out, " undone");
	if (st->gone)
		buf_str(out, " too old");
	if (st->incomplete)
		buf_str(out, " incomplete");
}

static void edit_text(const struct barrier *b, struct buf *out)
{
	buf_str(out, "edited from outside:");
	for (size_t i = 0; i < b->n_paths; i++) {
		buf_str(out, i ? ", " : " ");
		text_escape(out, b->paths[i], strlen(b->paths[i]));
	}
}

static void line_text(const struct view_steps *p, struct line l, struct buf *out)
{
	const struct model *m = p->v.ui->spec.model;

	if (l.kind == LINE_EDIT)
		edit_text(&m->edits[l.at], out);
	else if (l.kind == LINE_STEP)
		step_text(&m->steps[l.at], out);
}

static void add_line(struct view_steps *p, struct line l)
{
	AUTO_BUF struct buf b = BUF_INIT;

	if (*p->list.filter)
		line_text(p, l, &b);
	if (list_match(p->list.filter, b.data))
		p->shown[p->n++] = l;
}

/* Those after this step, oldest first; 0: after none that is shown. */
static void add_edits(struct view_steps *p, const int64_t *places, int64_t after)
{
	for (size_t i = p->v.ui->spec.model->n_edits; i-- > 0;)
		if (places[i] == after)
			add_line(p, (struct line){.kind = LINE_EDIT, .at = i});
}

static int64_t place_of(const struct model *m, const struct barrier *b)
{
	for (size_t i = m->n_steps; i-- > 0;)
		if (m->steps[i].id == b->after)
			return b->after;
	return 0;
}

/* ---- headings ------------------------------------------------------------------------------- */

static size_t turn_at(const struct model *m, size_t step)
{
	const struct turn_mark *t = turn_mark_of(m->turns, m->n_turns, m->steps[step].id);

	return t ? (size_t)(t - m->turns) : SIZE_MAX;
}

/* Headings of turns say nothing where each has a step alone, as in a shell. */
static bool turns_matter(const struct model *m)
{
	for (size_t i = 0; i < m->n_turns; i++)
		if (m->turns[i].words)
			return true;
	for (size_t i = 1; i < m->n_steps; i++)
		if (turn_at(m, i) != SIZE_MAX && turn_at(m, i) == turn_at(m, i - 1) &&
		    !m->steps[i].earlier)
			return true;
	return false;
}

/* The session of a turn began at or before it. */
static size_t session_at(const struct model *m, size_t turn)
{
	while (turn != SIZE_MAX && !m->turns[turn].session)
		turn = turn ? turn - 1 : SIZE_MAX;
	return turn;
}

/* What stands before a step: the session that it begins, or the turn. */
static void add_heading(struct view_steps *p, size_t step, bool turns)
{
	const struct model *m = p->v.ui->spec.model;
	size_t turn = turn_at(m, step), before = step ? turn_at(m, step - 1) : SIZE_MAX;
	size_t session = session_at(m, turn);
	bool first = step == 0, anew = first || session != session_at(m, before);

	/* Of this session alone nothing need be said. */
	anew &= first ? m->steps[0].earlier : true;
	if (anew && session == SIZE_MAX)
		p->shown[p->n++] = (struct line){.kind = LINE_OLDER, .at = step};
	else if (anew)
		p->shown[p->n++] = (struct line){.kind = LINE_TURN, .at = session};
	if (turns && turn != SIZE_MAX && (first || turn != before) && !(anew && turn == session) &&
	    !m->steps[step].earlier)
		p->shown[p->n++] = (struct line){.kind = LINE_TURN, .at = turn};
}

static bool is_heading(const struct view_steps *p, size_t i)
{
	return i < p->n && p->shown[i].kind >= LINE_TURN;
}

/* The cursor stands on what can be opened: it goes on the way that it went. */
static void pass_headings(struct view_steps *p, size_t from)
{
	size_t at = p->list.cursor;
	bool up = at < from;

	while (is_heading(p, at) && (up ? at > 0 : at + 1 < p->n))
		at += up ? (size_t)-1 : 1;
	while (is_heading(p, at) && at + 1 < p->n)
		at++;
	p->list.cursor = at;
}

static void collect(struct view_steps *p)
{
	const struct model *m = p->v.ui->spec.model;
	AUTO_FREE int64_t *places = xcalloc(m->n_edits + 1, sizeof(*places));
	bool headings = !*p->list.filter, turns = headings && turns_matter(m);

	if (p->cap < 3 * m->n_steps + m->n_edits) {
		p->cap = 3 * m->n_steps + m->n_edits + 64;
		p->shown = xrealloc(p->shown, p->cap * sizeof(*p->shown));
	}
	p->n = 0;
	for (size_t i = 0; i < m->n_edits; i++)
		places[i] = place_of(m, &m->edits[i]);
	add_edits(p, places, 0);
	for (size_t i = 0; i < m->n_steps; i++) {
		if (headings)
			add_heading(p, i, turns);
		add_line(p, (struct line){.at = i});
		add_edits(p, places, m->steps[i].id);
	}
}

static const struct step_row *step_at(const struct view_steps *p, size_t i)
{
	return i < p->n && p->shown[i].kind == LINE_STEP
		       ? &p->v.ui->spec.model->steps[p->shown[i].at]
		       : NULL;
}

static const struct barrier *edit_at(const struct view_steps *p, size_t i)
{
	return i < p->n && p->shown[i].kind == LINE_EDIT
		       ? &p->v.ui->spec.model->edits[p->shown[i].at]
		       : NULL;
}

/* "+3 ~2 -1 >1", as cordon log says it; false: they are not known yet. */
static bool add_counts(const struct step_row *st, char *out, size_t size)
{
	const struct {
		char sign;
		size_t n;
	} parts[] = {
		{'+', st->created}, {'~', st->modified}, {'-', st->deleted}, {'>', st->renamed}};
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_LEN(parts) && used < size; i++) {
		bool many = parts[i].n >= 10000;

		if (parts[i].n)
			used += (size_t)snprintf(out + used, size - used, "%s%c%zu%s",
						 used ? " " : "", parts[i].sign,
						 many ? parts[i].n / 1000 : parts[i].n,
						 many ? "k" : "");
	}
	return used > 0;
}

/* What became of it, in a sign and a word. */
static int state_of(const struct step_row *st, char *out, size_t size)
{
	if (st->running) {
		snprintf(out, size, "> running");
		return ROLE_EVENT_EXEC;
	}
	if (st->undone) {
		snprintf(out, size, "- undone");
		return ROLE_DIM;
	}
	if (st->gone) {
		snprintf(out, size, "- too old");
		return ROLE_DIM;
	}
	if (st->incomplete) {
		snprintf(out, size, "! partial");
		return ROLE_EVENT_DENY;
	}
	if (st->kind == STEP_COMMAND && st->exit_status > 0) {
		snprintf(out, size, "x %d", st->exit_status);
		return ROLE_EVENT_DENY;
	}
	if (!add_counts(st, out, size))
		snprintf(out, size, "%zu path%s", st->paths, st->paths == 1 ? "" : "s");
	return ROLE_EVENT_ALLOW;
}

static int draw_when(struct surface *s, struct rect line, int x, int64_t wall_us)
{
	char hms[16];

	if (line.w < 60)
		return 0;
	clock_hms(hms, wall_us);
	return surface_text(s, x, line.y, 9, ROLE_DIM, hms) + 1;
}

static void edited_of(const struct barrier *b, char *out, size_t size)
{
	snprintf(out, size, b->count < 100 ? "! %zu edited" : "! edited", b->count);
}

static int state_cols(const struct view_steps *p)
{
	int w = 8;

	for (size_t i = 0; i < p->n; i++) {
		char state[32];

		if (is_heading(p, i))
			continue;
		if (edit_at(p, i))
			edited_of(edit_at(p, i), state, sizeof(state));
		else
			state_of(step_at(p, i), state, sizeof(state));
		w = MAX(w, (int)strlen(state));
	}
	return w;
}

static void draw_edit(const struct view_steps *p, struct surface *s, struct rect line,
		      const struct barrier *b)
{
	AUTO_BUF struct buf names = BUF_INIT;
	int x = line.x + 1, cols = p->state_cols, end = line.x + line.w - cols - 2;
	char state[32];

	x += draw_when(s, line, x, b->last_us);
	x += surface_text(s, x, line.y, 8, ROLE_EVENT_ASK, "  !") + 2;
	for (size_t i = 0; i < MIN(b->n_paths, (size_t)5); i++)
		buf_fmt(&names, "%s%s", i ? ", " : "", ui_path(p->v.ui, b->paths[i]));
	surface_hostile_end(s, x, line.y, end - x, ROLE_TEXT, names.data);
	edited_of(b, state, sizeof(state));
	surface_text(s, end + 1, line.y, cols, ROLE_EVENT_ASK, state);
}

/* "Nov 24 09:12  claude", "09:14  turn" */
static void draw_heading(const struct view_steps *p, struct surface *s, struct rect line, size_t i)
{
	const struct model *m = p->v.ui->spec.model;
	const struct line *l = &p->shown[i];
	const struct turn_mark *t = l->kind == LINE_TURN ? &m->turns[l->at] : NULL;
	bool day = !t || t->session;
	int x = line.x + 1;
	char when[32];

	clock_day(when, sizeof(when), t ? t->us : m->steps[l->at].began_us, day);
	x += surface_text(s, x, line.y, line.w, ROLE_DIM, day ? "== " : "-- ");
	x += surface_text(s, x, line.y, line.x + line.w - x, ROLE_DIM, when) + 1;
	surface_hostile_end(s, x, line.y, line.x + line.w - x - 1, ROLE_DIM,
			    t && t->words     ? t->words
			    : t && t->session ? t->agent
			    : t		      ? "turn"
					      : "earlier");
}

static void draw_row(void *data, struct surface *s, struct rect line, size_t i)
{
	const struct view_steps *p = data;
	const struct barrier *edit = edit_at(p, i);
	const struct step_row *st = step_at(p, i);
	int x = line.x + 1, end = line.x + line.w, role;
	char state[32], id[24];

	if (is_heading(p, i))
		draw_heading(p, s, line, i);
	if (edit)
		draw_edit(p, s, line, edit);
	if (!st)
		return;
	x += draw_when(s, line, x, st->began_us);
	snprintf(id, sizeof(id), "%3lld", (long long)st->id);
	x += surface_text(s, x, line.y, 8, ROLE_DIM, id) + 2;
	role = state_of(st, state, sizeof(state));
	end -= p->state_cols + 2;
	surface_hostile_end(s, x, line.y, end - x, st->undone || st->gone ? ROLE_DIM : ROLE_TEXT,
			    st->kind == STEP_AMBIENT && !(st->command && *st->command)
				    ? "(background)"
			    : st->command ? st->command
					  : "");
	surface_text(s, end + 1, line.y, p->state_cols, role, state);
}

/* In as many lines as they take; the line below them. */
static int draw_wrapped(struct surface *s, struct rect r, int y, const char *words)
{
	const char *next = words;

	for (; *words && y < r.y + r.h; words = next) {
		size_t len = ui_fitting(words, MAX(r.w - 3, 2), &next);
		AUTO_FREE char *line = xstrndup(words, len);

		surface_text(s, r.x + 2, y++, r.w - 3, ROLE_DIM, line);
	}
	return y;
}

/* What a first session looks at: what will be here, and the keys that lead on. */
static void draw_welcome(struct ui *ui, struct surface *s, struct rect r)
{
	static const struct {
		enum action action;
		const char *words;
	} rows[] = {{ACTION_HELP, "all keys"},
		    {ACTION_PALETTE, "find an action by words"},
		    {ACTION_FOCUS_APPROVALS, "answer what waits"},
		    {ACTION_DIFF_SESSION, "all that has changed"},
		    {ACTION_UNDO, "undo the newest step"},
		    {ACTION_QUIT, "leave"}};
	int y = r.y;
	char keys[48];

	surface_fill(s, r, ROLE_TEXT);
	y = draw_wrapped(s, r, y, "Each command that changes a file will be a step here.");
	if (ui->spec.attached || r.h < (int)ARRAY_LEN(rows) + 3)
		return;
	y = draw_wrapped(s, r, y + (r.h > (int)ARRAY_LEN(rows) + 3),
			 "Keys are the agent's, but for these:");
	for (size_t i = 0; i < ARRAY_LEN(rows) && y < r.y + r.h; i++) {
		ui_keys(ui, PLACE_TERMINAL, rows[i].action, keys, sizeof(keys));
		surface_text(s, r.x + 4, y, 8, ROLE_BAR_KEY, keys);
		surface_text(s, r.x + 13, y++, r.w - 14, ROLE_DIM, rows[i].words);
	}
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_steps *p = (struct view_steps *)v;

	collect(p);
	pass_headings(p, p->list.cursor);
	p->state_cols = state_cols(p);
	if (p->n == 0 && !*p->list.filter) {
		draw_welcome(v->ui, s, r);
		return;
	}
	list_draw(&p->list, s, r, focused, p->n, "No step matches the filter.", draw_row, p);
}

static void note(struct view *v, char *out, size_t size)
{
	struct view_steps *p = (struct view_steps *)v;

	list_note(&p->list, p->n, out, size);
}

static void text_of(void *data, size_t i, struct buf *out)
{
	const struct view_steps *p = data;

	if (i < p->n)
		line_text(p, p->shown[i], out);
}

static void query(struct view *v, enum query what, const char *text)
{
	struct view_steps *p = (struct view_steps *)v;

	if (what == QUERY_FILTER) {
		snprintf(p->list.filter, sizeof(p->list.filter), "%s", text);
		p->list.follow = true;
		p->list.chosen = false;
		collect(p);
	} else if (!list_search(&p->list, text, p->n, text_of, p)) {
		ui_say(v->ui, "No step has '%s'.", text);
	}
}

static bool undo(struct view_steps *p)
{
	const struct step_row *st = step_at(p, p->list.cursor);
	struct ui *ui = p->v.ui;

	/* Where nothing was chosen it is as from anywhere: what an agent noted down last, or an
	 * edit of the human's, is not what is meant. */
	if (p->list.follow && !p->list.chosen && ui_undo_newest(ui))
		return true;
	if (edit_at(p, p->list.cursor))
		ui_say(ui, "You (or another program) made this edit; undo leaves it alone.");
	else if (!st)
		ui_say(ui, "There is no step to undo.");
	else
		ui_undo(ui, UNDO_BACK, st->id);
	return true;
}

/* Back to before the first step of the selected one's turn. */
static bool undo_turn(struct view_steps *p)
{
	const struct model *m = p->v.ui->spec.model;
	const struct step_row *st = step_at(p, p->list.cursor);
	size_t i = st ? (size_t)(st - m->steps) : 0;

	if (!st) {
		ui_say(p->v.ui, "There is no step to undo.");
		return true;
	}
	if (turn_at(m, i) == SIZE_MAX) {
		ui_say(p->v.ui, "Nothing says which turn this step belongs to.");
		return true;
	}
	while (i > 0 && turn_at(m, i - 1) == turn_at(m, i) && !m->steps[i - 1].gone)
		i--;
	while (m->steps[i].undone && i + 1 < m->n_steps && turn_at(m, i + 1) == turn_at(m, i))
		i++;
	ui_undo(p->v.ui, UNDO_BACK, m->steps[i].id);
	return true;
}

static bool act(struct view *v, enum action a)
{
	struct view_steps *p = (struct view_steps *)v;
	const struct step_row *st;
	size_t from;

	collect(p);
	from = p->list.cursor;
	st = a == ACTION_COPY ? step_at(p, from) : NULL;
	if (st && st->command && *st->command) {
		ui_copy(v->ui, st->command, strlen(st->command));
		return true;
	}
	if (list_keys(&p->list, v->ui, a, p->n, text_of, p)) {
		pass_headings(p, from);
		return true;
	}
	switch ((int)a) {
	case ACTION_OPEN:
		st = step_at(p, p->list.cursor);
		if (st)
			ui_push(v->ui, view_step_new(v->ui, st->id));
		else if (edit_at(p, p->list.cursor))
			ui_push(v->ui, view_edits_new(v->ui, edit_at(p, p->list.cursor)));
		return true;
	case ACTION_UNDO:
		return undo(p);
	case ACTION_UNDO_TURN:
		return undo_turn(p);
	case ACTION_MARK:
		st = step_at(p, p->list.cursor);
		if (st)
			ui_mark_step(v->ui, st->id);
		return true;
	case ACTION_BACK:
		if (!*p->list.filter)
			return false;
		query(v, QUERY_FILTER, "");
		return true;
	default:
		return false;
	}
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_steps *p = (struct view_steps *)v;

	list_mouse(&p->list, m, r, p->n);
	pass_headings(p, p->list.cursor);
	if (m->action == MOUSE_PRESS && m->twice)
		v->ops->act(v, ACTION_OPEN);
}

static void view_free(struct view *v)
{
	free(((struct view_steps *)v)->shown);
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_STEPS,
	.draw = draw,
	.act = act,
	.note = note,
	.query = query,
	.filters = true,
	.does = DOES_MOVE | DOES_OPEN,
	.mouse = mouse,
	.free = view_free,
	.hints = hints,
};

struct view *view_steps_new(struct ui *ui)
{
	struct view_steps *p = xcalloc(1, sizeof(*p));

	p->v = (struct view){.ops = &ops, .ui = ui};
	p->list.follow = p->list.tails = true;
	return &p->v;
}
