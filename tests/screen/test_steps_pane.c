/* test_steps_pane - the list of steps: in a first session, and the selected row. */
/* SPDX-License-Identifier: MIT */
#include "tests/screen/scene.h"
#include "tests/support/check.h"

TEST_WITH(the_first_words_are_whole, NULL, NULL)
{
	static const int sizes[][2] = {{120, 24}, {120, 40}, {160, 50}};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct scene s;

		scene_init(&s, sizes[i][0], sizes[i][1], DEPTH_256);
		assert_true(scene_shows(&s, "Each command that changes a file"));
		assert_true(scene_shows(&s, "will be a step here."));
		assert_true(scene_shows(&s, "Keys are the agent's, but for these:"));
		assert_true(scene_shows(&s, "all that has changed"));
		assert_true(scene_shows(&s, "leave"));
		scene_done(&s);
	}
}

static void new_step(struct scene *s, int64_t id)
{
	model_add_step(&s->model, id, STEP_COMMAND, "make", (30 + id) * 1000000);
	ui_changed(s->ui);
	scene_draw(s);
}

TEST(the_newest_step_is_selected_until_another_is)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s");
	new_step(s, 6);
	scene_keys(s, "m");
	assert_true(scene_shows(s, "Step 6 is marked"));
	scene_keys(s, "j"); /* it is the last row, so nothing moves */
	new_step(s, 7);
	scene_keys(s, "m");
	assert_true(scene_shows(s, "Step 7 is marked"));
	scene_keys(s, "k");
	new_step(s, 8);
	scene_keys(s, "m");
	assert_true(scene_shows(s, "Step 6 is marked"));
	scene_keys(s, "j j j"); /* back to the last */
	new_step(s, 9);
	scene_keys(s, "m");
	assert_true(scene_shows(s, "Step 9 is marked"));
}

TEST(a_step_says_in_which_folders_it_is_undone)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s");
	model_step(&s->model, 5)->running = false;
	model_set_undone_in(&s->model, 5, "/b");
	assert_true(scene_shows(s, "- in part"));
	scene_keys(s, "Enter");
	assert_true(scene_shows(s, "step 5, undone in /b "));
	model_step(&s->model, 5)->undone = true;
	assert_true(scene_shows(s, "step 5, undone "));
}

/* An answer to the agent's own question is not a prompt. */
TEST(a_prompt_is_a_line_with_words)
{
	static const struct {
		const char *keys;
		bool line;
	} cases[] = {
		{"f i x Enter", true},	    {"Enter", false},	    {"1 Enter", false},
		{"y Enter", false},	    {"N Enter", false},	    {"Down Down Enter", false},
		{"Tab Enter", false},	    {"Space Enter", false}, {"g o C-c Enter", false},
		{"g o C-u 2 Enter", false}, {"n o Enter", true},    {"Up 1 2 3 Enter", true},
	};
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		buf_clear(&s->said);
		scene_keys(s, cases[i].keys);
		assert_string_equal(s->said.data, cases[i].line ? "line\n" : "");
	}
	buf_clear(&s->said);
	ui_event(s->ui, &(struct event){.type = EVENT_PASTE, .paste = {"a", 1}}, s->now_us);
	scene_keys(s, "Enter");
	assert_string_equal(s->said.data, "line\n");
}

/* Of two prompts the older one is folded, and notes have one row of the session. */
TEST(turns_are_a_tree)
{
	struct scene *s = *state;
	struct turn_mark *turns = xcalloc(2, sizeof(*turns));
	struct step_row *note;

	turns[0] = (struct turn_mark){
		.session = true, .agent = xstrdup("claude"), .words = xstrdup("fix the parser")};
	turns[1] = (struct turn_mark){.after = 3, .us = 60000000, .words = xstrdup("more tests")};
	model_set_turns(&s->model, turns, 2);
	note = model_add_step(&s->model, -6, STEP_AMBIENT, "claude: edit ~/.claude/x", 1000000);
	note->running = false;
	note->elsewhere = true;
	note->created = 4;
	ui_changed(s->ui);
	scene_keys(s, "C-] s");
	assert_true(scene_shows(s, "fix the parser"));
	assert_false(scene_shows(s, "npm test"));
	assert_true(scene_shows(s, "more tests"));
	assert_true(scene_shows(s, "make -j2"));
	assert_true(scene_shows(s, "4 files outside the folder"));
	assert_false(scene_shows(s, "claude: edit"));
	scene_keys(s, "g j f");
	assert_true(scene_shows(s, "npm test"));
	scene_keys(s, "f");
	assert_false(scene_shows(s, "npm test"));
	scene_keys(s, "P");
	assert_true(scene_shows(s, "claude: edit"));
	scene_keys(s, "P g Enter");
	assert_true(scene_shows(s, "claude: edit"));
	buf_clear(&s->said);
	scene_keys(s, "g j j u"); /* the turn's row: its first step that is not undone */
	assert_true(strstr(s->said.data, "plan 0") != NULL);
}

