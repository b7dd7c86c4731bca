/* dialog_approval - a held request, in resolved facts, and its answers as separate choices. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/session/answers.h"
#include "tui/console/approval.h"

#define NEIGHBOURS 6 /* named of the other requests of a prompt */
/* On less than that, and where object and reason have no room, nothing is allowed. */
#define ALLOW_MIN_W 40
#define ALLOW_MIN_H 12

/*
 * Opened by the human, never by itself. Verdicts count when the request shown has been on the
 * screen for half a second without a key, so that nothing typed ahead can hit one; a request that
 * takes the place of another starts that anew. A verdict that came too early makes another one
 * after it count for nothing, too. Choices decide nothing and count at once. Esc leaves everything
 * pending.
 */
struct dialog_approval {
	struct view v;
	uint64_t shown; /* id of the request on the screen */
	uint64_t upto;	/* the newest of its prompt that was there when it came on the screen */
	struct choice choice;
	int64_t shown_us; /* 0: not on the screen yet */
	int w, h;	  /* of the screen that it was drawn on last */
	bool armed;
	bool fits;	   /* what would be allowed is on the screen, whole */
	enum action early; /* the verdict that came too early, and did nothing */
};

static const struct view_ops ops, own_ops, held_ops;

static const enum action hints[] = {ACTION_ALLOW,	  ACTION_DENY,	      ACTION_CHOOSE_SCOPE,
				    ACTION_CHOOSE_EXTENT, ACTION_CHOOSE_TIME, ACTION_NEXT_REQUEST,
				    ACTION_BACK,	  ACTION_NONE};
static const enum action own_hints[] = {
	ACTION_ALLOW,	     ACTION_DENY,	   ACTION_OWN_SETTINGS,
	ACTION_CHOOSE_SCOPE, ACTION_CHOOSE_EXTENT, ACTION_CHOOSE_TIME,
	ACTION_NEXT_REQUEST, ACTION_BACK,	   ACTION_NONE};
static const enum action held_hints[] = {ACTION_ALLOW,	      ACTION_DENY, ACTION_ALLOW_COMMAND,
					 ACTION_NEXT_REQUEST, ACTION_BACK, ACTION_NONE};

static bool is_bundle(const struct ask *ask)
{
	return ask->bundle && *ask->bundle;
}

/* Which of the prompts it is, from 0. */
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

/* Requests of the prompt on the screen besides the one shown: those that came in time to be read,
 * or those that came since. */
static size_t others(const struct dialog_approval *d, const struct ask *ask, bool since)
{
	const struct model *m = d->v.ui->spec.model;
	size_t n = 0;

	for (size_t i = 0; i < m->n_asks; i++)
		n += m->asks[i].prompt == ask->prompt && &m->asks[i] != ask &&
		     (m->asks[i].id > d->upto) == since;
	return n;
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
	d->v.ops = ask->held ? &held_ops : approval_offers_own(d->v.ui, ask) ? &own_ops : &ops;
	d->shown_us = 0;
	d->armed = false;
	d->early = ACTION_NONE;
	d->v.ui->dirty = true;
}

char *approval_text(const char *raw)
{
	struct buf b = BUF_INIT;

	text_escape(&b, raw ? raw : "", raw ? strlen(raw) : 0);
	return buf_take(&b);
}

/* The tree that holds all of this prompt; or, when its program asks again at once, what it was
 * answered just before. -1: none that may be allowed. */
static int common_up(const struct dialog_approval *d, const struct ask *ask)
{
	const struct ui *ui = d->v.ui;
	const struct model *m = ui->spec.model;
	int most = -1;

	if (ask->held || is_bundle(ask))
		return -1;
	for (size_t i = 0; i < m->n_asks; i++) {
		const struct ask *a = &m->asks[i];

		if (a->prompt == ask->prompt && a != ask && a->id <= d->upto)
			most = MAX(most, ask_up_to(ask, a->path));
	}
	if (most < 0 && ui->answered_us && str_eq(ask->program, ui->answered_by) &&
	    ask->since_us - ui->answered_us < ASK_TOGETHER_US)
		most = ask_up_to(ask, ui->answered);
	return most;
}

/* The tree that goes up so far. Heap. */
static char *object_up(const struct ask *ask, int up)
{
	const struct answer a = {.extent = EXTENT_TREE, .up = (unsigned)up};

	return answers_object(ask, &a);
}

/* "~/p/c" */
static void add_place(const struct dialog_approval *d, const char *dir, struct buf *out)
{
	const char *shown = ui_path(d->v.ui, dir);

	text_escape(out, shown, strlen(shown));
}

