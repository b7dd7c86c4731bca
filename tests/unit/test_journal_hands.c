/* test_journal_hands - objects changed by several overlapping steps and external edits. */
/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>
#include <sys/xattr.h>

#include "tests/support/journalfix.h"

/* The name that another step gave to a step's file is removed with that other step. */
TEST(a_new_file_is_renamed_by_another_and_removed)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	struct step *first;

	begin(f, "first");
	assert_int_equal(put(f, "c", "c"), 0);
	assert_int_equal(put(f, "d", "d"), 0);
	assert_int_equal(put(f, "e", "e"), 0);
	first = f->s;
	begin(f, "second");
	assert_int_equal(mv(f, "c", "b", 0), 0);
	assert_int_equal(mv(f, "d", "x", 0), 0);
	assert_true(commit(f) > 0);
	f->s = first;
	assert_int_equal(rm(f, "b"), 0);
	assert_int_equal(mv(f, "e", "x", 0), 0);
	assert_true(commit(f) > 0);
	if (undo(f, 2, 0) < 0)
		fail_msg("%s", f->err.text);
	assert_tree(f, before);
}

/* A step that was aborted found the external edit under the other name, and left it. */
TEST(an_edit_is_seen_behind_a_step_that_went)
{
	struct fix *f = *state;

	begin(f, "make");
	assert_int_equal(put(f, "a", "was\n"), 0);
	assert_int_equal(ln(f, "a", "d"), 0);
	assert_true(commit(f) > 0);
	one_step(f, "change", add(f, "a", "more\n"));
	assert_int_equal(undo(f, 1, 0), 0);
	outside(f, "a", "the human's\n");
	begin(f, "went");
	assert_int_equal(add(f, "d", "agent\n"), 0);
	assert_int_equal(journal_abort(f->s, &f->err), 0);
	assert_cat(f, "a", "the human's\n");
	assert_int_equal(redo(f, 0), -ESTALE);
	assert_cat(f, "a", "the human's\n");
}

