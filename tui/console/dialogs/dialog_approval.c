/* dialog_approval - the dialog about a held request: program, object, risk, answers. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/text.h"
#include "core/session/answers/answers.h"
#include "tui/console/dialogs/approval.h"

/* A screen smaller than that, or without room for object and reason, allows nothing. */
#define ALLOW_MIN_W  40
#define ALLOW_MIN_H  12
#define QUESTION_H   2 /* rows for program and object, and the reason */
#define QUESTION_MAX 8 /* most rows for them: beyond, empty rows are more useful */

/*
 * Only the user opens it. Verdicts count when the request has been on the screen for half a second
 * without a key, so that no key typed ahead answers; the next request waits again. After a verdict
 * that came too early, a different verdict does not count either. Choices decide nothing and count
 * at once. Esc leaves the requests pending.
 */
struct dialog_approval {
	struct view v;
	uint64_t shown; /* id of the request on the screen */
	uint64_t upto;	/* newest request of its prompt when it was shown first */
	struct choice choice;
	struct choice offer; /* a wider answer */
	bool offers;	     /* the offer is on the screen */
	bool whole;	     /* all known facts are shown */
	int64_t shown_us;    /* 0: not on the screen yet */
	int w, h;	     /* size of the screen at the last drawing */
	bool armed;
	/* Something was answered from here, and no other prompt has been there to be answered
	 * since: what goes now goes by that answer. */
	bool answered;
	uint64_t answered_prompt;
	bool fits;	   /* what would be allowed is on the screen, whole */
	enum action early; /* the verdict that came too early, and did nothing */
};

static const struct view_ops ops, held_ops;

/* The dialog shows the keys of answers and choices itself. */
static const enum action hints[] = {ACTION_ALLOW,	 ACTION_DENY, ACTION_DETAILS, ACTION_NOTE,
				    ACTION_NEXT_REQUEST, ACTION_BACK, ACTION_NONE};
static const enum action held_hints[] = {ACTION_ALLOW,	       ACTION_DENY,	    ACTION_DETAILS,
					 ACTION_ALLOW_COMMAND, ACTION_NEXT_REQUEST, ACTION_BACK,
					 ACTION_NONE};

/* Returns the index of the request's prompt, from 0. */
static size_t index_of(const struct dialog_approval *d)
{
	const struct model *m = d->v.ui->spec.model;
	size_t n = 0;

	for (size_t i = 0; i < m->n_asks; i++) {
		if (m->asks[i].id == d->shown)
			return n;
		n += m->asks[i].leads;
	}
	return 0;
}

static const struct ask *current(const struct dialog_approval *d)
{
	return model_ask(d->v.ui->spec.model, d->shown);
}

static void show(struct dialog_approval *d, size_t prompt)
{
	const struct model *m = d->v.ui->spec.model;
	const struct ask *ask = NULL;

	if (m->n_asks == 0)
		return;
	for (size_t i = 0, n = 0; i < m->n_asks && !ask; i++)
		if (m->asks[i].leads && n++ == prompt % m->n_prompts)
			ask = &m->asks[i];
	if (!ask)
		return;
	d->shown = ask->id;
	d->upto = m->asks[m->n_asks - 1].id;
	d->choice = choice_first(ask);
	d->v.ops = ask->held ? &held_ops : &ops;
	d->shown_us = 0;
	d->armed = false;
	d->early = ACTION_NONE;
	d->v.ui->dirty = true;
}

static struct question question_of(const struct dialog_approval *d, const struct ask *ask)
{
	return (struct question){d->v.ui, ask, d->upto, d->whole};
}

/* Offers all of the prompt's tree for the session, if that can be allowed. */
static bool find_offer(struct dialog_approval *d, const struct ask *ask)
{
	struct question q = question_of(d, ask);
	int up = question_common_up(&q);

	d->offer = (struct choice){
		.scope = SCOPE_SESSION, .extent = EXTENT_TREE, .up = (unsigned)MAX(up, 0)};
	return up >= 0 && choice_possible(&d->offer, d->v.ui->spec.model, ask) &&
	       (d->choice.extent != EXTENT_TREE || d->choice.up != d->offer.up);
}

