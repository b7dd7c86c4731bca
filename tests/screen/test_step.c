/* test_step - the view of one step over a real journal: files, diff, scrolling, hostile content. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/journal.h"
#include "core/journal/op.h"
#include "tests/screen/scene.h"
#include "tests/support/check.h"
#include "tui/console/views/view_step.h"

#define LINES 300

static char top[] = "/tmp/cordon-step-XXXXXX";
static char *folder, *state_dir;
static int64_t step_number;

static void write_native(int dir, const char *name, const char *text)
{
	assert_int_equal(io_write_file(dir, name, 0644, text, strlen(text), false), 0);
}

static void write_below(struct step *s, int dir, const char *below, const char *name,
			const char *text)
{
	const struct at at = {.dirfd = dir, .dir = below, .name = name};
	bool touched;
	AUTO_CLOSE int fd = op_open(s, &at, O_WRONLY | O_CREAT | O_TRUNC, 0644, &touched);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
}

static void write_in_step(struct step *s, int dir, const char *name, const char *text)
{
	write_below(s, dir, "", name, text);
}

static char *many_lines(const char *word)
{
	struct buf b = BUF_INIT;

	for (int i = 1; i <= LINES; i++)
		buf_fmt(&b, "%s %d\n", i % 10 ? "line" : word, i);
	return buf_take(&b);
}

static void change_things(struct step *s, int dir)
{
	AUTO_FREE char *new = many_lines("changed");
	const struct at gone = {.dirfd = dir, .dir = "", .name = "gone.txt"};
	AUTO_CLOSE int git = openat(dir, ".git", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool touched;

	write_in_step(s, dir, "main.c",
		      "int main(void)\n{\n\treturn bar(); /* \033[31m\342\200\256red */\n}\n");
	write_in_step(s, dir, "e\033[2Jvil", "\346\227\245\346\234\254\n");
	write_in_step(s, dir, "long.txt", new);
	write_below(s, git, ".git", "ORIG_HEAD", "0123abc\n");
	assert_int_equal(op_unlink(s, &gone, &touched), 0);
}

/* One folder and one step for all tests, which only read. */
static int make_journal(void **state)
{
	AUTO_FREE char *old = many_lines("old");
	AUTO_CLOSE int dir = -1;
	struct journal *j = NULL;
	struct step *s = NULL;
	struct err err = {0};

	(void)state;
	umask(022);
	assert_non_null(mkdtemp(top));
	folder = xasprintf("%s/folder", top);
	state_dir = xasprintf("%s/state", top);
	assert_int_equal(io_mkdir_p(AT_FDCWD, folder, 0755), 0);
	assert_int_equal(io_mkdir_p(AT_FDCWD, state_dir, 0755), 0);
	dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	write_native(dir, "main.c", "int main(void)\n{\n\treturn foo();\n}\n");
	write_native(dir, "gone.txt", "bye\n");
	assert_int_equal(io_mkdir_p(dir, ".git", 0755), 0);
	write_native(dir, "long.txt", old);
	if (journal_open(&j, &(struct journal_spec){.folder = folder, .state_dir = state_dir}, NULL,
			 &err) < 0 ||
	    journal_begin(j, STEP_COMMAND, "sed -i s/foo/bar/ main.c", &s, &err) < 0)
		fail_msg("%s", err.text);
	step_number = step_id(s);
	change_things(s, dir);
	if (journal_commit(s, 0, &err) < 0)
		fail_msg("%s", err.text);
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

static const char *folders[2];

static void open_step(struct scene *s, int w, int h)
{
	scene_init(s, w, h, DEPTH_256);
	scene_fill(s);
	folders[0] = folder;
	s->ui->spec.folder = folder;
	s->ui->spec.folders = folders;
	s->ui->spec.state_dir = state_dir;
	model_step(&s->model, 5)->running = false;
	model_step(&s->model, step_number)->id = 100; /* the journal counts from one, too */
	model_step(&s->model, 5)->id = step_number;
	scene_keys(s, "C-] s G Enter");
}

static void expect(struct scene *s, const char *name)
{
	scene_golden(s, name, DEPTH_256);
}

TEST(files_and_diff)
{
	static const int sizes[][2] = {{80, 24}, {120, 40}, {40, 12}};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct scene s;

		open_step(&s, sizes[i][0], sizes[i][1]);
		expect(&s, "step");
		scene_keys(&s, "Tab Tab");
		expect(&s, "step-next");
		scene_done(&s);
	}
}