/* "37 more of that directory: b, c, d", or "below ~/p/c". */
static char *neighbours(const struct dialog_approval *d, const struct ask *ask)
{
	const struct model *m = d->v.ui->spec.model;
	size_t now = others(d, ask, false), since = others(d, ask, true), named = 0;
	int up = common_up(d, ask);
	AUTO_FREE char *tree = object_up(ask, MAX(up, 0));
	struct buf b = BUF_INIT;

	if (now && up > 0) {
		buf_fmt(&b, "%zu more below ", now);
		add_place(d, tree, &b);
	} else if (now) {
		buf_fmt(&b, "%zu more of that directory", now);
	}
	for (size_t i = 0; i < m->n_asks && named < NEIGHBOURS; i++) {
		const struct ask *a = &m->asks[i];
		const char *name = up >= 0 ? path_below(a->path, tree) : path_base(a->path);

		if (a->prompt != ask->prompt || a == ask || a->id > d->upto)
			continue;
		if (!name)
			continue;
		buf_str(&b, named++ ? ", " : ": ");
		text_escape(&b, name, strlen(name));
	}
	if (now > named)
		buf_str(&b, ", ...");
	if (since)
		buf_fmt(&b, "%s%zu came since: asked next", now ? "; " : "", since);
	if (!now && !since && up >= 0) {
		buf_str(&b, "asked again at once: how much can be all below ");
		add_place(d, tree, &b);
	}
	return buf_take(&b);
}

static char *age(const struct ui *ui, const struct ask *ask)
{
	int64_t s = MAX((int64_t)0, (ui->now_us - ask->since_us) / 1000000);
	int64_t left = MAX((int64_t)ask->timeout_s - s, (int64_t)0);

	if (!ask->timeout_s)
		return xasprintf("%lld s: the call waits until you answer", (long long)s);
	return xasprintf("%lld s: denied by itself in %lld s", (long long)s, (long long)left);
}

static const char *danger(const struct ask *ask)
{
	if (!ask->secret)
		return "";
	return ask->kind == RULE_UNIX ? " - to what acts outside the sandbox"
				      : " - a secret, by its name";
}

/* What is known about the request, in the order in which a narrow screen drops it from the end. */
static void collect(const struct dialog_approval *d, const struct ask *ask, struct fact *f)
{
	AUTO_FREE char *program = approval_text(ask->program);
	char op[32];

	for (size_t i = 0; i < FACTS; i++)
		f[i] = (struct fact){"", NULL, 1};
	if (ask->held) {
		approval_held_facts(d->v.ui, ask, f);
	} else {
		ui_wish(ask, op, sizeof(op));
		f[0] = (struct fact){"wants to",
				     is_bundle(ask) ? xasprintf("save %s", ask->bundle)
						    : xasprintf("%s%s", op, danger(ask)),
				     1};
		f[1] = (struct fact){ask->kind >= RULE_PLACES ? "host" : "path",
				     approval_text(ask->path), 64};
		f[2] = (struct fact){"because", approval_text(ask->reason), 3};
		f[3] = (struct fact){"through", approval_text(ask->via), 2};
		f[4] = is_bundle(ask) ? (struct fact){"all of it", approval_text(ask->places), 4}
				      : (struct fact){"with it", neighbours(d, ask), 3};
		f[5] = (struct fact){"or", approval_own_words(d->v.ui, ask), 2};
		f[6] = (struct fact){"program",
				     ask->pid ? xasprintf("%s (pid %d)", program, ask->pid)
					      : xstrdup(program),
				     2};
		f[7] = (struct fact){"command", approval_text(ask->command), 3};
		f[8] = (struct fact){"step", approval_text(ask->label), 2};
		f[9] = (struct fact){"held for", age(d->v.ui, ask), 1};
	}
	for (size_t i = 0; i < FACTS; i++)
		if (!f[i].text)
			f[i].text = xstrdup("");
}

/* As high as its facts need: a long path is shown whole when the screen has room for it. */
static struct rect size(struct view *v, struct rect body)
{
	struct dialog_approval *d = (struct dialog_approval *)v;
	const struct ask *ask = current(d);
	int w = MIN(body.w, 100), h = 7;
	struct fact f[FACTS];

	if (ask && !ask->held)
		h = 4 + choice_rows(v->ui, (struct rect){0, 0, ui_modal_cols(w), 100}, &d->choice,
				    ask, others(d, ask, false));
	if (ask) {
		collect(d, ask, f);
		for (size_t i = 0; i < FACTS; i++) {
			h += approval_fact_rows(&f[i], w - 6 - LABEL_W);
			free(f[i].text);
		}
	}
	h = MIN(body.h, h);
	/* While a program starts nothing is there to be covered. */
	return (struct rect){body.x + (body.w - w) / 2,
			     body.y + (body.h - h) / (ask && is_bundle(ask) ? 2 : 1), w, h};
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
		int rows = MIN(approval_fact_rows(&f[i], r.w - LABEL_W), 1 + MAX(spare, 0));

