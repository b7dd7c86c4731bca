/* test_ui - from keys to verbs: which keys ask, which answer, and which must not answer. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/keeper/wire.h"
#include "core/session/answers/answers.h"
#include "tests/screen/scene.h"
#include "tests/support/check.h"

static void paste(struct scene *s, const char *text)
{
	struct event ev = {.type = EVENT_PASTE, .paste_begins = true, .paste_ends = true};

	ev.paste = (struct span){text, strlen(text)};
	ui_event(s->ui, &ev, s->now_us += 1000);
}

TEST(only_the_prefix_is_taken_from_the_agent)
{
	struct scene *s = *state;

	scene_keys(s, "q u a ? / Tab Esc F1 C-z C-c");
	assert_string_equal(s->to_agent.data, "qua?/\t\033\033OP\032\003");
	buf_clear(&s->to_agent);
	scene_keys(s, "C-] C-] x");
	assert_string_equal(s->to_agent.data, "\035x");
	assert_string_equal(s->said.data, "");
}

TEST(an_ask_never_takes_the_keys)
{
	struct scene *s = *state;

	scene_keys(s, "h e l l");
	scene_ask(s, 7, "/home/u/project/.envrc");
	assert_true(scene_shows(s, "? ASK write .envrc"));
	scene_wait(s, 2000);
	scene_keys(s, "o a d A t Enter");
	assert_string_equal(s->to_agent.data, "helloadAt\r");
	assert_string_equal(s->said.data, "bell\nline\n");
}

TEST(answers_wait_until_they_were_readable)
{
	struct scene *s = *state;

	scene_ask(s, 7, "/home/u/project/.envrc");
	buf_clear(&s->said);
	scene_keys(s, "C-] a a"); /* typed ahead */
	scene_wait(s, 300);
	scene_keys(s, "a"); /* too early again, so the wait begins anew */
	scene_wait(s, 300);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
	scene_wait(s, 600);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "allow 7 once exact\n");
}

TEST(the_next_request_is_armed_anew)
{
	struct scene *s = *state;

	scene_ask(s, 7, "/home/u/project/.envrc");
	scene_ask(s, 8, "/home/u/project/.git/config");
	buf_clear(&s->said);
	scene_keys(s, "C-] a");
	scene_wait(s, 600);
	scene_keys(s, "d d d");
	assert_string_equal(s->said.data, "deny 7 once exact\n");
	scene_wait(s, 600);
	scene_keys(s, "n p");
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "deny 7 once exact\n");
}

/* The process of the shown request dies and another request takes its place: that one was not
 * read. */
TEST(a_request_that_goes_takes_its_arming_along)
{
	struct scene *s = *state;

	scene_ask(s, 7, "/home/u/project/.envrc");
	scene_ask(s, 8, "/home/u/project/.git/config");
	buf_clear(&s->said);
	scene_keys(s, "C-] a");
	scene_wait(s, 600);
	model_remove_ask(&s->model, 7);
	ui_changed(s->ui);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
	scene_wait(s, 600);
	scene_keys(s, "s s a");
	assert_string_equal(s->said.data, "allow 8 session exact\n");
	assert_int_equal(s->ui->n_popups, 0);
}

TEST(a_held_step_is_answered_like_a_request)
{
	struct scene *s = *state;

	scene_held(s, 7, LOSS_DELETE);
	scene_held(s, 8, LOSS_DELETE);
	scene_held(s, 9, LOSS_DELETE);
	buf_clear(&s->said);
	assert_true(scene_shows(s, "? HELD 1 of 3 delete rm -rf many"));
	scene_keys(s, "C-] a a d");
	scene_wait(s, 600);
	scene_keys(s, "Enter Space y s e t A p D");
	scene_wait(s, 600);
	assert_string_equal(s->said.data, "");
	scene_keys(s, "a"); /* not after a d that came too early */
	assert_string_equal(s->said.data, "");
	scene_keys(s, "a");
	scene_wait(s, 600);
	scene_keys(s, "A c");
	scene_wait(s, 600);
	scene_keys(s, "d");
	assert_string_equal(s->said.data,
			    "allow 7 once exact\nallow 8 session exact\ndeny 9 once exact\n");
}

/* The agent's own changes have no command line that could be remembered. */
TEST(what_cannot_be_remembered_is_not)
{
	struct scene *s = *state;

	scene_held(s, 7, LOSS_REPLACE);
	buf_clear(&s->said);
	scene_keys(s, "C-] a");
	scene_wait(s, 600);
	assert_false(scene_shows(s, "this command line"));
	scene_keys(s, "A c");
	assert_string_equal(s->said.data, "");
}

