/* test_journal_chain - external edits between steps that are undone together. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

/* Overlapping steps, and one before them: only where two of them changed a path is it unknown which
 * found what. */
TEST(an_edit_before_steps_at_the_same_time)
{
	struct fix *f = *state;

	for (int human = 0; human < 2; human++) {
		struct step *first;

		begin(f, "touch a");
		assert_int_equal(put(f, "a", "agent\n"), 0);
		assert_int_equal(put(f, "c", "c\n"), 0);
		assert_true(commit(f) > 0);
		if (human)
			outside(f, "a", "the human's\n");
		begin(f, "first");
		first = f->s;
		assert_int_equal(put(f, "c", "first\n"), 0);
		begin(f, "second");
		assert_int_equal(put(f, "c", "second\n"), 0);
		assert_int_equal(mv(f, "a", "b", 0), 0);
		assert_true(commit(f) > 0);
		f->s = first;
		assert_int_equal(put(f, "c", "third\n"), 0);
		assert_true(commit(f) > 0);
		assert_int_equal(undo(f, 3, 0), human ? -ESTALE : 0);
	}
	assert_cat(f, "b", "the human's\n");
}

/* A step that only adds a hard link has found the file as it is: an earlier external edit is not
 * the step's. */
TEST(an_edit_of_a_file_that_got_one_more_name)
{
	struct fix *f = *state;

	for (int human = 0; human < 2; human++) {
		one_step(f, "touch c", put(f, "c", "agent\n"));
		if (human)
			outside(f, "c", "the human's\n");
		one_step(f, "ln c a", ln(f, "c", "a"));
		assert_int_equal(undo(f, 2, 0), human ? -ESTALE : 0);
	}
	assert_cat(f, "a", "the human's\n");
}

/* By either name: the file that the second step found is not the one that the first left. */
TEST(an_edit_of_a_file_with_two_names)
{
	struct fix *f = *state;

	for (int human = 0; human < 2; human++) {
		begin(f, "touch c; ln c d");
		assert_int_equal(put(f, "c", "agent\n"), 0);
		assert_int_equal(ln(f, "c", "d"), 0);
		assert_true(commit(f) > 0);
		one_step(f, "echo >>d", add(f, "d", "more\n"));
		if (human)
			outside(f, "c", "the human's\n");
		one_step(f, "echo >>c", add(f, "c", "agent\n"));
		assert_int_equal(undo(f, 3, 0), human ? -ESTALE : 0);
	}
	assert_cat(f, "d", "the human's\nagent\n");
}

/* The file is first recorded when a step moves it out of a directory that the undo removes. */
TEST(an_edit_that_was_moved_out_of_a_directory)
{
	struct fix *f = *state;

	one_step(f, "mkdir d", md(f, "d"));
	outside(f, "d/c", "the human's\n");
	one_step(f, "mv d/c a", mv(f, "d/c", "a", 0));
	assert_int_equal(undo(f, 2, 0), -ESTALE);
	assert_cat(f, "a", "the human's\n");
	assert_int_equal(undo(f, 2, UNDO_KEEP_MINE), 0);
	assert_cat(f, "a", "the human's\n");
}

/* It is unknown which of the two came first, but that one found the external edit. */
TEST(an_edit_before_steps_that_shared_the_path)
{
	struct fix *f = *state;

	for (int human = 0; human < 2; human++) {
		struct step *first;

		one_step(f, "touch a", put(f, "a", "agent\n"));
		if (human)
			outside(f, "a", "the human's\n");
		begin(f, "first");
		first = f->s;
		assert_int_equal(mode(f, "a", 0640), 0);
		begin(f, "second");
		assert_int_equal(mode(f, "a", 0600), 0);
		assert_int_equal(mv(f, "a", "b", 0), 0);
		assert_true(commit(f) > 0);
		f->s = first;
		assert_int_equal(put(f, "x", "x\n"), 0);
		assert_true(commit(f) > 0);
		assert_int_equal(undo(f, 3, 0), human ? -ESTALE : 0);
	}
	assert_cat(f, "b", "the human's\n");
}

