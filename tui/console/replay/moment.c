/* moment - goes from a row of the activity or a diff to its moment in the recording, and back. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/replay/moment.h"

#include "core/base/path.h"
#include "tui/console/replay/replay.h"
#include "tui/console/views/view_step.h"

/* Removes the popup in a replay; Esc in the replay's pane brings it back unchanged. */
static void shelve(struct ui *ui)
{
	moment_done(ui);
	ui->shelf = ui->popups[--ui->n_popups];
	while (ui->n_popups > 0)
		ui_pop(ui);
}

void moment_done(struct ui *ui)
{
	ui_drop(ui->shelf);
	ui->shelf = NULL;
}

bool moment_back(struct ui *ui)
{
	struct view *v = ui->shelf;

	if (!v)
		return false;
	ui->shelf = NULL;
	ui_push(ui, v);
	return true;
}

static void in_replay(struct ui *ui, int64_t step, const char *path)
{
	struct replay *r = ui->spec.replay;
	int64_t t = replay_when(r, step, path);
	char keys[48];

	if (t < 0) {
		ui_say(ui, "The recording does not have this moment.");
		return;
	}
	shelve(ui);
	replay_play(r, false, ui->now_us);
	replay_seek(r, t, ui->now_us);
	replay_news(ui);
	ui_focus(ui, PANE_TERMINAL);
	ui_keys(ui, PLACE_REPLAY, ACTION_BACK, keys, sizeof(keys));
	ui_say(ui, "The recording at that moment: %s goes back.", keys);
}

/* Returns the wall clock time of the step that wrote path first, or began; 0: not in this
 * session. */
static int64_t wall_of(const struct ui *ui, int64_t step, const char *path)
{
	const struct model *m = ui->spec.model;
	AUTO_FREE char *whole =
		path ? path_join(ui->spec.folder ? ui->spec.folder : "/", path) : NULL;

	for (size_t i = 0; whole && i < m->row_count; i++) {
		const struct row *r = model_row(m, i);

		if (r->step == step && r->kind == ROW_TOUCH && str_eq(r->text, whole))
			return r->wall_us;
	}
	for (size_t i = 0; i < m->n_steps; i++)
		if (m->steps[i].id == step && !m->steps[i].earlier)
			return m->steps[i].began_us;
	return 0;
}

void moment_go(struct ui *ui, int64_t step, const char *path, int64_t wall_us)
{
	struct err err = {0};

	if (ui->spec.replay) {
		in_replay(ui, step, path);
		return;
	}
	if (!wall_us)
		wall_us = wall_of(ui, step, path);
	if (!wall_us)
		ui_say(ui, "This was in an earlier session: cordon replay shows it.");
	else if (!ui->spec.verbs->moment)
		ui_say(ui, "cordon replay shows the recording.");
	else if (ui->spec.verbs->moment(ui->spec.data, wall_us, &err) < 0)
		ui_say(ui, "The recording cannot be shown: %s.", err.text);
}

bool moment_act(struct ui *ui, enum action a)
{
	const struct view_step *p;
	AUTO_FREE char *path = NULL;

	if (a != ACTION_MOMENT || ui->n_popups == 0 || ui_top(ui)->ops->place != PLACE_STEP)
		return false;
	p = (const struct view_step *)ui_top(ui);
	if (p->review && p->file < p->review->n_files)
		path = review_name(p->review->files[p->file].change);
	if (!p->step)
		ui_say(ui, "Open the step itself: its moment is in the recording.");
	else
		moment_go(ui, p->step, path, 0);
	return true;
}