/* More of its calls wait: the numbers change, but the dialog stays armed. */
TEST(news_of_a_held_step_are_shown)
{
	struct scene *s = *state;
	struct guard_report *r;

	scene_held(s, 7, LOSS_DELETE);
	buf_clear(&s->said);
	scene_keys(s, "C-] a");
	scene_wait(s, 600);
	scene_keys(s, "i");
	scene_wait(s, 600);
	r = guard_report_copy(s->model.asks[0].held);
	r->held = 77;
	assert_false(model_set_held(&s->model, r));
	guard_report_free(r);
	ui_changed(s->ui);
	assert_true(scene_shows(s, "77 calls"));
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "allow 7 once exact\n");
}

TEST(a_step_that_was_stopped_is_told)
{
	struct scene *s = *state;

	scene_draw(s);
	s->model.stopped = xstrdup("'rm\033[2J' was stopped and rolled back");
	s->model.n_stopped++;
	ui_changed(s->ui);
	assert_true(scene_shows(s, "x 'rm\\x1b[2J' was stopped and rolled back"));
}

TEST(reflexes_answer_nothing)
{
	struct scene *s = *state;

	scene_ask(s, 7, "/home/u/project/.envrc");
	buf_clear(&s->said);
	scene_keys(s, "C-] a");
	scene_wait(s, 600);
	scene_keys(s, "Enter Space y Y C-j");
	paste(s, "a A t d\r");
	ui_event(s->ui,
		 &(struct event){.type = EVENT_MOUSE,
				 .mouse = {.action = MOUSE_PRESS, .button = 1, .x = 20, .y = 36}},
		 s->now_us);
	assert_string_equal(s->said.data, "");
	scene_keys(s, "Esc");
	assert_int_equal(s->model.n_asks, 1);
	assert_int_equal(s->ui->n_popups, 0);
}

TEST(undo_shows_a_plan_first)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s k k u");
	assert_string_equal(s->said.data, "plan 0 2\n");
	scene_keys(s, "U");
	assert_true(scene_shows(s, "The plan is still being worked out"));
	scene_plan(s, false);
	scene_keys(s, "U"); /* it has not been on the screen yet */
	scene_draw(s);
	scene_keys(s, "Enter Space y");
	assert_string_equal(s->said.data, "plan 0 2\n");
	scene_keys(s, "U");
	assert_string_equal(s->said.data, "plan 0 2\nundo 0 2\n");
	assert_true(scene_shows(s, "200 of 500"));
	scene_keys(s, "q Esc c");
	assert_string_equal(s->said.data, "plan 0 2\nundo 0 2\ncancel\n");
	s->model.job.active = false;
	s->model.job.result = -125;
	ui_changed(s->ui);
	assert_true(scene_shows(s, "everything is as it was"));
	assert_int_equal(s->ui->n_popups, 0);
}

/* A confirmation that would change nothing is not offered: the key of the other places comes
 * first. */
TEST(a_step_elsewhere_offers_the_other_places)
{
	struct scene *s = *state;
	struct undo_plan *p;

	scene_keys(s, "C-] s k k u");
	scene_plan(s, false);
	p = s->model.plan;
	for (size_t i = 0; i < p->n_entries; i++) {
		p->entries[i].root = 1;
		p->entries[i].fate = FATE_KEPT;
	}
	p->n_ids = 1;
	ui_changed(s->ui);
	scene_wait(s, 600);
	assert_true(scene_shows(s,
				"This step changed nothing in the project, only files elsewhere: P "
				"undoes those"));
	assert_true(scene_shows(s, "P other places too   q cancel"));
	assert_false(scene_shows(s, "U do it"));
	assert_false(scene_shows(s, "Rolls back"));
	buf_clear(&s->said);
	scene_keys(s, "U F");
	assert_string_equal(s->said.data, "");
	assert_int_equal(s->ui->n_popups, 1);
	p->entries[0].root = 0; /* it has an entry in the folder itself */
	p->entries[0].fate = FATE_STOPS;
	ui_changed(s->ui);
	scene_draw(s);
	assert_true(scene_shows(s, "Rolls back step 4: 1 path; 4 outside the folder stay"));
	assert_false(scene_shows(s, "  outside the folder")); /* not one row each */
	scene_keys(s, "U");
	assert_string_equal(s->said.data, "undo 0 2\n");
}

TEST(what_runs_outside_every_command_has_no_number)
{
	struct scene *s = *state;
	struct step_row *st = model_step(&s->model, -1);

	model_step(&s->model, 5)->running = false;
	st->running = true;
	free(st->command);
	st->command = xstrdup("bash: edit ~/hello");
	ui_changed(s->ui);
	scene_draw(s);
	assert_true(scene_shows(s, " > bash: edit ~/hello "));
	assert_false(scene_shows(s, "step -1"));
}

