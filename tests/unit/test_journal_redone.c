/* test_journal_redone - the results of steps are still known after undo and redo. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

/* Saves as editors do: a new file is renamed over the old one. */
static void save(struct fix *f, const char *path, const char *text)
{
	AUTO_FREE char *beside = xasprintf("%s/save~", f->folder);
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);

	outside(f, "save~", text);
	assert_int_equal(rename(beside, whole), 0);
}

static void put_alone(struct fix *f, const char *path, const char *text)
{
	one_step(f, "echo", put(f, path, text));
}

/* Makes and aborts a step that changes a file's mode. */
static void come_and_go(struct fix *f, const char *path)
{
	begin(f, "went");
	assert_int_equal(put(f, "w", "w\n"), 0);
	assert_int_equal(path ? mode(f, path, 0604) : 0, 0);
	assert_int_equal(journal_abort(f->s, &f->err), 0);
}

enum newest { /* the last step's change */
	ELSEWHERE,
	WRITES,
	MOVES_ON,
	DRESSES,
	NEWEST
};

static void the_newest(struct fix *f, enum newest what, const char *dir, const char *path)
{
	begin(f, "the newest");
	assert_int_equal(put(f, "z", "z\n"), 0);
	if (what == WRITES)
		assert_int_equal(put(f, path, "newer\n"), 0);
	if (what == MOVES_ON)
		assert_int_equal(mv(f, dir, "c", 0), 0);
	if (what == DRESSES)
		assert_int_equal(mode(f, path, 0640), 0);
	assert_true(commit(f) > 0);
}

enum since { /* operations after that */
	REDONE,
	ONE_UNDONE,
	ANOTHER_WENT,
	ONE_UNDONE_AND_REDONE,
	TWO_UNDONE_AND_REDONE,
	SINCE
};

static void roll(struct fix *f, enum since since)
{
	must(f, undo(f, 3, 0));
	must(f, redo(f, 0));
	if (since == ANOTHER_WENT)
		come_and_go(f, NULL);
	if (since == ONE_UNDONE || since == ONE_UNDONE_AND_REDONE)
		must(f, undo(f, 1, 0));
	if (since == TWO_UNDONE_AND_REDONE)
		must(f, undo(f, 2, 0));
	if (since == ONE_UNDONE_AND_REDONE || since == TWO_UNDONE_AND_REDONE)
		must(f, redo(f, 0));
}

/* For content of a moved directory only the image of the step has information. */
static void moved_after_an_edit(enum newest newest, enum since since, bool human)
{
	struct fix *f = fix_new();

	begin(f, "mkdir a; touch a/x");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(put(f, "a/x", "agent\n"), 0);
	assert_true(commit(f) > 0);
	if (human)
		save(f, "a/x", "human\n");
	one_step(f, "mv a b", mv(f, "a", "b", 0));
	put_alone(f, "q", "q\n");
	the_newest(f, newest, "b", "b/x");
	roll(f, since);
	if (undo(f, 4, 0) != (human ? -ESTALE : 0))
		fail_msg("%d %d: %s", newest, since, f->err.text);
	fix_free(f);
}

TEST(an_edit_before_a_move)
{
	for (int newest = 0; newest < NEWEST; newest++)
		for (int since = 0; since < SINCE; since++)
			for (int human = 0; human < 2; human++)
				moved_after_an_edit((enum newest)newest, (enum since)since, human);
}

/* The images of redone steps were made after newer ones; these were undone, and an aborted step
 * found an external edit. */
TEST(an_edit_that_another_step_found)
{
	for (int human = 0; human < 2; human++)
		for (size_t n = 1; n < 3; n++) {
			struct fix *f = fix_new();

			(void)state;
			begin(f, "mkdir a; touch a/x");
			assert_int_equal(md(f, "a"), 0);
			assert_int_equal(put(f, "a/x", "old\n"), 0);
			assert_true(commit(f) > 0);
			begin(f, "mv a b; echo >b/x");
			assert_int_equal(mv(f, "a", "b", 0), 0);
			assert_int_equal(put(f, "b/x", "agent\n"), 0);
			assert_true(commit(f) > 0);
			put_alone(f, "b/x", "newer\n");
			must(f, undo(f, 2, 0));
			must(f, redo(f, 0));
			must(f, undo(f, 1, 0));
			if (human)
				save(f, "b/x", "human\n");
			come_and_go(f, "b/x");
			assert_int_equal(undo(f, n, 0), human ? -ESTALE : 0);
			if (human)
				assert_cat(f, "b/x", "human\n");
			fix_free(f);
		}
}

