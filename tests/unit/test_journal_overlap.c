/* test_journal_overlap - overlapping steps that are undone together. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

/* Begins a step while the open one continues; returns the open one. */
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

/* Makes two steps during a third, which is returned; the second of the two changes a. */
static struct step *two_beside_one(struct fix *f)
{
	struct step *lasting;

	begin(f, "lasting");
	assert_int_equal(put(f, "x", "x\n"), 0);
	lasting = begin_beside(f, "touch y");
	assert_int_equal(put(f, "y", "y\n"), 0);
	assert_true(commit(f) > 0);
	one_step(f, "echo >>a", add(f, "a", "two\n"));
	return lasting;
}

/* Two successive steps run during a third, which changes the path after them. */
TEST(one_that_ran_on_past_two_others)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	struct step *lasting;

	one_step(f, "touch a", put(f, "a", "one\n"));
	lasting = two_beside_one(f);
	f->s = lasting;
	assert_int_equal(add(f, "a", "three\n"), 0);
	assert_true(commit(f) > 0);
	undo_all(f, 4, before);
}

/* An external edit before all three is still found. */
TEST(an_edit_before_one_that_ran_on)
{
	struct fix *f = *state;
	struct step *lasting;

	one_step(f, "touch a", put(f, "a", "one\n"));
	outside(f, "a", "the human's\n");
	lasting = two_beside_one(f);
	commit_other(f, lasting);
	assert_int_equal(undo(f, 4, 0), -ESTALE);
	assert_cat(f, "a", "the human's\ntwo\n");
}

/* A directory with a file in it, made by a step that continues; two others move it, each with an
 * image of the file. */
static void made_and_moved_by_others(struct fix *f)
{
	struct step *maker;

	begin(f, "mkdir a; touch a/x");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(put(f, "a/x", "new\n"), 0);
	maker = begin_beside(f, "exch a d");
	assert_int_equal(mv(f, "a", "d", RENAME_EXCHANGE), 0);
	assert_true(commit(f) > 0);
	one_step(f, "mv d a/d", mv(f, "d", "a/d", 0));
	commit_other(f, maker);
}

/* The step before them left no object of that name. The file's maker has nothing to report about
 * it: the name is free again. */
TEST(what_others_moved_away_from_its_maker)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);

	begin(f, "mkdir a; touch a/x; mv a b; mkdir d");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(put(f, "a/x", "old\n"), 0);
	assert_int_equal(mv(f, "a", "b", 0), 0);
	assert_int_equal(md(f, "d"), 0);
	assert_true(commit(f) > 0);
	made_and_moved_by_others(f);
	undo_all(f, 4, before);
}

/* The same for a file that was moved there. */
TEST(what_was_brought_there_and_moved_away)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	struct step *maker;

	begin(f, "mkdir a; touch a/x; mv a b; mkdir d; touch y");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(put(f, "a/x", "old\n"), 0);
	assert_int_equal(mv(f, "a", "b", 0), 0);
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(put(f, "y", "y\n"), 0);
	assert_true(commit(f) > 0);
	begin(f, "mkdir a; mv y a/x");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(mv(f, "y", "a/x", 0), 0);
	maker = begin_beside(f, "exch a d; mv d a/d");
	assert_int_equal(mv(f, "a", "d", RENAME_EXCHANGE), 0);
	assert_int_equal(mv(f, "d", "a/d", 0), 0);
	assert_true(commit(f) > 0);
	commit_other(f, maker);
	undo_all(f, 3, before);
}

/* One step removed a name of the file, the other wrote to it later and ended first. */
TEST_WITH(a_name_that_went_before_another_wrote, NULL, NULL)
{
	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();
		AUTO_FREE char *before = snap(f);
		struct step *first, *second;

		(void)state;
		begin(f, "touch c; ln c b");
		assert_int_equal(put(f, "c", "one\n"), 0);
		assert_int_equal(ln(f, "c", "b"), 0);
		first = begin_beside(f, "rm b");
		assert_int_equal(rm(f, "b"), 0);
		second = f->s;
		f->s = first;
		assert_int_equal(add(f, "c", "two\n"), 0);
		assert_true(commit(f) > 0);
		commit_other(f, second);
		if (human)
			outside(f, "c", "the human's\n");
		one_step(f, "mv c a", mv(f, "c", "a", 0));
		if (human)
			assert_int_equal(undo(f, 3, 0), -ESTALE);
		else
			undo_all(f, 3, before);
		fix_free(f);
	}
}

/* The step that began first wrote last; both were undone and redone with a third. */
TEST(nobody_where_the_first_to_begin_wrote_last)
{
	struct fix *f = *state;
	struct step *first;

	begin(f, "ln -s x b; ...");
	assert_int_equal(sym(f, "x", "b"), 0);
	first = f->s;
	one_step(f, "echo >c", put(f, "c", "second\n"));
	f->s = first;
	assert_int_equal(put(f, "c", "first\n"), 0);
	assert_true(commit(f) > 0);
	one_step(f, "mv b c", mv(f, "b", "c", 0));
	must(f, undo(f, 3, 0));
	must(f, redo(f, 0));
	must(f, undo(f, 1, 0));
	assert_cat(f, "c", "first\n");
	must(f, undo(f, 2, 0));
	assert_cat(f, "c", NULL);
}

/* The second step ends first. */
static void make_and_move(struct fix *f)
{
	struct step *first;

	begin(f, "mkdir c; touch c/a");
	assert_int_equal(md(f, "c"), 0);
	assert_int_equal(put(f, "c/a", "agent\n"), 0);
	first = f->s;
	one_step(f, "mv c b", mv(f, "c", "b", 0));
	f->s = first;
	assert_true(commit(f) > 0);
}