/* Two steps, a note of the agent between them, and an edit by the user after a commit. */
static void set_turn(struct scene *s)
{
	struct turn_mark *turns = xcalloc(1, sizeof(*turns));
	struct barrier *edits = xcalloc(1, sizeof(*edits));
	struct step_row *note;

	turns[0] = (struct turn_mark){
		.session = true, .agent = xstrdup("claude"), .words = xstrdup("fix the parser")};
	model_set_turns(&s->model, turns, 1);
	model_step(&s->model, 5)->running = false;
	note = model_add_step(&s->model, -6, STEP_AMBIENT, "claude: edit ~/.claude/x", 1000000);
	note->running = false;
	note->elsewhere = true;
	note->created = 4;
	edits[0] = (struct barrier){.count = 1, .n_paths = 1, .after = 5};
	edits[0].paths = xcalloc(1, sizeof(char *));
	edits[0].paths[0] = xstrdup(".git/refs/heads/ma\033in");
	model_set_edits(&s->model, edits, 1);
	ui_changed(s->ui);
	scene_keys(s, "C-] s");
}

TEST(an_edit_is_below_the_turn_that_it_follows)
{
	struct scene *s = *state;

	set_turn(s);
	assert_true(scene_shows(s, "git branch ma\\x1bin"));
	buf_clear(&s->said);
	scene_keys(s, "G T");
	assert_true(strstr(s->said.data, "plan 0") != NULL);
}

static void set_edits(struct scene *s, const char *const *paths, size_t n)
{
	struct barrier *edits = xcalloc(1, sizeof(*edits));

	edits[0] = (struct barrier){.count = n, .n_paths = n, .after = 5};
	edits[0].paths = xcalloc(n, sizeof(char *));
	for (size_t i = 0; i < n; i++)
		edits[0].paths[i] = xstrdup(paths[i]);
	model_set_edits(&s->model, edits, 1);
	ui_changed(s->ui);
}

/* The user's own commit is shown as one row; of other edits the number of files. */
TEST(a_commit_is_told_as_one)
{
	static const char *const commit[] = {".git/COMMIT_EDITMSG", ".git/refs/heads/main"},
				 *const index[] = {".git/index", ".git/refs/tags/v1"},
				 *const both[] = {".git/COMMIT_EDITMSG", "src/a.c"};
	struct scene *s = *state;

	set_turn(s);
	set_edits(s, commit, 2);
	assert_true(scene_shows(s, "!  git branch main"));
	assert_true(scene_shows(s, "! commit"));
	assert_false(scene_shows(s, "message"));
	set_edits(s, index, 2);
	assert_true(scene_shows(s, "! git"));
	assert_false(scene_shows(s, "edited"));
	set_edits(s, both, 2);
	assert_true(scene_shows(s, "!  git message"));
	assert_true(scene_shows(s, "! 2 edited"));
	set_edits(s, both, 1);
	assert_true(scene_shows(s, "!  git message"));
}

/* A starting agent writes notes in several turns before it does anything else. */
TEST(notes_of_turns_without_work_are_one_row)
{
	struct scene *s = *state;
	struct turn_mark *turns = xcalloc(3, sizeof(*turns));

	for (int i = 0; i < 3; i++) {
		struct step_row *note = model_add_step(&s->model, -6 - i, STEP_AMBIENT,
						       "claude: edit ~/.claude/x", 1000000);

		note->running = false;
		note->elsewhere = true;
		note->created = 2;
		turns[i] = (struct turn_mark){.after = 5 + i, .session = !i, .us = i + 1};
	}
	turns[0].agent = xstrdup("claude");
	turns[2].words = xstrdup("a question");
	model_set_turns(&s->model, turns, 3);
	ui_changed(s->ui);
	scene_draw(s);
	assert_true(scene_shows(s, "6 files outside the folder"));
	assert_false(scene_shows(s, "a question"));
}

