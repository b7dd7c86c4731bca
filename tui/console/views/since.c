/* since - shows all changes after the start of the session, the turn or a marked step. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/frame/ui.h"

static bool in_effect(const struct step_row *s)
{
	return !s->undone && !s->gone && !s->running && !s->elsewhere;
}

/* Returns the first step in effect: of the session, or of the turn with this mark; 0: none. */
static int64_t first_of(const struct model *m, const struct turn_mark *turn, bool session)
{
	for (size_t i = 0; i < m->n_steps; i++) {
		const struct step_row *s = &m->steps[i];

		if (!in_effect(s) || (session && s->earlier))
			continue;
		if (session || turn_mark_of(m->turns, m->n_turns, s->id) == turn)
			return s->id;
	}
	return 0;
}

static int64_t turn_start(struct ui *ui)
{
	const struct model *m = ui->spec.model;
	const struct turn_mark *turn = NULL;
	size_t i = m->n_steps;

	while (i > 0 && !in_effect(&m->steps[i - 1]))
		i--;
	if (i > 0)
		turn = turn_mark_of(m->turns, m->n_turns, m->steps[i - 1].id);
	return turn ? first_of(m, turn, false) : 0;
}

/* Returns the marked step, or the next one in effect if it was undone. */
static int64_t mark_start(const struct ui *ui)
{
	const struct model *m = ui->spec.model;
	bool seen = false;

	for (size_t i = 0; i < m->n_steps; i++) {
		seen |= m->steps[i].id == ui->mark;
		if (seen && in_effect(&m->steps[i]))
			return m->steps[i].id;
	}
	return 0;
}

void ui_mark_step(struct ui *ui, int64_t step)
{
	char keys[48];

	ui->mark = step;
	ui_keys(ui, PLACE_STEPS, ACTION_DIFF_MARK, keys, sizeof(keys));
	ui_say(ui, "Step %lld is marked: %s shows everything from there on.", (long long)step,
	       keys);
}

static void show(struct ui *ui, int64_t from, const char *words, const char *none)
{
	const struct step_row *running;

	if (!from && model_running(ui->spec.model, &running)) {
		ui_say(ui,
		       "Step %lld still runs: its files are in the activity now, here when it "
		       "ends.",
		       (long long)running->id);
		return;
	}
	if (!from) {
		ui_say(ui, "%s", none);
		return;
	}
	if (ui->n_popups > 0 && ui_top(ui)->ops->place == PLACE_STEP)
		ui_pop(ui);
	ui_push(ui, view_range_new(ui, from, words));
}

bool ui_since(struct ui *ui, enum action a)
{
	switch ((int)a) {
	case ACTION_DIFF_SESSION:
		show(ui, first_of(ui->spec.model, NULL, true), "since the session began",
		     "Nothing has changed since the session began.");
		return true;
	case ACTION_DIFF_TURN:
		show(ui, turn_start(ui), "in this turn", "Nothing says where this turn began.");
		return true;
	case ACTION_DIFF_MARK:
		if (ui->mark)
			show(ui, mark_start(ui), "from the marked step on",
			     "Nothing from the marked step on is in effect.");
		else
			ui_say(ui, "No step is marked: m in the list of steps marks one.");
		return true;
	default:
		return false;
	}
}
