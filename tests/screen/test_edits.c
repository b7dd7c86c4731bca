/* test_edits - external edits on the screen: between the steps, opened, crossed, merged. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/journal.h"
#include "core/journal/op.h"
#include "tests/screen/scene.h"
#include "tests/support/check.h"

#define NOON (43200 * 1000000LL)

static char top[] = "/tmp/cordon-edits-XXXXXX";
static char *folder, *state_dir;
static const char *folders[2];
static int64_t step_number;

static void write_native(int dir, const char *name, const char *text)
{
	assert_int_equal(io_write_file(dir, name, 0644, text, strlen(text), false), 0);
}

static int begin(struct journal **j, struct step **s)
{
	struct err err = {0};

	if (journal_open(j, &(struct journal_spec){.folder = folder, .state_dir = state_dir}, NULL,
			 &err) < 0 ||
	    journal_begin(*j, STEP_COMMAND, "sed -i s/foo/bar/ main.c", s, &err) < 0)
		fail_msg("%s", err.text);
	return 0;
}

/* The step changes one line of main.c; an external edit changes another line, and a file of no
 * step. */
static int make_journal(void **state)
{
	static const char *const paths[] = {"main.c", "notes\033[2J\342\200\256.txt"};
	const struct at at = {.dir = "", .name = "main.c"};
	AUTO_CLOSE int dir = -1, fd = -1;
	struct at there = at;
	struct journal *j = NULL;
	struct step *s = NULL;
	struct err err = {0};
	bool touched;

	(void)state;
	umask(022);
	assert_non_null(mkdtemp(top));
	folders[0] = folder = xasprintf("%s/folder", top);
	state_dir = xasprintf("%s/state", top);
	assert_int_equal(io_mkdir_p(AT_FDCWD, folder, 0755), 0);
	assert_int_equal(io_mkdir_p(AT_FDCWD, state_dir, 0755), 0);
	dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	write_native(dir, "main.c", "one\ntwo\nthree\nfour\nfive\nsix\nfoo\n");
	begin(&j, &s);
	step_number = step_id(s);
	there.dirfd = dir;
	fd = op_open(s, &there, O_WRONLY | O_TRUNC, 0, &touched);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, "one\ntwo\nthree\nfour\nfive\nsix\nbar\n", 32), 0);
	util_close_fd(&fd);
	if (journal_commit(s, 0, &err) < 0)
		fail_msg("%s", err.text);
	write_native(dir, "main.c", "one\n2\nthree\nfour\nfive\nsix\nbar\n");
	write_native(dir, paths[1], "mine\n");
	assert_int_equal(journal_add_barrier(j, paths, ARRAY_LEN(paths), &err), 1);
	journal_close(j);
	return 0;
}

static int remove_journal(void **state)
{
	(void)state;
	free(folder);
	free(state_dir);
	return io_remove_tree(AT_FDCWD, top);
}

static struct journal *look(void)
{
	struct journal *j = NULL;
	struct err err = {0};

	if (journal_open_all(&j, folders, state_dir, &err) < 0)
		fail_msg("%s", err.text);
	return j;
}

/* Shows the journal's step as the scene's step 3, with the edits after it. */
static void set_up(struct scene *s, int w, int h, enum depth depth)
{
	struct journal *j = look();
	struct barrier *list = NULL;
	struct err err = {0};
	size_t n = 0;

	scene_init(s, w, h, depth);
	scene_fill(s);
	s->ui->spec.folder = folder;
	s->ui->spec.folders = folders;
	s->ui->spec.state_dir = state_dir;
	model_step(&s->model, 5)->running = false;
	model_step(&s->model, step_number)->id = 100;
	model_step(&s->model, 3)->id = step_number;
	assert_int_equal(journal_barriers_all(j, &list, &n, &err), 0);
	assert_int_equal(n, 1);
	list[0].first_us = list[0].last_us = NOON;
	model_set_edits(&s->model, list, n);
	journal_close_all(j);
	ui_changed(s->ui);
	scene_keys(s, "C-] s");
}

static const int sizes[][2] = {{80, 24}, {120, 40}, {40, 12}};

TEST(they_stand_between_the_steps)
{
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct scene s;

		set_up(&s, sizes[i][0], sizes[i][1], DEPTH_256);
		scene_golden(&s, "edits-steps", DEPTH_256);
		scene_done(&s);
	}
}

