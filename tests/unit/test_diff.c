/* test_diff - unified text of changes, against a journal of a few made-up steps. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/io.h"
#include "core/diff/diff.h"
#include "tests/support/check.h"

/* ---- a journal that is a table ----------------------------------------------------------------
 */

struct fake {
	int64_t step;
	const char *path, *old_path;
	const char *before, *after; /* NULL: the file does not exist */
	mode_t before_mode, after_mode;
	size_t len; /* of binary content */
	bool gone;
};

static const struct fake *table;
static size_t table_len;
static bool all_undone;

static struct change_side side(const char *text, mode_t mode, size_t len)
{
	struct change_side s = {0};

	s.exists = text != NULL;
	s.mode = mode ? mode : S_IFREG | 0644;
	s.size = text ? (len ? len : strlen(text)) : 0;
	return s;
}

int journal_ids(struct journal *j, bool undone, int64_t **ret, size_t *ret_n, struct err *err)
{
	(void)j, (void)err;
	*ret = xcalloc(table_len, sizeof(**ret));
	*ret_n = 0;
	for (size_t i = undone == all_undone ? table_len : 0; i > 0; i--)
		if (*ret_n == 0 || (*ret)[*ret_n - 1] != table[i - 1].step)
			(*ret)[(*ret_n)++] = table[i - 1].step;
	return 0;
}

int journal_info(struct journal *j, int64_t id, struct step_info *ret, struct err *err)
{
	(void)j, (void)err;
	*ret = (struct step_info){.id = id};
	return 0;
}

int step_unknown(struct journal *j, int64_t id, bool other, struct err *err)
{
	(void)j, (void)other;
	return err_say(err, -ENOENT, "there is no step %lld", (long long)id);
}

void step_info_done(struct step_info *s)
{
	(void)s;
}

int journal_present(struct journal *j, const char *path, struct change_side *ret, int *ret_fd,
		    struct err *err)
{
	(void)j, (void)path, (void)ret, (void)ret_fd, (void)err;
	return -ENOSYS;
}

int journal_changes(struct journal *j, int64_t id, struct change **ret, size_t *ret_n,
		    struct err *err)
{
	(void)j, (void)err;
	*ret = xcalloc(table_len, sizeof(**ret));
	*ret_n = 0;
	for (size_t i = 0; i < table_len; i++) {
		struct change *c = &(*ret)[*ret_n];

		if (table[i].step != id)
			continue;
		++*ret_n;
		c->path = xstrdup(table[i].path);
		c->old_path = xstrdup(table[i].old_path);
		c->before = side(table[i].before, table[i].before_mode, table[i].len);
		c->after = side(table[i].after, table[i].after_mode, table[i].len);
		c->before.ino = i; /* by this journal_content() finds it */
	}
	return 0;
}

void change_free(struct change *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].path);
		free(list[i].old_path);
	}
	free(list);
}

int journal_content(struct journal *j, int64_t id, const struct change *c, bool after, int *ret_fd,
		    struct err *err)
{
	const struct fake *f = &table[c->before.ino];
	const char *text = after ? f->after : f->before;

	(void)j;
	assert_int_equal(f->step, id);
	assert_non_null(text);
	if (f->gone && after)
		return err_say(err, -ESTALE, "gone");
	*ret_fd = memfd_create("x", MFD_CLOEXEC);
	assert_int_equal(io_write_all(*ret_fd, text, f->len ? f->len : strlen(text)), 0);
	assert_int_equal(lseek(*ret_fd, 0, SEEK_SET), 0);
	return 0;
}

/* ---- helpers ----------------------------------------------------------------------------------
 */

static bool add_line(void *data, enum diff_line_kind kind, const char *text, size_t len,
		     int old_line, int new_line)
{
	static const char sign[] = "FH +-M";

	(void)old_line, (void)new_line;
	buf_ch(data, sign[kind]);
	buf_add(data, text, len);
	buf_ch(data, '\n');
	return true;
}