		y = approval_draw_fact(s, r, y, &f[i], rows);
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

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct dialog_approval *d = (struct dialog_approval *)v;
	const struct model *m = v->ui->spec.model;
	const struct ask *ask = current(d);
	struct rect in;
	char title[64];
	bool roomy;
	int rows;

	if (!ask)
		return;
	/* New here, covered by something, or of another size: it will have to be read (again). */
	if (!d->shown_us || !focused || d->w != s->w || d->h != s->h) {
		d->armed = false;
		d->shown_us = v->ui->now_us;
	}
	d->w = s->w;
	d->h = s->h;
	if (!d->armed)
		d->armed = ui_armed(v->ui, d->shown_us);
	snprintf(title, sizeof(title), "? %s %zu of %zu", ask->held ? "HELD" : "ASK",
		 index_of(d) + 1, m->n_prompts);
	in = ui_modal(s, r, title, ask->held || ask->secret);
	rows = ask->held ? 2 : choice_rows(v->ui, in, &d->choice, ask, others(d, ask, false));
	d->fits = s->w >= ALLOW_MIN_W && s->h >= ALLOW_MIN_H && in.h >= rows + (ask->held ? 1 : 3);
	roomy = in.h >= rows + 8;
	draw_facts(d, s, (struct rect){in.x, in.y + roomy, in.w, in.h - rows - (roomy ? 2 : 0)},
		   ask);
	if (roomy && !d->armed)
		surface_text(s, in.x, in.y + in.h - rows - 1, in.w, ROLE_MODAL_LABEL,
			     "Read it: keys count in a moment.");
	else if (roomy && ask->held)
		surface_text(s, in.x, in.y + in.h - rows - 1, in.w, ROLE_MODAL_LABEL,
			     "* until this session ends");
	if (ask->held)
		approval_held_choices(v->ui, s, in, d->armed, ask->held);
	else
		choice_draw(v->ui, s, in, &d->choice, ask, others(d, ask, false), d->armed);
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

/* This verdict counts now; false: it is said why not. */
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

/* Each request is answered by itself; a rule decides the others of its prompt as well. */
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
	d->armed = false;
	d->shown_us = ui->now_us;
	ui_say(ui, "%s", words);
	snprintf(ui->answered, sizeof(ui->answered), "%s", ask->path ? ask->path : "");
	snprintf(ui->answered_by, sizeof(ui->answered_by), "%s", ask->program ? ask->program : "");
	ui->answered_us = ui->now_us;
	for (size_t i = 0; i < n; i++)
		if (ui->spec.verbs->answer(ui->spec.data, ids[i], a, &err) == -EPERM)
			ui_say(ui, "Not possible: %s.", err.text);
}

static void answer_chosen(struct dialog_approval *d, const struct ask *ask, bool allow)
{
	AUTO_BUF struct buf words = BUF_INIT, shown = BUF_INIT;
	struct answer a = choice_answer(&d->choice, allow);
	const char *rest;

	answers_words(&words, d->v.ui->spec.model, ask, &a);
	rest = strchr(words.data, ' '); /* behind the verdict */
	buf_str(&shown, allow ? "+ Allowed:" : "x Denied:");
	text_escape(&shown, rest, strlen(rest));
	buf_str(&shown, ".");
	note_denied(d->v.ui, allow ? NULL : ask);
	answer(d, &a, allow ? ACTION_ALLOW : ACTION_DENY, shown.data);
}

static void choose(struct dialog_approval *d, const struct ask *ask, enum action a)
{
	const struct model *m = d->v.ui->spec.model;

	d->choice.common = common_up(d, ask);
	if (a == ACTION_CHOOSE_SCOPE)
		choice_next_scope(&d->choice, m, ask);
	else if (a == ACTION_CHOOSE_EXTENT)
		choice_next_extent(&d->choice, m, ask);
	else if (d->choice.scope == SCOPE_ONCE)
		ui_say(d->v.ui, "Once has no time: choose how long first.");
	else
		choice_next_time(&d->choice);
	d->v.ui->dirty = true;
}

static bool act_request(struct dialog_approval *d, const struct ask *ask, enum action a)
{
	switch ((int)a) {
	case ACTION_ALLOW:
	case ACTION_DENY:
		answer_chosen(d, ask, a == ACTION_ALLOW);
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
		ui_say(d->v.ui, "This is about a path: choose how long and how much, then allow.");
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
	.does = DOES_ENDS,
	.size = size,
	.draw = draw,
	.act = act,
	.changed = changed,
	.free = view_free,
	.hints = hints,
};

static const struct view_ops own_ops = {
	.place = PLACE_APPROVALS,
	.does = DOES_ENDS,
	.size = size,
	.draw = draw,
	.act = act,
	.changed = changed,
	.free = view_free,
	.hints = own_hints,
};

static const struct view_ops held_ops = {
	.place = PLACE_APPROVALS,
	.does = DOES_ENDS,
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
