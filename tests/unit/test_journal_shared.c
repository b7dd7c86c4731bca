/* test_journal_shared - objects that steps share: times, hard links of a file, files that stay
 * open. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

static struct step *begin_another(struct fix *f)
{
	struct step *s = NULL;

	assert_int_equal(journal_begin(f->j, STEP_COMMAND, "another", &s, &f->err), 0);
	return s;
}

static int commit_this(struct fix *f, struct step *s)
{
	return journal_commit(s, 0, &f->err);
}

/* Exchanges the fixture's step and the other one. */
static void turn(struct fix *f, struct step **other)
{
	struct step *s = f->s;

	f->s = *other;
	*other = s;
}

static int chmod_in(struct fix *f, const char *path, mode_t m)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);

	return chmod(whole, m);
}

static int hold(struct fix *f, const char *path)
{
	struct at a = at(f, path);
	int fd = op_open(f->s, &a, O_WRONLY | O_CREAT, 0644, NULL);

	assert_true(fd >= 0);
	return fd;
}

TEST(dressing_a_directory_is_a_step)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	struct at a;

	one_step(f, "mkdir", md(f, "d"));
	before = snap(f);
	begin(f, "touch -d");
	a = at(f, "d");
	assert_int_equal(op_utimens(f->s, &a, times, NULL), 0);
	assert_true(commit(f) != 0);
	assert_int_equal(undo(f, 1, false), 0);
	assert_tree(f, before);
}

/* The step sets the times under an intermediate name. */
TEST_WITH(dressing_a_directory_that_comes_back_is_a_step, NULL, NULL)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
	for (int below = 0; below < 2; below++) {
		struct fix *f = fix_new();
		AUTO_FREE char *before = NULL, *after = NULL;
		struct at a;

		begin(f, "mkdir");
		assert_int_equal(md(f, "d"), 0);
		assert_int_equal(md(f, "d/x"), 0);
		assert_true(commit(f) != 0);
		before = snap(f);
		begin(f, "mv, touch -d, mv");
		assert_int_equal(mv(f, "d", "e", 0), 0);
		a = at(f, below ? "e/x" : "e");
		assert_int_equal(op_utimens(f->s, &a, times, NULL), 0);
		assert_int_equal(mv(f, "e", "d", 0), 0);
		assert_true(commit(f) != 0);
		after = snap(f);
		assert_int_equal(undo(f, 1, 0), 0);
		assert_tree(f, before);
		assert_int_equal(redo(f, 0), 0);
		assert_tree(f, after);
		fix_free(f);
	}
}

/* The undo writes the bytes in place, as a process writes to the file; the redo renames, as none
 * does. */
TEST(times_survive_a_redo_by_rename)
{
	struct fix *f = *state;
	AUTO_FREE char *after = NULL;
	int fd;

	one_step(f, "make", put(f, "a", "one"));
	begin(f, "write");
	fd = hold(f, "a");
	assert_int_equal(pwrite(fd, "two", 3, 0), 3);
	assert_true(commit(f) != 0);
	after = snap(f);
	assert_int_equal(undo(f, 1, false), 0);
	close(fd);
	assert_int_equal(redo(f, false), 0);
	assert_tree(f, after);
}

TEST(one_of_two_by_turns_is_a_conflict)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f), *after = NULL;
	struct step *second;

	begin(f, "first");
	put(f, "mine", "1");
	second = begin_another(f);
	turn(f, &second);
	assert_true(put(f, "shared", "2") >= 0);
	turn(f, &second);
	put(f, "shared", "1");
	assert_true(commit(f) != 0);
	assert_int_equal(commit_this(f, second), 1);
	after = snap(f);
	assert_int_equal(undo(f, 1, false), -ESTALE);
	assert_tree(f, after);
	assert_int_equal(undo(f, 2, false), 0);
	assert_tree(f, before);
}

/* Checks that neither of the two newest steps can be undone alone, and that both together can be
 * undone and redone. */
static void assert_go_together(struct fix *f, const char *before, const char *after)
{
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_tree(f, after);
	assert_int_equal(undo(f, 2, 0), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, after);
}

/* The second step uses another hard link than the first: an undo of it would also undo the first
 * one's bytes. */