static struct verdicts verdicts_of(const struct dialog_approval *d, const struct ask *ask,
				   const char *own)
{
	struct question q = question_of(d, ask);

	return (struct verdicts){.ask = ask,
				 .choice = &d->choice,
				 .offer = d->offers ? &d->offer : NULL,
				 .own = own,
				 .others = question_others(&q, false),
				 .armed = d->armed};
}

/* Returns the rows of the answers and choices. Answers without room are not offered. */
static int plan_rows(struct dialog_approval *d, struct rect in, const struct ask *ask, char **own)
{
	struct verdicts v;
	int rows;

	if (ask->held)
		return approval_held_rows(ask->held);
	*own = approval_own_words(d->v.ui, ask);
	d->offers = find_offer(d, ask);
	v = verdicts_of(d, ask, *own);
	rows = verdicts_rows(d->v.ui, in, &v);
	if (rows + QUESTION_H <= in.h)
		return rows;
	free(*own);
	*own = NULL;
	d->offers = false;
	v = verdicts_of(d, ask, NULL);
	return verdicts_rows(d->v.ui, in, &v);
}

/* Makes the dialog as high as its facts need: a long path is shown uncut if there is room. */
static struct rect size(struct view *v, struct rect body)
{
	struct dialog_approval *d = (struct dialog_approval *)v;
	const struct ask *ask = current(d);
	int w = MIN(body.w, 100), h = 7;
	AUTO_FREE char *own = NULL;

	if (ask) {
		struct question q = question_of(d, ask);

		h = 4 + question_rows(&q, ui_modal_cols(w)) +
		    plan_rows(d, (struct rect){0, 0, ui_modal_cols(w), 100}, ask, &own);
	}
	h = MIN(body.h, h);
	/* While a program starts, the screen has nothing else to show. */
	return (struct rect){body.x + (body.w - w) / 2,
			     body.y + (body.h - h) / (ask && approval_is_bundle(ask) ? 2 : 1), w,
			     h};
}

static void draw_answers(struct dialog_approval *d, struct surface *s, struct rect in,
			 const struct ask *ask, const char *own)
{
	struct verdicts v;

	if (ask->held) {
		approval_held_verdicts(d->v.ui, s, in, d->armed, ask->held);
		return;
	}
	v = verdicts_of(d, ask, own);
	verdicts_draw(d->v.ui, s, in, &v);
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct dialog_approval *d = (struct dialog_approval *)v;
	const struct model *m = v->ui->spec.model;
	const struct ask *ask = current(d);
	AUTO_FREE char *own = NULL;
	struct question q;
	struct rect in;
	char title[64];
	bool roomy;
	int rows;

	if (!ask)
		return;
	/* New, covered before, or of another size: the user must (re)read it. */
	if (!d->shown_us || !focused || d->w != s->w || d->h != s->h) {
		d->armed = false;
		d->shown_us = v->ui->now_us;
	}
	d->w = s->w;
	d->h = s->h;
	if (!d->armed && ui_armed(v->ui, d->shown_us)) {
		d->armed = true;
		d->answered = d->answered && ask->prompt == d->answered_prompt;
	}
	snprintf(title, sizeof(title), "? %s %zu of %zu", ask->held ? "HELD" : "ASK",
		 index_of(d) + 1, m->n_prompts);
	in = ui_modal(s, r, title, ask->held || ask->secret);
	q = question_of(d, ask);
	rows = plan_rows(d, in, ask, &own);
	d->fits = s->w >= ALLOW_MIN_W && s->h >= ALLOW_MIN_H && in.h >= rows + QUESTION_H;
	roomy = in.h >= rows + 2 + MIN(question_rows(&q, in.w), QUESTION_MAX);
	question_draw(&q, s,
		      (struct rect){in.x, in.y + roomy, in.w, in.h - rows - (roomy ? 2 : 0)});
	if (roomy && !d->armed)
		surface_text(s, in.x, in.y + in.h - rows - 1, in.w, ROLE_MODAL_LABEL,
			     "Read it: keys count in a moment.");
	draw_answers(d, s, in, ask, own);
}

