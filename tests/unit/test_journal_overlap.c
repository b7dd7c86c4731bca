/* test_journal_overlap - steps that ran at the same time and are undone together. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

/* A step is begun, and the one that was open goes on beside it. */
static struct step *begin_beside(struct fix *f, const char *command)
{
	struct step *other = f->s;

	begin(f, command);
	return other;
}

static void commit_other(struct fix *f, struct step *s)
{
	f->s = s;
	assert_true(commit(f) > 0);
}

static void undo_all(struct fix *f, size_t n, const char *before)
{
	if (undo(f, n, 0) < 0)
		fail_msg("%s", f->err.text);
	assert_tree(f, before);
}

/* Two came and went one after the other while the third ran, which was at the path after them. */
static void one_that_ran_on_past_two_others(void **state)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	struct step *lasting;

	begin(f, "touch a");
	assert_int_equal(put(f, "a", "one\n"), 0);
	assert_true(commit(f) > 0);
	begin(f, "lasting");
	assert_int_equal(put(f, "x", "x\n"), 0);
	lasting = begin_beside(f, "touch y");
	assert_int_equal(put(f, "y", "y\n"), 0);
	assert_true(commit(f) > 0);
	begin(f, "echo >>a");
	assert_int_equal(add(f, "a", "two\n"), 0);
	assert_true(commit(f) > 0);
	f->s = lasting;
	assert_int_equal(add(f, "a", "three\n"), 0);
	assert_true(commit(f) > 0);
	undo_all(f, 4, before);
}

/* Still somebody else's is what was written before all three. */
static void an_edit_before_one_that_ran_on(void **state)
{
	struct fix *f = *state;
	struct step *lasting;

	begin(f, "touch a");
	assert_int_equal(put(f, "a", "one\n"), 0);
	assert_true(commit(f) > 0);
	outside(f, "a", "the human's\n");
	begin(f, "lasting");
	assert_int_equal(put(f, "x", "x\n"), 0);
	lasting = begin_beside(f, "touch y");
	assert_int_equal(put(f, "y", "y\n"), 0);
	assert_true(commit(f) > 0);
	begin(f, "echo >>a");
	assert_int_equal(add(f, "a", "two\n"), 0);
	assert_true(commit(f) > 0);
	commit_other(f, lasting);
	assert_int_equal(undo(f, 4, 0), -ESTALE);
	assert_cat(f, "a", "the human's\ntwo\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_that_ran_on_past_two_others),
		TEST(an_edit_before_one_that_ran_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