TEST_WITH(one_of_two_by_two_names_is_a_conflict, NULL, NULL)
{
	for (int made = 0; made < 2; made++) {
		struct fix *f = fix_new();
		AUTO_FREE char *before = NULL, *after = NULL;
		struct step *second;

		begin(f, "make");
		assert_int_equal(put(f, "b", "zero "), 0);
		if (!made)
			assert_int_equal(put(f, "a", "zero "), 0);
		assert_true(commit(f) != 0);
		before = snap(f);
		begin(f, "first");
		assert_int_equal(made ? put(f, "a", "one ") : add(f, "a", "one "), 0);
		second = begin_another(f);
		turn(f, &second);
		assert_int_equal(ln(f, "a", "c"), 0);
		assert_int_equal(add(f, "c", "two "), 0);
		turn(f, &second);
		assert_int_equal(add(f, "a", "three"), 0);
		assert_true(commit(f) != 0);
		assert_true(commit_this(f, second) > 0);
		after = snap(f);
		assert_go_together(f, before, after);
		fix_free(f);
	}
}

/* The step that only made a hard link captured at its end what the other had written. */
TEST(a_name_from_one_for_what_the_other_writes)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL, *after = NULL;
	struct step *second;

	one_step(f, "make", put(f, "a", "one"));
	before = snap(f);
	begin(f, "ln");
	second = begin_another(f);
	assert_int_equal(ln(f, "a", "c"), 0);
	turn(f, &second);
	assert_int_equal(add(f, "a", "two"), 0);
	turn(f, &second);
	assert_true(commit(f) != 0);
	assert_true(commit_this(f, second) > 0);
	after = snap(f);
	assert_go_together(f, before, after);
}

/* The first step ended before the second began, so that one can be undone alone. */
TEST(a_second_name_before_is_no_conflict)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);

	begin(f, "make");
	assert_int_equal(put(f, "a", "one"), 0);
	assert_int_equal(ln(f, "a", "c"), 0);
	assert_true(commit(f) != 0);
	one_step(f, "write", add(f, "c", "two"));
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "a", "one");
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
}

/* One step made the file, the other removed it: the first has no net change, but is needed all the
 * same. */
TEST(what_another_removed_is_kept)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	struct step *second;

	begin(f, "first");
	put(f, "file", "1");
	second = begin_another(f);
	turn(f, &second);
	assert_true(rm(f, "file") >= 0);
	turn(f, &second);
	assert_int_equal(commit_this(f, second), 1);
	assert_true(commit(f) != 0);
	assert_int_equal(undo(f, 2, false), 0);
	assert_tree(f, before);
}

TEST(a_step_that_lost_its_twin_says_so)
{
	struct fix *f = *state;
	struct step *second;

	begin(f, "first");
	put(f, "file", "1");
	second = begin_another(f);
	turn(f, &second);
	assert_true(add(f, "file", "2") >= 0);
	turn(f, &second);
	assert_int_equal(journal_abort(f->s, &f->err), 0);
	assert_string_not_equal(step_why(second), "");
	assert_int_equal(commit_this(f, second), 1);
}

/* A hard link changes the ctime of a file that is too long to be read at the end of each step. */
TEST(a_second_name_is_no_edit)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f), *text = xcalloc(1, 100001);

	memset(text, 'x', 100000);
	one_step(f, "make", put(f, "long", text));
	begin(f, "ln");
	assert_int_equal(ln(f, "long", "other"), 0);
	assert_int_equal(journal_abort(f->s, &f->err), 0);
	assert_int_equal(undo(f, 1, false), 0);
	assert_tree(f, before);
}

TEST(an_edit_of_a_long_file_is_one)
{
	struct fix *f = *state;
	AUTO_FREE char *text = xcalloc(1, 100001);

	memset(text, 'x', 100000);
	one_step(f, "make", put(f, "long", text));
	text[50] = 'y';
	outside(f, "long", text);
	assert_int_equal(undo(f, 1, false), -ESTALE);
}

/* Writes belong to the step that is open at that time, under any name of the file. */
TEST_WITH(writes_are_kept_under_another_name, NULL, NULL)
{
	/* The other name is made while the file is open, or existed before. */
	for (int before_it = 0; before_it < 2; before_it++) {
		struct fix *f = fix_new();
		AUTO_FREE char *before = NULL;
		int fd;

		begin(f, "make");
		put(f, "a", "one");
		if (before_it)
			ln(f, "a", "b");
		assert_true(commit(f) != 0);
		begin(f, "open");
		fd = hold(f, "a");
		if (!before_it)
			ln(f, "a", "b");
		assert_true(commit(f) != 0);
		one_step(f, "rm", rm(f, "a"));
		before = snap(f);
		begin(f, "write");
		put(f, "other", "");
		assert_int_equal(write(fd, "more", 4), 4);
		assert_true(commit(f) != 0);
		assert_int_equal(undo(f, 1, false), 0);
		assert_tree(f, before);
		close(fd);
		fix_free(f);
	}
}