static void diff_is(const struct fake *f, size_t n, int64_t from, int64_t to, const char *want)
{
	AUTO_BUF struct buf got = BUF_INIT;
	struct err err = {0};
	int r;

	table = f;
	table_len = n;
	r = diff_range_paths(NULL, from, to, NULL, add_line, &got, &err);
	if (r < 0)
		print_message("# %s\n", err.text);
	assert_int_equal(r, 0);
	assert_int_equal(err.code, 0);
	assert_string_equal(got.data, want);
}

/* ---- tests ------------------------------------------------------------------------------------
 */

TEST(modified)
{
	static const struct fake f[] = {
		{.step = 1,
		 .path = "a.c",
		 .before = "1\n2\n3\n4\n5\n6\n7\n8\n",
		 .after = "1\n2\n3\n4\nfive\n6\n7\n8"},
	};

	diff_is(f, ARRAY_LEN(f), 1, 1,
		"Fdiff --git a/a.c b/a.c\nF--- a/a.c\nF+++ b/a.c\nH@@ -2,7 +2,7 @@\n"
		" 2\n 3\n 4\n-5\n+five\n 6\n 7\n-8\n+8\nM\\ No newline at end of file\n");
}

TEST(kinds)
{
	static const struct fake f[] = {
		{.step = 1, .path = "bin", .before = "a\0b", .after = "a\0c", .len = 3},
		{.step = 1, .path = "dir", .after = "", .after_mode = S_IFDIR | 0755},
		{.step = 1, .path = "gone", .before = "x\n"},
		{.step = 1, .path = "lost", .before = "x\n", .after = "y\n", .gone = true},
		{.step = 1,
		 .path = "mode",
		 .before = "x\n",
		 .after = "x\n",
		 .after_mode = S_IFREG | 0755},
		{.step = 1, .path = "times", .before = "x\n", .after = "x\n"},
		{.step = 1, .path = "to", .old_path = "from", .before = "x\n", .after = "x\n"},
	};

	diff_is(f, ARRAY_LEN(f), 1, 1,
		"Fdiff --git a/bin b/bin\n"
		"MBinary files differ: 3 B sha256:59b271ae1bbc -> 3 B sha256:b179f49283f5\n"
		"Fdiff --git a/dir b/dir\nFnew directory mode 040755\n"
		"Fdiff --git a/gone b/gone\nFdeleted file mode 100644\nF--- a/gone\nF+++ "
		"/dev/null\n"
		"H@@ -1 +0,0 @@\n-x\n"
		"Fdiff --git a/lost b/lost\n"
		"MThe content after this step is no longer kept: it was changed since\n"
		"Fdiff --git a/mode b/mode\nFold mode 100644\nFnew mode 100755\n"
		"Fdiff --git a/times b/times\nMOnly its times or attributes differ\n"
		"Fdiff --git a/from b/to\nFrename from from\nFrename to to\n");
}

/* The agent chooses names: none may begin a line of a patch, or end one early. */
TEST(odd_names)
{
	static const struct fake f[] = {
		{.step = 1, .path = " two words", .before = "x\n", .after = "y\n"},
		{.step = 1, .path = "a\n--- a/.bashrc", .before = "x\n", .after = "y\n"},
		{.step = 1,
		 .path = "to\t\x1b\x7f",
		 .old_path = "q\"\\ \xff",
		 .before = "x\n",
		 .after = "x\n"},
	};

	diff_is(f, ARRAY_LEN(f), 1, 1,
		"Fdiff --git a/ two words b/ two words\nF--- a/ two words\t\nF+++ b/ two words\t\n"
		"H@@ -1 +1 @@\n-x\n+y\n"
		"Fdiff --git \"a/a\\n--- a/.bashrc\" \"b/a\\n--- a/.bashrc\"\n"
		"F--- \"a/a\\n--- a/.bashrc\"\nF+++ \"b/a\\n--- a/.bashrc\"\n"
		"H@@ -1 +1 @@\n-x\n+y\n"
		"Fdiff --git \"a/q\\\"\\\\ \xff\" \"b/to\\t\\033\\177\"\n"
		"Frename from \"q\\\"\\\\ \xff\"\nFrename to \"to\\t\\033\\177\"\n");
}