/* One step made the directory, an overlapping one moved it. */
TEST_WITH(an_edit_in_a_directory_that_was_moved_on, fix_setup, fix_teardown)
{
	struct fix *f = *state;
	struct step *first, *second;

	begin(f, "mkdir b; touch b/x");
	first = f->s;
	assert_int_equal(md(f, "b"), 0);
	assert_int_equal(put(f, "b/x", "agent\n"), 0);
	begin(f, "mv b a; ln -s nowhere b");
	second = f->s;
	assert_int_equal(mv(f, "b", "a", 0), 0);
	assert_int_equal(sym(f, "nowhere", "b"), 0);
	f->s = first;
	assert_true(commit(f) > 0);
	f->s = second;
	assert_true(commit(f) > 0);
	save(f, "a/x", "human\n");
	one_step(f, "exchange a and b", mv(f, "a", "b", RENAME_EXCHANGE));
	must(f, undo(f, 1, 0));
	must(f, redo(f, 0));
	come_and_go(f, NULL);
	assert_int_equal(undo(f, 3, 0), -ESTALE);
	must(f, undo(f, 3, UNDO_KEEP_MINE));
	assert_cat(f, "b/x", "human\n");
	assert_sound(f);
}

/* Of two overlapping steps one made a file in the place of a former directory, and the other moved
 * it: what that one found there is no external edit. */
TEST_WITH(nobody_where_two_took_turns, fix_setup, fix_teardown)
{
	struct fix *f = *state;
	struct step *first;

	one_step(f, "mkdir d", md(f, "d"));
	one_step(f, "rmdir d", rd(f, "d"));
	begin(f, "touch d");
	first = f->s;
	assert_int_equal(put(f, "d", "d\n"), 0);
	one_step(f, "mv d b", mv(f, "d", "b", 0));
	f->s = first;
	assert_true(commit(f) > 0);
	must(f, undo(f, 4, 0));
	must(f, redo(f, 0));
	must(f, undo(f, 4, 0));
}

/* An external file was replaced by a forced redo: it comes back when that step is undone, and an
 * undo of more steps would continue from there. */
TEST(what_was_forced_over_comes_back_between)
{
	for (int together = 0; together < 2; together++) {
		struct fix *f = fix_new();

		(void)state;
		put_alone(f, "x", "old\n");
		put_alone(f, "x", "agent\n");
		must(f, undo(f, 1 + (size_t)together, 0));
		outside(f, "x", "human\n");
		must(f, redo(f, UNDO_FORCE));
		assert_cat(f, "x", "agent\n");
		assert_int_equal(undo(f, 2, 0), together ? 0 : -ESTALE);
		must(f, together ? 0 : undo(f, 1, 0));
		assert_cat(f, "x", "human\n");
		fix_free(f);
	}
}

enum there { /* changes of a/x, which was moved with its directory */
	APPENDED,
	REWRITTEN,
	DRESSED,
	UNLINKED,
	MOVED,
	REPLACED,
	THERE
};

static void do_there(struct fix *f, enum there what)
{
	if (what == APPENDED)
		assert_int_equal(add(f, "a/x", "more\n"), 0);
	if (what == REWRITTEN)
		assert_int_equal(put(f, "a/x", "newer\n"), 0);
	if (what == DRESSED)
		assert_int_equal(mode(f, "a/x", 0604), 0);
	if (what == UNLINKED)
		assert_int_equal(rm(f, "a/x"), 0);
	if (what == MOVED)
		assert_int_equal(mv(f, "a/x", "a/z", 0), 0);
	if (what == REPLACED) {
		assert_int_equal(put(f, "a/z", "newer\n"), 0);
		assert_int_equal(mv(f, "a/z", "a/x", 0), 0);
	}
}

static void make_dir(struct fix *f, const char *dir, const char *file)
{
	assert_int_equal(md(f, dir), 0);
	assert_int_equal(put(f, file, "agent\n"), 0);
}

/* When the step first recorded the name, it was another file's: the step's own, or an existing
 * one. */
