/* dialog_busy - an undo was requested while a command runs: asks whether to stop it first. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/frame/ui.h"

struct dialog_busy {
	struct view v;
	enum undo_kind kind;
	int64_t step;
	int64_t newest; /* newest step at the request, or when the commands were stopped */
	char *words;
	int64_t shown_us; /* 0: not on the screen yet */
	bool armed, stopping;
};

static const enum action hints[] = {ACTION_STOP, ACTION_BACK, ACTION_NONE};

static struct rect size(struct view *v, struct rect body)
{
	int w = MIN(body.w, 76), h = MIN(body.h, 7);

	(void)v;
	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct dialog_busy *d = (struct dialog_busy *)v;
	struct rect in = ui_modal(s, r, d->kind == UNDO_REDO ? "redo" : "undo", true);
	int x = in.x, y = in.y + in.h - 1;
	char keys[32];

	(void)focused;
	if (!d->shown_us)
		d->shown_us = v->ui->now_us;
	if (!d->armed)
		d->armed = ui_armed(v->ui, d->shown_us);
	surface_hostile(s, in.x, in.y + (in.h > 4), in.w, ROLE_MODAL, d->words);
	surface_text(s, in.x, in.y + 1 + (in.h > 4), in.w, ROLE_MODAL_LABEL,
		     d->stopping ? "Stopping it..." : "Stopped, its step can be rolled back too.");
	if (!d->stopping) {
		ui_keys(v->ui, PLACE_BUSY, ACTION_STOP, keys, sizeof(keys));
		x += surface_text(s, x, y, in.w, d->armed ? ROLE_MODAL_KEY : ROLE_MODAL_LABEL,
				  keys) +
		     1;
		x += surface_text(s, x, y, in.x + in.w - x, ROLE_MODAL, "stop it") + 3;
	}
	ui_keys(v->ui, PLACE_BUSY, ACTION_BACK, keys, sizeof(keys));
	x += surface_text(s, x, y, MAX(0, in.x + in.w - x), ROLE_MODAL_KEY, keys) + 1;
	surface_text(s, x, y, MAX(0, in.x + in.w - x), ROLE_MODAL, "leave it running");
}

static int64_t newest_step(const struct model *m)
{
	int64_t id = 0;

	for (size_t i = 0; i < m->n_steps; i++)
		id = MAX(id, m->steps[i].id);
	return id;
}

/* Returns whether a step up to `newest` runs. A plan ends ambient steps. Later steps are a new
 * question with other words: an agent may begin one as soon as a command is stopped. */
static bool still_runs(const struct model *m, int64_t newest)
{
	for (size_t i = 0; i < m->n_steps; i++) {
		const struct step_row *s = &m->steps[i];

		if (s->running && s->kind != STEP_AMBIENT && s->id <= newest)
			return true;
	}
	return false;
}

/* Asks for the plan again when the commands have ended. */
static void changed(struct view *v)
{
	struct dialog_busy *d = (struct dialog_busy *)v;
	enum undo_kind kind = d->kind;
	struct ui *ui = v->ui;
	int64_t step = d->step;

	if (still_runs(ui->spec.model, d->newest))
		return;
	ui_close(ui, v);
	ui_undo(ui, kind, step);
}

static bool act(struct view *v, enum action a)
{
	struct dialog_busy *d = (struct dialog_busy *)v;

	if (a == ACTION_BACK) {
		ui_pop(v->ui);
		return true;
	}
	if (a != ACTION_STOP)
		return false;
	if (!d->armed) {
		ui_say(v->ui, "Read it first: keys count half a second after the last one.");
	} else if (!d->stopping) {
		d->stopping = true;
		d->newest = newest_step(v->ui->spec.model);
		v->ui->spec.verbs->stop(v->ui->spec.data);
	}
	return true;
}

static void view_free(struct view *v)
{
	free(((struct dialog_busy *)v)->words);
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_BUSY,
	.size = size,
	.draw = draw,
	.act = act,
	.changed = changed,
	.free = view_free,
	.hints = hints,
};

struct view *dialog_busy_new(struct ui *ui, enum undo_kind kind, int64_t step, const char *words)
{
	struct dialog_busy *d = xcalloc(1, sizeof(*d));

	*d = (struct dialog_busy){
		.v = {.ops = &ops, .ui = ui},
		.kind = kind,
		.step = step,
		.newest = newest_step(ui->spec.model),
		.words = xstrdup(words),
	};
	return &d->v;
}