/* The first redo must check all entries of a directory that its step once moved. */
TEST(an_edit_is_seen_behind_a_step_that_came_back)
{
	struct fix *f = *state;
	AUTO_FREE char *dir = xasprintf("%s/a", f->folder);

	begin(f, "mkdir a; mv a d; rmdir d; touch d");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(mv(f, "a", "d", 0), 0);
	assert_int_equal(rd(f, "d"), 0);
	assert_int_equal(put(f, "d", "d\n"), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(mkdir(dir, 0755), 0);
	one_step(f, "ln d a/a", ln(f, "d", "a/a"));
	assert_int_equal(undo(f, 1, 0), 0);
	outside(f, "a/a", "the human's\n");
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(redo(f, 0), -ESTALE);
	assert_cat(f, "a/a", "the human's\n");
}

/* The name existed again, for the same file: the store has nothing to restore. */
TEST(a_name_that_came_back_by_itself_is_no_damage)
{
	struct fix *f = *state;
	struct step *first;

	begin(f, "make");
	assert_int_equal(put(f, "a", "a\n"), 0);
	assert_int_equal(ln(f, "a", "d"), 0);
	assert_true(commit(f) > 0);
	begin(f, "rm a");
	first = f->s;
	assert_int_equal(rm(f, "a"), 0);
	one_step(f, "ln d a", ln(f, "d", "a"));
	f->s = first;
	assert_true(commit(f) > 0);
	f->s = NULL;
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_sound(f);
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_sound(f);
}

/* The content of a directory that the user has locked cannot be checked: it stays. */
TEST(a_closed_directory_is_kept_with_what_is_in_it)
{
	struct fix *f = *state;
	AUTO_FREE char *dir = NULL;

	if (geteuid() == 0) /* root may enter any directory */
		skip();
	dir = xasprintf("%s/d", f->folder);
	begin(f, "make");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(put(f, "d/b", "agent\n"), 0);
	assert_true(commit(f) > 0);
	outside(f, "d/b", "the human's\n");
	assert_int_equal(chmod(dir, 0640), 0);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_int_equal(chmod(dir, 0755), 0);
	assert_cat(f, "d/b", "the human's\n");
}

/* The changes of an interrupted step include directories' metadata. */
TEST(a_directory_dressed_by_an_interrupted_step_is_told)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
	struct fix *f = *state;
	struct step_info *list;
	struct change *changes;
	size_t n;

	one_step(f, "make", md(f, "d"));
	begin(f, "dress");
	assert_int_equal(op_utimens(f->s, &(struct at[]){at(f, "d")}[0], times, NULL), 0);
	fix_reopen(f);
	assert_int_equal(journal_list(f->j, true, &list, &n, &f->err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(journal_changes(f->j, list[0].id, &changes, &n, &f->err), 0);
	assert_int_equal(n, 1);
	assert_string_equal(changes[0].path, "d");
	change_free(changes, n);
	step_info_free(list, 1);
}

/* Each of two external objects takes the other's place: a step must remove neither. */
TEST(one_work_in_the_place_of_another_is_still_somebodys)
{
	struct fix *f = *state;
	AUTO_FREE char *dir = xasprintf("%s/b", f->folder);

	one_step(f, "touch b", put(f, "b", "agent\n"));
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	outside(f, "b", "the human's\n");
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	outside(f, "b/a", "the human's too\n");
	assert_int_equal(redo(f, 0), -ESTALE);
	assert_cat(f, "b/a", "the human's too\n");
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_cat(f, "b", "the human's\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_cat(f, "b/a", "the human's too\n");
}

/* A directory replaced a new one, and kept its entries, which existed before. */
TEST(a_directory_over_a_new_one_is_not_new)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;

	begin(f, "make");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(put(f, "a/c", "c\n"), 0);
	assert_true(commit(f) > 0);
	before = snap(f);
	begin(f, "mkdir d; mv -T a d");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(mv(f, "a", "d", 0), 0);
	assert_true(commit(f) > 0);
	begin(f, "mv d c; touch d");
	assert_int_equal(mv(f, "d", "c", 0), 0);
	assert_int_equal(put(f, "d", "d\n"), 0);
	assert_true(commit(f) > 0);
	if (undo(f, 2, 0) < 0)
		fail_msg("%s", f->err.text);
	assert_tree(f, before);
}

/* One step removed the file; another, now pruned, made a directory of that name. */
static void a_directory_between_two_steps(struct fix *f)
{
	struct journal_prune newest = {.steps = 1};
	struct step *first, *second;

	one_step(f, "touch a", put(f, "a", "was\n"));
	begin(f, "mkdir a");
	first = f->s;
	assert_int_equal(put(f, "x", "x\n"), 0);
	begin(f, "rm a");
	second = f->s;
	assert_int_equal(rm(f, "a"), 0);
	f->s = first;
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(md(f, "a/c"), 0);
	assert_true(commit(f) > 0);
	f->s = second;
	assert_int_equal(mode(f, "a/c", 0750), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(journal_prune(f->j, &newest), 0);
	assert_int_equal(newest.n, 2);
	assert_int_equal(io_remove_tree(journal_store_fd(f->j), "beside/2"), 0);
}

/* The directory is in the way of a restored file, and is removed with external files in it. */
TEST(an_edit_in_a_directory_that_stands_in_the_way)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;

	a_directory_between_two_steps(f);
	before = snap(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "a", "was\n");
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, before);
	outside(f, "a/d", "the human's\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_cat(f, "a/d", "the human's\n");
	assert_int_equal(unlinkat(journal_folder_fd(f->j), "a/d", 0), 0);
	outside(f, "a/c/d", "the human's\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_cat(f, "a/c/d", "the human's\n");
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_cat(f, "a/c/d", "the human's\n");
}

/* The name is in no record once the step that made and removed it is undone. */
static void a_name_that_came_and_went(struct fix *f)
{
	struct step *first;

	begin(f, "touch d; mkdir b; rmdir b");
	assert_int_equal(put(f, "d", "d\n"), 0);
	assert_int_equal(md(f, "b"), 0);
	assert_int_equal(rd(f, "b"), 0);
	assert_true(commit(f) > 0);
	begin(f, "mkdir b");
	first = f->s;
	assert_int_equal(md(f, "b"), 0);
	one_step(f, "mkdir a", md(f, "a"));
	f->s = first;
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 2, 0), 0);
	assert_int_equal(undo(f, 1, 0), 0);
}

TEST(an_edit_at_a_name_that_came_and_went)
{
	struct fix *f = *state;

	a_name_that_came_and_went(f);
	outside(f, "b", "the human's\n");
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "b", "the human's\n");
	assert_int_equal(redo(f, 0), -ESTALE);
	assert_cat(f, "b", "the human's\n");
	assert_int_equal(redo(f, UNDO_KEEP_MINE), 0);
	assert_cat(f, "b", "the human's\n");
}

