/* test_journal_kept - files with several names that --keep-mine leaves as externally edited. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

/* Its old name stays free: then the other name stays as well. */
TEST(what_a_human_wrote_keeps_its_last_name)
{
	struct fix *f = *state;

	one_step(f, "touch a", put(f, "a", "agent\n"));
	outside(f, "a", "the human's\n");
	begin(f, "ln a b; rm a");
	assert_int_equal(ln(f, "a", "b"), 0);
	assert_int_equal(rm(f, "a"), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 2, 0), -ESTALE);
	must(f, undo(f, 2, UNDO_KEEP_MINE));
	assert_cat(f, "b", "the human's\n");
	must(f, redo(f, 0));
	assert_cat(f, "b", "the human's\n");
}

/* The file has a name that no step recorded: content written by the other name is not restored
 * there. */
TEST(an_edit_that_is_kept_where_a_step_moved_it)
{
	struct fix *f = *state;

	begin(f, "touch c; ln c d");
	assert_int_equal(put(f, "c", "was\n"), 0);
	assert_int_equal(ln(f, "c", "d"), 0);
	assert_true(commit(f) > 0);
	one_step(f, "echo >d", put(f, "d", "agent\n"));
	one_step(f, "echo >>c", add(f, "c", "more\n"));
	outside(f, "c", "the human's\n");
	one_step(f, "mv c a", mv(f, "c", "a", 0));
	one_step(f, "rm d", rm(f, "d"));
	assert_int_equal(undo(f, 5, 0), -ESTALE);
	must(f, undo(f, 5, UNDO_KEEP_MINE));
	assert_cat(f, "a", "the human's\n");
}

/* A step made its last name, and the file goes back to it. */
TEST(what_a_human_wrote_keeps_the_name_that_a_step_gave_it)
{
	struct fix *f = *state;

	one_step(f, "touch b", put(f, "b", "agent\n"));
	begin(f, "mv b d; ln d b; echo >d");
	assert_int_equal(mv(f, "b", "d", 0), 0);
	assert_int_equal(ln(f, "d", "b"), 0);
	assert_int_equal(put(f, "d", "more\n"), 0);
	assert_true(commit(f) > 0);
	outside(f, "b", "the human's\n");
	one_step(f, "rm d", rm(f, "d"));
	assert_int_equal(undo(f, 3, 0), -ESTALE);
	must(f, undo(f, 3, UNDO_KEEP_MINE));
	assert_cat(f, "b", "the human's\n");
	must(f, redo(f, 0));
	assert_cat(f, "b", "the human's\n");
}

/* A file that was restored externally needs no decision; the rest is undone. */
TEST(a_file_that_is_back_already)
{
	struct fix *f = *state;

	outside(f, "a", "was\n");
	outside(f, "b", "was, too\n");
	begin(f, "echo >a; echo >b");
	assert_int_equal(put(f, "a", "agent\n"), 0);
	assert_int_equal(put(f, "b", "agent\n"), 0);
	assert_true(commit(f) > 0);
	outside(f, "a", "now\n"); /* of the same length */
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	outside(f, "a", "was\n");
	assert_int_equal(fchmodat(journal_folder_fd(f->j), "a", 0600, 0), 0);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(fchmodat(journal_folder_fd(f->j), "a", 0644, 0), 0);
	must(f, undo(f, 1, 0));
	assert_cat(f, "a", "was\n");
	assert_cat(f, "b", "was, too\n");
	must(f, redo(f, 0));
	assert_cat(f, "a", "was\n");
	assert_cat(f, "b", "agent\n");
}

TESTS(fix_setup, fix_teardown)
