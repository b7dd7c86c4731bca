/* test_journal_attrs - an external change of extended attributes alone is an edit, too. */
/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>
#include <sys/xattr.h>

#include "tests/support/journalfix.h"

static char *whole(struct fix *f, const char *path)
{
	return xasprintf("%s/%s", f->folder, path);
}

static void outside_attr(struct fix *f, const char *path, const char *value)
{
	AUTO_FREE char *name = whole(f, path);

	assert_int_equal(setxattr(name, "user.x", value, strlen(value), 0), 0);
}

static int attr(struct fix *f, const char *path, const char *value)
{
	struct at a = at(f, path);

	return op_setxattr(f->s, &a, "user.x", value, strlen(value), 0, NULL);
}

static bool can_have_them(struct fix *f)
{
	return setxattr(f->folder, "user.x", "", 0, 0) == 0 &&
	       removexattr(f->folder, "user.x") == 0;
}

/* Undo must ask, and redo must restore what a forced undo replaced. */
static void assert_asks(struct fix *f, const char *path)
{
	AUTO_FREE char *before = NULL;

	outside_attr(f, path, "the human's");
	before = snap(f);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_tree(f, before);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	must(f, redo(f, 0));
	assert_tree(f, before);
}

TEST(of_a_file)
{
	struct fix *f = *state;

	if (!can_have_them(f))
		skip();
	one_step(f, "make", put(f, "a", "was\n"));
	begin(f, "change");
	assert_int_equal(add(f, "a", "more\n"), 0);
	assert_int_equal(attr(f, "a", "agent's"), 0);
	assert_true(commit(f) > 0);
	assert_asks(f, "a");
}

TEST(of_a_large_file)
{
	static char large[100000];
	struct fix *f = *state;

	if (!can_have_them(f))
		skip();
	memset(large, 'x', sizeof(large) - 1);
	one_step(f, "make", put(f, "a", large));
	assert_asks(f, "a");
}

TEST(of_a_file_with_two_names)
{
	struct fix *f = *state;

	if (!can_have_them(f))
		skip();
	begin(f, "make");
	assert_int_equal(put(f, "a", "was\n"), 0);
	assert_int_equal(ln(f, "a", "b"), 0);
	assert_true(commit(f) > 0);
	assert_asks(f, "b");
}

TEST(of_a_directory)
{
	struct fix *f = *state;

	if (!can_have_them(f))
		skip();
	begin(f, "make");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(put(f, "d/a", "was\n"), 0);
	assert_true(commit(f) > 0);
	assert_asks(f, "d");
}

/* Attributes set by a step are no external edit, whichever step set them and by whatever name. */
TEST(those_of_steps_are_not)
{
	struct fix *f = *state;
	AUTO_FREE char *a = NULL, *d = NULL, *before = NULL;

	if (!can_have_them(f))
		skip();
	a = whole(f, "a");
	d = whole(f, "d");
	before = snap(f);
	begin(f, "make");
	assert_int_equal(put(f, "a", "was\n"), 0);
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(attr(f, "a", "first"), 0);
	assert_int_equal(attr(f, "d", "first"), 0);
	assert_true(commit(f) > 0);
	one_step(f, "ln", ln(f, "a", "d/b"));
	begin(f, "setfattr");
	assert_int_equal(attr(f, "d/b", "second"), 0);
	assert_int_equal(attr(f, "d", "second"), 0);
	assert_true(commit(f) > 0);
	/* The change time alone is no edit. */
	assert_int_equal(chmod(a, 0600), 0);
	assert_int_equal(chmod(a, 0644), 0);
	assert_int_equal(chmod(d, 0700), 0);
	assert_int_equal(chmod(d, 0755), 0);
	for (int turn = 0; turn < 2; turn++) {
		AUTO_FREE char *after = snap(f);

		must(f, undo(f, 1, 0));
		must(f, undo(f, 2, 0));
		must(f, redo(f, 0)); /* both steps */
		must(f, redo(f, 0));
		assert_tree(f, after);
	}
	must(f, undo(f, 3, 0));
	assert_tree(f, before);
}

TESTS(fix_setup, fix_teardown)