/* If the request was answered or its process died, shows the next one, unarmed. */
static void changed(struct view *v)
{
	struct dialog_approval *d = (struct dialog_approval *)v;

	if (current(d))
		return;
	if (v->ui->spec.model->n_asks > 0) {
		show(d, 0);
		return;
	}
	if (!d->answered)
		ui_say(v->ui, "It was answered elsewhere, or its program has ended.");
	if (d->answered)
		ui_close(v->ui, v);
	else
		ui_vanish(v->ui, v);
}

/* Returns whether the verdict counts yet; else shows the reason. */
static bool counts(struct dialog_approval *d, enum action a)
{
	enum action early = d->early;

	d->early = d->armed ? ACTION_NONE : a;
	if (!d->armed)
		ui_say(d->v.ui,
		       "Answers count half a second after the question is shown: read it first.");
	else if (early != ACTION_NONE && early != a)
		ui_say(d->v.ui,
		       "The %s before came too early and did nothing: press this again if "
		       "you mean it.",
		       action_label(early));
	return d->armed && (early == ACTION_NONE || early == a);
}

/* Lists the requests that an answer decides: an exact one also those of its prompt; a rule decides
 * other requests by itself. */
static size_t list_answered(const struct dialog_approval *d, const struct ask *ask,
			    const struct answer *a, uint64_t ids[MODEL_ASKS])
{
	const struct model *m = d->v.ui->spec.model;
	size_t n = 0;

	ids[n++] = ask->id;
	for (size_t i = 0; i < m->n_asks && a->extent == EXTENT_EXACT && n < MODEL_ASKS; i++)
		if (m->asks[i].prompt == ask->prompt && &m->asks[i] != ask &&
		    m->asks[i].id <= d->upto)
			ids[n++] = m->asks[i].id;
	return n;
}

static void answer(struct dialog_approval *d, const struct answer *a, enum action key,
		   const char *words)
{
	struct ui *ui = d->v.ui;
	const struct ask *ask = current(d);
	uint64_t ids[MODEL_ASKS];
	struct err err = {0};
	size_t n;

	if (!ask || !counts(d, key))
		return;
	if (a->allow && !d->fits) {
		ui_say(ui, "Enlarge the window to allow this.");
		return;
	}
	n = list_answered(d, ask, a, ids);
	d->answered = true;
	d->armed = false;
	d->shown_us = ui->now_us;
	ui_say(ui, "%s", words);
	approval_answered(ui, ask, a);
	d->answered_prompt = ask->prompt;
	for (size_t i = 0; i < n; i++)
		if (ui->spec.verbs->answer(ui->spec.data, ids[i], a, &err) == -EPERM)
			ui_say(ui, "Not possible: %s.", err.text);
}

static void answer_chosen(struct dialog_approval *d, const struct ask *ask, enum action key,
			  const struct choice *c)
{
	AUTO_BUF struct buf words = BUF_INIT, shown = BUF_INIT;
	bool allow = key != ACTION_DENY;
	struct answer a = choice_answer(c, allow);
	const char *rest;

	answers_words(&words, d->v.ui->spec.model, ask, &a);
	rest = strchr(words.data, ' '); /* without the verdict */
	buf_str(&shown, allow ? "+ Allowed:" : "x Denied:");
	text_escape(&shown, rest, strlen(rest));
	buf_str(&shown, ".");
	note_denied(d->v.ui, allow ? NULL : ask);
	answer(d, &a, key, shown.data);
}

/* Explains why a key changes none of the choices. */
static void say_no_choice(struct dialog_approval *d, const struct ask *ask, enum action a)
{
	struct choice more = d->choice;
	struct answer wide;
	const char *why;

	more.extent = EXTENT_DIR;
	wide = choice_answer(&more, true);
	why = answers_refusal(d->v.ui->spec.model, ask, &wide);
	if (d->choice.scope == SCOPE_ONCE && a == ACTION_CHOOSE_TIME)
		ui_say(d->v.ui, "Once has no time: choose how long first.");
	else if (d->choice.scope == SCOPE_ONCE && a == ACTION_CHOOSE_EXTENT)
		ui_say(d->v.ui, "Once is about exactly this: choose how long first.");
	else if (a == ACTION_CHOOSE_EXTENT && why)
		ui_say(d->v.ui, "Exactly this, and no more: %s.", why);
	else
		ui_say(d->v.ui, "There is nothing else to choose here.");
}