TEST(keys_go_from_file_to_file)
{
	struct scene s;

	open_step(&s, 120, 40);
	assert_true(scene_shows(&s, "file 1 of 4"));
	scene_keys(&s, "Tab");
	assert_true(scene_shows(&s, "file 2 of 4"));
	scene_keys(&s, "S-Tab");
	assert_true(scene_shows(&s, "file 1 of 4"));
	scene_keys(&s, "Tab Tab Tab Tab Tab");
	assert_true(scene_shows(&s, "This is the last file"));
	assert_true(scene_shows(&s, "file 4 of 4"));
	assert_false(scene_shows(&s, "ORIG_HEAD"));
	scene_keys(&s, "P Tab Tab Tab Tab");
	assert_true(scene_shows(&s, "file 5 of 5"));
	assert_true(scene_shows(&s, ".git/ORIG_HEAD")); /* git's own files come last */
	scene_keys(&s, "S-Tab");
	assert_true(scene_shows(&s, "file 4 of 5"));
	scene_keys(&s, "k");
	assert_true(scene_shows(&s, "file 3 of 5")); /* the cursor's */
	scene_keys(&s, "P");
	scene_keys(&s, "g Space Space G");
	scene_draw(&s);
	scene_keys(&s, "/ c h a n g e d Space 2 0 0 Enter");
	assert_true(scene_shows(&s, "+ changed 200"));
	scene_keys(&s, "u");
	assert_string_equal(s.said.data, "plan 0 1\n");
	scene_keys(&s, "Esc Esc");
	assert_int_equal(s.ui->n_popups, 0);
	scene_done(&s);
}

TEST(a_file_is_restored_after_a_preview)
{
	AUTO_FREE char *plan = xasprintf("restore plan %lld gone.txt\n", (long long)step_number);
	AUTO_FREE char *both =
		xasprintf("%srestore %lld gone.txt force\n", plan, (long long)step_number);
	struct scene s;

	open_step(&s, 120, 40);
	scene_keys(&s, "Tab r");
	assert_string_equal(s.said.data, plan);
	scene_keys(&s, "U");
	assert_true(scene_shows(&s, "The plan is still being worked out"));
	scene_plan(&s, true);
	expect(&s, "restore");
	scene_keys(&s, "Enter Space y r U");
	assert_true(scene_shows(&s, "1 path changed since: F"));
	assert_string_equal(s.said.data, plan);
	scene_keys(&s, "F");
	assert_string_equal(s.said.data, both);
	s.model.job.active = false;
	ui_changed(s.ui);
	assert_true(scene_shows(&s, "Restored, as a step that can be undone"));
	assert_true(scene_shows(&s, "file 2 of 4"));
	scene_done(&s);
}

TEST(before_the_files_are_read_keys_say_so)
{
	struct scene s;
	struct review *r;
	size_t files;

	open_step(&s, 120, 40);
	r = ((struct view_step *)ui_top(s.ui))->review;
	files = r->n_files;
	r->listed = false;
	r->n_files = 0;
	scene_keys(&s, "r");
	assert_string_equal(s.said.data, "");
	assert_true(scene_shows(&s, "The changes are still being read: press it again."));
	scene_wait(&s, 10000);
	scene_keys(&s, "Tab");
	assert_true(scene_shows(&s, "The changes are still being read."));
	r->listed = true;
	scene_keys(&s, "r");
	assert_true(scene_shows(&s, "There is no file to restore."));
	r->n_files = files;
	scene_done(&s);
}