static void an_edit_below_a_name_that_was_taken(enum there what, bool own, bool redone, bool human)
{
	struct fix *f = fix_new();

	begin(f, "mkdir d; touch d/x; mkdir a; touch a/x");
	make_dir(f, "d", "d/x");
	if (!own)
		make_dir(f, "a", "a/x");
	assert_true(commit(f) > 0);
	if (human)
		outside(f, "d/x", "the human's\n");
	begin(f, "mkdir a; touch a/x; rm -r a; mv d a; ...");
	if (own)
		make_dir(f, "a", "a/x");
	assert_int_equal(rm(f, "a/x"), 0);
	assert_int_equal(rd(f, "a"), 0);
	assert_int_equal(mv(f, "d", "a", 0), 0);
	do_there(f, what);
	assert_true(commit(f) > 0);
	if (redone) {
		must(f, undo(f, 1 + !human, 0));
		must(f, redo(f, 0));
	}
	if (undo(f, 2, 0) != (human ? -ESTALE : 0))
		fail_msg("%d %d %d %d: %s", what, own, redone, human, f->err.text);
	fix_free(f);
}

TEST(an_edit_before_a_directory_took_a_name)
{
	for (int what = 0; what < THERE; what++)
		for (int how = 0; how < 8; how++)
			an_edit_below_a_name_that_was_taken((enum there)what, how & 1, how & 2,
							    how & 4);
}

/* An external file in a directory that an older step made: a newer step's changes before it moves
 * the directory do not make it a step's file. */