/* One step made the name that the other removed, and left it unchanged. */
TEST(a_name_between_steps_at_the_same_time)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	struct step *first;

	begin(f, "touch b x; rm b");
	assert_int_equal(put(f, "b", "b\n"), 0);
	assert_int_equal(put(f, "x", "x\n"), 0);
	assert_int_equal(rm(f, "b"), 0);
	assert_true(commit(f) > 0);
	begin(f, "touch b");
	first = f->s;
	assert_int_equal(put(f, "b", "b\n"), 0);
	one_step(f, "mv b c", mv(f, "b", "c", 0));
	f->s = first;
	assert_true(commit(f) > 0);
	if (undo(f, 3, 0) < 0)
		fail_msg("%s", f->err.text);
	assert_tree(f, before);
}

/* Edited in place, before a step that opens the file without writing. */
TEST(an_edit_of_a_file_that_was_opened_for_nothing)
{
	struct fix *f = *state;
	struct at a;

	one_step(f, "touch d", put(f, "d", "agent\n"));
	outside(f, "d", "the human's\n");
	begin(f, "open d; touch x");
	a = at(f, "d");
	close(op_open(f->s, &a, O_RDWR, 0, NULL));
	assert_int_equal(put(f, "x", "x\n"), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 2, 0), -ESTALE);
	assert_cat(f, "d", "the human's\n");
}

/* A directory took the name of the edited file: undo must not move the directory back over it. */
TEST(an_edit_is_kept_that_a_directory_took_the_name_of)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;

	begin(f, "touch d; mkdir b");
	assert_int_equal(put(f, "d", "agent\n"), 0);
	assert_int_equal(md(f, "b"), 0);
	assert_true(commit(f) > 0);
	outside(f, "d", "the human's\n");
	begin(f, "mv d x; mv b d");
	assert_int_equal(mv(f, "d", "x", 0), 0);
	assert_int_equal(mv(f, "b", "d", 0), 0);
	assert_true(commit(f) > 0);
	before = snap(f);
	assert_int_equal(undo(f, 2, 0), -ESTALE);
	assert_int_equal(undo(f, 2, UNDO_KEEP_MINE), 0);
	assert_cat(f, "x", "the human's\n");
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, before);
}

/* A moved directory proves nothing about a file beside it. */
TEST(an_edit_beside_a_directory_that_moved)
{
	struct fix *f = *state;

	for (int human = 0; human < 2; human++) {
		struct step *first;

		one_step(f, "touch a", put(f, "a", "agent\n"));
		if (human)
			outside(f, "a", "the human's\n");
		begin(f, "mkdir b; echo >>a");
		first = f->s;
		assert_int_equal(md(f, "b"), 0);
		assert_int_equal(add(f, "a", "agent\n"), 0);
		one_step(f, "mv b c", mv(f, "b", "c", 0));
		f->s = first;
		assert_true(commit(f) > 0);
		assert_int_equal(undo(f, 3, 0), human ? -ESTALE : 0);
	}
	assert_cat(f, "a", "the human's\nagent\n");
}

/* One step gave the file another name, which the other removed. */
TEST(an_edit_of_a_file_whose_other_name_is_gone)
{
	struct fix *f = *state;

	for (int human = 0; human < 2; human++) {
		struct step *first;

		begin(f, "touch d; ln d c");
		first = f->s;
		assert_int_equal(put(f, "d", "agent\n"), 0);
		assert_int_equal(ln(f, "d", "c"), 0);
		one_step(f, "rm c", rm(f, "c"));
		f->s = first;
		assert_true(commit(f) > 0);
		if (human)
			outside(f, "d", "the human's\n");
		one_step(f, "mv d c", mv(f, "d", "c", 0));
		assert_int_equal(undo(f, 3, 0), human ? -ESTALE : 0);
	}
	assert_cat(f, "c", "the human's\n");
}

