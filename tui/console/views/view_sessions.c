/* view_sessions - the board: all sessions of the user, waiting ones first; cordon board, C-] w. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "core/api/socket/roster.h"
#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/frame/ui.h"

/* Sessions are read by a worker, which may be slow without blocking the console. */
struct reading {
	struct view_sessions *view; /* NULL: closed */
	struct roster roster;
	struct roster_row *count; /* the row whose lines are read; NULL: the list */
	bool failed;
};

struct view_sessions {
	struct view v;
	struct list list;
	struct reading *reading; /* in progress, or NULL */
	struct roster roster;
	bool read, failed;
	size_t counted; /* rows whose lines were read after the list */
};

static const enum action hints[] = {ACTION_OPEN,	   ACTION_FOCUS_APPROVALS,
				    ACTION_NEW_SESSION,	   ACTION_DIFF_SESSION,
				    ACTION_UNDO_TURN,	   ACTION_END_AGENT,
				    ACTION_REPLAY_SESSION, ACTION_SHOW_RECORDINGS,
				    ACTION_BACK,	   ACTION_NONE};

/* ---- reading --------------------------------------------------------------------------------- */

static void work(void *job)
{
	struct reading *a = job;
	struct err err = {0};

	if (a->count)
		roster_count(a->count);
	else
		a->failed = roster_read(&a->roster, true, &err) < 0;
}

static void reading_free(struct reading *a)
{
	roster_done(&a->roster);
	free(a);
}

static struct roster_row *find(const struct roster *r, const char *session)
{
	for (size_t i = 0; i < r->n; i++)
		if (str_eq(r->rows[i].session, session))
			return &r->rows[i];
	return NULL;
}

static void take_lines(struct roster_row *row, const struct roster_row *read)
{
	row->added = read->added;
	row->deleted = read->deleted;
	row->first = read->first;
	row->last = read->last;
	row->steps = read->steps;
	row->counted = read->counted;
}

/* Takes a new list. A row keeps its lines until they are read again, and the cursor its row. */
static void take_roster(struct view_sessions *p, struct reading *a)
{
	struct roster old = p->roster;
	const char *at = p->list.cursor < old.n ? old.rows[p->list.cursor].session : NULL;

	p->roster = a->roster;
	a->roster = (struct roster){0};
	p->failed = a->failed;
	p->read = true;
	p->counted = 0;
	for (size_t i = 0; i < p->roster.n; i++) {
		struct roster_row *row = &p->roster.rows[i], *was = find(&old, row->session);

		if (was)
			take_lines(row, was);
		if (at && str_eq(row->session, at))
			p->list.cursor = i;
	}
	roster_done(&old);
}

static void take_count(struct view_sessions *p, const struct roster_row *read)
{
	struct roster_row *row = find(&p->roster, read->session);

	if (row)
		take_lines(row, read);
}

static void submit(struct view_sessions *p, struct reading *a);
static void count_next(struct view_sessions *p);

static void done(void *job)
{
	struct reading *a = job;
	struct view_sessions *p = a->view;

	if (p) {
		p->reading = NULL;
		if (a->count)
			take_count(p, a->count);
		else
			take_roster(p, a);
		p->v.ui->dirty = true;
		count_next(p);
	}
	reading_free(a);
}

static void submit(struct view_sessions *p, struct reading *a)
{
	a->view = p;
	p->reading = a;
	p->v.ui->spec.verbs->submit(p->v.ui->spec.data, work, done, a);
}

/* Reads the lines of one row in a job, so that the list is soon read again. Ended sessions do not
 * change. */
static void count_next(struct view_sessions *p)
{
	while (p->counted < p->roster.n && !p->reading) {
		const struct roster_row *row = &p->roster.rows[p->counted++];
		struct reading *a;

		if (row->until_us && row->counted)
			continue;
		a = xcalloc(1, sizeof(*a));
		a->roster.rows = xcalloc(1, sizeof(*a->roster.rows));
		a->roster.n = 1;
		a->count = &a->roster.rows[0];
		a->count->session = xstrdup(row->session);
		a->count->folder = xstrdup(row->folder);
		a->count->since_us = row->since_us;
		a->count->until_us = row->until_us;
		take_lines(a->count, row);
		submit(p, a);
	}
}

static void tick(struct view *v)
{
	struct view_sessions *p = (struct view_sessions *)v;

	if (!p->reading && v->ui->spec.verbs->submit)
		submit(p, xcalloc(1, sizeof(struct reading)));
}

/* ---- drawing --------------------------------------------------------------------------------- */