static void choose(struct dialog_approval *d, const struct ask *ask, enum action a)
{
	const struct model *m = d->v.ui->spec.model;
	bool chosen;

	if (a == ACTION_CHOOSE_SCOPE)
		chosen = choice_next_scope(&d->choice, m, ask);
	else if (a == ACTION_CHOOSE_EXTENT)
		chosen = choice_next_extent(&d->choice, m, ask);
	else
		chosen = choice_next_time(&d->choice, m, ask);
	if (!chosen)
		say_no_choice(d, ask, a);
	d->v.ui->dirty = true;
}

static bool act_request(struct dialog_approval *d, const struct ask *ask, enum action a)
{
	switch ((int)a) {
	case ACTION_ALLOW:
	case ACTION_DENY:
		answer_chosen(d, ask, a, &d->choice);
		return true;
	case ACTION_CHOOSE_SCOPE:
	case ACTION_CHOOSE_EXTENT:
	case ACTION_CHOOSE_TIME:
		choose(d, ask, a);
		return true;
	case ACTION_OWN_SETTINGS:
		if (!approval_offers_own(d->v.ui, ask))
			ui_say(d->v.ui, "This is about no settings that can be kept apart.");
		else if (counts(d, a))
			approval_choose_own(d->v.ui, ask);
		return true;
	case ACTION_ALLOW_COMMAND:
		if (d->offers)
			answer_chosen(d, ask, a, &d->offer);
		else
			ui_say(d->v.ui, "Choose how long and how much, then allow.");
		return true;
	default:
		return false;
	}
}

static bool act_held(struct dialog_approval *d, const struct guard_report *held, enum action a)
{
	static const struct answer once = {.allow = true}, no = {0},
				   line = {.allow = true, .scope = SCOPE_SESSION};

	switch ((int)a) {
	case ACTION_ALLOW:
		answer(d, &once, a, "+ Allowed: this step goes on.");
		return true;
	case ACTION_ALLOW_COMMAND:
		if (held->by_line)
			answer(d, &line, a,
			       "+ Allowed: this command line, until the session ends.");
		else
			ui_say(d->v.ui, "It has no command line of its own: allow this step.");
		return true;
	case ACTION_DENY:
		answer(d, &no, a, "x Denied: it is ended, and what it did is taken back.");
		return true;
	case ACTION_CHOOSE_SCOPE:
	case ACTION_CHOOSE_EXTENT:
	case ACTION_CHOOSE_TIME:
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
	size_t n = v->ui->spec.model->n_prompts;

	if (ask && (ask->held ? act_held(d, ask->held, a) : act_request(d, ask, a)))
		return true;
	switch ((int)a) {
	case ACTION_NEXT_REQUEST:
		show(d, index_of(d) + 1);
		return true;
	case ACTION_PREV_REQUEST:
		show(d, n ? index_of(d) + n - 1 : 0);
		return true;
	case ACTION_TOP:
		show(d, 0);
		return true;
	case ACTION_BOTTOM:
		show(d, n ? n - 1 : 0);
		return true;
	case ACTION_DETAILS:
		d->whole = !d->whole;
		v->ui->dirty = true;
		return true;
	case ACTION_BACK:
		ui_pop(v->ui);
		return true;
	default:
		return a == ACTION_FOCUS_APPROVALS;
	}
}

static const struct view_ops ops = {
	.place = PLACE_APPROVALS,
	.does = DOES_ENDS,
	.size = size,
	.draw = draw,
	.act = act,
	.changed = changed,
	.hints = hints,
};

static const struct view_ops held_ops = {
	.place = PLACE_APPROVALS,
	.does = DOES_ENDS,
	.size = size,
	.draw = draw,
	.act = act,
	.changed = changed,
	.hints = held_hints,
};

struct view *dialog_approval_new(struct ui *ui)
{
	struct dialog_approval *d = xcalloc(1, sizeof(*d));

	d->v = (struct view){.ops = &ops, .ui = ui};
	show(d, 0);
	return &d->v;
}