/* The file was away when a step began, and a redo restored it: it is still open. */
TEST(writes_are_kept_after_a_redo)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	int fd;

	begin(f, "make");
	fd = hold(f, "a");
	assert_true(commit(f) != 0);
	assert_int_equal(undo(f, 1, false), 0);
	begin(f, "nothing");
	assert_int_equal(commit(f), 0);
	assert_int_equal(redo(f, false), 0);
	before = snap(f);
	begin(f, "write");
	put(f, "b", "");
	assert_int_equal(write(fd, "more", 4), 4);
	assert_true(commit(f) != 0);
	assert_int_equal(undo(f, 1, false), 0);
	assert_tree(f, before);
	close(fd);
}

/* An undo gives the file a name that it had before it was opened. */
TEST_WITH(writes_are_kept_where_an_undo_has_moved_it, NULL, NULL)
{
	for (int how = 0; how < 3; how++) {
		struct fix *f = fix_new();
		AUTO_FREE char *before = NULL;
		int fd;

		begin(f, "make");
		assert_int_equal(md(f, "d"), 0);
		assert_int_equal(put(f, "d/a", "one"), 0);
		assert_int_equal(put(f, "x", "x"), 0);
		assert_true(commit(f) != 0);
		begin(f, "mv");
		if (how == 0)
			assert_int_equal(mv(f, "d/a", "b", 0), 0);
		else if (how == 1)
			assert_int_equal(mv(f, "d", "e", 0), 0);
		else
			assert_int_equal(mv(f, "d/a", "x", RENAME_EXCHANGE), 0);
		assert_true(commit(f) != 0);
		begin(f, "open");
		fd = hold(f, how == 0 ? "b" : how == 1 ? "e/a" : "x");
		assert_int_equal(write(fd, "two", 3), 3);
		assert_true(commit(f) != 0);
		assert_int_equal(undo(f, 1, 0), 0);
		assert_int_equal(undo(f, 1, 0), 0);
		before = snap(f);
		begin(f, "write");
		assert_int_equal(put(f, "other", ""), 0);
		assert_int_equal(write(fd, "more", 4), 4);
		assert_true(commit(f) != 0);
		assert_int_equal(undo(f, 1, 0), 0);
		assert_tree(f, before);
		close(fd);
		fix_free(f);
	}
}

/* When one step ends, the other has locked the directory that it worked in. */
TEST(what_another_locked_away_is_kept)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	struct step *second;

	one_step(f, "make", md(f, "d"));
	before = snap(f);
	begin(f, "first");
	assert_int_equal(put(f, "d/x", "1"), 0);
	second = begin_another(f);
	turn(f, &second);
	assert_int_equal(mode(f, "d", 0), 0);
	turn(f, &second);
	assert_true(commit(f) != 0);
	assert_int_equal(commit_this(f, second), 1);
	assert_int_equal(undo(f, 2, 0), 0);
	assert_tree(f, before);
}

/* One step exchanges directories that the other knows by their paths. */
/* A directory that a step locked is in the way of another step's undo, and is locked again after
 * it. */
TEST(what_another_locked_stays_locked)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL, *locked = NULL, *after = NULL;
	struct step *second;

	begin(f, "make");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(md(f, "d/e"), 0);
	assert_true(commit(f) != 0);
	before = snap(f);
	begin(f, "locks");
	second = begin_another(f);
	turn(f, &second);
	assert_int_equal(put(f, "d/e/x", "1"), 0);
	turn(f, &second);
	assert_int_equal(mode(f, "d", 0400), 0);
	assert_true(commit(f) != 0);
	assert_int_equal(commit_this(f, second), 1);
	after = snap(f);
	assert_int_equal(undo(f, 1, 0), 0);
	locked = snap(f);
	assert_non_null(strstr(locked, "/d 40400"));
	assert_int_equal(chmod_in(f, "d", 0700), 0);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(chmod_in(f, "d", 0400), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, locked);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, after);
}

TEST(times_survive_another_ones_renames)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f), *after = NULL;
	struct step *second;

	begin(f, "first");
	assert_int_equal(md(f, "b"), 0);
	assert_int_equal(put(f, "b/x", "1"), 0);
	assert_int_equal(md(f, "c"), 0);
	second = begin_another(f);
	turn(f, &second);
	assert_int_equal(md(f, "c/d"), 0);
	turn(f, &second);
	assert_int_equal(mv(f, "b", "c", RENAME_EXCHANGE), 0);
	turn(f, &second);
	assert_int_equal(rm(f, "c/x"), 0);
	turn(f, &second);
	assert_true(commit(f) != 0);
	assert_int_equal(commit_this(f, second), 1);
	after = snap(f);
	assert_int_equal(undo(f, 2, 0), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, after);
}

/* ---- names that come and go in one step -------------------------------------------------------
 */