/* A note is the newest step nearly always, and runs for a second. */
TEST(undo_passes_over_a_note_that_is_written)
{
	struct scene *s = *state;

	model_step(&s->model, 5)->running = false;
	model_add_step(&s->model, 6, STEP_AMBIENT, "claude: edit ~/.claude/x", 1);
	ui_changed(s->ui);
	buf_clear(&s->said);
	scene_keys(s, "C-] u");
	assert_non_null(strstr(s->said.data, "plan 0 2")); /* with step 5 */
}

/* A file's name is the agent's choice. */
TEST(a_name_makes_no_note_of_a_change)
{
	struct scene *s = *state;

	model_step(&s->model, 5)->running = false;
	model_add_step(&s->model, 6, STEP_AMBIENT, "claude: edit x: edit ~/.a", 1);
	ui_changed(s->ui);
	buf_clear(&s->said);
	scene_keys(s, "C-] u");
	assert_non_null(strstr(s->said.data, "plan 0 1")); /* step 6 itself */
}

/* A session in which the agent did nothing is no news in the next one. */
TEST(an_idle_session_of_the_past_has_no_row)
{
	struct scene *s = *state;
	struct turn_mark *turns = xcalloc(2, sizeof(*turns));
	struct step_row *note;

	for (size_t i = 0; i < s->model.n_steps; i++)
		s->model.steps[i].earlier = true;
	note = model_add_step(&s->model, 6, STEP_AMBIENT, "claude: edit ~/x", 1);
	note->running = false;
	note->earlier = note->elsewhere = true;
	note->created = 2;
	turns[0] = (struct turn_mark){.session = true, .agent = xstrdup("codex")};
	turns[1] = (struct turn_mark){.after = 5, .session = true, .agent = xstrdup("claude")};
	model_set_turns(&s->model, turns, 2);
	ui_changed(s->ui);
	scene_keys(s, "C-] s");
	assert_true(scene_shows(s, "codex"));
	assert_false(scene_shows(s, "outside the folder"));
	scene_keys(s, "P");
	assert_true(scene_shows(s, "claude: edit ~/x"));
}

/* In a recording: its turns have no session. */
TEST(notes_of_a_recording_are_a_row)
{
	struct scene *s = *state;
	struct turn_mark *turns = xcalloc(1, sizeof(*turns));
	struct step_row *note = model_add_step(&s->model, 6, STEP_AMBIENT, "claude: edit ~/x", 1);

	note->running = false;
	note->elsewhere = true;
	note->created = 2;
	turns[0] = (struct turn_mark){.words = xstrdup("a question")};
	model_set_turns(&s->model, turns, 1);
	ui_changed(s->ui);
	assert_true(scene_shows(s, "2 files outside the folder"));
	for (size_t i = 0; i < s->model.n_steps; i++)
		s->model.steps[i].earlier = true;
	ui_changed(s->ui);
	assert_false(scene_shows(s, "outside the folder"));
}

TEST(a_plan_does_not_count_notes)
{
	struct scene *s = *state;
	struct undo_plan *p = xcalloc(1, sizeof(*p));

	set_turn(s);
	scene_keys(s, "G T");
	p->n = p->n_ids = 3;
	p->ids = xcalloc(3, sizeof(*p->ids));
	p->ids[0] = -6;
	p->ids[1] = 5;
	p->ids[2] = 4;
	undo_plan_free(s->model.plan);
	s->model.plan = p;
	s->model.plan_request = s->requests;
	ui_changed(s->ui);
	scene_draw(s);
	assert_true(scene_shows(s, "Rolls back 2 steps (5, 4)"));
}

/* The message would hide the keys of the popup that has opened. */
TEST(a_message_ends_when_something_opens)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s m");
	assert_true(scene_shows(s, "is marked"));
	scene_keys(s, "?");
	assert_false(scene_shows(s, "is marked"));
}

/* What the agent's edit tool did, or what the user granted, is a step like others. */
TEST(a_granted_edit_is_no_note)
{
	struct scene *s = *state;
	struct step_row *note =
		model_add_step(&s->model, 6, STEP_AMBIENT, "claude: edit ~/plans/today", 1000000);

	note->running = false;
	note->elsewhere = note->granted = true;
	note->created = 1;
	ui_changed(s->ui);
	scene_keys(s, "C-] s");
	assert_true(scene_shows(s, "claude: edit ~/plans/"));
	assert_false(scene_shows(s, "outside the folder"));
	note->granted = false;
	ui_changed(s->ui);
	assert_true(scene_shows(s, "1 file outside the folder"));
}

TESTS(scene_set_up, scene_tear_down)
