/* test_journal_limits - what a step may hold, next to what the store may. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/journal.h"
#include "core/journal/store/store.h"
#include "tests/support/journalfix.h"

static void remove_large(struct fix *f, struct journal_options options)
{
	AUTO_FREE char *text = xmalloc((400 << 10) + 1);

	memset(text, 'b', 400 << 10);
	text[400 << 10] = '\0';
	begin(f, "make");
	assert_int_equal(put(f, "small", "s"), 0);
	assert_int_equal(put(f, "big", text), 0);
	assert_true(commit(f) > 0);
	f->options = options;
	fix_reopen(f);
	begin(f, "remove");
	assert_int_equal(rm(f, "small"), 0);
	assert_int_equal(rm(f, "big"), 0);
}

/* Kept, it would be all that there is, and the store over its size: that is said at once. */
static void a_step_is_not_larger_than_the_store(void **state)
{
	static const struct journal_options less[] = {{.size = 256 << 10},
						      {.size = 256 << 10, .step_size = 1 << 20},
						      {.size = 1 << 20, .step_size = 256 << 10}};
	static const struct journal_options more = {.size = 1 << 20, .step_size = 1 << 20};

	(void)state;
	for (size_t i = 0; i <= ARRAY_LEN(less); i++) {
		bool enough = i == ARRAY_LEN(less);
		struct fix *f = fix_new();

		remove_large(f, enough ? more : less[i]);
		assert_int_equal(strstr(step_why(f->s), "unprotected") == NULL, enough);
		assert_true(commit(f) > 0);
		assert_true(store_holds(f->j) <= f->options.size);
		assert_int_equal(undo(f, 1, 0), enough ? 0 : -ESTALE);
		fix_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_not_larger_than_the_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