/* Makes an external file with an attribute, a mode and a time of its own. */
static void dressed(struct fix *f, const char *path)
{
	const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1234, .tv_nsec = 5}};
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);

	outside(f, path, "the human's\n");
	assert_int_equal(setxattr(whole, "user.x", "mine", 4, 0), 0);
	assert_int_equal(chmod(whole, 0640), 0);
	assert_int_equal(utimensat(AT_FDCWD, whole, times, 0), 0);
}

/* An external file in a directory that was forced over comes back with the opposite command. */
TEST(what_is_forced_over_in_a_directory_comes_back)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;

	a_directory_between_two_steps(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(redo(f, 0), 0);
	dressed(f, "a/d");
	before = snap(f);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(undo(f, 1, 0), -ESTALE);
		assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
		assert_cat(f, "a", "was\n");
		assert_int_equal(redo(f, 0), 0);
		assert_tree(f, before);
	}
}

/* The same for a file at the name itself. */
TEST(what_is_forced_over_at_a_name_comes_back)
{
	struct fix *f = *state;
	AUTO_FREE char *dir = xasprintf("%s/b", f->folder), *before = NULL;
	struct stat st;

	a_name_that_came_and_went(f);
	dressed(f, "b");
	assert_int_equal(redo(f, 0), 0);
	before = snap(f);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(redo(f, 0), -ESTALE);
		assert_int_equal(redo(f, UNDO_FORCE), 0);
		assert_int_equal(stat(dir, &st), 0);
		assert_true(S_ISDIR(st.st_mode));
		assert_int_equal(undo(f, 2, 0), 0);
		assert_tree(f, before);
	}
}

/* Another directory had the name before the directory was made. */
TEST(an_edit_in_a_directory_where_another_was)
{
	struct fix *f = *state;

	begin(f, "mkdir d; mv d a; mv a e; mkdir a");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(mv(f, "d", "a", 0), 0);
	assert_int_equal(mv(f, "a", "e", 0), 0);
	assert_int_equal(md(f, "a"), 0);
	assert_true(commit(f) > 0);
	outside(f, "a/x", "the human's\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_cat(f, "a/x", "the human's\n");
}

TEST(an_edit_in_a_directory_where_another_was_removed)
{
	struct fix *f = *state;

	begin(f, "mkdir d; mv d a; rmdir a; mkdir a");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(mv(f, "d", "a", 0), 0);
	assert_int_equal(rd(f, "a"), 0);
	assert_int_equal(md(f, "a"), 0);
	assert_true(commit(f) > 0);
	outside(f, "a/x", "the human's\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_cat(f, "a/x", "the human's\n");
}

/* An external file replaced a directory that no step made: a restored file needs the directory. */
TEST(a_file_where_a_directory_was)
{
	struct fix *f = *state;
	AUTO_FREE char *dir = xasprintf("%s/a", f->folder), *aside = xasprintf("%s/z", f->folder);
	AUTO_FREE char *before = NULL;

	assert_int_equal(mkdir(dir, 0755), 0);
	begin(f, "mkdir a/b");
	assert_int_equal(md(f, "a/b"), 0);
	assert_int_equal(put(f, "a/b/x", "was\n"), 0);
	assert_true(commit(f) > 0);
	one_step(f, "rm a/b/x", rm(f, "a/b/x"));
	assert_int_equal(rename(dir, aside), 0);
	dressed(f, "a");
	before = snap(f);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, before);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(undo(f, 1, 0), -ESTALE);
		assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
		assert_cat(f, "a/b/x", "was\n");
		assert_int_equal(redo(f, 0), 0);
		assert_tree(f, before);
	}
}

/* At the names of a step that was left out a file is external. */
TEST(an_edit_at_a_name_that_was_left_out)
{
	struct fix *f = *state;

	one_step(f, "set up", put(f, "b", "was\n"));
	begin(f, "touch d; mv d b");
	assert_int_equal(put(f, "d", "agent\n"), 0);
	assert_int_equal(mv(f, "d", "b", 0), 0);
	assert_true(commit(f) > 0);
	outside(f, "b", "the human's\n");
	begin(f, "mkdir d");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(journal_roll_back(f->s, &f->err), 0);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	outside(f, "d", "the human's too\n");
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "b", "the human's\n");
	assert_cat(f, "d", "the human's too\n");
	assert_int_equal(redo(f, 0), -ESTALE);
	assert_cat(f, "d", "the human's too\n");
}

