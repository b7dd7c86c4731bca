/* test_journal_reuse - the inode number of a removed object is reused for another one. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/object.h"
#include "tests/support/journalfix.h"

static ino_t number(struct fix *f, const char *path)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);
	struct stat st;

	assert_int_equal(stat(whole, &st), 0);
	return st.st_ino;
}

/* Undoes a change of a file from its saved content. Returns whether the file got the inode number
 * of the removed directory. */
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

/* Other programs may take such a number in the meantime. */
TEST(of_a_directory_to_a_file)
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
	if (!again) { /* not every file system reuses numbers */
		free(before);
		skip();
	}
	one_step(f, "write", add(f, "b", "other\n"));
	begin(f, "open");
	assert_int_equal(add(f, "b", ""), 0);
	assert_int_equal(put(f, "c", "c\n"), 0);
	assert_true(commit(f) > 0);
	must(f, undo(f, 3, 0));
	assert_tree(f, before);
	free(before);
}

/* A file is restored as another inode, and its old number is reused by a file that a newer step
 * makes and the last one changes: all of them are undone and redone. */
static void give_away(struct fix *f)
{
	static char large[100000];
	ino_t was;

	memset(large, 'x', sizeof(large) - 1);
	one_step(f, "make", put(f, "a", large));
	was = number(f, "a");
	one_step(f, "append", add(f, "a", "more\n"));
	must(f, undo(f, 1, 0));
	assert_int_not_equal(number(f, "a"), was);
	begin(f, "another"); /* drops the redo and its content */
	assert_int_equal(put(f, "b", "b\n"), 0);
	assert_true(commit(f) > 0);
	begin(f, "touch");
	for (char name[] = "ca"; name[1] <= 'z'; name[1]++)
		assert_int_equal(put(f, name, name), 0);
	assert_true(commit(f) > 0);
	begin(f, "chmod");
	for (char name[] = "ca"; name[1] <= 'z'; name[1]++)
		assert_int_equal(mode(f, name, 0600), 0);
	assert_true(commit(f) > 0);
	must(f, undo(f, 4, 0));
	must(f, redo(f, 0));
	must(f, undo(f, 4, 0));
}

/* Whether one of them gets the number is the file system's choice. */
TEST(of_a_file_that_came_back_to_another)
{
	for (int i = 0; i < 60; i++)
		give_away(*state);
}

/* Changes by a descriptor first check whether the step has saved the file. */
TEST(of_the_steps_own_to_somebody_elses)
{
	struct fix *f = *state;
	AUTO_FREE char *path = xasprintf("%s/own", f->folder);
	struct object was, now = {0};

	begin(f, "make");
	assert_int_equal(put(f, "own", "own\n"), 0);
	assert_int_equal(object_stat(AT_FDCWD, path, &was), 0);
	assert_true(step_has_inode(f->s, &was));
	for (int i = 0; i < 50 && now.ino != was.ino; i++) {
		assert_int_equal(unlink(path), 0);
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		assert_int_equal(object_stat(AT_FDCWD, path, &now), 0);
	}
	assert_false(step_has_inode(f->s, &now));
	assert_int_equal(journal_abort(f->s, &f->err), 0);
	if (now.ino != was.ino) {
		free(take_ptr(&path)); /* skip() does not return */
		skip();
	}
}

TESTS(fix_setup, fix_teardown)
