/* test_activity - rows of one object and command are joined, at every level; details; a flood. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "tests/screen/scene.h"
#include "tests/support/check.h"
#include "tui/console/views/activity.h"

#define HERE "/home/u/project/"

static void touch(struct scene *s, int64_t step, const char *op, const char *path, const char *to)
{
	model_add_row(&s->model, ROW_TOUCH, step, 40, 0, op, path, to)->wall_us = 5000000;
}

/* Adds the events of `git commit`, an edit through a temporary file, and a refusal. */
static void fill(struct scene *s, int w, int h)
{
	scene_init(s, w, h, DEPTH_256);
	model_add_step(&s->model, 1, STEP_COMMAND,
		       "git -c user.name=x --no-pager -C sub commit -m x", 1000000)
		->running = false;
	model_add_step(&s->model, 2, STEP_COMMAND, "sed -i s/a/b/ src/a.c", 2000000)->running =
		false;
	model_add_exec(&s->model, 1, 39, "sh -c 'git commit'", "/bin/sh")->parent = 1;
	model_add_exec(&s->model, 1, 40, "git commit -m x", "/usr/bin/git")->parent = 39;
	touch(s, 1, "openat", HERE ".git/index.lock", NULL);
	touch(s, 1, "renameat", HERE ".git/index.lock", HERE ".git/index");
	touch(s, 1, "openat", HERE ".git/objects/1", NULL);
	touch(s, 1, "openat", HERE ".git/objects/2", NULL);
	touch(s, 1, "openat", HERE ".git/objects/2", NULL);
	touch(s, 2, "openat", HERE "src/sedXY", NULL);
	touch(s, 2, "renameat", HERE "src/sedXY", HERE "src/a.c");
	for (int i = 0; i < 3; i++)
		touch(s, 2, "openat", HERE "log\033[2J", NULL);
	touch(s, 2, "openat", HERE "tmp", NULL);
	touch(s, 2, "unlinkat", HERE "tmp", NULL);
	touch(s, 2, "unlinkat", HERE "old", NULL);
	model_add_row(&s->model, ROW_DENY, 2, 40, -13, "openat", "/etc/hosts", "no rule allows it");
	ui_changed(s->ui);
	scene_keys(s, "C-] l");
}

static size_t rows(struct scene *s)
{
	AUTO_BUF struct buf b = BUF_INIT;
	char note[32];
	size_t n = 0;

	scene_keys(s, "g");
	scene_draw(s);
	surface_dump(&s->surface, &b);
	for (n = 0; n < 40; n++) {
		snprintf(note, sizeof(note), "1 of %zu ", n);
		if (strstr(b.data, note))
			return n;
	}
	fail_msg("%s", b.data);
	return 0;
}

TEST(levels)
{
	struct scene s;

	fill(&s, 120, 40);
	assert_true(scene_shows(&s, "git commit: 4 files below .git"));
	assert_false(scene_shows(&s, "objects/1"));
	assert_true(scene_shows(&s, "x3"));
	assert_true(scene_shows(&s, "log\\x1b[2J"));
	assert_int_equal(rows(&s), 7); /* a program, git, a.c, log, tmp, old, the refusal */
	assert_true(scene_shows(&s, "+1\n"));
	scene_golden(&s, "activity", DEPTH_256);
	scene_keys(&s, "L");
	assert_int_equal(rows(&s), 4); /* a.c, log, old, the refusal */
	assert_false(scene_shows(&s, "write   src/sedXY"));
	assert_true(scene_shows(&s, "src/a.c"));
	scene_keys(&s, "L");
	assert_int_equal(rows(&s), 1);
	assert_true(scene_shows(&s, "DENY write /etc/hosts"));
	scene_keys(&s, "L");
	assert_int_equal(rows(&s), s.model.row_count);
	scene_keys(&s, "L & g i t Enter");
	assert_true(scene_shows(&s, "filter: git (2)"));
	scene_done(&s);
}