TEST(conflicts_need_their_own_key)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s k k u");
	scene_plan(s, true);
	scene_wait(s, 600);
	buf_clear(&s->said);
	assert_true(scene_shows(
		s, "K keep mine   M merge   then U   F overwrite (redo has mine)   q cancel"));
	assert_false(scene_shows(s, "U do it")); /* the bar offers no key that is refused */
	scene_keys(s, "U");
	assert_string_equal(s->said.data, "");
	assert_true(scene_shows(
		s, "1 path changed since: K keeps the edits or M merges them, then U."));
	scene_wait(s, 600);
	scene_keys(s, "F");
	assert_string_equal(s->said.data, "undo 0 2 force\n");
}

TEST(a_step_is_undone_alone)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s k k u");
	scene_plan(s, false);
	scene_wait(s, 600);
	assert_true(scene_shows(s, "Step 3 alone: o"));
	buf_clear(&s->said);
	scene_keys(s, "o");
	assert_string_equal(s->said.data, "restore plan 3 \n");
	scene_keys(s, "U"); /* without a plan */
	assert_string_equal(s->said.data, "restore plan 3 \n");
	scene_plan(s, false);
	scene_wait(s, 600);
	assert_true(scene_shows(s, "undo: step 3 alone"));
	assert_true(scene_shows(s, "Undoes step 3 alone, as a new step: 5 paths"));
	assert_false(scene_shows(s, "alone: o"));
	buf_clear(&s->said);
	scene_keys(s, "o");
	assert_true(scene_shows(s, "There is no newer step that could stay."));
	scene_keys(s, "U");
	assert_string_equal(s->said.data, "restore 3 \n");
}

/* One step creates a file and the next one removes it: a redo restores both, although no file
 * differs. */
TEST(steps_that_cancel_out_are_redone_all_the_same)
{
	struct scene *s = *state;
	struct undo_plan *p;
	size_t n;

	scene_keys(s, "C-] s r");
	scene_plan(s, false);
	p = s->model.plan;
	n = p->n_entries;
	p->n_entries = p->n_paths = 0;
	ui_changed(s->ui);
	scene_wait(s, 600);
	assert_true(scene_shows(s, "Brings back 2 steps (4, 3): 0 paths"));
	assert_true(scene_shows(s, "No file would change."));
	assert_false(scene_shows(s, "nothing to redo"));
	assert_true(scene_shows(s, "U do it"));
	p->n_entries = p->n_paths = n; /* so that all are freed */
}

/* The step went on unprotected: no external edit was made, and there is none to keep. */
TEST(what_is_not_kept_is_nobodys_edit)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s k k u");
	scene_plan(s, true);
	s->model.plan->entries[4].lost = true;
	ui_changed(s->ui);
	scene_wait(s, 600);
	assert_true(scene_shows(s, "! 1 not kept: listed first"));
	assert_true(scene_shows(s, "README.md  not kept: stays"));
	assert_true(scene_shows(s, "F bring back the rest   q cancel"));
	assert_false(scene_shows(s, "another program"));
	assert_false(scene_shows(s, "keep mine   M"));
	buf_clear(&s->said);
	scene_keys(s, "U K M");
	assert_string_equal(s->said.data, "");
	assert_true(scene_shows(s, "Nobody else changed anything here"));
	s->model.plan->n_conflicts = s->model.plan->n_stops = 2;
	s->model.plan->entries[0].conflict = true;
	scene_draw(s);
	assert_true(scene_shows(s, "! 1 edited since by you or another program, 1 not kept"));
	assert_true(scene_shows(s, "K keep mine   M merge"));
	s->model.plan->entries[0].beside = true;
	scene_draw(s);
	assert_true(scene_shows(s, "! 1 changed by a step beside it, 1 not kept"));
	s->model.plan->entries[0].beside = false;
	s->model.plan->entries[0].linked = true;
	scene_draw(s);
	assert_true(scene_shows(s, "changed since by another name"));
	scene_keys(s, "F");
	assert_string_equal(s->said.data, "undo 0 2 force\n");
}

TEST(what_was_edited_can_be_kept_or_merged)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s k k u");
	scene_plan(s, true);
	scene_wait(s, 600);
	buf_clear(&s->said);
	scene_keys(s, "M");
	assert_string_equal(s->said.data, "plan 0 2 keep merge\n");
	scene_keys(s, "U"); /* its plan has not come yet */
	assert_string_equal(s->said.data, "plan 0 2 keep merge\n");
	scene_plan(s, true);
	s->model.plan->n_stops = 0;
	s->model.plan->entries[4].fate = FATE_MERGED;
	ui_changed(s->ui);
	scene_draw(s);
	assert_true(scene_shows(s, "README.md  merged"));
	assert_true(scene_shows(s, "U do it   K keep mine   M merge   q cancel"));
	scene_wait(s, 10000); /* the message has gone, the bar is back */
	assert_true(scene_shows(s, "U do it   K keep mine   M merge   q back"));
	scene_keys(s, "U"); /* the result must be read first, and the key is again the other one */
	assert_true(scene_shows(s, "what the merge will write"));
	scene_keys(s, "Enter Space y");
	assert_string_equal(s->said.data, "plan 0 2 keep merge\n");
	scene_keys(s, "U");
	assert_string_equal(s->said.data, "plan 0 2 keep merge\nundo 0 2 keep merge\n");
}

