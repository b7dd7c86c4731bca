/* view_step_undo - undoes and restores from a diff: the step, a file, a hunk. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/views/view_step.h"

static void undo(struct view_step *p)
{
	if (p->step || p->from)
		ui_undo(p->v.ui, UNDO_BACK, p->from ? p->from : p->step);
	else
		ui_say(p->v.ui, "You (or another program) made this edit; undo leaves it alone.");
}

static void restore(struct view_step *p)
{
	const struct review *r = p->review;
	AUTO_FREE char *path = NULL;

	if (p->from)
		ui_say(p->v.ui, "Open the step itself: a file is restored as before one step.");
	else if (!r->listed)
		ui_say(p->v.ui, "The changes are still being read: press it again.");
	else if (p->file >= r->n_files)
		ui_say(p->v.ui, "There is no file to restore.");
	if (!p->step || p->file >= r->n_files)
		return;
	path = review_name(r->files[p->file].change);
	ui_restore(p->v.ui, p->step, path);
}

/* Restores the hunk at the cursor to its state before the step, as a step of its own. */
static void restore_hunk(struct view_step *p)
{
	struct ui *ui = p->v.ui;
	const struct review_line *l = step_line(p);
	const struct review_file *f = l ? &p->review->files[l->file] : NULL;
	AUTO_FREE char *path = f ? review_name(f->change) : NULL;
	unsigned hunk = 0;
	uint64_t request;

	for (const struct review_line *i = p->review->lines + (f ? f->first_line : 0); f && i <= l;
	     i++)
		hunk += i->kind == DIFF_HUNK;
	if (!p->step || !ui->spec.verbs->restore_hunk) {
		ui_say(ui, p->step ? "Not from here: in the session's own console."
				   : "Only a hunk of one step can be restored.");
	} else if (!hunk) {
		ui_say(ui, "Go to a hunk first: n.");
	} else if (ui->spec.model->job.active) {
		ui_say(ui, "Another undo or redo is still at work.");
	} else {
		request = ui->spec.verbs->restore_hunk(ui->spec.data, p->step, path, hunk);
		if (request)
			ui_push(ui, dialog_progress_new(ui, request));
	}
}

/* Refuses actions on the console's own session, in a diff of another session. */
bool step_refuses(struct view_step *p, enum action a)
{
	switch ((int)a) {
	case ACTION_UNDO:
	case ACTION_REDO:
	case ACTION_RESTORE:
	case ACTION_RESTORE_HUNK:
	case ACTION_EDIT:
	case ACTION_BLAME:
	case ACTION_MOMENT:
	case ACTION_SHOW_REVIEW:
	case ACTION_DIFF_SESSION:
	case ACTION_DIFF_TURN:
	case ACTION_DIFF_MARK:
		if (p->folder)
			ui_say(p->v.ui, "These are changes of another session: go there for that.");
		return p->folder != NULL;
	default:
		return false;
	}
}

bool step_undo_act(struct view_step *p, enum action a)
{
	switch ((int)a) {
	case ACTION_UNDO:
		undo(p);
		return true;
	case ACTION_RESTORE:
		restore(p);
		return true;
	case ACTION_RESTORE_HUNK:
		restore_hunk(p);
		return true;
	default:
		return false;
	}
}
