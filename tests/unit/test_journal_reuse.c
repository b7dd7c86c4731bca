/* test_journal_reuse - the number of an inode that went is given to another one. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

static ino_t number(struct fix *f, const char *path)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);
	struct stat st;

	assert_int_equal(stat(whole, &st), 0);
	return st.st_ino;
}

/* Undo brings a file back, from what was kept of it; true: as the directory that has just gone. */
static bool reused(struct fix *f)
{
	static char large[100000];
	ino_t was;

	memset(large, 'x', sizeof(large) - 1);
	begin(f, "make");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(put(f, "b", large), 0);
	assert_true(commit(f) > 0);
	was = number(f, "a");
	begin(f, "remove");
	assert_int_equal(rd(f, "a"), 0);
	assert_int_equal(add(f, "b", "more\n"), 0);
	assert_true(commit(f) > 0);
	must(f, undo(f, 1, 0));
	return number(f, "b") == was;
}

/* What others make beside this test takes such a number now and then. */
static void of_a_directory_to_a_file(void **state)
{
	enum {
		TRIES = 50
	};
	struct fix *f = *state;
	char *before = snap(f);
	bool again = reused(f);

	for (int i = 1; !again && i < TRIES; i++) {
		must(f, undo(f, 1, 0));
		again = reused(f);
	}
	if (!again) { /* nor does every file system do it */
		free(before);
		skip();
	}
	begin(f, "write");
	assert_int_equal(add(f, "b", "other\n"), 0);
	assert_true(commit(f) > 0);
	begin(f, "open");
	assert_int_equal(add(f, "b", ""), 0);
	assert_int_equal(put(f, "c", "c\n"), 0);
	assert_true(commit(f) > 0);
	must(f, undo(f, 3, 0));
	assert_tree(f, before);
	free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_a_directory_to_a_file, fix_setup, fix_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
