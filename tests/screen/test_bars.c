/* test_bars - the status bar: the place, waiting requests, search results. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "tests/screen/scene.h"
#include "tests/support/check.h"

/* The branch is the agent's text: it is bounded and escaped, and no link is followed. */
TEST(the_status_bar_says_where_one_is)
{
	struct scene *s = *state;
	AUTO_FREE char *dir = xasprintf("%s/where", getenv("TEST_TMP"));
	AUTO_FREE char *git = xasprintf("%s/.git", dir);
	AUTO_FREE char *head = xasprintf("%s/HEAD", git);
	struct branch b = {.read_us = 0};
	struct turn_mark *turns;
	struct step_row *note = model_add_step(&s->model, -6, STEP_AMBIENT, "claude: edit ~/x", 1);

	note->running = false;
	note->elsewhere = true;
	model_step(&s->model, 1)->created = 14;
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_string_equal(branch_of(&b, dir, 1), "");
	assert_int_equal(mkdir(git, 0700), 0);
	assert_int_equal(io_write_file(AT_FDCWD, head, 0600, "ref: refs/heads/a\033[2J\nx", 24, 0),
			 0);
	assert_string_equal(branch_of(&b, dir, 2), ""); /* too soon */
	assert_string_equal(branch_of(&b, dir, 1 + BRANCH_US), "a\\x1b[2J");
	assert_int_equal(io_write_file(AT_FDCWD, head, 0600, "fca8856d1e9\n", 12, 0), 0);
	assert_string_equal(branch_of(&b, dir, 1 + 2 * BRANCH_US), "fca8856");
	assert_int_equal(unlink(head), 0);
	assert_int_equal(symlink("/etc/hostname", head), 0);
	assert_string_equal(branch_of(&b, dir, 1 + 3 * BRANCH_US), "");
	s->model.decisions.looked = 2;
	s->model.prompt = xstrdup("fix the\033 greeting");
	model_step(&s->model, 5)->running = false;
	assert_true(scene_shows(s, " ~/project "));
	assert_true(scene_shows(s, "fix the\\x1b greeting: 6 steps"));
	assert_true(scene_shows(s, "2 secrets looked for"));
	turns = xcalloc(2, sizeof(*turns));
	turns[0] = (struct turn_mark){.session = true, .agent = xstrdup("claude")};
	turns[1] = (struct turn_mark){.after = 3, .words = xstrdup("fix the greeting")};
	model_set_turns(&s->model, turns, 2);
	ui_changed(s->ui);
	scene_draw(s);
	assert_true(scene_shows(s, "greeting: 2 steps"));
	*s->model.prompt = '\0';
	ui_changed(s->ui);
	scene_draw(s);
	assert_true(scene_shows(s, " 6 steps"));
}

TEST_WITH(a_long_prompt_leaves_room_on_a_narrow_bar, NULL, NULL)
{
	struct scene s;

	scene_init(&s, 80, 24, DEPTH_256);
	scene_fill(&s);
	s.model.prompt = xstrdup("remove the notes and add a licence to every file");
	model_step(&s.model, 5)->running = false;
	s.model.decisions.looked = 2;
	assert_true(scene_shows(&s, " ~/project "));
	assert_true(scene_shows(&s, "remove the no…: 6 steps"));
	assert_true(scene_shows(&s, "2 secrets looked for"));
	scene_done(&s);
}

/* A message never hides the number of waiting requests. */
TEST(what_waits_stays_beside_a_message)
{
	struct scene *s = *state;

	scene_ask(s, 7, "/home/u/project/.envrc");
	scene_ask(s, 8, "/home/u/other");
	scene_draw(s);
	ui_say(s->ui, "Something happened.");
	assert_true(scene_shows(s, "? 2 waiting  Something happened."));
}

/* The last word fits, or not; a word that is longer than the row is cut. */
TEST_WITH(a_long_message_takes_the_row_below, NULL, NULL)
{
	static const struct {
		const char *says, *first, *second;
	} cases[] = {
		{"It is 38 columns wide, as this row is.",
		 " It is 38 columns wide, as this row is.", NULL},
		{"It has 39 columns, and the last is off.", " It has 39 columns, and the last is",
		 " off."},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 " aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…", NULL},
		{"Nobody else changed anything here that could be kept, and neither did you, or "
		 "anyone",
		 " Nobody else changed anything here that",
		 " could be kept, and neither did you, o…"},
	};
	struct scene s;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		scene_init(&s, 40, 12, DEPTH_256);
		scene_fill(&s);
		scene_draw(&s);
		ui_say(s.ui, "%s", cases[i].says);
		if (!scene_shows(&s, cases[i].first))
			fail_msg("%s", cases[i].first);
		if (cases[i].second && !scene_shows(&s, cases[i].second))
			fail_msg("%s", cases[i].second);
		scene_done(&s);
	}
}

TEST(secrets_are_named_in_the_status_bar)
{
	struct scene *s = *state;

	assert_false(scene_shows(s, "secrets:"));
	snprintf(s->model.secrets, sizeof(s->model.secrets), "API_KEY");
	ui_changed(s->ui);
	scene_wait(s, 600);
	assert_true(scene_shows(s, "secrets: API_KEY"));
}

TEST(denied_hosts_stand_with_the_connections)
{
	static const char *const hosts[] = {"old.example:80", "evil\033.example:443",
					    "old.example:80"};
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
		model_add_row(&s->model, ROW_DECISION, 0, 7, -EACCES, "connect", hosts[i], "deny");
	model_add_row(&s->model, ROW_DECISION, 0, 7, 0, "connect", "good.example:80", "allow");
	scene_keys(s, "C-] n");
	assert_true(scene_shows(s, "denied: old.example:80, evil\\x1b.example:443"));
	assert_false(scene_shows(s, "443, old"));
	assert_false(scene_shows(s, "good.example:80, "));
}

/* A viewer is offered no key without an effect. */
TEST(keys_without_an_effect_are_not_offered)
{
	struct scene *s = *state;

	scene_keys(s, "C-] s");
	assert_true(scene_shows(s, " u undo "));
	s->ui->spec.read_only = true;
	assert_false(scene_shows(s, " u undo "));
	assert_false(scene_shows(s, " r redo "));
	scene_keys(s, "u");
	assert_true(scene_shows(s, "You look on: nothing is undone"));
}

TESTS(scene_set_up, scene_tear_down)
