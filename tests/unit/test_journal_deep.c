/* test_journal_deep - paths longer than the kernel takes in one call. */
/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>

#include "tests/support/journalfix.h"

#define LEVELS 12 /* of 250 characters each: two such chains exceed PATH_MAX */

/* Returns the path of level n below top; heap. */
static char *chain(const char *top, int n)
{
	struct buf b = BUF_INIT;

	buf_str(&b, top);
	while (n--) {
		buf_ch(&b, '/');
		for (int i = 0; i < 250; i++)
			buf_ch(&b, 'x');
	}
	return buf_take(&b);
}

static void make_chain(struct fix *f, const char *top)
{
	for (int i = 0; i <= LEVELS; i++) {
		AUTO_FREE char *path = chain(top, i);

		assert_int_equal(md(f, path), 0);
	}
}

/* A chain is moved to the end of another: no call reaches its end by one path. */
TEST(what_was_touched_is_moved_out_of_reach)
{
	struct fix *f = *state;
	AUTO_FREE char *end = chain("a", LEVELS), *to = chain("b", LEVELS);
	AUTO_FREE char *file = xasprintf("%s/file", end), *there = xasprintf("%s/a", to);
	AUTO_FREE char *before = NULL;
	int64_t id;

	begin(f, "make");
	make_chain(f, "a");
	make_chain(f, "b");
	assert_int_equal(put(f, file, "was\n"), 0);
	assert_true(commit(f) > 0);
	before = snap(f);
	begin(f, "move");
	assert_int_equal(put(f, file, "is\n"), 0);
	assert_int_equal(mv(f, "a", there, 0), 0);
	id = commit(f);
	assert_true(id > 0);
	assert_sound(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
}

/* The same, and the step's process dies. */
TEST(what_died_with_it_out_of_reach_is_rolled_back)
{
	struct fix *f = *state;
	AUTO_FREE char *end = chain("a", LEVELS), *to = chain("b", LEVELS);
	AUTO_FREE char *file = xasprintf("%s/file", end), *there = xasprintf("%s/a", to);
	AUTO_FREE char *before = NULL;

	begin(f, "make");
	make_chain(f, "a");
	make_chain(f, "b");
	assert_int_equal(put(f, file, "was\n"), 0);
	assert_true(commit(f) > 0);
	before = snap(f);
	begin(f, "move");
	assert_int_equal(put(f, file, "is\n"), 0);
	assert_int_equal(mv(f, "a", there, 0), 0);
	fix_reopen(f);
	assert_tree(f, before);
}

TESTS(fix_setup, fix_teardown)