/* A command that runs again has one row; a program that reads other files has none. */
TEST(commands_outside_of_steps)
{
	struct scene s;

	scene_init(&s, 120, 40, DEPTH_256);
	model_add_step(&s.model, 1, STEP_COMMAND, "make", 1000000)->running = false;
	model_add_exec(&s.model, 0, 40, "cat /home/u/.ssh/id", "/usr/bin/cat");
	model_add_exec(&s.model, 0, 41, "cat /home/u/.bashrc", "/usr/bin/cat");
	model_add_exec(&s.model, 0, 42, "cat /home/u/.bashrc", "/usr/bin/cat");
	model_add_exec(&s.model, 1, 43, "cc -c a.c", "/usr/bin/cc");
	model_add_exec(&s.model, 1, 44, "cc -c b.c", "/usr/bin/cc");
	ui_changed(s.ui);
	scene_keys(&s, "C-] l");
	assert_true(scene_shows(&s, "cat /home/u/.ssh/id"));
	assert_true(scene_shows(&s, "cat /home/u/.bashrc"));
	assert_int_equal(rows(&s), 3);
	scene_done(&s);
}

/* Programs that make runs belong to make; programs that the agent and its shell run are
 * commands. */
TEST(the_programs_of_a_command_are_one_row)
{
	static const struct {
		int pid, parent;
		const char *command;
	} execs[] = {{10, 1, "/opt/bin/claude --continue"},
		     {11, 10, "sh -c 'make -j2'"},
		     {12, 11, "make -j2"},
		     {13, 12, "cc -c a.c"},
		     {14, 13, "as a.s"},
		     {12, 11, "ld a.o"}, /* one after the other in one process */
		     {20, 10, "rg TODO"},
		     {12, 10, "cat x"}}; /* the number is reused */
	struct scene s;

	scene_init(&s, 160, 40, DEPTH_256);
	s.model.command = xstrdup("claude --continue");
	for (size_t i = 0; i < ARRAY_LEN(execs); i++)
		model_add_exec(&s.model, 0, execs[i].pid, execs[i].command, "/usr/bin/x")->parent =
			execs[i].parent;
	ui_changed(s.ui);
	scene_keys(&s, "C-] l");
	assert_int_equal(rows(&s), 4);
	assert_true(scene_shows(&s, "> sh -c 'make -j2'"));
	assert_true(scene_shows(&s, "+4 processes"));
	assert_true(scene_shows(&s, "> cat x"));
	scene_keys(&s, "L L L");
	assert_int_equal(rows(&s), 8);
	scene_done(&s);
}

TEST(many_files_of_a_directory_are_one_row)
{
	struct scene s;
	char path[64];

	scene_init(&s, 120, 40, DEPTH_256);
	model_add_step(&s.model, 1, STEP_COMMAND, "npm install", 1000000)->created = 40;
	model_add_step(&s.model, 2, STEP_COMMAND, "rm -rf data", 2000000);
	touch(&s, 1, "openat", HERE "package.json", NULL);
	for (int i = 0; i < 25; i++) {
		snprintf(path, sizeof(path), HERE "lib/m/p%d/x", i % 5 * 100 + i);
		touch(&s, 1, "openat", path, NULL);
	}
	touch(&s, 1, "unlinkat", HERE "lib/m/p0/x", NULL); /* already removed */
	for (int i = 0; i < 19; i++) {
		snprintf(path, sizeof(path), HERE "data/f%d", i);
		touch(&s, 2, "unlinkat", path, NULL);
	}
	ui_changed(s.ui);
	scene_keys(&s, "C-] l");
	assert_int_equal(rows(&s), 21); /* one for lib, none for data so far */
	assert_true(scene_shows(&s, "A lib/m: 24 files"));
	assert_false(scene_shows(&s, "lib/m/p"));
	touch(&s, 2, "unlinkat", HERE "data/f19", NULL);
	ui_changed(s.ui);
	assert_int_equal(rows(&s), 3);
	assert_true(scene_shows(&s, "D data: 20 files"));
	scene_keys(&s, "L"); /* the project's files */
	assert_int_equal(rows(&s), 3);
	assert_true(scene_shows(&s, "D data: 20 files"));
	scene_done(&s);
}