/* Another step moved the directory, and this one ended later: it has no record of the file's
 * current path. */
TEST(an_edit_where_another_had_moved_it)
{
	struct fix *f = *state;

	for (int human = 0; human < 2; human++) {
		make_and_move(f);
		if (human)
			outside(f, "b/a", "the human's\n");
		assert_int_equal(undo(f, 2, 0), human ? -ESTALE : 0);
	}
	assert_cat(f, "b/a", "the human's\n");
	assert_int_equal(undo(f, 2, UNDO_KEEP_MINE), 0);
	assert_cat(f, "b/a", NULL);
	assert_cat(f, "c/a", "the human's\n");
}

/* A later step moves the directory once more, and has an image of it as it was then. */
TEST_WITH(an_edit_between_that_and_the_next_move, NULL, NULL)
{
	for (int human = 0; human < 2; human++) {
		struct fix *f = fix_new();

		(void)state;
		make_and_move(f);
		if (human)
			outside(f, "b/a", "the human's\n");
		one_step(f, "mv b e", mv(f, "b", "e", 0));
		assert_int_equal(undo(f, 3, 0), human ? -ESTALE : 0);
		fix_free(f);
	}
}

/* Overlapping steps that were redone, with many renames: an edit before them is found, and without
 * one undo does not ask. */
static void before_many_renames(bool human)
{
	struct fix *f = fix_new();
	AUTO_FREE char *at = xstrdup("d0");
	AUTO_FREE char *file = NULL;
	struct step *other;

	begin(f, "mkdir d0; touch d0/x");
	must(f, md(f, at));
	must(f, put(f, "d0/x", "agent\n"));
	assert_true(commit(f) > 0);
	if (human)
		outside(f, "d0/x", "the human's\n");
	begin(f, "other");
	must(f, put(f, "c", "c\n"));
	other = begin_beside(f, "many");
	for (int i = 1; i <= 70; i++) {
		AUTO_FREE char *to = xasprintf("d%d", i);

		fix_drop_dirs(f);
		must(f, mv(f, at, to, 0));
		free(at);
		at = take_ptr(&to);
	}
	file = xasprintf("%s/x", at);
	must(f, add(f, file, "many\n"));
	assert_true(commit(f) > 0);
	commit_other(f, other);
	must(f, undo(f, 2, 0));
	must(f, redo(f, 0));
	assert_int_equal(undo(f, 3, 0), human ? -ESTALE : 0);
	assert_cat(f, file, human ? "the human's\nmany\n" : NULL);
	must(f, human ? undo(f, 2, 0) : 0);
	assert_cat(f, "d0/x", human ? "the human's\n" : NULL);
	fix_free(f);
}

TEST_WITH(an_edit_before_many_renames, NULL, NULL)
{
	before_many_renames(true);
	before_many_renames(false);
}

/* ---- an edit after one had ended, before the other captured it ------------------------------- */

static int writes(struct fix *f)
{
	return put(f, "d/x", "agent\n");
}

static int removes(struct fix *f)
{
	return rm(f, "d/x") < 0 ? -1 : rd(f, "d");
}

static int replaces(struct fix *f)
{
	return mv(f, "other", "d/x", 0);
}

static int writes_by_another_link(struct fix *f)
{
	return put(f, "link", "agent\n");
}

static int moves_its_directory(struct fix *f)
{
	return mv(f, "d", "e", 0);
}

/* The lasting step began before the edit, but first touched the path after it. */
TEST_WITH(an_edit_before_the_lasting_one_came, NULL, NULL)
{
	static int (*const how[])(struct fix * f) = {
		writes, removes, replaces, writes_by_another_link, moves_its_directory,
	};

	for (size_t i = 0; i < ARRAY_LEN(how); i++) {
		struct fix *f = fix_new();
		struct step *lasting;

		one_step(f, "md", md(f, "d"));
		begin(f, "lasting");
		assert_int_equal(put(f, "other", "other\n"), 0);
		lasting = begin_beside(f, "short");
		assert_int_equal(put(f, "d/x", "short\n"), 0);
		assert_int_equal(ln(f, "d/x", "link"), 0);
		committed(f);
		outside(f, "d/x", "human\n");
		f->s = lasting;
		assert_int_equal(how[i](f), 0);
		committed(f);
		if (undo(f, 2, 0) != -ESTALE)
			fail_msg("case %zu is not a conflict", i);
		fix_free(f);
	}
}

/* It had touched the path before, so that what the short one left is unknown. */
TEST(no_edit_is_found_where_the_lasting_one_wrote_before_and_after)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	struct step *lasting;

	begin(f, "lasting");
	assert_int_equal(put(f, "x", "lasting\n"), 0);
	lasting = begin_beside(f, "short");
	assert_int_equal(add(f, "x", "short\n"), 0);
	committed(f);
	f->s = lasting;
	assert_int_equal(add(f, "x", "lasting\n"), 0);
	committed(f);
	undo_all(f, 2, before);
}

/* The short one has no record of its file, so its image of the path shows the other's work. */
TEST(a_file_that_came_and_went_where_the_other_removed_a_directory)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	struct step *brief, *other;

	one_step(f, "mkdir d", md(f, "d"));
	begin(f, "echo >d; rm d");
	brief = begin_beside(f, "rmdir d");
	assert_int_equal(rd(f, "d"), 0);
	other = f->s;
	f->s = brief;
	assert_int_equal(put(f, "d", "x\n"), 0);
	assert_int_equal(rm(f, "d"), 0);
	committed(f);
	commit_other(f, other);
	must(f, undo(f, 3, 0));
	must(f, redo(f, 0));
	must(f, undo(f, 1, 0));
	undo_all(f, 2, before);
}

TESTS(fix_setup, fix_teardown)
