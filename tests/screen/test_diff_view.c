/* test_diff_view - a reviewer's diff over a real journal: columns, words, blanks, folds, patches.
 */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/journal.h"
#include "core/journal/op.h"
#include "tests/screen/scene.h"
#include "tests/support/check.h"

static char top[] = "/tmp/cordon-diff-XXXXXX";
static char *folder, *state_dir;
static const char *folders[2];

static const char before[] = "/* a - what it is\n * of. */\nint add(int a, int b)\n{\n"
			     "\treturn a + b; /* sum */\n}\n\n\n\n\n\n\n"
			     "void last(void)\n{\n    puts(\"x\");\n}\n",
		  after[] = "/* a - what it is\n * for. */\nint add(int a, long c)\n{\n"
			    "\treturn a + c + 1; /* sum */\n}\n\n\n\n\n\n\n"
			    "void last(void)\n{\n\tputs(\"x\");\n}\n";

static void put(struct step *s, const char *dir, const char *name, const char *text)
{
	AUTO_FREE char *path = xasprintf("%s/%s", folder, dir);
	AUTO_CLOSE int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct at at = {.dirfd = fd, .dir = dir, .name = name};
	AUTO_CLOSE int out = op_open(s, &at, O_WRONLY | O_CREAT | O_TRUNC, 0644, &(bool){false});

	assert_true(out >= 0);
	assert_int_equal(io_write_all(out, text, strlen(text)), 0);
}