TEST(the_project_is_without_usual_refusals_and_answered_questions)
{
	struct scene s;
	struct row *answer;

	scene_init(&s, 160, 40, DEPTH_256);
	model_add_step(&s.model, 1, STEP_COMMAND, "x", 1000000)->running = false;
	model_add_step(&s.model, 2, STEP_COMMAND, "git commit", 1000000)->running = false;
	touch(&s, 1, "mkdirat", HERE "out", NULL);
	touch(&s, 1, "openat", HERE ".git/index", NULL);
	touch(&s, 2, "openat", HERE ".git/COMMIT_EDITMSG", NULL);
	touch(&s, 2, "openat", HERE ".git/refs/heads/main", NULL);
	model_add_row(&s.model, ROW_DENY, 1, 40, -13, "openat", "/home/u/.claude/x", "no")
		->expected = true;
	model_add_row(&s.model, ROW_DENY, 1, 40, -2, "look for", "/home/u/.ssh", "no")->expected =
		true;
	model_add_row(&s.model, ROW_ASK, 1, 40, 0, "openat", "/home/u/notes", "no rule");
	model_add_row(&s.model, ROW_ASK, 1, 40, 0, "openat", "/home/u/other", "no rule");
	ui_changed(s.ui);
	scene_keys(&s, "C-] l L"); /* the project's files, and decisions */
	assert_true(scene_shows(&s, "A out/"));
	assert_true(scene_shows(&s, "git commit: 2 files below .git"));
	assert_false(scene_shows(&s, "git: 1 file"));
	assert_false(scene_shows(&s, ".claude/x"));
	assert_true(scene_shows(&s, "refused look for ~/.ssh"));
	assert_true(scene_shows(&s, "? ASK write ~/notes"));
	answer = model_add_row(&s.model, ROW_DECISION, 1, 40, 0, "openat", "/home/u/notes",
			       "allow writing ~/notes once");
	answer->ask = 7;
	ui_changed(s.ui);
	scene_draw(&s);
	assert_false(scene_shows(&s, "? ASK write ~/notes"));
	assert_true(scene_shows(&s, "? ASK write ~/other"));
	assert_true(scene_shows(&s, "+ ALLOW writing ~/notes once"));
	scene_keys(&s, "L"); /* questions and refusals */
	assert_true(scene_shows(&s, "? ASK write ~/notes"));
	assert_true(scene_shows(&s, ".claude/x"));
	scene_done(&s);
}

/* A row that stands for several has the place, and so the time, of the first. */
TEST(times_are_in_order)
{
	struct scene s;

	scene_init(&s, 160, 40, DEPTH_256);
	model_add_step(&s.model, 1, STEP_COMMAND, "x", 1000000);
	model_add_row(&s.model, ROW_TOUCH, 1, 4, 0, "openat", HERE "a", NULL)->wall_us = 61000000;
	model_add_row(&s.model, ROW_TOUCH, 1, 4, 0, "openat", HERE "b", NULL)->wall_us = 62000000;
	model_add_row(&s.model, ROW_TOUCH, 1, 4, 0, "openat", HERE "a", NULL)->wall_us = 63000000;
	ui_changed(s.ui);
	assert_true(scene_shows(&s, "00:01:01    write   a"));
	assert_true(scene_shows(&s, "00:01:02    write   b"));
	assert_false(scene_shows(&s, "00:01:03"));
	scene_done(&s);
}

/* A program that saves a copy under a new name each time and is refused has one row. */
TEST(refusals_alike_are_one)
{
	const char *why = "a rule of the profile denies it";
	struct scene s;
	char path[64];

	scene_init(&s, 160, 40, DEPTH_256);
	for (int i = 0; i < 9; i++) {
		snprintf(path, sizeof(path), "/home/u/.agent/backups/a.%d", i % 7);
		model_add_row(&s.model, ROW_DENY, 1, 40, -13, "openat", path, why);
	}
	model_add_row(&s.model, ROW_DENY, 1, 40, -13, "openat", "/home/u/.agent/other/a", why);
	model_add_row(&s.model, ROW_DENY, 1, 40, -13, "openat", "/home/u/.agent/other/a", why);
	model_add_row(&s.model, ROW_DENY, 1, 40, -13, "openat", "/home/u/.agent/backups/b", "no");
	ui_changed(s.ui);
	scene_keys(&s, "C-] l");
	assert_int_equal(rows(&s), 3);
	assert_true(scene_shows(&s, "DENY write ~/.agent/backups: 7 names"));
	assert_true(scene_shows(&s, "DENY write ~/.agent/backups/b"));
	assert_true(scene_shows(&s, "DENY write ~/.agent/other/a"));
	assert_true(scene_shows(&s, "x2"));
	scene_keys(&s, "L L L");
	assert_int_equal(rows(&s), 12); /* all rows */
	scene_done(&s);
}

