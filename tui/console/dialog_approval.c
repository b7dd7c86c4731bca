/* dialog_approval - a held request, in resolved facts, and its answers as separate choices. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/keeper/wire.h"
#include "tui/console/approval.h"

/*
 * Opened by the human, never by itself. Answers count when the request shown has been on the screen
 * for half a second without a key, so that nothing typed ahead can hit one; a request that takes
 * the place of another starts that anew. Esc leaves everything pending.
 */
struct dialog_approval {
	struct view v;
	uint64_t shown; /* id of the request on the screen */
	int64_t shown_us;
	bool armed;
};

static const struct view_ops ops, held_ops;

static const enum action hints[] = {ACTION_ALLOW_ONCE, ACTION_DENY,	    ACTION_ALLOW_SESSION,
				    ACTION_ALLOW_TREE, ACTION_DENY_SESSION, ACTION_NEXT_REQUEST,
				    ACTION_BACK,       ACTION_NONE};
static const enum action held_hints[] = {ACTION_ALLOW_ONCE,   ACTION_DENY, ACTION_ALLOW_COMMAND,
					 ACTION_NEXT_REQUEST, ACTION_BACK, ACTION_NONE};

static size_t index_of(const struct dialog_approval *d)
{
	const struct model *m = d->v.ui->spec.model;

	for (size_t i = 0; i < m->n_asks; i++) {
		if (m->asks[i].id == d->shown)
			return i;
	}
	return 0;
}

static const struct ask *current(const struct dialog_approval *d)
{
	return model_ask(d->v.ui->spec.model, d->shown);
}

static void show(struct dialog_approval *d, size_t i)
{
	const struct model *m = d->v.ui->spec.model;

	if (m->n_asks == 0)
		return;
	i %= m->n_asks;
	d->shown = m->asks[i].id;
	d->v.ops = m->asks[i].held ? &held_ops : &ops;
	d->shown_us = d->v.ui->now_us;
	d->armed = false;
}

char *approval_text(const char *raw)
{
	struct buf b = BUF_INIT;

	text_escape(&b, raw ? raw : "", raw ? strlen(raw) : 0);
	return buf_take(&b);
}

/* What is known about the request, in the order in which a narrow screen drops it from the end. */
static void collect(const struct dialog_approval *d, const struct ask *ask, struct fact *f)
{
	AUTO_FREE char *program = approval_text(ask->program);
	char op[32];

	if (ask->held) {
		approval_held_facts(d->v.ui, ask, f);
		return;
	}
	ui_op(ask->op, op, sizeof(op));
	f[0] = (struct fact){"wants to", xstrdup(op), 1};
	f[1] = (struct fact){"path", approval_text(ask->path), 4};
	f[2] = (struct fact){"because", approval_text(ask->reason), 2};
	f[3] = (struct fact){"program", xasprintf("%s (pid %d)", program, ask->pid), 2};
	f[4] = (struct fact){"command", approval_text(ask->command), 3};
	f[5] = (struct fact){
		"held for",
		xasprintf("%d s: the call waits until you answer",
			  (int)MAX((int64_t)0, (d->v.ui->now_us - ask->since_us) / 1000000)),
		1};
}

static int rows_of(const struct fact *f, int cols)
{
	int w = text_width(f->text);

	return w == 0 ? 0 : MIN(f->rows, (w + cols - 1) / MAX(cols, 1));
}

/* As high as its facts need: a long path is shown whole when the screen has room for it. */
static struct rect size(struct view *v, struct rect body)
{
	struct dialog_approval *d = (struct dialog_approval *)v;
	const struct ask *ask = current(d);
	int w = MIN(body.w, 100), h = 7;
	struct fact f[FACTS];

	if (ask) {
		collect(d, ask, f);
		for (size_t i = 0; i < FACTS; i++) {
			h += rows_of(&f[i], w - 6 - LABEL_W);
			free(f[i].text);
		}
	}
	h = MIN(body.h, h);
	return (struct rect){body.x + (body.w - w) / 2, body.y + body.h - h, w, h};
}