static bool asks(const struct roster_row *row)
{
	return row->pending || str_eq(row->state, "asks");
}

/* "claude wants to write x", "asks in its own terminal", why it is hung, or the prompt. Raw. brief:
 * without what stands in other columns. */
static void add_words(const struct roster_row *row, bool brief, struct buf *out)
{
	const struct roster_ask *a = &row->ask;
	struct ask as = {.op = a->op,
			 .path = a->path,
			 .is_dir = a->is_dir,
			 .kind = str_eq(a->kind ? a->kind : "", "read") ? RULE_READ : RULE_WRITE};
	const char *below;
	char wish[24];

	if (a->id) {
		below = path_below(a->path, row->folder);
		ui_wish(&as, wish, sizeof(wish));
		if (!brief)
			buf_fmt(out, "%s wants to ", path_base(a->program));
		buf_fmt(out, "%s %s", wish, below && *below ? below : a->path);
	} else if (asks(row) && !(brief && *row->prompt)) {
		buf_str(out, "asks in its own terminal");
		if (*row->prompt)
			buf_fmt(out, ": %s", row->prompt);
	} else {
		buf_str(out, row->why ? row->why : row->prompt);
	}
}

static void add_text(const struct roster_row *row, struct buf *out)
{
	AUTO_BUF struct buf words = BUF_INIT;

	buf_fmt(out, "%s %s ", row->tag, row->state);
	text_escape(out, row->folder, strlen(row->folder));
	buf_fmt(out, " %s ", row->branch);
	text_escape(out, row->command, strlen(row->command));
	buf_str(out, " ");
	add_words(row, false, &words);
	text_escape(out, words.data, words.len);
}

/* Writes the time from the start, or end: "12 s", "3 min", "5 h". */
static void age_text(const struct roster_row *row, char *out, size_t size)
{
	int64_t from = row->until_us ? row->until_us : row->since_us;
	long long s = MAX(clock_wall_us() - from, (int64_t)0) / 1000000;

	if (!from)
		snprintf(out, size, "?");
	else if (s < 100)
		snprintf(out, size, "%lld s", s);
	else if (s < 100 * 60)
		snprintf(out, size, "%lld min", s / 60);
	else
		snprintf(out, size, "%lld h", s / 3600);
}

struct column {
	int at, w;
};

/* Without room, the last columns are left out first. */
struct columns {
	struct column state, folder, branch, agent, age, lines, words;
};

static struct columns columns_of(struct rect line)
{
	int wide = line.w >= 100, x = line.x + 7;
	struct columns c = {.state = {x, 11}};

	x += 12;
	c.folder = (struct column){x, wide ? 20 : 14};
	x += c.folder.w + 1;
	c.branch = (struct column){x, wide ? 14 : 0};
	x += c.branch.w + (wide ? 1 : 0);
	c.agent = (struct column){x, 10};
	x += 11;
	c.age = (struct column){x, 7};
	x += 8;
	c.lines = (struct column){x, wide ? 12 : 0};
	x += c.lines.w + (wide ? 1 : 0);
	c.words = (struct column){x, MAX(line.x + line.w - x, 0)};
	return c;
}

/* Draws "* 314d  ? 1 waits  ~/p  main  claude  3 min  +120 -14  fix the parser". */
static void draw_row(void *data, struct surface *s, struct rect line, size_t i)
{
	const struct view_sessions *p = data;
	struct ui *ui = p->v.ui;
	const struct roster_row *row = &p->roster.rows[i];
	bool own = str_eq(row->session, ui->spec.model->session), over = row->until_us != 0;
	int role = own || over ? ROLE_DIM : ROLE_TEXT;
	struct columns c = columns_of(line);
	AUTO_BUF struct buf words = BUF_INIT;
	char text[48];

	surface_text(s, line.x, line.y, 1, role, own ? "*" : " ");
	surface_text(s, line.x + 1, line.y, 5, role, row->tag);
	if (row->pending)
		snprintf(text, sizeof(text), "? %" PRIu64 " wait%s", row->pending,
			 row->pending == 1 ? "s" : "");
	else
		snprintf(text, sizeof(text), "%s%s", asks(row) ? "? " : "", row->state);
	surface_text(s, c.state.at, line.y, c.state.w,
		     asks(row)			  ? ROLE_EVENT_ASK
		     : str_eq(row->state, "hung") ? ROLE_EVENT_DENY
						  : ROLE_DIM,
		     text);
	surface_hostile(s, c.folder.at, line.y, c.folder.w, role,
			*row->folder ? ui_home_path(ui, row->folder) : "?");
	surface_text(s, c.branch.at, line.y, c.branch.w, ROLE_DIM, row->branch);
	surface_hostile(s, c.agent.at, line.y, c.agent.w, role, row->agent);
	age_text(row, text, sizeof(text));
	surface_text(s, c.age.at, line.y, c.age.w, ROLE_DIM, text);
	snprintf(text, sizeof(text), "+%" PRIu64 " -%" PRIu64, row->added, row->deleted);
	if (row->counted)
		surface_text(s, c.lines.at, line.y, c.lines.w, ROLE_DIM, text);
	add_words(row, false, &words);
	if (text_width(words.data) > c.words.w) {
		buf_clear(&words);
		add_words(row, true, &words);
	}
	surface_hostile(s, c.words.at, line.y, c.words.w, row->ask.id ? ROLE_EVENT_ASK : ROLE_DIM,
			words.data);
}