static void what_is_in_a_directory_that_goes(int what, bool redone)
{
	struct fix *f = fix_new();

	begin(f, "mkdir a; mkdir a/d");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(md(f, "a/d"), 0);
	assert_true(commit(f) > 0);
	outside(f, "a/d/x", "the human's\n");
	begin(f, "...; mv a c");
	assert_int_equal(what == 0 ? mode(f, "a/d/x", 0600) : 0, 0);
	assert_int_equal(what == 1 ? add(f, "a/d/x", "more\n") : 0, 0);
	assert_int_equal(what == 2 ? mv(f, "a/d/x", "a/d/y", 0) : 0, 0);
	assert_int_equal(what == 3 ? rm(f, "a/d/x") : 0, 0);
	assert_int_equal(what == 4 ? mode(f, "a/d/x", 0600) : 0, 0);
	if (what == 4) {
		assert_true(commit(f) > 0);
		begin(f, "mv a c");
	}
	assert_int_equal(mv(f, "a", "c", 0), 0);
	assert_true(commit(f) > 0);
	must(f, redone ? undo(f, 1, 0) : 0);
	must(f, redone ? redo(f, 0) : 0);
	if (undo(f, 2 + (what == 4), 0) != -ESTALE)
		fail_msg("%d %d", what, redone);
	must(f, undo(f, 1 + (what == 4), 0));
	assert_cat(f, "a/d/x", "the human's\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	fix_free(f);
}

TEST(a_file_in_a_directory_that_goes)
{
	for (int what = 0; what < 6; what++)
		for (int redone = 0; redone < 2; redone++)
			what_is_in_a_directory_that_goes(what, redone);
}

/* Kept by the undo, the redo and an undo of more steps: there is no other external change. */
TEST_WITH(a_mode_that_is_kept_of_a_directory_that_moved, fix_setup, fix_teardown)
{
	struct fix *f = *state;
	AUTO_FREE char *a = xasprintf("%s/a", f->folder);
	AUTO_FREE char *c = xasprintf("%s/c", f->folder);
	struct stat st;

	one_step(f, "mkdir c", md(f, "c"));
	put_alone(f, "b", "b\n");
	one_step(f, "mv c a", mv(f, "c", "a", 0));
	assert_int_equal(chmod(a, 0750), 0);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	must(f, undo(f, 1, UNDO_KEEP_MINE));
	assert_int_equal(redo(f, 0), -ESTALE);
	must(f, redo(f, UNDO_KEEP_MINE));
	must(f, undo(f, 2, 0));
	assert_int_equal(lstat(c, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	must(f, undo(f, 1, UNDO_KEEP_MINE));
	assert_int_equal(lstat(c, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
}

/* The last step set an attribute by a name that it then removed; the step before it left the other
 * name. */
TEST_WITH(nobody_where_an_attribute_came_by_a_name_that_went, fix_setup, fix_teardown)
{
	struct fix *f = *state;
	struct at a;

	one_step(f, "touch d", put(f, "d", "one\n"));
	one_step(f, "ln d c", ln(f, "d", "c"));
	begin(f, "setfattr d; rm d");
	a = at(f, "d");
	if (op_setxattr(f->s, &a, "user.x", "1", 1, 0, NULL) == -EOPNOTSUPP)
		assert_int_equal(mode(f, "d", 0600), 0);
	assert_int_equal(rm(f, "d"), 0);
	assert_true(commit(f) > 0);
	for (int turn = 0; turn < 3; turn++) {
		must(f, undo(f, 3, 0));
		must(f, redo(f, 0));
	}
	outside(f, "c", "his\n");
	assert_int_equal(undo(f, 3, 0), -ESTALE);
}

/* The step moved and changed a file, which was moved back externally: it is left out by both
 * names. */
TEST_WITH(a_file_that_a_human_moved_back_leaves_no_copy, fix_setup, fix_teardown)
{
	struct fix *f = *state;
	int dir = journal_folder_fd(f->j);

	outside(f, "d", "the human's\n");
	begin(f, "mv d b; echo >>b");
	assert_int_equal(mv(f, "d", "b", 0), 0);
	assert_int_equal(add(f, "b", "agent\n"), 0);
	assert_true(commit(f) > 0);
	must(f, undo(f, 1, 0));
	must(f, redo(f, 0));
	assert_int_equal(renameat(dir, "b", dir, "d"), 0);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	must(f, undo(f, 1, UNDO_KEEP_MINE));
	assert_cat(f, "d", "the human's\nagent\n");
	assert_int_equal(faccessat(dir, "b", F_OK, 0), -1);
}

/* Also if the kept external file looks as the step left it. */
TEST_WITH(no_attribute_is_left_out_unasked, fix_setup, fix_teardown)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	struct at a;

	one_step(f, "touch d", put(f, "d", "agent\n"));
	outside(f, "d", "the human's\n");
	begin(f, "setfattr d");
	a = at(f, "d");
	if (op_setxattr(f->s, &a, "user.x", "1", 1, 0, NULL) == -EOPNOTSUPP)
		assert_int_equal(mode(f, "d", 0600), 0);
	assert_true(commit(f) > 0);
	before = snap(f);
	must(f, undo(f, 1, 0));
	must(f, undo(f, 1, UNDO_KEEP_MINE));
	must(f, redo(f, 0));
	assert_int_equal(redo(f, 0), -ESTALE);
	must(f, redo(f, UNDO_FORCE));
	assert_tree(f, before);
}

static void put_elsewhere(struct fix *f, const char *dir, const char *text)
{
	AUTO_CLOSE int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), out = -1;
	struct at a = {.dirfd = fd,
		       .dir = "",
		       .name = "file",
		       .root = journal_add_root(f->j, dir, false, &f->err)};

	out = op_open(f->s, &a, O_WRONLY | O_CREAT | O_TRUNC, 0600, NULL);
	assert_true(out >= 0);
	assert_int_equal(io_write_all(out, text, strlen(text)), 0);
}

enum edit { /* when a human wrote to the file */
	NEVER,
	BETWEEN,
	AFTER,
	EDITS
};

/* Two steps wrote to a file in a granted place; an undo and a redo left it as it is. */
static void left_elsewhere(enum edit when, size_t n)
{
	struct fix *f = fix_new();
	AUTO_FREE char *dir = xasprintf("%s/grant", f->top);
	int r = 0;

	assert_int_equal(mkdir(dir, 0755), 0);
	begin(f, "first");
	assert_int_equal(put(f, "a", "a\n"), 0);
	put_elsewhere(f, dir, "first\n");
	assert_true(commit(f) > 0);
	if (when == BETWEEN)
		outside(f, "../grant/file", "the human's\n");
	begin(f, "second");
	assert_int_equal(put(f, "b", "b\n"), 0);
	put_elsewhere(f, dir, "second\n");
	assert_true(commit(f) > 0);
	if (when == AFTER)
		outside(f, "../grant/file", "the human's\n");
	must(f, undo(f, 2, 0));
	must(f, redo(f, 0));
	for (size_t i = 0; i < 2 && r == 0; i += n)
		r = undo(f, n, UNDO_ALL_PLACES);
	assert_int_equal(r, when == NEVER ? 0 : -ESTALE);
	fix_free(f);
}

TEST(what_two_steps_left_elsewhere)
{
	for (int when = 0; when < EDITS; when++)
		for (size_t n = 1; n <= 2; n++)
			left_elsewhere((enum edit)when, n);
}

TESTS(NULL, NULL)