/* Makes a directory with a file in it; human: the file is edited externally. */
static void make_dir(struct fix *f, const char *dir, bool human)
{
	AUTO_FREE char *file = xasprintf("%s/x", dir);

	begin(f, "mkdir; touch");
	assert_int_equal(md(f, dir), 0);
	assert_int_equal(put(f, file, "agent\n"), 0);
	assert_true(commit(f) > 0);
	if (human)
		outside(f, file, "the human's\n");
}

TEST(an_edit_in_a_directory_that_moved)
{
	struct fix *f = *state;

	for (int human = 0; human < 2; human++) {
		make_dir(f, "d", human);
		one_step(f, "mv d e", mv(f, "d", "e", 0));
		assert_int_equal(undo(f, 2, 0), human ? -ESTALE : 0);
	}
	assert_cat(f, "e/x", "the human's\n");
	assert_int_equal(undo(f, 2, UNDO_KEEP_MINE), 0);
	assert_cat(f, "d/x", "the human's\n");
}

TEST(an_edit_in_directories_that_changed_places)
{
	struct fix *f = *state;

	for (int human = 0; human < 2; human++) {
		make_dir(f, "a", human);
		begin(f, "mkdir b; touch b/x; exch a b");
		assert_int_equal(md(f, "b"), 0);
		assert_int_equal(put(f, "b/x", "another\n"), 0);
		assert_int_equal(mv(f, "a", "b", RENAME_EXCHANGE), 0);
		assert_true(commit(f) > 0);
		assert_int_equal(undo(f, 2, 0), human ? -ESTALE : 0);
	}
	assert_cat(f, "b/x", "the human's\n");
}

/* No step has an image of the file at its current path. */
TEST(an_edit_in_a_directory_that_two_moved_on)
{
	struct fix *f = *state;

	for (int human = 0; human < 2; human++) {
		struct step *first;

		make_dir(f, "a", human);
		begin(f, "mv a b");
		first = f->s;
		assert_int_equal(mv(f, "a", "b", 0), 0);
		one_step(f, "mv b c", mv(f, "b", "c", 0));
		f->s = first;
		assert_true(commit(f) > 0);
		assert_int_equal(undo(f, 3, 0), human ? -ESTALE : 0);
	}
	assert_cat(f, "c/x", "the human's\n");
}

/* The first step has an image only of the path to which the second moved its file. */
TEST(what_one_made_in_a_directory_that_another_moved)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	struct step *first, *second;

	one_step(f, "mkdir c", md(f, "c"));
	begin(f, "ln -s x c/c");
	first = f->s;
	assert_int_equal(sym(f, "x", "c/c"), 0);
	begin(f, "mv c b");
	assert_int_equal(mv(f, "c", "b", 0), 0);
	second = f->s;
	f->s = first;
	assert_true(commit(f) > 0);
	f->s = second;
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 3, 0), 0);
	assert_tree(f, before);
}

/* The edit moves back and forth with the directory; an image of it there is no step's work. */
TEST(an_edit_that_came_back_with_its_directory)
{
	struct fix *f = *state;

	make_dir(f, "d", false);
	one_step(f, "mv d e", mv(f, "d", "e", 0));
	outside(f, "e/x", "the human's\n");
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "d/x", "the human's\n");
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(undo(f, 2, 0), -ESTALE);
	assert_cat(f, "e/x", "the human's\n");
}

/* The images of redone steps are from the end of the redo, when all steps were back. */
TEST(nobody_where_directories_went_back_and_forth)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);

	make_dir(f, "a", false);
	one_step(f, "touch b", put(f, "b", "b\n"));
	begin(f, "touch c; exch a c");
	assert_int_equal(put(f, "c", "c\n"), 0);
	assert_int_equal(mv(f, "a", "c", RENAME_EXCHANGE), 0);
	assert_true(commit(f) > 0);
	for (size_t n = 3; n > 0; n--) {
		if (undo(f, n, 0) < 0 || redo(f, 0) < 0)
			fail_msg("%zu: %s", n, f->err.text);
	}
	if (undo(f, 3, 0) < 0)
		fail_msg("%s", f->err.text);
	assert_tree(f, before);
}

