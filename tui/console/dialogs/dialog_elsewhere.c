/* dialog_elsewhere - answers the question of another session, or ends that session: two keys. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "core/api/socket/link.h"
#include "core/api/socket/roster.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/dialogs/approval.h"

/*
 * The rules of dialog_approval hold: a verdict counts when the whole question has been on the
 * screen for half a second without a key; nothing is allowed that is not fully shown; Esc leaves it
 * pending. The answer is for the request with that number, of the session with that socket, only:
 * the session refuses it if another terminal was faster. It allows that call alone; for more,
 * attach to the session.
 */
struct dialog_elsewhere {
	struct view v;
	char *session, *tag, *folder, *agent;
	struct roster_ask ask; /* id 0: the dialog ends the session */
	int64_t shown_us;      /* 0: not on the screen yet */
	int w, h;
	bool armed, fits;
	struct sending *sending; /* in progress, or NULL */
};

/* A message sent by a worker: a stopped session may answer late, or never. */
struct sending {
	struct dialog_elsewhere *dialog; /* NULL: closed */
	char *session;
	struct buf line;
	int result;
	struct err err;
	const char *words; /* message after success */
};

static const enum action answer_hints[] = {ACTION_ALLOW, ACTION_DENY, ACTION_BACK, ACTION_NONE};
static const enum action end_hints[] = {ACTION_END_AGENT, ACTION_BACK, ACTION_NONE};

/* ---- sending --------------------------------------------------------------------------------- */

static void send_line(void *job)
{
	struct sending *s = job;
	struct link l;

	s->result = link_open_session(&l, s->session, &s->err);
	if (s->result == 0)
		s->result = link_command(&l, &s->line, &s->err);
	link_done(&l);
}

static void sent(void *job)
{
	struct sending *s = job;
	struct dialog_elsewhere *d = s->dialog;

	if (d) {
		struct ui *ui = d->v.ui;

		d->sending = NULL;
		if (s->result < 0)
			ui_say(ui, "x Not done: %s", s->err.text);
		else
			ui_say(ui, "%s", s->words);
		ui_close(ui, &d->v);
	}
	buf_done(&s->line);
	free(s->session);
	free(s);
}

static void submit(struct dialog_elsewhere *d, const char *words, const char *line)
{
	struct ui *ui = d->v.ui;
	struct sending *s = xcalloc(1, sizeof(*s));

	s->dialog = d;
	s->session = xstrdup(d->session);
	s->line = (struct buf)BUF_INIT;
	buf_str(&s->line, line);
	s->words = words;
	d->sending = s;
	ui->spec.verbs->submit(ui->spec.data, send_line, sent, s);
}

/* ---- drawing --------------------------------------------------------------------------------- */

#define FACTS_N 5

static void facts_of(const struct dialog_elsewhere *d, struct fact f[FACTS_N])
{
	const struct roster_ask *a = &d->ask;
	struct ask as = {.op = a->op,
			 .is_dir = a->is_dir,
			 .kind = str_eq(a->kind, "read") ? RULE_READ : RULE_WRITE};
	AUTO_FREE char *who = ui_escaped(*a->program ? path_base(a->program) : "a program");
	AUTO_FREE char *what = ui_escaped(a->path);
	char wish[32];

	ui_wish(&as, wish, sizeof(wish));
	f[0] = (struct fact){NULL, xasprintf("%s wants to %s %s", who, wish, what), 6, ROLE_MODAL};
	f[1] = (struct fact){NULL, approval_sentence(a->reason), 3, ROLE_MODAL_LABEL};
	f[2] = (struct fact){"command", ui_escaped(a->command), 3, ROLE_MODAL};
	f[3] = (struct fact){"folder", ui_escaped(d->folder), 2, ROLE_MODAL};
	f[4] = (struct fact){"session", ui_escaped(d->session), 1, ROLE_MODAL};
}

static void facts_free(struct fact f[FACTS_N])
{
	for (size_t i = 0; i < FACTS_N; i++)
		free(f[i].text);
}