TEST(net_changes)
{
	static const struct fake f[] = {
		{.step = 1, .path = "made-and-gone", .after = "x\n"},
		{.step = 1, .path = "a", .before = "1\n", .after = "2\n"},
		{.step = 1, .path = "victim", .before = "v\n", .after = "w\n"},
		{.step = -1, .path = "b", .old_path = "a", .before = "2\n", .after = "2\n"},
		{.step = 2, .path = "made-and-gone", .before = "x\n"},
		{.step = 2, .path = "b", .before = "2\n", .after = "3\n"},
		{.step = 3, .path = "victim", .old_path = "b", .before = "3\n", .after = "3\n"},
	};

	diff_is(f, ARRAY_LEN(f), 1, 2,
		"Fdiff --git a/a b/b\nFrename from a\nFrename to b\nF--- a/a\nF+++ b/b\n"
		"H@@ -1 +1 @@\n-1\n+3\n"
		"Fdiff --git a/victim b/victim\nF--- a/victim\nF+++ b/victim\nH@@ -1 +1 "
		"@@\n-v\n+w\n");
	diff_is(f, ARRAY_LEN(f), 2, 2,
		"Fdiff --git a/b b/b\nF--- a/b\nF+++ b/b\nH@@ -1 +1 @@\n-2\n+3\n"
		"Fdiff --git a/made-and-gone b/made-and-gone\nFdeleted file mode 100644\n"
		"F--- a/made-and-gone\nF+++ /dev/null\nH@@ -1 +0,0 @@\n-x\n");
}

TEST(displaced)
{
	static const struct fake f[] = {
		{.step = 1, .path = "victim", .before = "v\n", .after = "w\n"},
		{.step = 2, .path = "victim", .old_path = "b", .before = "3\n", .after = "3\n"},
	};
	AUTO_BUF struct buf got = BUF_INIT;
	struct err err = {0};

	table = f;
	table_len = ARRAY_LEN(f);
	assert_int_equal(diff_range_paths(NULL, 1, 2, NULL, add_line, &got, &err), 0);
	assert_non_null(strstr(got.data, "Fdeleted file mode 100644"));
	assert_non_null(strstr(got.data, "Frename from b\nFrename to victim"));
	assert_int_equal(diff_range_paths(NULL, 1, 9, NULL, add_line, &got, &err), -ENOENT);
	assert_int_equal(diff_range_paths(NULL, 2, 1, NULL, add_line, &got, &err), 0);
}

/* LeakSanitizer sees an empty list that is not freed. */
TEST(no_steps)
{
	AUTO_BUF struct buf got = BUF_INIT;
	struct err err = {0};

	table_len = 0;
	assert_int_equal(diff_newest_paths(NULL, NULL, add_line, &got, &err), -ENOENT);
	assert_int_equal(diff_range_paths(NULL, 0, 0, NULL, add_line, &got, &err), -ENOENT);
	assert_string_equal(err.text, "no steps yet: nothing to show");
	table = (const struct fake[]){{.step = 1}};
	table_len = 1;
	all_undone = true;
	assert_int_equal(diff_newest_paths(NULL, NULL, add_line, &got, &err), -ENOENT);
	assert_non_null(strstr(err.text, "all steps are undone"));
	all_undone = false;
	assert_string_equal(got.data, "");
}

#define DIR_ .before_mode = S_IFDIR | 0755, .after_mode = S_IFDIR | 0755

/* An entry of a renamed directory is shown with its name before the first step and its name after
 * the last one, without the names in between. */