/* After another step has ended, "the newest 2" means other steps: a new plan must be read. */
TEST(a_new_step_makes_a_new_plan)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s k k u");
	scene_plan(s, false);
	scene_wait(s, 600);
	model_step(&s->model, 5)->running = false;
	ui_changed(s->ui);
	scene_keys(s, "U");
	assert_string_equal(s->said.data, "plan 0 2\nplan 0 3\n");
	scene_plan(s, false);
	scene_wait(s, 600);
	scene_keys(s, "U");
	assert_string_equal(s->said.data, "plan 0 2\nplan 0 3\nundo 0 3\n");
}

TEST(what_is_undone_is_not_planned)
{
	struct scene *s = *state;

	model_step(&s->model, 4)->undone = true;
	scene_keys(s, "C-] s k u");
	assert_true(scene_shows(s, "is undone already: redo brings it back"));
	model_end_redo(&s->model);
	scene_keys(s, "u");
	assert_true(scene_shows(s, "is undone already, and no redo brings it back"));
	model_step(&s->model, 3)->gone = true;
	scene_keys(s, "k u");
	assert_true(scene_shows(s, "Step 3 can no longer be undone"));
	assert_true(scene_shows(s, "- too old"));
	assert_string_equal(s->said.data, "");
}

TEST(what_runs_is_stopped_first)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s u");
	assert_string_equal(s->said.data, "plan 0 1\n");
	scene_refuse_plan(s, -EBUSY, "'make \033[2J' (process 4711) is still running");
	assert_true(scene_shows(s, "'make \\x1b[2J' (process 4711) is still running"));
	scene_keys(s, "S"); /* typed before the text could be read */
	assert_string_equal(s->said.data, "plan 0 1\n");
	scene_wait(s, 600);
	scene_keys(s, "Enter Space y U");
	assert_string_equal(s->said.data, "plan 0 1\n");
	scene_wait(s, 600);
	scene_keys(s, "S S");
	assert_string_equal(s->said.data, "plan 0 1\nstop\n");
	assert_true(scene_shows(s, "Stopping it"));
	model_step(&s->model, 5)->running = false;
	ui_changed(s->ui);
	assert_string_equal(s->said.data, "plan 0 1\nstop\nplan 0 1\n");
	scene_plan(s, false);
	assert_true(scene_shows(s, "Rolls back"));
	scene_keys(s, "U");
	assert_string_equal(s->said.data, "plan 0 1\nstop\nplan 0 1\nundo 0 1\n");
}

TEST(what_runs_may_go_on)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s u");
	scene_refuse_plan(s, -EBUSY, "it runs");
	scene_wait(s, 600);
	scene_keys(s, "Esc");
	assert_string_equal(s->said.data, "plan 0 1\n");
	assert_int_equal(s->ui->n_popups, 0);
	scene_keys(s, "u");
	scene_refuse_plan(s, -EIO, "a disk");
	assert_int_equal(s->ui->n_popups, 0);
	assert_true(scene_shows(s, "a disk"));
}

TEST(leaving_asks_while_the_agent_runs)
{
	struct scene *s = *state;

	scene_keys(s, "C-] q");
	assert_string_equal(s->said.data, "");
	scene_keys(s, "Esc");
	scene_keys(s, "C-] q Q");
	assert_string_equal(s->said.data, "leave\n");
	scene_keys(s, "Esc");
	buf_clear(&s->said);
	s->model.exited = true;
	ui_changed(s->ui);
	scene_keys(s, "C-] s q"); /* closes only the top popup */
	assert_string_equal(s->said.data, "");
	scene_keys(s, "C-] q");
	assert_string_equal(s->said.data, "leave\n");
}

/* A window without room for a view still has room to leave, whatever is open. */
TEST(a_tiny_window_can_be_left)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s");
	surface_resize(&s->surface, 20, 5);
	ui_resize(s->ui, 20, 5);
	scene_keys(s, "q u"); /* the list is not visible */
	assert_string_equal(s->said.data, "");
	scene_keys(s, "C-] q");
	assert_true(scene_shows(s, "Q   end it and"));
	assert_true(scene_shows(s, "d   let it go on"));
	assert_true(scene_shows(s, "Esc stay"));
	scene_keys(s, "Esc");
	assert_true(scene_shows(s, "needs 30x8"));
	scene_keys(s, "C-] t C-] q Q");
	assert_string_equal(s->said.data, "leave\n");
}

