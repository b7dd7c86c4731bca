/* test_compare - which external edits the model expects to survive. */
/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "tests/model/history.h"
#include "tests/support/check.h"

#define DIR_THERE(path) path " 40750 1:1 5.0\n"
#define THERE(path)	path " 100644 1:1 7.0 size 4 hash aa\n"
#define MOVED(path)	path " 102775 1:1 7.0 size 4 hash aa\n"

/* A step that moves a file, puts a directory in its place, and changes the mode. */
static bool redone(const char *now, const char *result)
{
	return tree_carried(THERE("/b") DIR_THERE("/d"), DIR_THERE("/b") MOVED("/d"), now, result,
			    true);
}

TEST(an_edit_goes_along_with_a_file)
{
	static const char now[] = "/b 100644 1:1 8.0 size 9 hash bb\n" DIR_THERE("/d");

	assert_true(redone(THERE("/b") DIR_THERE("/d"), DIR_THERE("/b") MOVED("/d")));
	assert_true(redone(now, DIR_THERE("/b") "/d 102775 1:1 8.0 size 9 hash bb\n"));
}

TEST(an_edit_that_is_gone_is_missed)
{
	static const char now[] = "/b 100644 1:1 8.0 size 9 hash bb\n" DIR_THERE("/d");

	assert_false(redone(now, DIR_THERE("/b") MOVED("/d")));
	assert_false(redone(now, DIR_THERE("/b") "/d 102775 1:1 8.0 size 9 hash cc\n"));
	/* The bytes are in the folder, but not as the step left them. */
	assert_false(redone(now, DIR_THERE("/b") "/d 100600 1:1 8.0 size 9 hash bb\n"));
	assert_false(redone(now, DIR_THERE("/b") DIR_THERE("/d")));
	/* Not an external edit, but other bytes than the step's. */
	assert_false(redone(THERE("/b") DIR_THERE("/d"),
			    DIR_THERE("/b") "/d 102775 1:1 8.0 size 9 hash bb\n"));
}

TEST(what_was_saved_again_as_it_was_may_get_its_time_back)
{
	static const char was[] = THERE("/b");
	static const char again[] = "/b 100644 1:1 8.0 size 4 hash aa\n";
	static const char other[] = "/b 100644 1:1 8.0 size 4 hash bb\n";

	assert_true(tree_carried(was, was, again, was, true));
	assert_true(tree_carried(was, was, again, again, true));
	assert_false(tree_carried(was, was, other, was, true));
	assert_false(tree_carried(was, was, again, other, true));
}

/* An external program locked a directory: files that were restored in it are not listed. */
TEST(what_nobody_sees_is_not_missed)
{
	static const char full[] = DIR_THERE("/d") DIR_THERE("/d/e") THERE("/d/e/f") THERE("/d/ef");
	static const char locked[] = "/d 40640 1:1 5.0\n";
	static const char unseen[] = "/d 40640 1:1 5.0\n/d/e 0 0:0 0.0\n/d/ef 0 0:0 0.0\n";
	static const char one[] = "/d 40640 1:1 5.0\n/d/e 0 0:0 0.0\n";

	assert_true(tree_carried(DIR_THERE("/d"), full, locked, unseen, true));
	assert_false(tree_carried(DIR_THERE("/d"), full, locked, one, true));
	assert_true(tree_kept(DIR_THERE("/d"), full, unseen, false, true));
	assert_false(tree_kept(DIR_THERE("/d"), full, one, false, true));
}

/* A step makes a directory unlistable after an external program created a file in it. */
TEST(what_may_not_be_listed_is_not_missed)
{
	static const char full[] = DIR_THERE("/d") THERE("/d/f"), shut[] = "/d 40111 1:1 5.0\n";

	assert_int_equal(tree_carried(DIR_THERE("/d"), shut, full, shut, true), geteuid() != 0);
	assert_false(tree_carried(DIR_THERE("/d"), DIR_THERE("/d"), full, DIR_THERE("/d"), true));
}

/* An object that came to /c/x with its directory is described as that directory's rename alone,
 * even if another object has its old name. */
TEST(a_directory_that_moved_is_not_told_by_what_is_in_it)
{
	static const char before[] = DIR_THERE("/a") THERE("/a/x");
	static const char moved[] =
		DIR_THERE("/a") "/a/x 100644 1:1 8.0 size 4 hash aa\n" DIR_THERE("/c")
			THERE("/c/x");
	static const char made[] = DIR_THERE("/a") THERE("/a/x")
		DIR_THERE("/c") "/c/x 100644 1:1 8.0 size 4 hash aa\n";
	struct restored r = {
		.before = before, .after = moved, .pre = moved, .path = "c/x", .quiet = true};

	assert_false(restore_is_due(&r));
	r.after = r.pre = made;
	assert_true(restore_is_due(&r));
}

/* Making a directory accessible is no edit of the files in it. */
TEST(what_comes_to_light_is_no_edit)
{
	static const char open[] = DIR_THERE("/d") THERE("/d/f");
	static const char locked[] = "/d 40640 1:1 5.0\n/d/f 0 0:0 0.0\n";
	static const char empty[] = DIR_THERE("/d");

	for (int opened = 0; opened < 2; opened++) {
		struct history h = {.clock = 1};

		edits_note(&h, opened ? locked : empty, open);
		assert_int_equal(edits_kept(&h, 0, open, empty, true), opened);
		free(h.edits);
	}
}

TEST(what_is_in_a_directory_that_was_shut_may_be_there)
{
	static const char shut[] = "/d 40111 1:1 5.0\n";
	struct history h = {.clock = 1};

	edits_note(&h, DIR_THERE("/d"), DIR_THERE("/d") THERE("/d/f"));
	assert_int_equal(edits_kept(&h, 0, DIR_THERE("/d") THERE("/d/f"), shut, true),
			 geteuid() != 0);
	free(h.edits);
}

/* A user locks a directory that a step renamed; the mode stays through undo and redo, so the
 * directory does not match the state that the step before left. */
TEST(what_was_kept_of_a_locked_directory_stays)
{
	static const char was[] = DIR_THERE("/b") DIR_THERE("/c");
	static const char moved[] = "/a 40640 1:1 5.0\n" DIR_THERE("/b");
	static const char kept[] = DIR_THERE("/b") "/c 40640 1:1 5.0\n";
	struct history h = {.clock = 2};
	struct expected e;

	rung_add(&h, (struct rung){.id = 1,
				   .cluster = 1,
				   .before = xstrdup(DIR_THERE("/c")),
				   .after = xstrdup(was)});
	rung_add(&h, (struct rung){.id = 2,
				   .cluster = 2,
				   .before = xstrdup(was),
				   .after = xstrdup(DIR_THERE("/a") DIR_THERE("/b"))});
	history_undone(&h, 1, moved, kept, UNDO_KEEP_MINE);
	history_redone(&h, kept, kept, UNDO_KEEP_MINE, NULL, 0);
	expect_undo(&h, 2, kept, &e);
	assert_null(e.tree);
	assert_true(e.may_refuse);
	history_done(&h);
}

TESTS(NULL, NULL)