TEST(details_and_jumps)
{
	struct scene s;

	fill(&s, 120, 40);
	scene_keys(&s, "g j o");
	assert_true(scene_shows(&s, "one of 4 files of git's own"));
	assert_true(scene_shows(&s, "40 git commit -m x"));
	assert_true(scene_shows(&s, "  39 sh -c 'git commit'"));
	scene_golden(&s, "detail", DEPTH_256);
	scene_keys(&s, "y");
	assert_string_equal(s.said.data, "copy '" HERE ".git/objects/2'\n");
	scene_keys(&s, "Enter");
	assert_true(scene_shows(&s, "> step 1"));
	scene_keys(&s, "Esc G o");
	assert_true(scene_shows(&s, "no rule allows it"));
	assert_true(scene_shows(&s, "refused"));
	scene_done(&s);
	fill(&s, 40, 24);
	scene_keys(&s, "g j o");
	scene_golden(&s, "detail", DEPTH_256);
	scene_done(&s);
}

/* Rows leave the ring below the cursor, which keeps its row. */
TEST(a_flood)
{
	struct scene s;

	fill(&s, 120, 40);
	for (int i = 0; i < 3 * MODEL_ROWS; i++) {
		char path[64];

		snprintf(path, sizeof(path), HERE "f%d", i);
		touch(&s, 3, "openat", path, NULL);
		if (i == MODEL_ROWS) {
			ui_changed(s.ui);
			scene_draw(&s);
			scene_keys(&s, "G k k k k k");
			scene_draw(&s);
		}
		if (i % 100 == 0)
			ui_changed(s.ui);
		if (i == MODEL_ROWS + 1000)
			assert_true(scene_shows(&s, "f19995"));
	}
	ui_changed(s.ui);
	scene_keys(&s, "G");
	assert_true(scene_shows(&s, "f59999"));
	scene_done(&s);
}

/* The file comes first, because the end of a row may be cut. */
TEST(a_take_back_names_its_file)
{
	struct scene s;

	scene_init(&s, 120, 40, DEPTH_256);
	model_add_row(&s.model, ROW_NOTE, 0, 0, 0, "undo",
		      "restored, as step 6: undo hunk 2 of step 5 -- src/a.c", NULL);
	model_add_row(&s.model, ROW_NOTE, 0, 0, 0, "undo", "restored, as step 7: undo --step 5",
		      NULL);
	model_add_row(&s.model, ROW_EXTERNAL, 0, 0, 0, "edit", ".git/index", NULL);
	ui_changed(s.ui);
	scene_draw(&s);
	assert_true(scene_shows(&s, "- restored src/a.c (step 6)"));
	assert_true(scene_shows(&s, "- undid step 5 alone (step 7)"));
	assert_true(scene_shows(&s, "! EDIT git index"));
	scene_done(&s);
}

/* A row with "denied" opens: the question, its reason, and the answer. */
TEST(enter_on_an_answer_says_why)
{
	struct scene s;

	scene_init(&s, 120, 40, DEPTH_256);
	model_add_row(&s.model, ROW_ASK, 0, 12, 0, "write", "/x/hook", "git runs it on the host");
	model_add_row(&s.model, ROW_ASK, 0, 13, 0, "write", "/x/hook", "another's reason");
	model_add_row(&s.model, ROW_DECISION, 0, 12, -EACCES, "write", "/x/hook",
		      "deny writing /x/hook once");
	ui_changed(s.ui);
	scene_draw(&s);
	scene_keys(&s, "C-] l G Enter");
	assert_true(scene_shows(&s, "answer    deny writing /x/hook once"));
	assert_true(scene_shows(&s, "asked for git runs it on the host"));
	assert_false(scene_shows(&s, "asked for another"));
	scene_done(&s);
}

/* A step that changed nothing is not kept. */
TEST(a_temporary_file_is_as_before)
{
	struct scene s;

	scene_init(&s, 120, 40, DEPTH_256);
	model_add_step(&s.model, 1, STEP_COMMAND, "make", 1000000);
	touch(&s, 1, "openat", HERE "a.tmp", NULL);
	touch(&s, 1, "mkdirat", HERE "t", NULL);
	touch(&s, 1, "renameat", HERE "b.c.tmp1", HERE "b.c");
	touch(&s, 1, "connect", "127.0.0.1:80", "127.0.0.1");
	ui_changed(s.ui);
	assert_true(scene_shows(&s, "write   b.c"));
	assert_false(scene_shows(&s, "b.c.tmp1"));
	assert_true(scene_shows(&s, "connect 127.0.0.1:80"));
	assert_true(scene_shows(&s, "write   a.tmp"));
	assert_true(scene_shows(&s, "A t/"));
	model_remove_step(&s.model, 1);
	assert_true(scene_shows(&s, "= a.tmp  as before"));
	assert_true(scene_shows(&s, "= t/  as before"));
	scene_done(&s);
}

TESTS(NULL, NULL)