/* New files are written one after the other under one temporary name, and replace the old files. */
TEST(what_was_on_its_way_does_not_stay_there)
{
	struct fix *f = *state;

	begin(f, "make");
	assert_int_equal(put(f, "a", "a was\n"), 0);
	assert_int_equal(put(f, "b", "b was\n"), 0);
	assert_int_equal(put(f, "c", "c was\n"), 0);
	assert_true(commit(f) > 0);
	begin(f, "save");
	for (const char *const *name = (const char *const[]){"a", "b", "c", NULL}; *name; name++) {
		assert_int_equal(put(f, "tmp", "is\n"), 0);
		assert_int_equal(mode(f, "tmp", 0600), 0);
		assert_int_equal(mv(f, "tmp", "tmp2", 0), 0);
		assert_int_equal(mv(f, "tmp2", *name, 0), 0);
	}
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 1, 0), 0);
	outside(f, "b", "mine\n");
	assert_int_equal(redo(f, UNDO_KEEP_MINE), 0);
	assert_cat(f, "a", "is\n");
	assert_cat(f, "b", "mine\n");
	assert_cat(f, "c", "is\n");
	assert_cat(f, "tmp", NULL);
	assert_cat(f, "tmp2", NULL);
	assert_sound(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "a", "a was\n");
	assert_cat(f, "b", "mine\n");
	assert_cat(f, "c", "c was\n");
	assert_cat(f, "tmp", NULL);
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_cat(f, "a", "is\n");
	assert_cat(f, "b", "is\n");
	assert_cat(f, "c", "is\n");
	assert_cat(f, "tmp", NULL);
	assert_cat(f, "tmp2", NULL);
}

TEST(a_tree_that_was_on_its_way_does_not_stay_there)
{
	struct fix *f = *state;

	begin(f, "build");
	assert_int_equal(md(f, "tmp"), 0);
	assert_int_equal(md(f, "tmp/in"), 0);
	assert_int_equal(put(f, "tmp/in/x", "is\n"), 0);
	assert_int_equal(mv(f, "tmp", "d", 0), 0);
	assert_int_equal(put(f, "other", "is\n"), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 1, 0), 0);
	outside(f, "d", "mine\n");
	assert_int_equal(redo(f, UNDO_KEEP_MINE), 0);
	assert_cat(f, "d", "mine\n");
	assert_cat(f, "other", "is\n");
	assert_int_equal(faccessat(journal_folder_fd(f->j), "tmp", F_OK, 0), -1);
	assert_sound(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "d", "mine\n");
	assert_cat(f, "other", NULL);
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_cat(f, "d/in/x", "is\n");
	assert_int_equal(faccessat(journal_folder_fd(f->j), "tmp", F_OK, 0), -1);
}

/* The first of three names exchanged in turn stays as it is: the others and their objects stay,
 * too. */
TEST(what_an_exchange_left_stays)
{
	struct fix *f = *state;

	begin(f, "mkdir c; touch d");
	assert_int_equal(md(f, "c"), 0);
	assert_int_equal(put(f, "d", "agent\n"), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(unlinkat(journal_folder_fd(f->j), "d", 0), 0);
	outside(f, "d", "the human's d\n");
	outside(f, "a", "the human's a\n");
	begin(f, "exchange");
	assert_int_equal(mv(f, "d", "c", RENAME_EXCHANGE), 0);
	assert_int_equal(mv(f, "c", "a", RENAME_EXCHANGE), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 2, UNDO_KEEP_MINE), 0);
	assert_cat(f, "a", "the human's d\n");
	assert_cat(f, "c", "the human's a\n");
	assert_sound(f);
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_int_equal(undo(f, 2, UNDO_FORCE), 0);
	assert_cat(f, "a", "the human's a\n");
}

/* The undone step had moved the directory itself before it made a file in it. */
TEST_WITH(an_edit_is_seen_where_the_step_had_moved_a_directory, NULL, NULL)
{
	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();

		(void)state;
		one_step(f, "mkdir d", md(f, "d"));
		begin(f, "mv d b; touch b/x");
		assert_int_equal(mv(f, "d", "b", 0), 0);
		assert_int_equal(put(f, "b/x", "agent\n"), 0);
		assert_true(commit(f) > 0);
		if (human)
			outside(f, "b/x", "the human's\n");
		one_step(f, "mv b c", mv(f, "b", "c", 0));
		assert_int_equal(undo(f, 1, 0), 0);
		assert_int_equal(undo(f, 1, 0), human ? -ESTALE : 0);
		assert_cat(f, "b/x", human ? "the human's\n" : NULL);
		fix_free(f);
	}
}

TESTS(fix_setup, fix_teardown)