static int make_journal(void **state)
{
	AUTO_FREE char *src = NULL, *file = NULL;
	struct journal *j = NULL;
	struct step *s = NULL;
	struct err err = {0};

	(void)state;
	umask(022);
	assert_non_null(mkdtemp(top));
	folder = xasprintf("%s/folder", top);
	state_dir = xasprintf("%s/state", top);
	src = xasprintf("%s/src", folder);
	file = xasprintf("%s/a.c", src);
	assert_int_equal(io_mkdir_p(AT_FDCWD, src, 0755), 0);
	assert_int_equal(io_mkdir_p(AT_FDCWD, state_dir, 0755), 0);
	assert_int_equal(io_write_file(AT_FDCWD, file, 0644, before, strlen(before), false), 0);
	if (journal_open(&j, &(struct journal_spec){.folder = folder, .state_dir = state_dir}, NULL,
			 &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(journal_begin(j, STEP_COMMAND, "one", &s, &err), 0);
	put(s, "src", "a.c", after);
	put(s, "src", "b.py", "def f():\n    return '\033[2J\342\200\256' # hostile\n");
	put(s, "", "wide.txt",
	    "\346\227\245\346\234\254\350\252\236 and a line that goes on and "
	    "on until it is wider than any half of a screen, and then goes on\n");
	assert_true(journal_commit(s, 0, &err) >= 0);
	assert_int_equal(journal_begin(j, STEP_COMMAND, "two", &s, &err), 0);
	put(s, "", "wide.txt", "short\n");
	assert_true(journal_commit(s, 0, &err) >= 0);
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

static void open_view(struct scene *s, int w, int h, const char *theme, enum depth depth)
{
	scene_init(s, w, h, depth);
	scene_theme(s, theme, depth);
	folders[0] = folder;
	s->ui->spec.folder = folder;
	s->ui->spec.folders = folders;
	s->ui->spec.state_dir = state_dir;
	s->model.started = true;
	for (int64_t id = 1; id <= 2; id++) {
		model_add_step(&s->model, id, STEP_COMMAND, id == 1 ? "one" : "two", id * 1000000);
		model_step(&s->model, id)->running = false;
	}
	ui_changed(s->ui);
	scene_keys(s, "C-] s G k Enter");
}

TEST(every_look)
{
	static const struct {
		int w, h;
		enum depth depth;
		const char *theme, *keys, *name;
	} table[] = {
		{120, 40, DEPTH_TRUE, "dark", "", "diff"},
		{160, 50, DEPTH_TRUE, "light", "|", "diff-split"},
		{80, 24, DEPTH_256, "default", "|", "diff-split"},
		{80, 24, DEPTH_16, "dark", "n", "diff"},
		{80, 24, DEPTH_MONO, "default", "n", "diff"},
		{40, 24, DEPTH_256, "default", "w G", "diff-wrap"},
		{40, 24, DEPTH_256, "default", "t", "diff-files"},
		{120, 40, DEPTH_256, "default", "F", "diff-folded"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct scene s;

		open_view(&s, table[i].w, table[i].h, table[i].theme, table[i].depth);
		scene_keys(&s, table[i].keys);
		scene_golden(&s, table[i].name, table[i].depth);
		scene_done(&s);
	}
}

static bool shows_all(struct scene *s, const char *const *words)
{
	bool all = true;

	for (; *words; words++)
		all &= scene_shows(s, *words);
	return all;
}

TEST(blanks_are_left_out)
{
	struct scene s;

	open_view(&s, 120, 40, "default", DEPTH_256);
	assert_true(scene_shows(&s, "-     puts(\"x\");"));
	scene_keys(&s, "W");
	assert_false(scene_shows(&s, "-     puts(\"x\");"));
	assert_true(scene_shows(&s, "(blanks alone)"));
	assert_true(scene_shows(&s, "+ int add(int a, long c)"));
	scene_keys(&s, "|");
	assert_true(scene_shows(&s, "int add(int a, long c)"));
	scene_keys(&s, "W |");
	assert_true(scene_shows(&s, "-     puts(\"x\");"));
	scene_done(&s);
}

TEST(words_and_code_have_their_colours)
{
	struct scene s;
	const struct cell *c;
	int x = 0, y = 0;

	open_view(&s, 120, 40, "dark", DEPTH_TRUE);
	scene_draw(&s);
	for (y = 0; y < 40; y++) {
		x = 48; /* of the sign */
		if (*surface_cell(&s.surface, x, y)->text == '+' &&
		    *surface_cell(&s.surface, x + 2, y)->text == 'i')
			break;
	}
	assert_true(y < 40);
	c = surface_cell(&s.surface, x + 2, y); /* int: a type, on an added line's background */
	assert_int_equal(c->style.fg, surface_role(&s.surface, ROLE_SYNTAX_TYPE).fg);
	assert_int_equal(c->style.bg, surface_role(&s.surface, ROLE_DIFF_ADD).bg);
	c = surface_cell(&s.surface, x + 2 + 15, y); /* long: new */
	assert_string_equal(c->text, "l");
	assert_int_equal(c->style.bg, surface_role(&s.surface, ROLE_DIFF_ADD_WORD).bg);
	scene_done(&s);
}

TEST(folds_and_hunks)
{
	struct scene s;

	open_view(&s, 120, 40, "default", DEPTH_256);
	scene_keys(&s, "n f");
	assert_true(scene_shows(&s, "lines folded]"));
	scene_keys(&s, "Enter");
	assert_false(scene_shows(&s, "lines folded]"));
	scene_keys(&s, "g f");
	assert_true(scene_shows(&s, "lines folded]"));
	scene_keys(&s, "F");
	scene_keys(&s, "g n n n n n n n n");
	assert_true(scene_shows(&s, "This is the last hunk."));
	scene_keys(&s, "p p p p p p p p p p");
	assert_true(scene_shows(&s, "This is the first hunk."));
	scene_keys(&s, "/ r e t u r n Enter > >");
	assert_true(scene_shows(&s, "return"));
	scene_done(&s);
}

/* The patch of a hunk has the file's header, and only that hunk. */
TEST(a_hunk_leaves_and_comes_back)
{
	static const char want[] =
		"copy 'diff --git a/src/a.c b/src/a.c\n--- a/src/a.c\n+++ b/src/a.c\n"
		"@@ -12,5 +12,5 @@ int add(int a, int b)\n \n void last(void)\n {\n"
		"-    puts(\"x\");\n+\tputs(\"x\");\n }\n'\n";
	AUTO_FREE char *edited = xasprintf("edit %s/src/a.c 12\n", folder);
	struct scene s;

	open_view(&s, 120, 40, "default", DEPTH_256);
	scene_keys(&s, "Tab");
	scene_draw(&s);
	scene_keys(&s, "n n y");
	assert_string_equal(s.said.data, want);
	buf_clear(&s.said);
	scene_keys(&s, "R");
	assert_string_equal(s.said.data, "restore hunk 2 of 1 src/a.c\n");
	buf_clear(&s.said);
	scene_keys(&s, "E");
	assert_string_equal(s.said.data, edited);
	scene_done(&s);
}

TEST(a_patch_file_is_new)
{
	AUTO_FREE char *one = xasprintf("%s/cordon-step-1.patch", top);
	AUTO_FREE char *two = xasprintf("%s/cordon-step-1-1.patch", top);
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	struct scene s;

	assert_int_equal(symlink("/dev/full", one), 0); /* never through a link */
	open_view(&s, 120, 40, "default", DEPTH_256);
	free(s.model.home);
	s.model.home = xstrdup(top);
	scene_draw(&s);
	scene_keys(&s, "e");
	assert_true(scene_shows(&s, "+ Written to ~/cordon-step-1-1.patch"));
	assert_int_equal(io_read_file(AT_FDCWD, two, 1 << 20, &text, &len), 0);
	assert_non_null(strstr(text, "diff --git a/wide.txt b/wide.txt\nnew file mode 100644\n"));
	assert_non_null(strstr(text, "\n+\treturn a + c + 1;"));
	scene_done(&s);
}

TEST(everything_since)
{
	static const char *const all[] = {
		"everything since the session began", "src", "b.py", "wide.txt", "+ short", NULL};
	static const char *const part[] = {"everything from the marked step on", "- ", "+ short",
					   NULL};
	struct scene s;

	open_view(&s, 120, 60, "default", DEPTH_256);
	scene_keys(&s, "Esc C-] d");
	assert_true(shows_all(&s, all));
	assert_false(scene_shows(&s, "goes on and on")); /* net: the first text is not in it */
	scene_keys(&s, "Esc C-] s M");
	assert_true(scene_shows(&s, "No step is marked"));
	scene_keys(&s, "G m M");
	assert_true(shows_all(&s, part));
	assert_false(scene_shows(&s, "b.py"));
	scene_keys(&s, "u");
	assert_string_equal(s.said.data, "plan 0 1\n");
	scene_done(&s);
}

TEST(the_mouse_opens)
{
	struct scene s;
	struct event ev = {.type = EVENT_MOUSE,
			   .mouse = {.action = MOUSE_PRESS, .button = 1, .x = 60, .y = 1}};

	open_view(&s, 120, 40, "default", DEPTH_256);
	scene_draw(&s);
	ui_event(s.ui, &ev, s.now_us);
	assert_false(scene_shows(&s, "folded]"));
	ui_event(s.ui, &ev, s.now_us + 100000);
	assert_true(scene_shows(&s, "folded]"));
	ev.mouse.x = 3;
	ev.mouse.y = 4;
	ui_event(s.ui, &ev, s.now_us + 200000);
	assert_true(scene_shows(&s, "file 3 of 3"));
	scene_done(&s);
}

static char letter(struct scene *s, int x, int y)
{
	char c = *surface_cell(&s->surface, x, y)->text;

	return c ? c : ' ';
}

/* Returns the row of the words, and their column. */
static int row_of(struct scene *s, const char *words, int *ret_x)
{
	scene_draw(s);
	for (int y = 0; y < s->surface.h; y++) {
		for (int x = 0; x < s->surface.w; x++) {
			size_t n = 0;

			while (words[n] && x + (int)n < s->surface.w &&
			       letter(s, x + (int)n, y) == words[n])
				n++;
			if (!words[n]) {
				*ret_x = x;
				return y;
			}
		}
	}
	fail_msg("not on the screen: %s", words);
	return -1;
}

static void drag(struct scene *s, int x, int y, int to_x, int to_y)
{
	struct mouse m = {.action = MOUSE_PRESS, .button = 1, .x = x, .y = y};

	ui_event(s->ui, &(struct event){.type = EVENT_MOUSE, .mouse = m}, s->now_us += 1000000);
	m.action = MOUSE_DRAG;
	m.x = to_x;
	m.y = to_y;
	ui_event(s->ui, &(struct event){.type = EVENT_MOUSE, .mouse = m}, s->now_us);
	m.action = MOUSE_RELEASE;
	ui_event(s->ui, &(struct event){.type = EVENT_MOUSE, .mouse = m}, s->now_us);
	scene_draw(s);
	buf_clear(&s->said);
}

/* In one of two columns, without line numbers and without the list of files. */
TEST(a_drag_takes_text_alone)
{
	struct scene s;
	int x, y;

	open_view(&s, 160, 40, "default", DEPTH_256);
	y = row_of(&s, "return a + c + 1;", &x);
	drag(&s, x, y, 0, y + 1);
	scene_keys(&s, "y");
	assert_true(str_starts(s.said.data, "copy 'return a + c + 1; /* sum */\n"));
	assert_null(strstr(s.said.data, "│"));
	assert_null(strpbrk(strchr(s.said.data, '\n'), "0123456789"));
	scene_keys(&s, "|");
	y = row_of(&s, "return a + c + 1;", &x);
	drag(&s, x, y, 0, y);
	scene_keys(&s, "y");
	assert_null(strstr(s.said.data, "│"));
	drag(&s, x, y, 159, y);
	scene_keys(&s, "y");
	assert_string_equal(s.said.data, "copy 'return a + c + 1; /* sum */'\n");
	scene_done(&s);
}

int main(void)
{
	return run_all(NULL, NULL, make_journal, remove_journal);
}