TEST(signs_stand_without_colour)
{
	struct scene s;

	set_up(&s, 80, 24, DEPTH_MONO);
	scene_golden(&s, "edits-steps", DEPTH_MONO);
	scene_done(&s);
}

TEST(opened_they_show_both_sides)
{
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct scene s;

		set_up(&s, sizes[i][0], sizes[i][1], DEPTH_256);
		scene_keys(&s, "G k k Enter");
		scene_golden(&s, "edits", DEPTH_256);
		if (sizes[i][0] == 120) {
			assert_true(scene_shows(&s, "- two"));
			assert_true(scene_shows(&s, "+ 2"));
			scene_keys(&s, "n");
			assert_true(scene_shows(&s, "no step had changed it before"));
		}
		scene_keys(&s, "u r");
		assert_string_equal(s.said.data, "");
		scene_done(&s);
	}
}

TEST(they_cannot_be_undone)
{
	struct scene s;

	set_up(&s, 120, 40, DEPTH_256);
	scene_keys(&s, "G k k u");
	assert_string_equal(s.said.data, "");
	assert_true(
		scene_shows(&s, "You (or another program) made this edit; undo leaves it alone."));
	scene_done(&s);
}

TEST(a_filter_finds_them)
{
	struct scene s;

	set_up(&s, 120, 40, DEPTH_256);
	scene_keys(&s, "& f r o m Space o u t Enter");
	assert_true(scene_shows(&s, "filter: from out (1)"));
	assert_true(scene_shows(&s, "! 2 edited"));
	scene_done(&s);
}

/* Sends the keeper's plan for the journal's step. */
static void give_plan(struct scene *s, unsigned flags)
{
	struct journal *j = look();
	struct undo_plan *p = NULL;
	struct err err = {0};

	if (journal_plan(j, UNDO_BACK, 1, flags, &p, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < p->n_barriers; i++)
		p->barriers[i].last_us = NOON;
	journal_close_all(j);
	undo_plan_free(s->model.plan);
	s->model.plan = p;
	s->model.plan_request = s->requests;
	ui_changed(s->ui);
	scene_wait(s, 600);
}

TEST(a_rollback_says_what_it_crosses)
{
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct scene s;

		set_up(&s, sizes[i][0], sizes[i][1], DEPTH_256);
		scene_keys(&s, "G k k k u");
		give_plan(&s, 0);
		scene_golden(&s, "edits-plan", DEPTH_256);
		buf_clear(&s.said);
		scene_keys(&s, "U");
		assert_string_equal(s.said.data, "");
		scene_done(&s);
	}
}

TEST(a_merge_is_shown_before_it_is_written)
{
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct scene s;

		set_up(&s, sizes[i][0], sizes[i][1], DEPTH_256);
		scene_keys(&s, "G k k k u");
		give_plan(&s, 0);
		scene_keys(&s, "M");
		give_plan(&s, UNDO_MERGE | UNDO_KEEP_MINE);
		buf_clear(&s.said);
		scene_keys(&s, "U");
		assert_string_equal(s.said.data, "");
		scene_golden(&s, "edits-merge", DEPTH_256);
		if (sizes[i][0] == 120) {
			assert_true(scene_shows(&s, "- bar"));
			assert_true(scene_shows(&s, "+ foo"));
			assert_false(scene_shows(&s, "- 2"));
		}
		scene_keys(&s, "q U");
		assert_true(strstr(s.said.data, "keep merge"));
		assert_true(str_starts(s.said.data, "undo 0 "));
		scene_done(&s);
	}
}

/* Steps of earlier sessions show their counts in the same form. */
TEST(an_earlier_step_has_its_counts)
{
	char command[] = "sed -i s/a/b/ x";
	struct step_info earlier = {.id = 901,
				    .kind = STEP_COMMAND,
				    .command = command,
				    .began_us = 1000000,
				    .ended_us = 2000000,
				    .created = 2,
				    .modified = 3};
	struct scene s;

	scene_init(&s, 120, 40, DEPTH_256);
	model_add_earlier(&s.model, &earlier, 1, false);
	ui_changed(s.ui);
	assert_true(scene_shows(&s, "5 files"));
	scene_done(&s);
}

int main(void)
{
	return run_all(NULL, NULL, make_journal, remove_journal);
}