/* The user is typing a word with a q in it when the agent ends. */
TEST(the_end_does_not_catch_the_keys)
{
	struct scene *s = *state;

	scene_keys(s, "e");
	s->model.exited = true;
	ui_changed(s->ui);
	scene_wait(s, 100);
	scene_keys(s, "q u i t");
	scene_wait(s, 300);
	assert_string_equal(s->said.data, "");
	assert_false(scene_shows(s, "ended"));
	scene_wait(s, 300);
	assert_true(scene_shows(s, "+ ended with 0"));
	assert_true(scene_shows(s, "C-] q quits"));
	scene_wait(s, 60000);
	assert_false(scene_shows(s, "C-] q quits")); /* the message goes, its keys stay */
	assert_true(scene_shows(s, "C-] q quit   C-] R restart"));
	scene_keys(s, "C-] t C-] q"); /* whichever view has the keys */
	assert_string_equal(s->said.data, "leave\n");
}

/* A question under the help page was not being read: it is armed anew when it is visible again. */
TEST(what_was_covered_must_be_read_again)
{
	struct scene *s = *state;

	scene_ask(s, 7, "/home/u/project/.envrc");
	scene_keys(s, "C-] a");
	scene_wait(s, 600);
	scene_keys(s, "?");
	scene_wait(s, 600);
	buf_clear(&s->said);
	scene_keys(s, "Esc");
	scene_draw(s);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
	ui_resize(s->ui, 20, 5);
	scene_wait(s, 600);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
}

/* The description of a key can be read completely on any screen. */
TEST(help_is_not_cut)
{
	static const int widths[] = {30, 40, 120};
	struct scene *s = *state;

	scene_keys(s, "C-] l ?");
	assert_true(scene_shows(s, "Filter") || scene_shows(s, "Show only lines"));
	for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
		bool seen = false;

		ui_resize(s->ui, widths[i], 10);
		surface_resize(&s->surface, widths[i], 10);
		scene_keys(s, "Home");
		for (int row = 0; row < 300 && !seen; row++) {
			seen = scene_shows(s, "agent)"); /* the end of the help about quitting */
			scene_keys(s, "Down");
		}
		assert_true(seen);
	}
}

/* The help lists only keys with an effect, and none that the place gives to another action. */
TEST(help_lists_what_holds)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s ?");
	assert_false(scene_shows(s, "Scroll left"));
	assert_true(scene_shows(s, "Show only lines"));
	scene_keys(s, "Esc");
	scene_keys(s, "u");
	scene_plan(s, false);
	scene_keys(s, "?");
	assert_false(scene_shows(s, "Search; the list moves"));
	assert_false(scene_shows(s, "Show only lines"));
	scene_keys(s, "Esc Esc ?");
	scene_keys(s, "Esc");
	scene_ask(s, 7, "/home/u/project/.envrc");
	scene_keys(s, "C-] a ?");
	assert_true(scene_shows(s, "Allow it: as long"));
	assert_false(scene_shows(s, "One line down"));
	assert_false(scene_shows(s, "a, C-] a")); /* here a allows */
}

/* The next page shows new text, and how much is left. */
TEST(help_has_pages)
{
	struct scene *s = *state;

	ui_resize(s->ui, 80, 14);
	surface_resize(&s->surface, 80, 14);
	scene_keys(s, "C-] l ?");
	assert_true(scene_shows(s, "more below"));
	assert_true(scene_shows(s, "Show all facts about this row"));
	scene_keys(s, "PageDown");
	assert_false(scene_shows(s, "Show all facts about this row"));
	for (int i = 0; i < 10; i++)
		scene_keys(s, "PageDown");
	assert_false(scene_shows(s, "more below"));
}

/* Without a filter, letters that are typed next run no commands. */
TEST(a_filter_that_is_not_there_runs_nothing)
{
	struct scene *s = *state;

	scene_keys(s, "C-] V & q u r l x 3 Enter");
	assert_int_equal(s->ui->n_popups, 1);
	assert_string_equal(s->said.data, "");
	scene_keys(s, "/ q Esc q");
	assert_int_equal(s->ui->n_popups, 0);
}

/* A message never hides a request. */
TEST(a_message_leaves_the_request_alone)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s x");
	ui_say(s->ui, "something happened");
	scene_ask(s, 7, "/home/u/project/.envrc");
	assert_true(scene_shows(s, "? ASK write .envrc"));
	assert_true(scene_shows(s, "something happened"));
}