/* One fact over as many rows as it may have; the last of them is cut in the middle. */
static int draw_fact(struct surface *s, struct rect r, int y, const struct fact *f, int rows)
{
	AUTO_BUF struct buf fit = BUF_INIT;
	int cols = r.w - LABEL_W;
	const char *rest = f->text;

	if (!*f->text || y >= r.y + r.h)
		return y;
	surface_text(s, r.x, y, LABEL_W, ROLE_MODAL_LABEL, f->label);
	for (; rows > 1 && text_width(rest) > cols; rows--) {
		AUTO_BUF struct buf head = BUF_INIT;

		for (const char *p = rest; *p;) {
			int32_t cp;
			size_t n = text_decode(p, strlen(p), &cp);

			buf_add(&head, p, n);
			if (text_width(head.data) > cols) {
				buf_truncate(&head, head.len - n);
				break;
			}
			p += n;
		}
		surface_text(s, r.x + LABEL_W, y++, cols, ROLE_MODAL, head.data);
		rest += head.len;
	}
	text_fit_middle(&fit, rest, cols);
	surface_text(s, r.x + LABEL_W, y, cols, ROLE_MODAL, fit.data);
	return y + 1;
}

static void draw_facts(struct dialog_approval *d, struct surface *s, struct rect r,
		       const struct ask *ask)
{
	struct rect old = surface_clip(s, r);
	struct fact f[FACTS];
	int y = r.y, spare = r.h;

	collect(d, ask, f);
	for (size_t i = 0; i < FACTS; i++)
		spare -= *f[i].text ? 1 : 0;
	for (size_t i = 0; i < FACTS; i++) {
		int rows = MIN(rows_of(&f[i], r.w - LABEL_W), 1 + MAX(spare, 0));

		y = draw_fact(s, r, y, &f[i], rows);
		spare -= MAX(rows - 1, 0);
		free(f[i].text);
	}
	s->clip = old;
}

void approval_choice(struct ui *ui, struct surface *s, struct rect cell, bool armed, enum action a,
		     const char *words)
{
	char keys[32];
	int used;

	ui_keys(ui, PLACE_APPROVALS, a, keys, sizeof(keys));
	used = surface_text(s, cell.x, cell.y, cell.w, armed ? ROLE_MODAL_KEY : ROLE_MODAL_LABEL,
			    keys);
	surface_text(s, cell.x + used + 1, cell.y, cell.w - used - 1,
		     armed ? ROLE_MODAL : ROLE_MODAL_LABEL, words);
}

/* Verdicts in rows, scopes in columns: the last rows whatever the height, so that a small screen
 * can answer. */
static void draw_choices(struct dialog_approval *d, struct surface *s, struct rect r)
{
	bool wide = r.w >= 66;
	int label = wide ? 8 : 2, cols = (r.w - label) / 3, y = r.y + r.h - 2;
	struct rect cell = {r.x + label, y, cols - 1, 1};

	ui_modal_text(s, r.x, y, label, ROLE_EVENT_ALLOW, wide ? "+ ALLOW" : "+");
	approval_choice(d->v.ui, s, cell, d->armed, ACTION_ALLOW_ONCE, "once");
	cell.x += cols;
	approval_choice(d->v.ui, s, cell, d->armed, ACTION_ALLOW_SESSION,
			wide ? "this path *" : "path*");
	cell.x += cols;
	approval_choice(d->v.ui, s, cell, d->armed, ACTION_ALLOW_TREE,
			wide ? "its directory *" : "dir*");
	cell = (struct rect){r.x + label, y + 1, cols - 1, 1};
	ui_modal_text(s, r.x, y + 1, label, ROLE_EVENT_DENY, wide ? "x DENY" : "x");
	approval_choice(d->v.ui, s, cell, d->armed, ACTION_DENY, "once");
	cell.x += cols;
	approval_choice(d->v.ui, s, cell, d->armed, ACTION_DENY_SESSION,
			wide ? "this path *" : "path*");
	cell.x += cols;
	approval_choice(d->v.ui, s, cell, d->armed, ACTION_BACK,
			wide ? "leave it waiting" : "wait");
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct dialog_approval *d = (struct dialog_approval *)v;
	const struct model *m = v->ui->spec.model;
	const struct ask *ask = current(d);
	struct rect in;
	char title[64];
	bool roomy;

	if (!ask)
		return;
	if (!focused) { /* something covers it: it will have to be read again */
		d->armed = false;
		d->shown_us = v->ui->now_us;
	}
	if (!d->armed)
		d->armed = ui_armed(v->ui, d->shown_us);
	snprintf(title, sizeof(title), "? %s %zu of %zu", ask->held ? "HELD" : "ASK",
		 index_of(d) + 1, m->n_asks);
	in = ui_modal(s, r, title, ask->held);
	roomy = in.h >= 11;
	draw_facts(d, s, (struct rect){in.x, in.y + roomy, in.w, in.h - 2 - (roomy ? 3 : 0)}, ask);
	if (roomy)
		surface_text(s, in.x, in.y + in.h - 3, in.w, ROLE_MODAL_LABEL,
			     d->armed ? "* until this session ends"
				      : "Read it: keys count in a moment.");
	if (ask->held)
		approval_held_choices(v->ui, s, in, d->armed, ask->held);
	else
		draw_choices(d, s, in);
}

