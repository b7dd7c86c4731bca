/* test_palette - finds actions by letters, describes keys; themes, resources, notes. */
/* SPDX-License-Identifier: MIT */
#include "tests/screen/scene.h"
#include "tests/support/check.h"

static void open_scene(struct scene *s, int w, int h)
{
	scene_init(s, w, h, DEPTH_256);
	scene_fill(s);
}

TEST(an_action_is_found_and_done)
{
	struct scene s;

	open_scene(&s, 120, 40);
	scene_keys(&s, "C-] : a c t i");
	assert_true(scene_shows(&s, ": acti"));
	assert_true(scene_shows(&s, "Enter open   Down down   Up up")); /* j and k are letters */
	assert_true(scene_shows(&s, "F1 help"));
	scene_golden(&s, "palette", DEPTH_256);
	scene_keys(&s, "Enter");
	assert_int_equal(s.ui->n_popups, 0);
	assert_int_equal(s.ui->focus, PANE_AUDIT);
	scene_keys(&s, ": z z z");
	assert_true(scene_shows(&s, "No action here has these letters."));
	scene_keys(&s, "Backspace Backspace Enter"); /* z: zoom */
	assert_true(s.ui->zoom);
	scene_keys(&s, ": j k q Esc"); /* letters are not keys here */
	assert_int_equal(s.ui->n_popups, 0);
	assert_string_equal(s.said.data, "");
	assert_int_equal(s.to_agent.len, 0);
	scene_done(&s);
}

TEST(it_fits_a_narrow_screen)
{
	struct scene s;

	open_scene(&s, 40, 24);
	scene_keys(&s, "C-] :");
	scene_golden(&s, "palette", DEPTH_256);
	scene_keys(&s, "s t e p s C-n C-p Enter");
	assert_int_equal(s.ui->focus, PANE_STEPS);
	scene_done(&s);
}

/* The sentence of the selected action is shown in whole, whatever the width. */
TEST(a_sentence_is_not_cut)
{
	struct scene s;

	open_scene(&s, 80, 24);
	scene_keys(&s, "C-] : p a s t e Space n");
	assert_true(
		scene_shows(&s, "Paste your note, or what you undid or denied, into the agent's"));
	scene_keys(&s, "C-u h e l p");
	assert_false(scene_shows(&s, "Paste your note"));
	scene_done(&s);
}

/* Enter is typed by reflex, so it starts no deciding action, but shows its key. */
TEST(nothing_is_allowed_from_it)
{
	static const char *const words[] = {"a l l o w", "a l l o w Space c", "d e n y"};
	struct scene s;

	open_scene(&s, 120, 40);
	scene_ask(&s, 7, "/home/u/project/.git/hooks/x");
	scene_keys(&s, "C-] a");
	scene_wait(&s, 2000);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		scene_keys(&s, "C-] :");
		scene_wait(&s, 2000);
		scene_keys(&s, words[i]);
		scene_wait(&s, 2000);
		scene_keys(&s, "Enter");
		assert_true(scene_shows(&s, "has to be its own key"));
		assert_null(strstr(s.said.data, "allow"));
		assert_null(strstr(s.said.data, "deny"));
		assert_int_equal(s.ui->n_popups, 1);
	}
	scene_done(&s);
}

TEST(a_key_says_what_it_does)
{
	struct scene s;

	open_scene(&s, 120, 40);
	scene_keys(&s, "C-] ? ? C-] a");
	assert_true(scene_shows(
		&s, "C-] a: List the requests that wait for an answer (focus-approvals)"));
	assert_int_equal(s.ui->n_popups, 1);
	scene_keys(&s, "? x");
	assert_true(scene_shows(&s, "x: goes to the agent."));
	scene_keys(&s, "Esc C-] s F1 ? u");
	assert_true(scene_shows(&s, "u: Roll the files back to before the selected step (undo)"));
	assert_string_equal(s.said.data, "");
	scene_keys(&s, "? F9");
	assert_true(scene_shows(&s, "F9: nothing here."));
	scene_done(&s);
}

/* The help lists only actions that the focused view has. */
TEST(help_is_of_the_view_alone)
{
	struct scene s;

	open_scene(&s, 120, 60);
	scene_keys(&s, "C-] l ?");
	assert_true(scene_shows(&s, "keys: activity"));
	assert_true(scene_shows(&s, "Show only lines with these words"));
	assert_false(scene_shows(&s, "Scroll left"));
	assert_false(scene_shows(&s, "Next hunk"));
	scene_keys(&s, "Esc C-] V ?");
	assert_false(scene_shows(&s, "Show only lines with these words"));
	assert_true(scene_shows(&s, "Take this answer back"));
	scene_done(&s);
}

static void add_samples(struct scene *s)
{
	for (unsigned i = 0; i < 700; i++)
		model_add_sample(&s->model,
				 &(struct usage_sample){.cpu = i % 180,
							.memory = (uint64_t)(i % 64) << 20,
							.processes = i % 7,
							.read = (uint64_t)(i % 16) << 12,
							.written = i % 3 ? 0 : 1 << 20});
}

