/* replay_keys - the actions of a replay. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "core/record/recording_time.h"
#include "tui/console/replay/replay.h"

#define LITTLE_US 5000000
#define MUCH_US	  60000000

/* Updates the ui after a change of position, which may have replaced terminal and model. */
void replay_news(struct ui *ui)
{
	ui->spec.term = replay_term(ui->spec.replay);
	ui_changed(ui);
}

static void by(struct ui *ui, int64_t us)
{
	struct replay *r = ui->spec.replay;

	replay_seek(r, replay_position(r) + us, ui->now_us);
}

static void to_mark(struct ui *ui, enum mark_kind kind, bool next)
{
	static const char *const names[MARK_KINDS + 1] = {
		[MARK_STEP] = "step",	      [MARK_TURN] = "turn",  [MARK_APPROVAL] = "approval",
		[MARK_EDIT] = "edit outside", [MARK_OTHER] = "mark", [MARK_KINDS] = "mark"};
	const struct mark *m = replay_to_mark(ui->spec.replay, kind, next, ui->now_us);
	char words[128];

	if (!m) {
		ui_say(ui, "There is no %s %s.", names[kind], next ? "after this" : "before this");
		return;
	}
	text_escape_into(words, sizeof(words), m->words, strlen(m->words));
	ui_say(ui, "%s", words);
}

static void speed(struct ui *ui, double factor)
{
	struct replay *r = ui->spec.replay;

	replay_set_speed(r, factor > 0 ? replay_speed(r) * factor : 1, ui->now_us);
	ui_say(ui, "Speed: x%g", replay_speed(r));
}

static void idle(struct ui *ui)
{
	struct replay *r = ui->spec.replay;
	bool on = replay_idle(r) == 0;

	replay_set_idle(r, on ? RECORDING_IDLE_US : 0, ui->now_us);
	ui_say(ui, on ? "Pauses are cut to two seconds." : "Pauses are as long as they were.");
}

static bool seek(struct ui *ui, enum action a)
{
	struct replay *r = ui->spec.replay;
	static const struct {
		enum action action;
		enum mark_kind kind;
		bool next;
	} marks[] = {
		{ACTION_NEXT_MARK, MARK_KINDS, true},
		{ACTION_PREV_MARK, MARK_KINDS, false},
		{ACTION_NEXT_STEP, MARK_STEP, true},
		{ACTION_PREV_STEP, MARK_STEP, false},
		{ACTION_NEXT_TURN, MARK_TURN, true},
		{ACTION_PREV_TURN, MARK_TURN, false},
		{ACTION_NEXT_APPROVAL, MARK_APPROVAL, true},
		{ACTION_PREV_APPROVAL, MARK_APPROVAL, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		if (marks[i].action != a)
			continue;
		to_mark(ui, marks[i].kind, marks[i].next);
		return true;
	}
	switch ((int)a) {
	case ACTION_SEEK_FORWARD:
		by(ui, LITTLE_US);
		return true;
	case ACTION_SEEK_BACK:
		by(ui, -LITTLE_US);
		return true;
	case ACTION_SEEK_FAR_FORWARD:
		by(ui, MUCH_US);
		return true;
	case ACTION_SEEK_FAR_BACK:
		by(ui, -MUCH_US);
		return true;
	case ACTION_SEEK_START:
		replay_seek(r, 0, ui->now_us);
		return true;
	case ACTION_SEEK_END:
		replay_seek(r, INT64_MAX, ui->now_us);
		return true;
	case ACTION_NEXT_FRAME:
	case ACTION_PREV_FRAME:
		replay_frame(r, a == ACTION_NEXT_FRAME, ui->now_us);
		return true;
	default:
		return false;
	}
}

static bool change(struct ui *ui, enum action a)
{
	struct replay *r = ui->spec.replay;

	switch ((int)a) {
	case ACTION_PAUSE:
		replay_play(r, !replay_playing(r), ui->now_us);
		return true;
	case ACTION_FASTER:
		speed(ui, 2);
		return true;
	case ACTION_SLOWER:
		speed(ui, 0.5);
		return true;
	case ACTION_NORMAL_SPEED:
		speed(ui, 0);
		return true;
	case ACTION_IDLE_LIMIT:
		idle(ui);
		return true;
	case ACTION_SEEK_TIME:
		ui->prompt = (struct prompt){
			.active = true, .what = QUERY_TIME, .view = ui->panes[PANE_TERMINAL]};
		return true;
	case ACTION_SEARCH_NEXT:
	case ACTION_SEARCH_PREV:
		if (ui_top(ui)->ops->place != PLACE_REPLAY)
			return false;
		replay_find(r, NULL, a == ACTION_SEARCH_NEXT);
		return true;
	default:
		return false;
	}
}

bool replay_act(struct ui *ui, enum action a)
{
	bool done = seek(ui, a) || change(ui, a);

	if (done)
		replay_news(ui);
	return done;
}

void replay_prompt(struct ui *ui, enum query what, const char *text)
{
	struct replay *r = ui->spec.replay;
	int64_t t;

	if (what == QUERY_SEARCH && *text)
		replay_find(r, text, true);
	if (what != QUERY_TIME)
		return;
	t = recording_time(replay_recording(r), text);
	if (t < 0)
		ui_say(ui, "'%s' is no time: 1:02:03, 90 (seconds) or 50%%.", text);
	else
		replay_seek(r, t, ui->now_us);
	replay_news(ui);
}