static uint32_t background(struct scene *s, const char *words, uint32_t *fg)
{
	for (int y = 0; y < s->surface.h; y++) {
		for (int x = 0; x + (int)strlen(words) <= s->surface.w; x++) {
			size_t n = 0;

			while (words[n] &&
			       surface_cell(&s->surface, x + (int)n, y)->text[0] == words[n])
				n++;
			if (words[n])
				continue;
			if (fg)
				*fg = surface_cell(&s->surface, x, y)->style.fg;
			return surface_cell(&s->surface, x, y)->style.bg;
		}
	}
	return 0;
}

TEST(what_was_found_is_marked)
{
	struct scene *s = *state;
	struct style st;

	scene_keys(s, "C-] l / h o s t s Enter");
	scene_draw(s);
	st = surface_role(&s->surface, ROLE_MATCH);
	assert_int_equal(background(s, "hosts", NULL), st.bg);
	assert_int_not_equal(background(s, "/etc/", NULL), st.bg);
}

/* A refusal may be why the agent failed; without one the network is named. */
TEST(an_agent_that_failed_names_the_refusal)
{
	struct scene *s = *state;

	model_add_row(&s->model, ROW_DENY, 3, 12, -13, "mkdir", "/home/u/.codex/daemon", "no");
	s->model.exited = true;
	s->model.wait_status = 1 << 8;
	ui_changed(s->ui);
	scene_wait(s, 600);
	assert_true(scene_shows(
		s, "claude ended with 1 (C-] q quits, C-] R restarts); cordon refused last: "
		   "mkdir ~/.codex/daemon"));
	assert_false(scene_shows(s, "allow-network"));
}

/* A refusal that the profile intends is not the reason. */
TEST(an_agent_that_failed_names_no_refusal_of_its_profile)
{
	struct scene *s = *state;

	model_add_row(&s->model, ROW_DENY, 3, 12, -13, "mkdir", "/home/u/.local", "no");
	model_add_row(&s->model, ROW_DENY, 3, 12, -13, "mkdir", "/home/u/.codex/daemon", "no")
		->expected = true;
	s->model.exited = true;
	s->model.wait_status = 1 << 8;
	ui_changed(s->ui);
	scene_wait(s, 600);
	assert_true(scene_shows(s, "cordon refused last: mkdir ~/.local"));
	assert_true(scene_shows(s, "x DENY mkdir ~/.local"));
	assert_true(scene_shows(s, "- refused mkdir ~/.codex/daemon"));
}

/* It is tried again in each step. */
TEST(refusals_of_a_profile_are_one_row)
{
	struct scene *s = *state;

	for (int i = 0; i < 6; i++)
		model_add_row(&s->model, ROW_DENY, i, 12, -13, "write",
			      i % 2 ? "/home/u/kept/a" : "/home/u/kept/b", "no")
			->expected = true;
	ui_changed(s->ui);
	scene_wait(s, 600);
	assert_true(scene_shows(s, "- refused write ~/kept: 2 names"));
}

TEST(steps_count_files)
{
	struct scene *s = *state;
	struct step_info info[] = {{.id = 1, .created = 1, .deleted = 2, .modified = 3},
				   {.id = 2, .deleted = 1}};

	model_set_counts(&s->model, info, 2);
	ui_changed(s->ui);
	assert_true(scene_shows(s, "  6 files"));
	assert_true(scene_shows(s, "  1 file"));
}

TEST(questions_are_words)
{
	static const char *const t[][2] = {{"exec", "run"},
					   {"mkdirat", "create the folder"},
					   {"utimensat", "set the times of"},
					   {"fchmodat", "change the mode of"},
					   {"openat", "write"},
					   {"unlinkat", "delete"},
					   {"connect", "connect to"}};

	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		assert_string_equal(answers_wish(t[i][0]), t[i][1]);
}

TEST(filters_narrow_and_escape_clears)
{
	struct scene *s = *state;

	scene_keys(s, "C-] l & k i n d : d e n y Enter");
	assert_true(scene_shows(s, "filter: kind:deny (1)"));
	assert_false(scene_shows(s, "src/a.tmp"));
	scene_keys(s, "Esc");
	assert_true(scene_shows(s, "src/a.tmp"));
	scene_keys(s, "& ! s r c Enter");
	assert_false(scene_shows(s, "src/a.tmp"));
	assert_true(scene_shows(s, "/etc/hosts"));
}

TEST(search_moves_and_says_when_it_cannot)
{
	struct scene *s = *state;

	scene_keys(s, "C-] l / h o s t s Enter");
	assert_true(scene_shows(s, "4 of 8"));
	scene_keys(s, "/ z z z");
	assert_int_equal(s->ui->prompt.active, true);
	scene_keys(s, "Esc");
	assert_int_equal(s->ui->prompt.active, false);
}

/* Twenty thousand rows go through the ring: the filter keeps up, and no index leads to a dropped
 * row. */
