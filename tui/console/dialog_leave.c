/* dialog_leave - leaving, or starting anew, while the agent still runs takes two keys. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/ui.h"

struct dialog_leave {
	struct view v;
	bool again; /* it is started anew */
};

static const enum action hints[] = {ACTION_END_AGENT, ACTION_BACK, ACTION_NONE};

static struct rect size(struct view *v, struct rect body)
{
	int w = MIN(body.w, 58), h = MIN(body.h, 7);

	(void)v;
	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	bool again = ((struct dialog_leave *)v)->again;
	struct rect in = ui_modal(s, r, again ? "restart the agent" : "leave cordon", false);
	char keys[32];
	int x;

	(void)focused;
	surface_text(s, in.x, in.y + (in.h > 4), in.w, ROLE_MODAL, "The agent still runs.");
	surface_text(s, in.x, in.y + 1 + (in.h > 4), in.w, ROLE_MODAL_LABEL,
		     "Its steps are kept and can be undone later.");
	ui_keys(v->ui, PLACE_LEAVE, ACTION_END_AGENT, keys, sizeof(keys));
	x = in.x + surface_text(s, in.x, in.y + in.h - 1, in.w, ROLE_MODAL_KEY, keys) + 1;
	x += surface_text(s, x, in.y + in.h - 1, in.w, ROLE_MODAL,
			  again ? "end it and start anew" : "end it and leave") +
	     3;
	ui_keys(v->ui, PLACE_LEAVE, ACTION_BACK, keys, sizeof(keys));
	x += surface_text(s, x, in.y + in.h - 1, MAX(0, in.x + in.w - x), ROLE_MODAL_KEY, keys) + 1;
	surface_text(s, x, in.y + in.h - 1, MAX(0, in.x + in.w - x), ROLE_MODAL, "stay");
}

static bool act(struct view *v, enum action a)
{
	if (a == ACTION_END_AGENT && ((struct dialog_leave *)v)->again)
		v->ui->spec.verbs->restart(v->ui->spec.data);
	else if (a == ACTION_END_AGENT)
		v->ui->spec.verbs->leave(v->ui->spec.data);
	else if (a == ACTION_BACK)
		ui_pop(v->ui);
	else
		return false;
	return true;
}

/* It ended by itself: nothing to ask any more. */
static void changed(struct view *v)
{
	if (v->ui->spec.model->exited && !((struct dialog_leave *)v)->again)
		ui_close(v->ui, v);
}

static void view_free(struct view *v)
{
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_LEAVE,
	.size = size,
	.draw = draw,
	.act = act,
	.changed = changed,
	.free = view_free,
	.hints = hints,
};

struct view *dialog_leave_new(struct ui *ui, bool again)
{
	struct dialog_leave *d = xcalloc(1, sizeof(*d));

	d->v = (struct view){.ops = &ops, .ui = ui};
	d->again = again;
	return &d->v;
}