TEST(in_renamed_directories)
{
	static const struct fake f[] = {
		{.step = 1, .path = "D", .old_path = "d", .before = "", .after = "", DIR_},
		{.step = 1, .path = "D/new", .after = "n\n"},
		{.step = 2, .path = "E", .old_path = "D", .before = "", .after = "", DIR_},
		{.step = 2, .path = "q", .old_path = "E/g", .before = "1\n", .after = "1\n"},
		{.step = 3, .path = "h", .before = "1\n", .after = "2\n"},
		{.step = 3, .path = "x/f", .before = "1\n", .after = "2\n"},
		{.step = 4, .path = "X", .old_path = "x", .before = "", .after = "", DIR_},
		{.step = 4, .path = "y", .old_path = "x/f", .before = "2\n", .after = "2\n"},
		{.step = 5, .path = "X", .before = "", .before_mode = S_IFDIR | 0755},
		{.step = 5, .path = "X/h", .before = "1\n"},
	};

	diff_is(f, ARRAY_LEN(f), 1, 2,
		"Fdiff --git a/d b/E\nFrename from d\nFrename to E\n"
		"Fdiff --git a/E/new b/E/new\nFnew file mode 100644\nF--- /dev/null\nF+++ b/E/new\n"
		"H@@ -0,0 +1 @@\n+n\n"
		"Fdiff --git a/d/g b/q\nFrename from d/g\nFrename to q\n");
	diff_is(f, ARRAY_LEN(f), 3, 5,
		"Fdiff --git a/h b/h\nF--- a/h\nF+++ b/h\nH@@ -1 +1 @@\n-1\n+2\n"
		"Fdiff --git a/x b/x\nFdeleted directory mode 040755\n"
		"Fdiff --git a/x/h b/x/h\nFdeleted file mode 100644\nF--- a/x/h\nF+++ /dev/null\n"
		"H@@ -1 +0,0 @@\n-1\n"
		"Fdiff --git a/x/f b/y\nFrename from x/f\nFrename to y\nF--- a/x/f\nF+++ b/y\n"
		"H@@ -1 +1 @@\n-1\n+2\n");
}

static bool stop(void *data, enum diff_line_kind kind, const char *text, size_t len, int a, int b)
{
	(void)kind, (void)text, (void)len, (void)a, (void)b;
	return ++*(int *)data < 2;
}

TEST(cancel_and_count)
{
	static const struct fake f[] = {
		{.step = 1, .path = "a", .before = "1\n2\n", .after = "1\n3\n4\n"},
		{.step = 1, .path = "b", .before = "\0", .after = "\0\0", .len = 2},
	};
	struct change *list;
	size_t n;
	int lines = 0, added, deleted;

	table = f;
	table_len = ARRAY_LEN(f);
	assert_int_equal(journal_changes(NULL, 1, &list, &n, NULL), 0);
	assert_int_equal(diff_change(NULL, 1, &list[0], stop, &lines, NULL), -ECANCELED);
	assert_int_equal(lines, 2);
	assert_int_equal(diff_count(NULL, 1, &list[0], &added, &deleted, NULL), 0);
	assert_int_equal(added, 2);
	assert_int_equal(deleted, 1);
	assert_int_equal(diff_count(NULL, 1, &list[1], &added, &deleted, NULL), 0);
	assert_int_equal(added, -1);
	change_free(list, n);
}

TEST(only_files_of_git_are_left_out)
{
	static const struct {
		const char *path;
		bool own;
	} list[] = {
		{".git/index", true},
		{".git/HEAD", true},
		{".git/objects/ab/cdef", true},
		{".git/objects/pack/pack-1.idx", true},
		{".git/objects/info/commit-graph", true},
		{".git/refs/heads/main", true},
		{"sub/.git/logs/HEAD", true},
		{".git/objects/info/alternates", false},
		{".git/objects/evil.js", false},
		{".git/config", false},
		{".git/hooks/post-commit", false},
		{"lib.git/objects/ab/evil.js", false},
		{"lib.git/index", false},
		{"lib.git/refs/evil.js", false},
		{"src/objects/ab/cdef", false},
		{"src/HEAD", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		if (diff_is_gits_own(list[i].path) != list[i].own)
			fail_msg("%s", list[i].path);
}

TESTS(NULL, NULL)
