/* test_journal_choice - further paths that a restore of single paths restores. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

static void set_up(struct fix *f)
{
	begin(f, "set up");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(md(f, "b"), 0);
	assert_int_equal(put(f, "b/x", "x\n"), 0);
	assert_int_equal(put(f, "b/z", "z\n"), 0);
	assert_int_equal(put(f, "c", "c\n"), 0);
	assert_true(commit(f) > 0);
}

/* The directory's content is in no change: it goes back with the directory, and the current entries
 * make room. */
TEST(a_directory_that_another_took_the_place_of)
{
	struct fix *f = *state;
	AUTO_FREE char *after = NULL;
	int64_t id;

	set_up(f);
	begin(f, "mv -T b a; mkdir b; touch b/y; mv --exchange c a/x");
	assert_int_equal(mv(f, "b", "a", 0), 0);
	assert_int_equal(md(f, "b"), 0);
	assert_int_equal(put(f, "b/y", "y\n"), 0);
	assert_int_equal(mv(f, "c", "a/x", RENAME_EXCHANGE), 0);
	id = commit(f);
	after = snap(f);
	must(f, restore(f, id, "a", 0));
	assert_cat(f, "b/x", "x\n");
	assert_cat(f, "a/x", NULL);
	assert_cat(f, "a/z", NULL);
	assert_cat(f, "b/z", "z\n");
	assert_cat(f, "b/y", NULL);
	must(f, undo(f, 1, 0));
	assert_tree(f, after);
}

/* A directory that only has the same inode number is another one. */
TEST(a_directory_that_was_removed_stays_away)
{
	struct fix *f = *state;
	int64_t id;

	set_up(f);
	begin(f, "rm -r a b; mkdir a; chmod a");
	assert_int_equal(rm(f, "b/x"), 0);
	assert_int_equal(rm(f, "b/z"), 0);
	assert_int_equal(rd(f, "b"), 0);
	assert_int_equal(rd(f, "a"), 0);
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(mode(f, "a", 0700), 0);
	id = commit(f);
	must(f, restore(f, id, "a", 0));
	assert_cat(f, "b/x", NULL);
}

TESTS(fix_setup, fix_teardown)