/* Changed through a name that was made and removed again: the step did change the file. */
static void by_a_passing_name(void (*work)(struct fix *))
{
	struct fix *f = fix_new();
	AUTO_FREE char *before = NULL, *after = NULL;
	struct change *list = NULL;
	size_t n = 0;
	int64_t id;

	begin(f, "make");
	assert_int_equal(put(f, "a", "one"), 0);
	assert_int_equal(md(f, "d"), 0);
	assert_true(commit(f) != 0);
	before = snap(f);
	begin(f, "change");
	work(f);
	id = commit(f);
	assert_true(id != 0);
	after = snap(f);
	assert_int_equal(journal_changes(f->j, id, &list, &n, &f->err), 0);
	assert_true(n >= 1);
	assert_string_equal(list[0].path, "a");
	assert_int_equal(list[0].kind, CHANGE_MODIFIED);
	change_free(list, n);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, after);
	outside(f, "a", "human");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	fix_free(f);
}

static void dress_and_remove(struct fix *f)
{
	assert_int_equal(ln(f, "a", "d/b"), 0);
	assert_int_equal(mode(f, "d/b", 0600), 0);
	assert_int_equal(rm(f, "d/b"), 0);
}

static void write_and_remove(struct fix *f)
{
	assert_int_equal(ln(f, "a", "b"), 0);
	assert_int_equal(mv(f, "b", "c", 0), 0);
	assert_int_equal(ln(f, "c", "e"), 0);
	assert_int_equal(add(f, "e", "two"), 0);
	assert_int_equal(rm(f, "c"), 0);
	assert_int_equal(rm(f, "e"), 0);
}

TEST_WITH(what_is_changed_by_a_passing_name_is_a_change, NULL, NULL)
{
	by_a_passing_name(dress_and_remove);
	by_a_passing_name(write_and_remove);
}

/* The same, and meanwhile its directory is renamed. */
TEST(a_passing_name_of_what_moves)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	struct undo_plan *p = NULL;

	begin(f, "make");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(put(f, "d/a", "one"), 0);
	assert_true(commit(f) != 0);
	before = snap(f);
	begin(f, "change");
	assert_int_equal(ln(f, "d/a", "b"), 0);
	assert_int_equal(mv(f, "d", "e", 0), 0);
	assert_int_equal(add(f, "b", "two"), 0);
	assert_int_equal(rm(f, "b"), 0);
	assert_true(commit(f) != 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	outside(f, "e/a", "human");
	assert_int_equal(journal_plan(f->j, UNDO_BACK, 1, 0, &p, &f->err), 0);
	assert_int_equal(p->n_conflicts, 1);
	undo_plan_free(p);
}

/* Its owner may not read it: no hash can be compared, and every look changes the ctime. */
TEST(what_nobody_may_read_is_not_changed)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	int fd;

	begin(f, "hold");
	assert_int_equal(put(f, "a", "one"), 0);
	fd = hold(f, "a");
	assert_int_equal(mode(f, "a", 0111), 0);
	assert_true(commit(f) != 0);
	one_step(f, "elsewhere", put(f, "b", "two"));
	assert_int_equal(undo(f, 2, 0), 0);
	assert_tree(f, before);
	close(fd);
}

/* Redone with the step that made the file: its last state belongs to the younger step. */
TEST(what_came_back_by_another_name_is_no_edit)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);

	one_step(f, "make", put(f, "b", "one"));
	begin(f, "by another name");
	assert_int_equal(ln(f, "b", "a"), 0);
	assert_int_equal(mode(f, "a", 0600), 0);
	assert_true(commit(f) != 0);
	assert_int_equal(undo(f, 2, 0), 0);
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
}

/* Both capture the open file; the step that renames it ends before the last write. */
TEST_WITH(writes_are_kept_when_another_renames_it, NULL, NULL)
{
	for (int dir = 0; dir < 2; dir++) {
		struct fix *f = fix_new();
		AUTO_FREE char *before = snap(f), *after = NULL;
		struct step *second;
		int fd;

		begin(f, "make");
		assert_int_equal(md(f, "d"), 0);
		fd = hold(f, "d/a");
		assert_true(commit(f) != 0);
		begin(f, "first");
		second = begin_another(f);
		turn(f, &second);
		assert_int_equal(dir ? mv(f, "d", "e", 0) : mv(f, "d/a", "b", 0), 0);
		assert_true(commit(f) != 0);
		turn(f, &second);
		assert_int_equal(write(fd, "more", 4), 4);
		assert_true(commit(f) != 0);
		after = snap(f);
		assert_int_equal(undo(f, 3, 0), 0);
		assert_tree(f, before);
		assert_int_equal(redo(f, 0), 0);
		assert_tree(f, after);
		close(fd);
		fix_free(f);
	}
}

TESTS(fix_setup, fix_teardown)
