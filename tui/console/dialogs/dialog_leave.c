/* dialog_leave - detaches, ends the agent, or restarts it: two keys while it runs. */
/* SPDX-License-Identifier: MIT */
#include "core/base/text.h"
#include "tui/console/frame/ui.h"

struct dialog_leave {
	struct view v;
	bool again; /* restarts it */
};

static const enum action hints[] = {ACTION_DETACH, ACTION_END_AGENT, ACTION_BACK, ACTION_NONE};
static const enum action kept_hints[] = {ACTION_END_AGENT, ACTION_BACK, ACTION_NONE};

static struct rect size(struct view *v, struct rect body)
{
	int w = MIN(body.w, 58), h = MIN(body.h, 7);

	(void)v;
	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

static bool offers_detach(const struct view *v)
{
	return !((const struct dialog_leave *)v)->again && v->ui->spec.verbs->detach;
}

/* Draws a row "Q    end it and leave", and `more` where that fits. */
static void draw_key(struct ui *ui, struct surface *s, struct rect at, enum action a,
		     const char *words, const char *more)
{
	AUTO_BUF struct buf fit = BUF_INIT;
	char keys[32];
	int x, end = at.x + at.w;

	ui_keys(ui, PLACE_LEAVE, a, keys, sizeof(keys));
	x = at.x + MAX(surface_text(s, at.x, at.y, at.w, ROLE_MODAL_KEY, keys), 3) + 1;
	text_fit_end(&fit, words, MAX(0, end - x));
	x += surface_text(s, x, at.y, MAX(0, end - x), ROLE_MODAL, fit.data);
	if (text_width(more) <= end - x)
		surface_text(s, x, at.y, end - x, ROLE_MODAL, more);
}

/* The keys come first: a small window has no room for more. */
static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	bool again = ((struct dialog_leave *)v)->again;
	struct rect in = ui_modal(s, r, again ? "restart the agent" : "leave cordon", false);
	struct rect at = {in.x, in.y + in.h - 2 - offers_detach(v), in.w, 1};
	const struct {
		enum action action;
		const char *words, *more;
		bool there;
	} keys[] = {
		{ACTION_DETACH, "let it go on", "; cordon attach takes it up", offers_detach(v)},
		{ACTION_END_AGENT, again ? "end it and start anew" : "end it and leave", "", true},
		{ACTION_BACK, "stay", "", true}};

	(void)focused;
	if (at.y > in.y)
		surface_text(s, in.x, in.y, in.w, ROLE_MODAL, "The agent still runs.");
	if (at.y > in.y && in.w > 40)
		surface_text(s, in.x + 22, in.y, in.w - 22, ROLE_MODAL_LABEL,
			     "Its steps are kept.");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (!keys[i].there)
			continue;
		if (at.y >= in.y)
			draw_key(v->ui, s, at, keys[i].action, keys[i].words, keys[i].more);
		at.y++;
	}
}

static bool act(struct view *v, enum action a)
{
	if (a == ACTION_END_AGENT && ((struct dialog_leave *)v)->again)
		v->ui->spec.verbs->restart(v->ui->spec.data);
	else if (a == ACTION_DETACH && offers_detach(v))
		v->ui->spec.verbs->detach(v->ui->spec.data);
	else if (a == ACTION_END_AGENT)
		v->ui->spec.verbs->leave(v->ui->spec.data);
	else if (a == ACTION_BACK)
		ui_pop(v->ui);
	else
		return false;
	return true;
}

/* Closes the dialog if the agent has ended by itself. */
static void changed(struct view *v)
{
	if (v->ui->spec.model->exited && !((struct dialog_leave *)v)->again)
		ui_vanish(v->ui, v);
}

#define OPS(the_hints)                                                                             \
	{                                                                                          \
		.place = PLACE_LEAVE, .size = size, .draw = draw, .act = act, .changed = changed,  \
		.hints = (the_hints),                                                              \
	}
static const struct view_ops ops = OPS(hints);
static const struct view_ops kept_ops = OPS(kept_hints);

struct view *dialog_leave_new(struct ui *ui, bool again)
{
	struct dialog_leave *d = xcalloc(1, sizeof(*d));

	d->v = (struct view){.ops = &ops, .ui = ui};
	d->again = again;
	if (!offers_detach(&d->v))
		d->v.ops = &kept_ops;
	return &d->v;
}
