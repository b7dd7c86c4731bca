/* test_journal_left - the state left by each of several steps that were undone and redone
 * together. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

/* Newer steps changed the path as well, and images are made after the newest step is back. */
TEST(an_edit_before_steps_that_were_redone)
{
	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();
		struct at a;

		(void)state;
		one_step(f, "touch c", put(f, "c", "agent\n"));
		if (human)
			outside(f, "c", "the human's\n");
		begin(f, "open c; touch d");
		a = at(f, "c");
		close(op_open(f->s, &a, O_RDWR, 0, NULL));
		assert_int_equal(put(f, "d", "d\n"), 0);
		assert_true(commit(f) > 0);
		one_step(f, "chmod c", mode(f, "c", 0600));
		must(f, undo(f, 2, 0));
		must(f, redo(f, 0));
		assert_int_equal(undo(f, 3, 0), human ? -ESTALE : 0);
		assert_cat(f, "c", human ? "the human's\n" : NULL);
		fix_free(f);
	}
}

/* After the rollback the file that it moved and the file that it found are two inodes. */
TEST(a_file_of_a_step_that_was_interrupted)
{
	AUTO_FREE char *text = xcalloc(1, 9001);

	memset(text, 'x', 9000);
	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();

		(void)state;
		begin(f, "mkdir c; echo >d");
		assert_int_equal(md(f, "c"), 0);
		assert_int_equal(put(f, "d", text), 0);
		assert_true(commit(f) > 0);
		if (human)
			outside(f, "d", "the human's\n");
		begin(f, "echo >d; mv d c/a");
		assert_int_equal(put(f, "d", "agent\n"), 0);
		assert_int_equal(mv(f, "d", "c/a", 0), 0);
		assert_int_equal(journal_roll_back(f->s, &f->err), 0);
		must(f, redo(f, 0));
		one_step(f, "mv c b", mv(f, "c", "b", 0));
		assert_int_equal(undo(f, 3, 0), human ? -ESTALE : 0);
		assert_cat(f, "b/a", human ? "agent\n" : NULL);
		fix_free(f);
	}
}

static bool never(void *data, size_t done, size_t total)
{
	(void)data, (void)done, (void)total;
	return false;
}

/* An undo of several steps was cancelled and reverted: each step's state is still known. */
TEST(an_undo_of_several_that_turned_round)
{
	static const struct undo_progress stop = {.tick = never};

	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();
		AUTO_FREE char *first = NULL, *both = NULL;

		(void)state;
		begin(f, "touch a; ln a b");
		assert_int_equal(put(f, "a", "one\n"), 0);
		assert_int_equal(ln(f, "a", "b"), 0);
		assert_true(commit(f) > 0);
		first = snap(f);
		begin(f, "echo >>a; touch ...");
		assert_int_equal(add(f, "a", "two\n"), 0);
		for (char name[] = "c0"; name[1] < 'z'; name[1]++)
			assert_int_equal(put(f, name, name), 0);
		assert_true(commit(f) > 0);
		both = snap(f);
		assert_int_equal(journal_undo(f->j, UNDO_BACK, 2, 0, &stop, &f->err), -ECANCELED);
		assert_tree(f, both);
		must(f, undo(f, 1, 0));
		assert_tree(f, first);
		if (human)
			outside(f, "b", "the human's\n");
		assert_int_equal(undo(f, 1, 0), human ? -ESTALE : 0);
		assert_cat(f, "a", human ? "the human's\n" : NULL);
		fix_free(f);
	}
}

TESTS(NULL, NULL)