/* No record has the removal of a directory that the step itself made. */
TEST(no_conflict_in_a_directory_moved_into_a_removed_one)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);

	one_step(f, "mkdir a", md(f, "a"));
	begin(f, "mkdir c; mv c b; mv a b/b; rmdir b/b b; ln -s x b");
	assert_int_equal(md(f, "c"), 0);
	assert_int_equal(mv(f, "c", "b", 0), 0);
	assert_int_equal(mv(f, "a", "b/b", 0), 0);
	assert_int_equal(rd(f, "b/b"), 0);
	assert_int_equal(rd(f, "b"), 0);
	assert_int_equal(sym(f, "x", "b"), 0);
	assert_true(commit(f) > 0);
	must(f, undo(f, 2, 0));
	assert_tree(f, before);
}

/* The same with two directories, one in the other. */
TEST(no_conflict_in_a_directory_moved_deep_into_a_removed_one)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);

	one_step(f, "mkdir a", md(f, "a"));
	begin(f, "mkdir c c/d; mv c b; mv a b/d/a; rmdir b/d/a b/d b; ln -s x b");
	assert_int_equal(md(f, "c"), 0);
	assert_int_equal(md(f, "c/d"), 0);
	assert_int_equal(mv(f, "c", "b", 0), 0);
	assert_int_equal(mv(f, "a", "b/d/a", 0), 0);
	assert_int_equal(rd(f, "b/d/a"), 0);
	assert_int_equal(rd(f, "b/d"), 0);
	assert_int_equal(rd(f, "b"), 0);
	assert_int_equal(sym(f, "x", "b"), 0);
	assert_true(commit(f) > 0);
	must(f, undo(f, 2, 0));
	assert_tree(f, before);
}

/* For a step that was rolled back while it ran only the names in its records are known. */
TEST(nobody_where_a_step_was_rolled_back)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);

	make_dir(f, "a", false);
	begin(f, "mkdir b; mv a c; exch c/x b");
	assert_int_equal(md(f, "b"), 0);
	assert_int_equal(mv(f, "a", "c", 0), 0);
	assert_int_equal(mv(f, "c/x", "b", RENAME_EXCHANGE), 0);
	assert_int_equal(journal_roll_back(f->s, &f->err), 0);
	assert_int_equal(redo(f, 0), 0);
	if (undo(f, 2, 0) < 0)
		fail_msg("%s", f->err.text);
	assert_tree(f, before);
}