static int facts_rows(const struct fact f[FACTS_N], int cols)
{
	int rows = 0;

	for (size_t i = 0; i < FACTS_N; i++)
		rows += *f[i].text ? approval_fact_rows(&f[i], cols) : 0;
	return rows;
}

static struct rect size(struct view *v, struct rect body)
{
	struct dialog_elsewhere *d = (struct dialog_elsewhere *)v;
	int w = MIN(body.w, 100), h = 9;

	if (d->ask.id) {
		struct fact f[FACTS_N];

		facts_of(d, f);
		h = facts_rows(f, ui_modal_cols(w)) + 5;
		facts_free(f);
	}
	h = MIN(body.h, h);
	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

/* Draws "a allow once   d deny   Esc leave it waiting" in the last row. */
static void draw_keys(struct dialog_elsewhere *d, struct surface *s, struct rect in)
{
	static const struct {
		enum action action;
		const char *words;
	} answers[] = {{ACTION_ALLOW, "allow once"},
		       {ACTION_DENY, "deny"},
		       {ACTION_BACK, "leave it waiting"}},
	  ends[] = {{ACTION_END_AGENT, "end it"}, {ACTION_BACK, "let it go on"}};
	size_t n = d->ask.id ? ARRAY_LEN(answers) : ARRAY_LEN(ends);
	int x = in.x, y = in.y + in.h - 1, end = in.x + in.w;

	for (size_t i = 0; i < n; i++) {
		enum action a = d->ask.id ? answers[i].action : ends[i].action;
		char keys[32];

		ui_keys(d->v.ui, d->v.ops->place, a, keys, sizeof(keys));
		x += surface_text(s, x, y, MAX(0, end - x),
				  d->armed || a == ACTION_BACK ? ROLE_MODAL_KEY : ROLE_MODAL_LABEL,
				  keys) +
		     1;
		x += surface_text(s, x, y, MAX(0, end - x), ROLE_MODAL,
				  d->ask.id ? answers[i].words : ends[i].words) +
		     3;
	}
}

static void draw_question(struct dialog_elsewhere *d, struct surface *s, struct rect in)
{
	struct rect at = {in.x, in.y, in.w, MAX(in.h - 2, 0)};
	struct fact f[FACTS_N];
	int y = in.y;

	facts_of(d, f);
	d->fits = facts_rows(f, in.w) <= at.h &&
		  text_width(f[0].text) <= in.w * f[0].rows / 2; /* uncut with any line breaks */
	for (size_t i = 0; i < FACTS_N; i++)
		y = approval_draw_fact(s, at, y, &f[i], approval_fact_rows(&f[i], in.w));
	facts_free(f);
}

static void draw_end(const struct dialog_elsewhere *d, struct surface *s, struct rect in)
{
	AUTO_FREE char *agent = ui_escaped(d->agent), *folder = ui_escaped(d->folder);

	static const char *const words[] = {
		"Ends: the agent, all that it runs, shells beside it, consoles.",
		"Stays: its files as they are; its steps, for undo; its recording.",
	};

	surface_fmt(s, in.x, in.y, in.w, ROLE_MODAL, "%s in %s", agent, folder);
	for (int i = 0; i < (int)ARRAY_LEN(words); i++)
		surface_text(s, in.x, in.y + 1 + i, in.w, ROLE_MODAL_LABEL, words[i]);
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct dialog_elsewhere *d = (struct dialog_elsewhere *)v;
	AUTO_FREE char *title =
		xasprintf(d->ask.id ? "? ASK - session %s" : "end session %s", d->tag);
	struct rect in = ui_modal(s, r, title, d->ask.secret);

	if (!d->shown_us || !focused || d->w != s->w || d->h != s->h) {
		d->armed = false;
		d->shown_us = v->ui->now_us;
	}
	d->w = s->w;
	d->h = s->h;
	d->armed = d->armed || ui_armed(v->ui, d->shown_us);
	if (d->ask.id)
		draw_question(d, s, in);
	else
		draw_end(d, s, in);
	if (d->sending)
		surface_text(s, in.x, in.y + in.h - 1, in.w, ROLE_MODAL_LABEL, "Telling it...");
	else
		draw_keys(d, s, in);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool counts(struct dialog_elsewhere *d)
{
	if (!d->armed)
		ui_say(d->v.ui, "Answers count half a second after this is shown: read it first.");
	return d->armed && !d->sending;
}

static void answer(struct dialog_elsewhere *d, bool allow)
{
	AUTO_FREE char *line = xasprintf("{\"type\":\"cmd.%s\",\"id\":%" PRIu64
					 ",\"scope\":\"once\",\"extent\":\"exact\"}\n",
					 allow ? "approve" : "deny", d->ask.id);

	if (!counts(d))
		return;
	if (allow && !d->fits)
		ui_say(d->v.ui,
		       "It has no room here: enlarge the window, or go there to allow this.");
	else
		submit(d, allow ? "+ Allowed: once." : "x Denied: once.", line);
}

static bool act(struct view *v, enum action a)
{
	struct dialog_elsewhere *d = (struct dialog_elsewhere *)v;

	switch ((int)a) {
	case ACTION_ALLOW:
	case ACTION_DENY:
		if (d->ask.id)
			answer(d, a == ACTION_ALLOW);
		return true;
	case ACTION_END_AGENT:
		if (!d->ask.id && counts(d))
			submit(d, "The session ends.", "{\"type\":\"cmd.end\"}\n");
		return true;
	case ACTION_BACK:
		ui_pop(v->ui);
		return true;
	case ACTION_FOCUS_APPROVALS: /* only its own keys */
	case ACTION_NEXT_REQUEST:
	case ACTION_PREV_REQUEST:
	case ACTION_DETACH:
		return true;
	default:
		return false;
	}
}

static void view_free(struct view *v)
{
	struct dialog_elsewhere *d = (struct dialog_elsewhere *)v;

	if (d->sending)
		d->sending->dialog = NULL;
	free(d->session);
	free(d->tag);
	free(d->folder);
	free(d->agent);
	free(d->ask.op);
	free(d->ask.kind);
	free(d->ask.path);
	free(d->ask.program);
	free(d->ask.command);
	free(d->ask.reason);
	free(d);
}

static const struct view_ops answer_ops = {
	.place = PLACE_APPROVALS,
	.size = size,
	.draw = draw,
	.act = act,
	.free = view_free,
	.hints = answer_hints,
};

static const struct view_ops end_ops = {
	.place = PLACE_LEAVE,
	.size = size,
	.draw = draw,
	.act = act,
	.free = view_free,
	.hints = end_hints,
};

static struct dialog_elsewhere *dialog_new(struct ui *ui, const struct roster_row *row,
					   const struct view_ops *ops)
{
	struct dialog_elsewhere *d = xcalloc(1, sizeof(*d));

	d->v = (struct view){.ops = ops, .ui = ui};
	d->session = xstrdup(row->session);
	d->tag = xstrdup(row->tag);
	d->folder = xstrdup(row->folder);
	d->agent = xstrdup(row->agent);
	return d;
}

struct view *dialog_answer_new(struct ui *ui, const struct roster_row *row)
{
	struct dialog_elsewhere *d = dialog_new(ui, row, &answer_ops);
	const struct roster_ask *a = &row->ask;

	d->ask = (struct roster_ask){.id = a->id,
				     .op = xstrdup(a->op),
				     .kind = xstrdup(a->kind),
				     .path = xstrdup(a->path),
				     .program = xstrdup(a->program),
				     .command = xstrdup(a->command),
				     .reason = xstrdup(a->reason),
				     .is_dir = a->is_dir,
				     .secret = a->secret};
	return &d->v;
}

struct view *dialog_end_new(struct ui *ui, const struct roster_row *row)
{
	return &dialog_new(ui, row, &end_ops)->v;
}