TEST(the_ring_turns_under_a_filter)
{
	struct scene *s = *state;

	scene_keys(s, "C-] l & p a t h 7 Enter");
	for (int i = 0; i < MODEL_ROWS + 5000; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/home/u/project/path%d", i);
		model_add_row(&s->model, ROW_TOUCH, 5, 1, 0, "write", path, NULL);
		if (i % 1000 == 0) {
			ui_changed(s->ui);
			scene_draw(s);
		}
	}
	ui_changed(s->ui);
	assert_true(scene_shows(s, "path7"));
	scene_keys(s, "g Esc k k g G");
	scene_draw(s);
}

TEST(the_agent_cannot_draw_on_the_bottom_rows)
{
	struct scene *s = *state;
	const char *evil =
		"\033[999;1H\033[41m? ASK fake\r\n\n\n\033[?1049h\033[99;99Hx\033]0;t\007";

	scene_ask(s, 7, "/home/u/project/.envrc");
	term_feed(s->term, evil, strlen(evil));
	scene_draw(s);
	for (int y = 38; y < 40; y++) {
		for (int x = 0; x < 120; x++)
			assert_int_not_equal(surface_cell(&s->surface, x, y)->style.bg,
					     COLOR_INDEX(1));
	}
	assert_true(scene_shows(s, "? ASK write .envrc"));
}

TEST(scrolled_back_keys_are_cordons)
{
	struct scene *s = *state;

	for (int i = 0; i < 200; i++) {
		char line[32];

		term_feed(s->term, line, (size_t)snprintf(line, sizeof(line), "line %d\r\n", i));
	}
	scene_keys(s, "C-] [ PageUp");
	assert_true(scene_shows(s, "lines back"));
	scene_keys(s, "/ l i n e Space 1 2 Enter n");
	assert_true(scene_shows(s, "match "));
	assert_string_equal(s->to_agent.data, "");
	scene_keys(s, "Esc x");
	assert_string_equal(s->to_agent.data, "x");
}

/* Its target is shown before; only web and mail addresses are opened. */
TEST(a_link_is_opened_by_a_key_alone)
{
	static const char text[] = "see \033]8;;https://example.org/a\033\\this\033]8;;\033\\ or "
				   "\033]8;;file:///etc/passwd\033\\that\033]8;;\033\\\r\n";
	struct scene *s = *state;

	term_feed(s->term, text, sizeof(text) - 1);
	buf_clear(&s->said);
	scene_keys(s, "C-] [ k 0 Enter");
	assert_true(scene_shows(s, "There is no link here."));
	scene_keys(s, "w w");
	assert_true(scene_shows(s, "leads to https://example.org/a"));
	assert_string_equal(s->said.data, "");
	scene_keys(s, "Enter");
	assert_string_equal(s->said.data, "open https://example.org/a\n");
	buf_clear(&s->said);
	scene_keys(s, "w w Enter");
	assert_string_equal(s->said.data, "copy 'file:///etc/passwd'\n");
	assert_true(scene_shows(s, "only web and mail addresses are opened"));
}

TEST(nothing_blinks_where_motion_is_off)
{
	struct scene *s = *state;
	struct rect r = s->ui->layout.pane[PANE_TERMINAL];

	term_feed(s->term, "\033[2J\033[H\033[5;1mx", 14);
	scene_draw(s);
	assert_true(surface_cell(&s->surface, r.x, r.y)->style.attr & STYLE_BLINK);
	s->ui->spec.still = true;
	scene_draw(s);
	assert_int_equal(surface_cell(&s->surface, r.x, r.y)->style.attr, STYLE_BOLD);
}

TEST(copy_mode_selects_and_copies)
{
	struct scene *s = *state;

	for (int i = 0; i < 200; i++) {
		char line[48];

		term_feed(s->term, line,
			  (size_t)snprintf(line, sizeof(line), "line %d has-some words\r\n", i));
	}
	/* The cursor begins at the agent's, below the last line. */
	buf_clear(&s->said);
	scene_keys(s, "C-] [ k w w v e y");
	assert_string_equal(s->said.data, "copy 'has'\n");
	assert_true(scene_shows(s, "Copied 3 bytes."));
	/* Copy mode is over: keys go to the agent. */
	scene_keys(s, "x");
	assert_string_equal(s->to_agent.data, "x");
	buf_clear(&s->said);
	scene_keys(s, "C-] [ k V k y");
	assert_string_equal(s->said.data,
			    "copy 'line 198 has-some words\nline 199 has-some words\n'\n");
	buf_clear(&s->said);
	scene_keys(s, "C-] [ k k 0 C-v j l l l y");
	assert_string_equal(s->said.data, "copy 'line\nline'\n");
	/* Without a selection it copies the line; a search moves the cursor to the text. */
	buf_clear(&s->said);
	scene_keys(s, "C-] [ / l i n e Space 1 2 Space Enter y");
	assert_string_equal(s->said.data, "copy 'line 12 has-some words\n'\n");
	/* Esc ends the selection, then copy mode. */
	buf_clear(&s->said);
	buf_clear(&s->to_agent);
	scene_keys(s, "C-] [ v Esc k $ b b v ^ y");
	assert_string_equal(s->said.data, "copy 'line 199 has-s'\n");
	assert_string_equal(s->to_agent.data, "");
}