static struct rect size(struct view *v, struct rect body)
{
	const struct view_sessions *p = (const struct view_sessions *)v;
	int w = MIN(body.w, 140);
	int h = MIN(body.h, MAX((int)MIN(p->roster.n, (size_t)20) + 5, 8));

	if (v->ui->spec.board)
		return body;
	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

static void draw_heading(struct surface *s, struct rect in)
{
	struct columns c = columns_of(in);
	const struct {
		struct column at;
		const char *words;
	} heads[] = {{{in.x + 1, 5}, "ID"}, {c.state, "STATE"},
		     {c.folder, "FOLDER"},  {c.branch, "BRANCH"},
		     {c.agent, "AGENT"},    {c.age, "AGE"},
		     {c.lines, "LINES"},    {c.words, "PROMPT, OR WHAT IS ASKED"}};

	for (size_t i = 0; i < ARRAY_LEN(heads); i++)
		surface_text(s, heads[i].at.at, in.y, heads[i].at.w, ROLE_MODAL_LABEL,
			     heads[i].words);
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_sessions *p = (struct view_sessions *)v;
	struct rect in = ui_modal(s, r, "sessions", false);

	draw_heading(s, in);
	in.y++;
	in.h = MAX(in.h - 1, 1);
	list_draw(&p->list, s, in, focused, p->roster.n,
		  !p->read	    ? "Asking them..."
		  : p->failed	    ? "They cannot be listed: try cordon sessions."
		  : *p->list.filter ? "No session has these words."
				    : "No session runs, and none has ended lately.",
		  draw_row, p);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void text_of(void *data, size_t i, struct buf *out)
{
	const struct view_sessions *p = data;

	if (i < p->roster.n)
		add_text(&p->roster.rows[i], out);
}

static const struct roster_row *row_at(const struct view_sessions *p)
{
	return p->list.cursor < p->roster.n ? &p->roster.rows[p->list.cursor] : NULL;
}

static bool is_own(const struct view_sessions *p, const struct roster_row *row)
{
	return str_eq(row->session, p->v.ui->spec.model->session);
}

static void replay(struct ui *ui, const struct roster_row *row)
{
	ui_cordon(ui, (const char *const[]){"replay", row->session}, 2);
}

/* Starts a session; the row's folder is proposed. */
static void start_new(struct ui *ui, const struct roster_row *row)
{
	const char *folder = row && *row->folder ? row->folder : "~";

	ui_cordon(ui, (const char *const[]){"board", "--new", "--in", folder}, 4);
}

static void open_row(struct view_sessions *p, const struct roster_row *row)
{
	struct ui *ui = p->v.ui;

	if (is_own(p, row))
		ui_say(ui, "This is the session that you are in.");
	else if (row->until_us)
		replay(ui, row);
	else if (ui->spec.verbs->attach)
		ui->spec.verbs->attach(ui->spec.data, row->session);
	else
		ui_say(ui, "It is shown by: cordon attach %s  (in another terminal)", row->tag);
}

static void answer_row(struct view_sessions *p, const struct roster_row *row)
{
	struct ui *ui = p->v.ui;

	if (is_own(p, row)) {
		ui_pop(ui);
		ui_do(ui, ACTION_FOCUS_APPROVALS);
	} else if (row->ask.id) {
		ui_push(ui, dialog_answer_new(ui, row));
	} else if (asks(row)) {
		ui_say(ui, "It asks in its own terminal: go there to answer.");
	} else {
		ui_say(ui, "Nothing waits for an answer there.");
	}
}

static void end_row(struct view_sessions *p, const struct roster_row *row)
{
	struct ui *ui = p->v.ui;

	if (row->until_us)
		ui_say(ui, "It has ended.");
	else if (is_own(p, row))
		ui_say(ui, "This is the session that you are in.");
	else
		ui_push(ui, dialog_end_new(ui, row));
}

/* Shows the diff from the history of the folder, without the session's process. */
static void diff_row(struct view_sessions *p, const struct roster_row *row)
{
	AUTO_FREE char *words = xasprintf("since session %s began", row->tag);
	struct ui *ui = p->v.ui;

	if (!row->counted)
		ui_say(ui, *row->folder ? "Its changes are still being read: press it again."
					: "It does not tell its folder.");
	else if (!row->first)
		ui_say(ui, row->until_us ? "That session has changed nothing."
					 : "Nothing shows yet: what a step changed shows when it "
					   "ends.");
	else
		ui_push(ui, view_other_new(ui, row->folder, row->first,
					   row->until_us ? row->last : 0, words));
}

/* Attaches to the session, whose own process shows the plan and carries it out. */
static void undo_row(struct view_sessions *p, const struct roster_row *row)
{
	struct ui *ui = p->v.ui;

	if (ui->spec.read_only) {
		ui_say(ui, "You look on: nothing is undone or restored from here.");
	} else if (is_own(p, row)) {
		ui_pop(ui);
		ui_undo_turn(ui);
	} else if (row->until_us) {
		ui_say(ui, "It has ended: cordon undo --turn in its folder undoes its last turn.");
	} else if (str_eq(row->state, "hung")) {
		ui_say(ui, "It does not answer: only its own process can undo while it runs.");
	} else {
		ui_cordon(ui, (const char *const[]){"attach", "--undo", row->session}, 3);
	}
}

static bool act_on_row(struct view_sessions *p, enum action a)
{
	const struct roster_row *row = row_at(p);

	switch ((int)a) {
	case ACTION_OPEN:
	case ACTION_FOCUS_APPROVALS:
	case ACTION_END_AGENT:
	case ACTION_REPLAY_SESSION:
	case ACTION_DIFF_SESSION:
	case ACTION_UNDO_TURN:
		break;
	default:
		return false;
	}
	if (!row)
		return true;
	if (a == ACTION_OPEN)
		open_row(p, row);
	else if (a == ACTION_FOCUS_APPROVALS)
		answer_row(p, row);
	else if (a == ACTION_END_AGENT)
		end_row(p, row);
	else if (a == ACTION_DIFF_SESSION)
		diff_row(p, row);
	else if (a == ACTION_UNDO_TURN)
		undo_row(p, row);
	else
		replay(p->v.ui, row);
	return true;
}

static void leave(struct view_sessions *p)
{
	struct ui *ui = p->v.ui;

	if (ui->spec.board)
		ui->spec.verbs->leave(ui->spec.data);
	else
		ui_pop(ui);
}

static bool act(struct view *v, enum action a)
{
	struct view_sessions *p = (struct view_sessions *)v;

	if (list_keys(&p->list, v->ui, a, p->roster.n, text_of, p) || act_on_row(p, a))
		return true;
	if (a == ACTION_NEW_SESSION)
		start_new(v->ui, row_at(p));
	else if (a == ACTION_BACK)
		leave(p);
	else
		return a == ACTION_SHOW_SESSIONS;
	return true;
}

static void query(struct view *v, enum query what, const char *text)
{
	struct view_sessions *p = (struct view_sessions *)v;

	(void)what;
	if (!list_search(&p->list, text, p->roster.n, text_of, p))
		ui_say(v->ui, "No session has '%s'.", text);
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_sessions *p = (struct view_sessions *)v;
	const struct roster_row *row;

	(void)r;
	list_mouse(&p->list, m, p->list.at, p->roster.n);
	row = row_at(p);
	if (row && m->action == MOUSE_PRESS && m->twice && rect_has(p->list.at, m->x, m->y))
		open_row(p, row);
}

static void view_free(struct view *v)
{
	struct view_sessions *p = (struct view_sessions *)v;

	if (p->reading)
		p->reading->view = NULL;
	roster_done(&p->roster);
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_SESSIONS,
	.size = size,
	.draw = draw,
	.act = act,
	.query = query,
	.does = DOES_MOVE | DOES_OPEN,
	.mouse = mouse,
	.tick = tick,
	.free = view_free,
	.hints = hints,
};

struct view *view_sessions_new(struct ui *ui)
{
	struct view_sessions *p = xcalloc(1, sizeof(*p));

	p->v = (struct view){.ops = &ops, .ui = ui};
	tick(&p->v);
	return &p->v;
}
