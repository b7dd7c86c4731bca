/* test_edited - external edits between two steps as text: with both sides, one side, or none. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/check.h"
#include "tests/support/journalfix.h"

#include <unistd.h>

#include "core/diff/edited.h"

static int setup(void **state)
{
	struct fix *f = fix_new();

	/* The state that a step found is captured: small text, which a merge can use. */
	outside(f, "a", "zero\n");
	outside(f, "gone", "zero\n");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fix_free(*state);
	return 0;
}

static void barrier(struct fix *f, const char *const *paths, size_t n)
{
	assert_int_equal(journal_add_barrier(f->j, paths, n, &f->err), 1);
}

static bool on_line(void *data, enum diff_line_kind kind, const char *text, size_t len,
		    int old_line, int new_line)
{
	static const char signs[] = {[DIFF_FILE] = 'f', [DIFF_HUNK] = '@', [DIFF_CONTEXT] = ' ',
				     [DIFF_ADD] = '+',	[DIFF_DEL] = '-',  [DIFF_META] = '!'};

	(void)old_line, (void)new_line;
	if (kind == DIFF_FILE || kind == DIFF_HUNK)
		return true;
	buf_ch(data, signs[kind]);
	buf_add(data, text, len);
	buf_ch(data, '|');
	return true;
}

/* Checks the n-th newest barrier: "KIND path: lines" for each path. */
static void assert_edits(struct fix *f, size_t n, const char *want)
{
	AUTO_BUF struct buf got = BUF_INIT;
	struct barrier *list = NULL;
	struct edited *e = NULL;
	size_t n_list = 0;

	assert_int_equal(journal_barriers_all(f->j, &list, &n_list, &f->err), 0);
	assert_true(n < n_list);
	if (edited_open(&e, f->j, &list[n], &f->err) < 0)
		fail_msg("edited_open: %s", f->err.text);
	for (size_t i = 0; i < edited_count(e); i++) {
		const struct change *c = edited_change(e, i);

		buf_fmt(&got, "%c %s: ",
			c->kind == CHANGE_CREATED   ? 'A'
			: c->kind == CHANGE_DELETED ? 'D'
						    : 'M',
			c->path);
		if (edited_diff(e, i, on_line, &got, &f->err) < 0)
			fail_msg("edited_diff: %s", f->err.text);
		buf_ch(&got, '\n');
	}
	edited_free(e);
	barrier_free(list, n_list);
	assert_string_equal(got.data, want);
}

TEST(an_edit_shows_what_the_step_left_and_what_is_there)
{
	static const char *const paths[] = {"a", "gone", "made", "never"};
	struct fix *f = *state;

	begin(f, "agent");
	put(f, "a", "one\ntwo\n");
	put(f, "gone", "text\n");
	put(f, "made", "1\n");
	commit(f);
	outside(f, "a", "one\nTWO\n");
	assert_int_equal(unlinkat(journal_folder_fd(f->j), "gone", 0), 0);
	outside(f, "made", "22\n");
	outside(f, "never", "x\n");
	barrier(f, paths, ARRAY_LEN(paths));
	assert_edits(
		f, 0,
		"M a:  one|-two|+TWO|\n"
		"D gone: -text|\n"
		"M made: !What was there before is not kept|\n"
		"M never: !Changed; no step had changed it before: what it was is not kept|\n");
}

TEST(a_later_step_has_what_it_found)
{
	static const char *const paths[] = {"a", "new"};
	struct fix *f = *state;

	one_step(f, "agent", put(f, "a", "one\n"));
	outside(f, "a", "human\n");
	outside(f, "new", "new\n");
	barrier(f, paths, ARRAY_LEN(paths));
	begin(f, "agent again");
	put(f, "a", "agent\n");
	rm(f, "new");
	commit(f);
	assert_edits(f, 0,
		     "M a: -one|+human|\n"
		     "M new: !Changed; no step had changed it before: what it was is not kept|\n");
}