TEST(resources_are_drawn)
{
	struct scene s;

	open_scene(&s, 120, 40);
	scene_keys(&s, "C-] m");
	assert_true(scene_shows(&s, "will be drawn here each second"));
	add_samples(&s);
	scene_golden(&s, "resources", DEPTH_256);
	scene_keys(&s, "q");
	assert_int_equal(s.ui->n_popups, 0);
	scene_done(&s);
	open_scene(&s, 40, 24);
	s.surface.ascii = true;
	add_samples(&s);
	scene_keys(&s, "C-] m");
	scene_golden(&s, "resources", DEPTH_256);
	scene_done(&s);
}

TEST(themes_are_looked_at)
{
	struct scene s;

	open_scene(&s, 120, 40);
	scene_keys(&s, "C-] c k j"); /* it begins at the current theme: dark */
	scene_golden(&s, "themes", DEPTH_256);
	scene_keys(&s, "Esc");
	assert_string_equal(s.said.data, "look at default\nlook at dark\nlook at the old one\n");
	buf_clear(&s.said);
	scene_keys(&s, "C-] c j");
	assert_true(scene_shows(&s, "x broken.theme:1: no theme"));
	scene_keys(&s, "k Enter");
	assert_true(scene_shows(&s, "ui.theme = dark"));
	assert_string_equal(s.said.data, "look at dark\nkeep dark\n");
	scene_done(&s);
}

TEST(messages_are_kept)
{
	struct scene s;

	open_scene(&s, 120, 40);
	scene_keys(&s, "C-] e");
	assert_true(scene_shows(&s, "is kept here"));
	for (int i = 0; i < 2 * UI_SAID; i++)
		ui_say(s.ui, "message %d", i);
	assert_true(scene_shows(&s, "0 s ago  message 399"));
	scene_keys(&s, "g");
	assert_true(scene_shows(&s, "0 s ago  message 200"));
	scene_keys(&s, "/ 3 0 7 Enter y");
	assert_string_equal(s.said.data, "copy 'message 307'\n");
	scene_done(&s);
}

TEST(the_agent_is_started_anew)
{
	struct scene s;

	open_scene(&s, 120, 40);
	scene_keys(&s, "C-] R");
	assert_true(scene_shows(&s, "end it and start anew"));
	assert_false(scene_shows(&s, "detach"));
	scene_keys(&s, "Enter Space y");
	assert_string_equal(s.said.data, "");
	scene_keys(&s, "Q");
	assert_string_equal(s.said.data, "restart\n");
	buf_clear(&s.said);
	scene_keys(&s, "Esc");
	s.model.exited = true;
	scene_keys(&s, "C-] R");
	assert_string_equal(s.said.data, "restart\n");
	scene_done(&s);
}

/* The note waits for the user's key, and for their Enter. */
TEST(a_note_reaches_the_prompt)
{
	struct scene s;

	open_scene(&s, 120, 40);
	term_feed(s.term, "\033[?2004h", 8);
	scene_keys(&s, "C-] p");
	assert_true(scene_shows(&s, "There is nothing to tell"));
	scene_ask(&s, 7, "/home/u/project/.git/hooks/\nx");
	scene_keys(&s, "C-] a w u s e Space m a k e Enter");
	assert_true(scene_shows(&s, "d denies, and keeps the note"));
	assert_string_equal(s.said.data, "bell\n");
	scene_wait(&s, 2000);
	scene_keys(&s, "d");
	assert_non_null(strstr(s.said.data, "deny 7"));
	assert_int_equal(s.to_agent.len, 0); /* never by itself */
	scene_keys(&s, "C-] p");
	assert_string_equal(s.to_agent.data, "\033[200~Denied: write .git/hooks/\\nx. use make"
					     "\033[201~");
	scene_keys(&s, "C-] p");
	assert_true(scene_shows(&s, "There is nothing to tell"));
	scene_done(&s);
}

static void set_path(struct scene *s, size_t i, const char *path)
{
	free(s->model.plan->entries[i].path);
	s->model.plan->entries[i].path = xstrdup(path);
}

TEST_WITH(files_of_git_are_one_row, scene_set_up, scene_tear_down)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s k k u");
	scene_plan(s, true);
	set_path(s, 1, ".git/objects/01/e79c32");
	set_path(s, 2, ".git/index");
	assert_true(scene_shows(s, "Rolls back 2 steps (4, 3): 3 paths"));
	assert_true(scene_shows(s, "git 2 files of git's own: i lists them"));
	assert_true(scene_shows(s, "README.md"));
	assert_false(scene_shows(s, ".git/index"));
	scene_keys(s, "i");
	assert_true(scene_shows(s, "Rolls back 2 steps (4, 3): 5 paths"));
	assert_true(scene_shows(s, ".git/objects/01/e79c32"));
	assert_true(scene_shows(s, ".git/index"));
	scene_keys(s, "i");
	set_path(s, 4, ".git/HEAD"); /* a conflict always has its row */
	assert_true(scene_shows(s, ".git/HEAD"));
	set_path(s, 0, ".git/hooks/post-merge"); /* runs on the host */
	assert_true(scene_shows(s, ".git/hooks/post-merge"));
}

TESTS(NULL, NULL)