/* The file cannot be restored, and no key claims that it can. */
TEST(what_is_not_kept_is_not_restored)
{
	AUTO_FREE char *plan = xasprintf("restore plan %lld gone.txt\n", (long long)step_number);
	struct scene s;

	open_step(&s, 120, 40);
	scene_keys(&s, "Tab r");
	scene_plan(&s, true);
	s.model.plan->entries[4].lost = true;
	ui_changed(s.ui);
	scene_wait(&s, 600);
	assert_true(scene_shows(&s, "! 1 not kept: listed first"));
	assert_true(scene_shows(&s, "F bring back the rest"));
	s.model.plan->n_paths = 1;
	ui_changed(s.ui);
	scene_draw(&s);
	assert_false(scene_shows(&s, "bring back the rest"));
	scene_keys(&s, "F");
	assert_string_equal(s.said.data, plan);
	assert_true(scene_shows(&s, "What was there before the step is not kept"));
	scene_keys(&s, "U");
	assert_string_equal(s.said.data, plan);
	scene_done(&s);
}

TEST(nothing_of_it_reaches_the_screen_raw)
{
	struct scene s;

	open_step(&s, 120, 40);
	scene_draw(&s);
	for (int y = 0; y < 40; y++) {
		for (int x = 0; x < 120; x++)
			assert_null(strchr(surface_cell(&s.surface, x, y)->text, '\033'));
	}
	assert_true(scene_shows(&s, "e\\x1b[2Jvil"));
	scene_keys(&s, "Tab Tab Tab");
	assert_true(scene_shows(&s, "\\x1b[31m\\u{202e}red"));
	scene_done(&s);
}

TEST(files_are_filtered_by_name)
{
	struct scene s;

	open_step(&s, 120, 40);
	scene_keys(&s, "& t x t");
	assert_true(scene_shows(&s, "filter: txt"));
	scene_keys(&s, "Enter");
	assert_true(scene_shows(&s, "file 1 of 2"));
	assert_false(scene_shows(&s, "main.c"));
	scene_keys(&s, "Tab");
	assert_true(scene_shows(&s, "long.txt"));
	scene_keys(&s, "Esc");
	assert_true(scene_shows(&s, "file 1 of 4"));
	scene_keys(&s, "& n o n e Enter");
	assert_true(scene_shows(&s, "No file matches"));
	assert_string_equal(s.said.data, "");
	scene_done(&s);
}

/* Returns the cell at which these words begin in their row. */
static const struct cell *cell_of(struct scene *s, const char *words)
{
	scene_draw(s);
	for (int y = 0; y < s->surface.h; y++) {
		for (int x = 0; x + (int)strlen(words) <= s->surface.w; x++) {
			size_t n = 0;

			while (words[n]) {
				char c = *surface_cell(&s->surface, x + (int)n, y)->text;

				if ((c ? c : ' ') != words[n])
					break;
				n++;
			}
			if (!words[n])
				return surface_cell(&s->surface, x, y);
		}
	}
	fail_msg("not there: %s", words);
	return NULL;
}

TEST(a_found_line_keeps_its_colour)
{
	struct scene s;
	const struct cell *c;

	open_step(&s, 120, 40);
	scene_keys(&s, "/ c h a n g e d Space 2 0 0 Enter");
	c = cell_of(&s, "+ changed 200");
	assert_int_equal(c->style.fg, surface_role(&s.surface, ROLE_DIFF_ADD).fg);
	assert_int_equal(c[2].style.bg, surface_role(&s.surface, ROLE_MATCH).bg);
	scene_done(&s);
}

TEST(a_long_line_shows_that_it_goes_on)
{
	struct scene s;

	open_step(&s, 34, 24);
	scene_keys(&s, "Tab Tab Tab");
	assert_string_equal(cell_of(&s, "return bar")->text, "r");
	assert_true(scene_shows(&s, ">\n"));
	scene_keys(&s, "l");
	assert_true(scene_shows(&s, "+<"));
	scene_done(&s);
}

TEST(a_missing_step_says_so)
{
	struct scene s;

	open_step(&s, 80, 24);
	scene_keys(&s, "Esc k Enter"); /* step 4 is in the model only */
	assert_true(scene_shows(&s, "step 4"));
	assert_false(scene_shows(&s, "Reading"));
	scene_done(&s);
}

int main(void)
{
	return run_all(NULL, NULL, make_journal, remove_journal);
}
