/* dialog_progress - an undo or redo in progress: how far it is, and a way to stop it without
 * harm. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/text.h"
#include "tui/console/frame/ui.h"

struct dialog_progress {
	struct view v;
	uint64_t request;
};

static const enum action hints[] = {ACTION_CANCEL, ACTION_NONE};

static struct rect size(struct view *v, struct rect body)
{
	int w = MIN(body.w, 64), h = MIN(body.h, 6);

	(void)v;
	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	const struct job *job = &v->ui->spec.model->job;
	struct rect in = ui_modal(s, r, "working", false);
	uint64_t total = MAX(job->total, (uint64_t)1), done = MIN(job->done, total);
	int filled = (int)((uint64_t)in.w * done / total);
	char keys[32];

	(void)focused;
	surface_fmt(s, in.x, in.y, in.w, ROLE_MODAL, "%s  %llu of %llu",
		    job->cancelled ? "putting everything back" : "changing files",
		    (unsigned long long)job->done, (unsigned long long)job->total);
	for (int x = 0; x < in.w; x++)
		surface_text(s, in.x + x, in.y + 1, 1, x < filled ? ROLE_GAUGE : ROLE_MODAL_LABEL,
			     x < filled ? "#" : "-");
	ui_keys(v->ui, PLACE_PROGRESS, ACTION_CANCEL, keys, sizeof(keys));
	if (!job->cancelled)
		surface_fmt(s, in.x, in.y + in.h - 1, in.w, ROLE_MODAL_LABEL,
			    "%s stops and puts everything back", keys);
}

/* The key of the agent's terminal works in every view. */
static void say_rolled_back(struct ui *ui)
{
	char keys[48];

	ui_keys(ui, PLACE_TERMINAL, ACTION_REDO, keys, sizeof(keys));
	ui_say(ui, "+ Rolled back; %s brings it back.", *keys ? keys : "redo");
}

static void changed(struct view *v)
{
	struct dialog_progress *d = (struct dialog_progress *)v;
	struct ui *ui = v->ui;
	const struct job *job = &ui->spec.model->job;
	char words[400];

	if (job->active && job->request == d->request)
		return;
	text_escape_into(words, sizeof(words), job->words ? job->words : "",
			 job->words ? strlen(job->words) : 0);
	if (job->result == -ECANCELED)
		ui_say(ui, "- Cancelled: everything is as it was.");
	else if (job->result < 0)
		ui_say(ui, "x %s", *words ? words : strerror(-job->result));
	else if (*words)
		ui_say(ui, "+ %s", words);
	else if (job->kind == UNDO_REDO)
		ui_say(ui, "+ Redone.");
	else if (job->kind == UNDO_PATHS)
		ui_say(ui, "+ Restored, as a step that can be undone.");
	else
		say_rolled_back(ui);
	if (job->result >= 0)
		note_offer(ui);
	ui_close(ui, v);
}

static bool act(struct view *v, enum action a)
{
	if (a == ACTION_CANCEL)
		v->ui->spec.verbs->cancel(v->ui->spec.data);
	/* It cannot be left: keys of other places wait until it is done. */
	return a != ACTION_HELP && a != ACTION_REDRAW && a != ACTION_SUSPEND;
}

static const struct view_ops ops = {
	.place = PLACE_PROGRESS,
	.does = DOES_ALONE,
	.size = size,
	.draw = draw,
	.act = act,
	.changed = changed,
	.hints = hints,
};

struct view *dialog_progress_new(struct ui *ui, uint64_t request)
{
	struct dialog_progress *d = xcalloc(1, sizeof(*d));

	d->v = (struct view){.ops = &ops, .ui = ui};
	d->request = request;
	return &d->v;
}