TEST(each_barrier_lies_between_its_own_steps)
{
	static const char *const a[] = {"a"};
	struct fix *f = *state;

	one_step(f, "first", put(f, "a", "1\n"));
	outside(f, "a", "2\n");
	barrier(f, a, 1);
	one_step(f, "second", put(f, "a", "3\n"));
	outside(f, "a", "4\n");
	barrier(f, a, 1);
	assert_edits(f, 0, "M a: -3|+4|\n");
	assert_edits(f, 1, "M a: -1|+2|\n");
}

TEST(what_a_step_removed_is_made_anew)
{
	static const char *const a[] = {"a"};
	struct fix *f = *state;

	one_step(f, "first", put(f, "a", "1\n"));
	one_step(f, "second", rm(f, "a"));
	outside(f, "a", "human\n");
	barrier(f, a, 1);
	assert_edits(f, 0, "A a: +human|\n");
}

TEST(binary_content_has_words)
{
	static const char *const a[] = {"a"};
	struct fix *f = *state;
	AUTO_FREE char *whole = xasprintf("%s/a", f->folder);

	one_step(f, "first", put(f, "a", "x"));
	assert_int_equal(io_write_file(AT_FDCWD, whole, 0644, "x\0y", 3, false), 0);
	barrier(f, a, 1);
	assert_edits(f, 0, "M a: !Binary files differ: 1 B -> 3 B sha256:ce3890a816f5|\n");
}

static bool on_head(void *data, enum diff_line_kind kind, const char *text, size_t len,
		    int old_line, int new_line)
{
	(void)old_line, (void)new_line;
	if (kind == DIFF_FILE) {
		buf_add(data, text, len);
		buf_ch(data, '\n');
	}
	return true;
}

/* Edits in another folder of the session are shown with absolute paths. */
TEST(the_head_names_a_file_as_any_diff_does)
{
	struct fix *f = *state;
	AUTO_FREE char *whole = xasprintf("%s/there", f->folder);
	AUTO_FREE char *want = xasprintf("diff --git a%s b%s\n"
					 "diff --git \"a/line\\nfeed\" \"b/line\\nfeed\"\n",
					 whole, whole);
	char *paths[] = {whole, (char[]){"line\nfeed"}};
	const struct barrier b = {.paths = paths, .n_paths = ARRAY_LEN(paths)};
	AUTO_BUF struct buf got = BUF_INIT;
	struct edited *e = NULL;

	outside(f, "there", "x\n");
	outside(f, "line\nfeed", "x\n");
	assert_int_equal(edited_open(&e, f->j, &b, &f->err), 0);
	for (size_t i = 0; i < edited_count(e); i++)
		assert_int_equal(edited_diff(e, i, on_head, &got, &f->err), 0);
	edited_free(e);
	assert_string_equal(got.data, want);
}

TEST_WITH(what_a_commit_leaves_has_words, NULL, NULL)
{
	static const struct {
		const char *path, *name;
	} list[] = {
		{".git/refs/heads/a/b", "git branch a/b"},
		{".git/HEAD", "git HEAD"},
		{".git/HEAD.lock", NULL},
		{".git/config", "git settings"},
		{".git", NULL},
		{"src/.git/HEAD", NULL},
	};
	char message[] = ".git/COMMIT_EDITMSG", branch[] = ".git/refs/heads/main", file[] = "a.c";
	char *paths[] = {message, branch, file};
	struct barrier b = {.paths = paths, .n_paths = 2, .count = 2};
	char got[64];

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		bool named = edited_git_name(list[i].path, got, sizeof(got));

		assert_int_equal(named, list[i].name != NULL);
		if (named)
			assert_string_equal(got, list[i].name);
	}
	assert_int_equal(edited_what(&b), EDITED_COMMIT);
	assert_true(edited_is_noise(EDITED_COMMIT, paths[0]));
	assert_false(edited_is_noise(EDITED_COMMIT, paths[1]));
	b.n_paths = b.count = 1;
	assert_int_equal(edited_what(&b), EDITED_GIT);
	assert_false(edited_is_noise(EDITED_GIT, paths[0]));
	b.n_paths = b.count = 3;
	assert_int_equal(edited_what(&b), EDITED_FILES);
	b.n_paths = 2;
	assert_int_equal(edited_what(&b), EDITED_FILES); /* there is more */
}

TESTS(setup, teardown)
