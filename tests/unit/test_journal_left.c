/* test_journal_left - of steps that went and came back together: what each had left. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

/* Newer ones were at the path as well, and all are looked at when the newest has come back. */
static void an_edit_before_steps_that_were_redone(void **state)
{
	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();
		struct at a;

		(void)state;
		begin(f, "touch c");
		assert_int_equal(put(f, "c", "agent\n"), 0);
		assert_true(commit(f) > 0);
		if (human)
			outside(f, "c", "the human's\n");
		begin(f, "open c; touch d");
		a = at(f, "c");
		close(op_open(f->s, &a, O_RDWR, 0, NULL));
		assert_int_equal(put(f, "d", "d\n"), 0);
		assert_true(commit(f) > 0);
		begin(f, "chmod c");
		assert_int_equal(mode(f, "c", 0600), 0);
		assert_true(commit(f) > 0);
		must(f, undo(f, 2, 0));
		must(f, redo(f, 0));
		assert_int_equal(undo(f, 3, 0), human ? -ESTALE : 0);
		assert_cat(f, "c", human ? "the human's\n" : NULL);
		fix_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edit_before_steps_that_were_redone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