/* The step wrote to the file by a temporary name, the external edit by another. */
TEST(an_edit_is_kept_of_a_file_that_had_another_name)
{
	struct fix *f = *state;

	one_step(f, "touch a", put(f, "a", "agent\n"));
	begin(f, "ln a d; echo >>d; rm d");
	assert_int_equal(ln(f, "a", "d"), 0);
	assert_int_equal(add(f, "d", "more\n"), 0);
	assert_int_equal(rm(f, "d"), 0);
	assert_true(commit(f) > 0);
	outside(f, "a", "the human's\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_cat(f, "a", "the human's\n");
	assert_cat(f, "d", NULL);
	assert_int_equal(redo(f, UNDO_KEEP_MINE), 0);
	assert_cat(f, "a", "the human's\n");
}

/* Gives the file another name and removes the first: in one step, in two, or in two overlapping
 * ones. */
static void rename_by_link(struct fix *f, int how)
{
	struct step *first = NULL;

	begin(f, "ln b d");
	assert_int_equal(ln(f, "b", "d"), 0);
	if (how == 1)
		assert_true(commit(f) > 0);
	first = f->s;
	if (how > 0)
		begin(f, "rm b");
	assert_int_equal(rm(f, "b"), 0);
	assert_true(commit(f) > 0);
	if (how == 2) {
		f->s = first;
		assert_true(commit(f) > 0);
	}
}

/* The edited file has the name that a step gave it, which must stay. */
TEST(an_edit_is_kept_of_a_file_that_lost_its_name)
{
	for (int how = 0; how < 3; how++) {
		AUTO_FREE char *after = NULL;
		struct fix *f = fix_new();

		(void)state;
		one_step(f, "touch b", put(f, "b", "agent\n"));
		outside(f, "b", "the human's\n");
		rename_by_link(f, how);
		after = snap(f);
		assert_int_equal(undo(f, 3, 0), -ESTALE);
		assert_int_equal(undo(f, 3, UNDO_KEEP_MINE), 0);
		assert_cat(f, "b", NULL);
		assert_cat(f, "d", "the human's\n");
		assert_int_equal(redo(f, 0), 0);
		assert_tree(f, after);
		fix_free(f);
	}
}

/* The same for a redo: the name that it would remove is the only one left. */
TEST(an_edit_is_kept_where_a_redo_takes_its_name)
{
	struct fix *f = *state;

	outside(f, "b", "mine\n");
	rename_by_link(f, 0);
	assert_int_equal(undo(f, 1, 0), 0);
	outside(f, "d", "another\n");
	assert_int_equal(redo(f, 0), -ESTALE);
	assert_int_equal(redo(f, UNDO_KEEP_MINE), 0);
	assert_cat(f, "d", "another\n");
	assert_cat(f, "b", "mine\n");
}

/* If the file has another name left, those made by steps are removed. */
TEST(a_name_goes_of_a_file_that_has_one_left)
{
	AUTO_FREE char *first = NULL, *second = NULL;
	struct fix *f = *state;
	struct stat st;

	outside(f, "b", "mine\n");
	first = xasprintf("%s/b", f->folder);
	second = xasprintf("%s/c", f->folder);
	assert_int_equal(chmod(first, 0644), 0);
	assert_int_equal(link(first, second), 0);
	begin(f, "chmod c; ln b d; rm b");
	assert_int_equal(mode(f, "c", 0600), 0);
	assert_int_equal(ln(f, "b", "d"), 0);
	assert_int_equal(rm(f, "b"), 0);
	assert_true(commit(f) > 0);
	outside(f, "b", "another\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_cat(f, "b", "another\n");
	assert_cat(f, "c", "mine\n");
	assert_cat(f, "d", NULL);
	assert_int_equal(stat(second, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
}

/* In a directory that the undo removes; the step that opened the file wrote nothing. */
TEST(a_file_that_was_opened_for_nothing_in_a_directory)
{
	struct fix *f = *state;
	struct at a;

	begin(f, "mkdir d; mv d e; mkdir d");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(mv(f, "d", "e", 0), 0);
	assert_int_equal(md(f, "d"), 0);
	assert_true(commit(f) > 0);
	outside(f, "d/x", "the human's\n");
	begin(f, "open d/x; touch y");
	a = at(f, "d/x");
	close(op_open(f->s, &a, O_RDWR, 0, NULL));
	assert_int_equal(put(f, "y", "y\n"), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 2, 0), -ESTALE);
	assert_cat(f, "d/x", "the human's\n");
	assert_int_equal(undo(f, 2, UNDO_KEEP_MINE), 0);
	assert_cat(f, "d/x", "the human's\n");
}

/* Two steps were redone together, and one was undone: the images at its path are of neither. */
TEST(nobody_where_one_of_two_was_undone_again)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	struct at a;

	one_step(f, "touch d", put(f, "d", "agent\n"));
	begin(f, "open d; touch y");
	a = at(f, "d");
	close(op_open(f->s, &a, O_RDWR, 0, NULL));
	assert_int_equal(put(f, "y", "y\n"), 0);
	assert_true(commit(f) > 0);
	one_step(f, "mv d e", mv(f, "d", "e", 0));
	assert_int_equal(undo(f, 2, 0), 0);
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	if (undo(f, 2, 0) < 0)
		fail_msg("%s", f->err.text);
	assert_tree(f, before);
}

TESTS(fix_setup, fix_teardown)