/* The request was answered or its process died: the next takes its place, unarmed. */
static void changed(struct view *v)
{
	struct dialog_approval *d = (struct dialog_approval *)v;

	if (current(d))
		return;
	if (v->ui->spec.model->n_asks == 0)
		ui_close(v->ui, v);
	else
		show(d, 0);
}

static void answer(struct dialog_approval *d, int verdict, const char *words)
{
	struct ui *ui = d->v.ui;
	const struct ask *ask = current(d);

	if (!ask)
		return;
	if (!d->armed) {
		ui_say(ui,
		       "Answers count half a second after the question is shown: read it first.");
		return;
	}
	d->armed = false;
	d->shown_us = ui->now_us;
	ui_say(ui, "%s", words);
	ui->spec.verbs->answer(ui->spec.data, ask->id, verdict);
}

/* Answers that are not offered for what is shown do nothing. */
static bool act_request(struct dialog_approval *d, enum action a)
{
	switch ((int)a) {
	case ACTION_ALLOW_ONCE:
		answer(d, ANSWER_ONCE, "+ Allowed once.");
		return true;
	case ACTION_ALLOW_SESSION:
		answer(d, ANSWER_SESSION, "+ Allowed: this path, until the session ends.");
		return true;
	case ACTION_ALLOW_TREE:
		answer(d, ANSWER_SESSION_TREE,
		       "+ Allowed: its directory and below, until the session ends.");
		return true;
	case ACTION_DENY:
		answer(d, ANSWER_DENY, "x Denied once.");
		return true;
	case ACTION_DENY_SESSION:
		answer(d, ANSWER_DENY_SESSION, "x Denied: this path, until the session ends.");
		return true;
	case ACTION_ALLOW_COMMAND:
		ui_say(d->v.ui, "This is about a path: allow it once, the path, or its directory.");
		return true;
	default:
		return false;
	}
}

static bool act_held(struct dialog_approval *d, const struct guard_report *held, enum action a)
{
	switch ((int)a) {
	case ACTION_ALLOW_ONCE:
		answer(d, ANSWER_ONCE, "+ Allowed: this step goes on.");
		return true;
	case ACTION_ALLOW_COMMAND:
		if (held->by_line)
			answer(d, ANSWER_SESSION,
			       "+ Allowed: this command line, until the session ends.");
		else
			ui_say(d->v.ui, "It has no command line of its own: allow this step.");
		return true;
	case ACTION_DENY:
		answer(d, ANSWER_DENY, "x Denied: it is ended, and what it did is taken back.");
		return true;
	case ACTION_ALLOW_SESSION:
	case ACTION_ALLOW_TREE:
	case ACTION_DENY_SESSION:
		ui_say(d->v.ui, "This is about a whole step: allow it, its command line, or deny.");
		return true;
	default:
		return false;
	}
}

static bool act(struct view *v, enum action a)
{
	struct dialog_approval *d = (struct dialog_approval *)v;
	const struct ask *ask = current(d);
	size_t n = v->ui->spec.model->n_asks;

	if (ask && (ask->held ? act_held(d, ask->held, a) : act_request(d, a)))
		return true;
	switch ((int)a) {
	case ACTION_NEXT_REQUEST:
		show(d, index_of(d) + 1);
		return true;
	case ACTION_PREV_REQUEST:
		show(d, n ? index_of(d) + n - 1 : 0);
		return true;
	case ACTION_BACK:
		ui_pop(v->ui);
		return true;
	default:
		return a == ACTION_FOCUS_APPROVALS;
	}
}

static void view_free(struct view *v)
{
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_APPROVALS,
	.size = size,
	.draw = draw,
	.act = act,
	.changed = changed,
	.free = view_free,
	.hints = hints,
};

static const struct view_ops held_ops = {
	.place = PLACE_APPROVALS,
	.size = size,
	.draw = draw,
	.act = act,
	.changed = changed,
	.free = view_free,
	.hints = held_hints,
};

struct view *dialog_approval_new(struct ui *ui)
{
	struct dialog_approval *d = xcalloc(1, sizeof(*d));

	d->v = (struct view){.ops = &ops, .ui = ui};
	show(d, 0);
	return &d->v;
}