TEST(the_agent_asks_for_the_clipboard)
{
	struct scene *s = *state;

	clipboard_request(s->ui, "rm -rf \033 x", 10, s->now_us);
	assert_true(scene_shows(
		s,
		"wants to put 10 characters into your clipboard (C-] y lets it): \"rm -rf \\x1b"));
	/* A later text is not the one that was shown; and a key pressed by reflex does not
	 * count. */
	clipboard_request(s->ui, "something else", 14, s->now_us);
	buf_clear(&s->said);
	scene_keys(s, "C-] y");
	assert_null(strstr(s->said.data, "copy"));
	s->now_us += UI_ARM_US;
	scene_keys(s, "C-] y");
	assert_non_null(strstr(s->said.data, "copy 'rm -rf \033 x'"));
	buf_clear(&s->said);
	scene_keys(s, "C-] y");
	assert_true(scene_shows(s, "Nothing asks for your clipboard."));
	assert_null(strstr(s->said.data, "copy"));
	assert_string_equal(s->to_agent.data, "");
}

TEST_WITH(layouts_keep_to_their_sizes, NULL, NULL)
{
	for (int w = LAYOUT_MIN_W; w < 220; w++) {
		for (int h = LAYOUT_MIN_H; h < 70; h++) {
			struct layout l = layout_compute(w, h, PANE_STEPS, false, NULL);
			int area = 0;

			for (int p = 0; p < PANE_COUNT; p++) {
				struct rect r = l.pane[p];

				assert_true(r.x >= 0 && r.y >= 0 && r.x + r.w <= w &&
					    r.y + r.h <= h - 2);
				area += r.w * (r.h + l.title[p].h);
				for (int q = 0; q < p; q++)
					assert_int_equal(rect_intersect(r, l.pane[q]).w *
								 rect_intersect(r, l.pane[q]).h,
							 0);
			}
			area += l.divider.w * l.divider.h + l.divider_low.w * l.divider_low.h;
			area += l.tabs.w * l.tabs.h;
			assert_int_equal(area, w * (h - 2));
			if (l.mode == LAYOUT_WIDE || l.mode == LAYOUT_STACKED)
				assert_true(l.pane[PANE_TERMINAL].w >= MIN(w, 80) - 1);
		}
	}
	assert_int_equal(layout_compute(110, 24, 0, false, NULL).mode, LAYOUT_WIDE);
	assert_int_equal(layout_compute(109, 24, 0, false, NULL).mode, LAYOUT_STACKED);
	assert_int_equal(layout_compute(69, 24, 0, false, NULL).mode, LAYOUT_TABS);
	assert_int_equal(layout_compute(29, 24, 0, false, NULL).mode, LAYOUT_TOO_SMALL);
	assert_int_equal(layout_compute(200, 60, 0, true, NULL).mode, LAYOUT_TABS);
}

/* In tabs, zoomed, behind a list, or closed: looking elsewhere does not change the agent's
 * terminal. */
TEST_WITH(the_agents_pane_keeps_its_size_while_hidden, NULL, NULL)
{
	static const int sizes[][2] = {{44, 24}, {80, 24}, {120, 40}, {40, 12}};
	struct scene s;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct rect shown, hidden;

		scene_init(&s, sizes[i][0], sizes[i][1], DEPTH_256);
		scene_fill(&s);
		ui_focus(s.ui, PANE_TERMINAL);
		shown = ui_agent_pane(s.ui);
		assert_true(shown.w > 30 && shown.h > 5);
		ui_focus(s.ui, PANE_STEPS);
		hidden = ui_agent_pane(s.ui);
		assert_memory_equal(&hidden, &shown, sizeof(shown));
		s.ui->zoom = true;
		ui_focus(s.ui, PANE_AUDIT);
		hidden = ui_agent_pane(s.ui);
		assert_memory_equal(&hidden, &shown, sizeof(shown));
		s.ui->zoom = false;
		s.ui->wish.hidden = 1u << PANE_TERMINAL;
		ui_relayout(s.ui, sizes[i][0], sizes[i][1]);
		hidden = ui_agent_pane(s.ui);
		assert_memory_equal(&hidden, &shown, sizeof(shown));
		scene_done(&s);
	}
}

TESTS(scene_set_up, scene_tear_down)
