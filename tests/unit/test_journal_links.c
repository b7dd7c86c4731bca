/* test_journal_links - files of several names: what a human did to them, and who writes to them. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

/* Written beside it and renamed over it, as editors do: another file has the name. */
static void save(struct fix *f, const char *path, const char *text)
{
	AUTO_FREE char *beside = xasprintf("%s/save~", f->folder);
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);

	outside(f, "save~", text);
	assert_int_equal(rename(beside, whole), 0);
}

static void link_outside(struct fix *f, const char *from, const char *to)
{
	AUTO_FREE char *a = xasprintf("%s/%s", f->folder, from);
	AUTO_FREE char *b = xasprintf("%s/%s", f->folder, to);

	assert_int_equal(link(a, b), 0);
}

/* The step before it changed a file with another name, which is not told what it did by that. */
static void an_edit_saved_over_one_of_two_names(void **state)
{
	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();

		(void)state;
		outside(f, "d", "old\n");
		link_outside(f, "d", "c");
		begin(f, "echo >>d");
		assert_int_equal(add(f, "d", "agent\n"), 0);
		assert_true(commit(f) > 0);
		if (human)
			save(f, "d", "the human's\n");
		begin(f, "chmod d");
		assert_int_equal(mode(f, "d", 0600), 0);
		assert_true(commit(f) > 0);
		assert_int_equal(undo(f, 2, 0), human ? -ESTALE : 0);
		assert_cat(f, "d", human ? "the human's\n" : "old\n");
		fix_free(f);
	}
}

/* The step after it has found one name of two: the other is in the store, with a step that was
 * rolled back. */
static void an_edit_that_a_dropped_step_gave_a_name(void **state)
{
	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();

		(void)state;
		begin(f, "touch d");
		assert_int_equal(put(f, "d", "agent\n"), 0);
		assert_true(commit(f) > 0);
		if (human)
			save(f, "d", "the human's\n");
		begin(f, "ln d c");
		assert_int_equal(ln(f, "d", "c"), 0);
		assert_int_equal(journal_roll_back(f->s, &f->err), 0);
		begin(f, "chmod d");
		assert_int_equal(mode(f, "d", 0600), 0);
		assert_true(commit(f) > 0);
		assert_int_equal(undo(f, 2, 0), human ? -ESTALE : 0);
		assert_cat(f, "d", human ? "the human's\n" : NULL);
		fix_free(f);
	}
}

static void open_for_nothing(struct fix *f, const char *path)
{
	struct at a;

	begin(f, "open; touch y");
	a = at(f, path);
	close(op_open(f->s, &a, O_WRONLY, 0, NULL));
	assert_int_equal(put(f, "y", "y\n"), 0);
	assert_true(commit(f) > 0);
}

/* The step after it opened the file to write, and wrote nothing: so it has found what it left. */
static void an_edit_of_a_file_that_was_opened_for_nothing(bool human, bool linked)
{
	struct fix *f = fix_new();

	begin(f, "touch c; ln c b");
	assert_int_equal(put(f, "c", "agent\n"), 0);
	assert_int_equal(linked ? 0 : ln(f, "c", "b"), 0);
	assert_true(commit(f) > 0);
	if (linked) { /* no step knows of that name */
		link_outside(f, "c", "b");
		begin(f, "echo >>c");
		assert_int_equal(add(f, "c", "more\n"), 0);
		assert_true(commit(f) > 0);
	}
	if (human)
		outside(f, "c", "the human's\n");
	open_for_nothing(f, "c");
	assert_int_equal(undo(f, linked ? 3 : 2, 0), human ? -ESTALE : 0);
	assert_cat(f, "c", human ? "the human's\n" : NULL);
	fix_free(f);
}

static void an_edit_of_a_file_of_two_names_that_was_opened(void **state)
{
	(void)state;
	for (int how = 0; how < 4; how++)
		an_edit_of_a_file_that_was_opened_for_nothing(how & 1, how & 2);
}

/* By one name a step writes, by the other the next: it is the same file, and nobody's edit. */
static void nobody_where_two_write_by_two_names(void **state)
{
	struct fix *f = *state;

	outside(f, "d", "old\n");
	link_outside(f, "d", "c");
	for (int i = 0; i < 4; i++) {
		begin(f, "echo");
		assert_int_equal(add(f, i % 2 ? "c" : "d", "agent\n"), 0);
		assert_true(commit(f) > 0);
	}
	assert_int_equal(undo(f, 4, 0), 0);
	assert_cat(f, "d", "old\n");
	assert_cat(f, "c", "old\n");
}

static int hold(struct fix *f, const char *path)
{
	struct at a = at(f, path);
	int fd = op_open(f->s, &a, O_WRONLY | O_CREAT, 0644, NULL);

	assert_true(fd >= 0);
	return fd;
}

/* The next step undoes what is written to c through the descriptor. */
static void assert_kept(struct fix *f, int fd)
{
	begin(f, "another");
	assert_int_equal(put(f, "x", "x\n"), 0);
	assert_int_equal(pwrite(fd, "later", 5, 0), 5);
	assert_true(commit(f) > 0);
	assert_cat(f, "c", "later");
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "c", "first");
}

/* It is open by a name that a human takes away: it has another, which no step has spoken of. */
static void writes_are_kept_when_a_human_removes_a_name(void **state)
{
	struct fix *f = *state;
	AUTO_FREE char *whole = xasprintf("%s/d", f->folder);
	int fd;

	outside(f, "d", "first");
	link_outside(f, "d", "c");
	begin(f, "exec >d");
	fd = hold(f, "d");
	assert_int_equal(put(f, "y", "y\n"), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(unlink(whole), 0);
	assert_kept(f, fd);
	close(fd);
}

/* The step that gave it this name is dropped. */
static void writes_are_kept_when_a_step_goes_with_its_name(void **state)
{
	struct fix *f = *state;
	int fd;

	outside(f, "c", "first");
	begin(f, "ln c d; exec >d");
	assert_int_equal(ln(f, "c", "d"), 0);
	fd = hold(f, "d");
	assert_int_equal(journal_abort(f->s, &f->err), 0);
	assert_cat(f, "d", NULL);
	assert_kept(f, fd);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edit_saved_over_one_of_two_names),
		cmocka_unit_test(an_edit_that_a_dropped_step_gave_a_name),
		cmocka_unit_test(an_edit_of_a_file_of_two_names_that_was_opened),
		TEST(nobody_where_two_write_by_two_names),
		TEST(writes_are_kept_when_a_human_removes_a_name),
		TEST(writes_are_kept_when_a_step_goes_with_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
