/* test_journal_between - an external edit stays one after a later step was made and undone. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/check.h"
#include "tests/support/journalfix.h"

#include <unistd.h>

/* Saves like an editor: another inode gets the name. */
static void save(struct fix *f, const char *path, const char *text)
{
	AUTO_FREE char *from = xasprintf("%s/save~", f->folder);
	AUTO_FREE char *to = xasprintf("%s/%s", f->folder, path);

	outside(f, "save~", text);
	assert_int_equal(rename(from, to), 0);
}

/* Makes a step that changes the path, and undoes it: it has the newest image of the path. */
static void come_and_go(struct fix *f, const char *path)
{
	one_step(f, "come", put(f, path, "came\n"));
	assert_int_equal(undo(f, 1, 0), 0);
}

/* The step did not change the file, but captured it, because it was open for writing. */
TEST(of_a_file_that_was_held_open)
{
	struct fix *f = *state;
	struct at a = at(f, "held");
	int fd;

	begin(f, "opens it");
	fd = op_open(f->s, &a, O_RDWR | O_CREAT, 0644, NULL);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "agent\n", 6), 6);
	commit(f);
	one_step(f, "elsewhere", md(f, "d"));
	save(f, "held", "human\n");
	come_and_go(f, "held");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_cat(f, "held", "human\n");
	close(fd);
}

/* For steps that ran at the same time, the state that each of them left is unknown. */
TEST(of_what_two_steps_had_made_together)
{
	struct fix *f = *state;
	struct step *first;

	begin(f, "first");
	assert_int_equal(put(f, "a", "one\n"), 0);
	first = f->s;
	one_step(f, "second", put(f, "a", "two\n"));
	f->s = first;
	commit(f);
	assert_int_equal(undo(f, 2, 0), 0);
	save(f, "a", "human\n");
	begin(f, "dropped");
	assert_int_equal(put(f, "a", "came\n"), 0);
	assert_int_equal(journal_abort(take_ptr(&f->s), &f->err), 0);
	assert_int_equal(redo(f, 0), -ESTALE);
	assert_cat(f, "a", "human\n");
}

/* The same for an undo: the steps are kept, and undone one after the other. */
TEST(of_what_two_steps_had_left_together)
{
	struct fix *f = *state;
	struct step *first;

	begin(f, "first");
	assert_int_equal(put(f, "a", "one\n"), 0);
	first = f->s;
	one_step(f, "second", put(f, "a", "two\n"));
	f->s = first;
	commit(f);
	save(f, "a", "human\n");
	come_and_go(f, "a");
	assert_int_equal(undo(f, 2, 0), -ESTALE);
	assert_cat(f, "a", "human\n");
}

/* Same size and same time: only the bytes show the edit. */
TEST(of_the_same_size_and_time)
{
	struct fix *f = *state;
	AUTO_FREE char *path = xasprintf("%s/a", f->folder);
	struct stat st;

	one_step(f, "agent", put(f, "a", "agent\n"));
	assert_int_equal(stat(path, &st), 0);
	save(f, "a", "human\n");
	assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){st.st_atim, st.st_mtim}, 0),
			 0);
	come_and_go(f, "a");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_cat(f, "a", "human\n");
}

/* What the later step does with the file "a" that was edited after the step before. */
static int write_it(struct fix *f)
{
	return put(f, "a", "later\n");
}

static int remove_it(struct fix *f)
{
	return rm(f, "a");
}

static int replace_it(struct fix *f)
{
	int r = put(f, "b", "later\n");

	return r < 0 ? r : mv(f, "b", "a", 0);
}

static int change_its_mode(struct fix *f)
{
	return mode(f, "a", 0600);
}

static int change_its_mode_and_write_it(struct fix *f)
{
	int r = mode(f, "a", 0600);

	return r < 0 ? r : put(f, "a", "later\n");
}

static int rename_it(struct fix *f)
{
	return mv(f, "a", "b", 0);
}

static int remove_its_directory(struct fix *f)
{
	int r = mv(f, "a", "d/a", 0);

	r = r < 0 ? r : rm(f, "d/a");
	return r < 0 ? r : rd(f, "d");
}

static int (*const later[])(struct fix *f) = {
	write_it,
	remove_it,
	replace_it,
	change_its_mode,
	change_its_mode_and_write_it,
	rename_it,
	remove_its_directory,
};

#define LARGE 40000 /* its capture is no part of the log */

/* Two steps, and between them the bytes at an offset of the file are replaced, or none (NULL). The
 * file keeps its size, and its time up to so many nanoseconds. Returns what an undo of both does.
 */
static int undo_both(struct fix *f, int (*does)(struct fix *f), size_t size, const char *bytes,
		     long ns)
{
	AUTO_FREE char *path = xasprintf("%s/a", f->folder), *text = xcalloc(1, size + 1);
	AUTO_CLOSE int fd = -1;
	struct timespec times[2];
	struct stat st;

	memset(text, 'x', size);
	begin(f, "first");
	assert_int_equal(put(f, "a", text), 0);
	assert_int_equal(md(f, "d"), 0);
	commit(f);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	if (bytes)
		assert_int_equal(pwrite(fd, bytes, strlen(bytes), 0), strlen(bytes));
	times[0] = st.st_atim;
	times[1] = (struct timespec){st.st_mtim.tv_sec, (st.st_mtim.tv_nsec + ns) % 1000000000};
	assert_int_equal(futimens(fd, times), 0);
	one_step(f, "second", does(f));
	return undo(f, 2, 0);
}

TEST(of_the_same_size_and_time_before_a_later_step)
{
	for (size_t i = 0; i < ARRAY_LEN(later) * 2; i++) {
		struct fix *f = fix_new();
		int r = undo_both(f, later[i / 2], i % 2 ? LARGE : 6, "human", 0);

		if (r != -ESTALE)
			fail_msg("%zu: %d %s", i, r, f->err.text);
		fix_free(f);
	}
}

/* A single undo does not ask about a file that has only a new time, either. */
TEST(of_the_time_alone_before_a_later_step)
{
	for (size_t i = 0; i < ARRAY_LEN(later) * 2; i++) {
		struct fix *f = fix_new();
		int r = undo_both(f, later[i / 2], 6, i % 2 ? "xxx" : NULL, 1000);

		if (r != 0)
			fail_msg("%zu: %d %s", i, r, f->err.text);
		fix_free(f);
	}
}

static int replace_it_by_a_link(struct fix *f)
{
	int r = sym(f, "later", "b");

	return r < 0 ? r : mv(f, "b", "a", 0);
}

static int change_its_owner(struct fix *f)
{
	struct at a = at(f, "a");

	return op_chown(f->s, &a, getuid(), getgid(), NULL);
}

/* What the later step does with a link; an edit before gives it another target of the same length,
 * or makes it anew. */
static int (*const later_than_links[])(struct fix *f) = {
	remove_it,	  replace_it, replace_it_by_a_link,
	change_its_owner, rename_it,  remove_its_directory,
};

TEST(of_a_link_before_a_later_step)
{
	static const char *const targets[] = {"agent", "human"};

	for (size_t i = 0; i < ARRAY_LEN(later_than_links) * 2; i++) {
		struct fix *f = fix_new();
		AUTO_FREE char *path = xasprintf("%s/a", f->folder);
		struct stat st;
		int r;

		begin(f, "first");
		assert_int_equal(sym(f, targets[0], "a"), 0);
		assert_int_equal(md(f, "d"), 0);
		commit(f);
		assert_int_equal(lstat(path, &st), 0);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(symlink(targets[i % 2], path), 0);
		if (i % 2)
			succeeds(utimensat(AT_FDCWD, path,
					   (struct timespec[]){st.st_atim, st.st_mtim},
					   AT_SYMLINK_NOFOLLOW));
		begin(f, "second");
		assert_int_equal(later_than_links[i / 2](f), 0);
		commit(f);
		r = undo(f, 2, 0);
		if (r != (i % 2 ? -ESTALE : 0))
			fail_msg("%zu: %d %s", i, r, f->err.text);
		fix_free(f);
	}
}

static int remove_the_directory(struct fix *f)
{
	return rd(f, "a");
}

/* Attributes of a user are edits, too: those of a directory have no other sign. */
TEST(of_a_directory_before_a_later_step)
{
	static int (*const does[])(struct fix * f) = {remove_the_directory, rename_it,
						      change_its_mode};

	for (size_t i = 0; i < ARRAY_LEN(does) * 2; i++) {
		struct fix *f = fix_new();
		AUTO_FREE char *path = xasprintf("%s/a", f->folder);
		int r = 0;

		begin(f, "first");
		assert_int_equal(md(f, "a"), 0);
		commit(f);
		if (i % 2)
			r = setxattr(path, "user.human", "1", 1, 0);
		if (r < 0 && errno == ENOTSUP)
			skip();
		assert_int_equal(r, 0);
		one_step(f, "second", does[i / 2](f));
		r = undo(f, 2, 0);
		if (r != (i % 2 ? -ESTALE : 0))
			fail_msg("%zu: %d %s", i, r, f->err.text);
		fix_free(f);
	}
}

/* An aborted step restored the file before a later step replaced it. */
TEST(a_file_that_an_abort_restored_is_no_edit)
{
	struct fix *f = *state;
	char text[LARGE] = "";

	memset(text, 'd', sizeof(text) - 1);
	begin(f, "first");
	assert_int_equal(put(f, "c", "see\n"), 0);
	assert_int_equal(put(f, "d", text), 0);
	commit(f);
	begin(f, "aborted");
	assert_int_equal(put(f, "d", "other\n"), 0);
	assert_int_equal(journal_abort(take_ptr(&f->s), &f->err), 0);
	one_step(f, "replaces it", mv(f, "c", "d", 0));
	assert_int_equal(undo(f, 2, 0), 0);
}

/* Without an edit none is seen: a step that was undone left everything as before. */
TEST(of_nobody)
{
	struct fix *f = *state;
	struct step *first;

	begin(f, "first");
	assert_int_equal(put(f, "a", "one\n"), 0);
	first = f->s;
	begin(f, "second");
	assert_int_equal(put(f, "a", "two\n"), 0);
	assert_int_equal(ln(f, "a", "other"), 0);
	commit(f);
	f->s = first;
	commit(f);
	come_and_go(f, "a");
	come_and_go(f, "other");
	assert_int_equal(undo(f, 2, 0), 0);
	come_and_go(f, "b");
	begin(f, "dropped");
	assert_int_equal(put(f, "a", "came\n"), 0);
	assert_int_equal(journal_abort(take_ptr(&f->s), &f->err), 0);
}

/* An edit that a redo left out and an undo replaced: the next redo restores the edit, not the
 * step's state. */
TEST(what_a_redo_had_left_out_comes_back)
{
	struct fix *f = *state;
	AUTO_FREE char *path = xasprintf("%s/a", f->folder), *mine = NULL;

	one_step(f, "make", put(f, "a", "before\n"));
	begin(f, "agent");
	assert_int_equal(put(f, "b", "agent\n"), 0);
	assert_int_equal(put(f, "a", "agent\n"), 0);
	commit(f);
	assert_int_equal(undo(f, 1, 0), 0);
	save(f, "a", "human\n");
	assert_int_equal(redo(f, UNDO_KEEP_MINE), 0);
	assert_cat(f, "a", "human\n");
	mine = snap(f);
	assert_int_equal(undo(f, 2, UNDO_FORCE), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, mine);
}

/* The undo removes the file that the steps made, so there is no file to merge into. */
TEST(a_merge_with_nothing_is_none)
{
	struct fix *f = *state;
	AUTO_FREE char *path = xasprintf("%s/a", f->folder);

	begin(f, "passing");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(mv(f, "a", "b", 0), 0);
	commit(f);
	save(f, "a", "human\n");
	one_step(f, "agent", put(f, "a", "agent\n"));
	outside(f, "a", "edited\n");
	assert_int_equal(undo(f, 2, UNDO_MERGE), -ESTALE);
	assert_cat(f, "a", "edited\n");
	assert_int_equal(undo(f, 2, UNDO_MERGE | UNDO_FORCE), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "a", "edited\n");
}

/* The target of a symbolic link cannot be merged. */
TEST(a_merge_with_a_link_is_none)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;

	one_step(f, "make", sym(f, "target", "a"));
	before = snap(f);
	begin(f, "agent");
	assert_int_equal(rm(f, "a"), 0);
	assert_int_equal(put(f, "a", "agent\n"), 0);
	commit(f);
	outside(f, "a", "edited\n");
	assert_int_equal(undo(f, 1, UNDO_MERGE), -ESTALE);
	assert_non_null(strstr(f->err.text, "no file before and after"));
	assert_int_equal(undo(f, 1, UNDO_MERGE | UNDO_FORCE), 0);
	assert_tree(f, before);
}

/* After it was undone and redone alone, a step has younger records than a step that began after
 * it. */
TEST(a_merge_with_what_a_later_step_made_is_none)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f), *after = NULL;
	struct step *second = NULL;
	struct at a;
	int fd;

	begin(f, "dresses it");
	assert_int_equal(journal_begin(f->j, STEP_COMMAND, "makes it", &second, &f->err), 0);
	a = at(f, "a");
	fd = op_open(second, &a, O_WRONLY | O_CREAT, 0644, NULL);
	assert_int_equal(write(fd, "agent\n", 6), 6);
	close(fd);
	assert_int_equal(op_utimens(f->s, &a, times, NULL), 0);
	assert_true(journal_commit(second, 0, &f->err) > 0);
	assert_true(commit(f) != 0);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_int_equal(redo(f, 0), 0);
	after = snap(f);
	assert_int_equal(undo(f, 2, UNDO_MERGE), -ESTALE);
	assert_non_null(strstr(f->err.text, "cannot be merged"));
	assert_int_equal(undo(f, 2, UNDO_MERGE | UNDO_FORCE), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, after);
}

/* A record that was left out has moved nothing: the edit is at the same path. */
TEST(what_was_kept_beside_a_move_is_still_somebody_elses)
{
	struct fix *f = *state;
	AUTO_FREE char *mine = NULL;

	begin(f, "agent");
	assert_int_equal(md(f, "c"), 0);
	assert_int_equal(mv(f, "c", "d", 0), 0);
	assert_int_equal(md(f, "c"), 0);
	assert_int_equal(put(f, "c/a", "agent\n"), 0);
	assert_int_equal(put(f, "c/b", "agent\n"), 0);
	commit(f);
	save(f, "c/b", "human\n");
	mine = snap(f);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_cat(f, "c/b", "human\n");
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, mine);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_tree(f, mine);
}

static void move(struct fix *f, const char *from, const char *to)
{
	AUTO_FREE char *a = xasprintf("%s/%s", f->folder, from);
	AUTO_FREE char *b = xasprintf("%s/%s", f->folder, to);

	assert_int_equal(rename(a, b), 0);
}

/* The inode is known from another path, at which it was left; at this path it is an edit. */
TEST(a_known_file_that_was_moved_is_an_edit)
{
	struct fix *f = *state;

	one_step(f, "one", md(f, "d"));
	one_step(f, "two", put(f, "c", "agent\n"));
	outside(f, "c", "human\n");
	assert_int_equal(undo(f, 2, UNDO_KEEP_MINE), 0);
	move(f, "c", "d");
	assert_int_equal(redo(f, 0), -ESTALE);
	assert_cat(f, "d", "human\n");
}

/* The same over a file of a step, whose own file is gone. */
TEST(a_known_file_that_was_moved_over_another_is_an_edit)
{
	struct fix *f = *state;

	one_step(f, "one", put(f, "d", "one\n"));
	one_step(f, "two", put(f, "c", "two\n"));
	move(f, "c", "d");
	assert_int_equal(undo(f, 2, 0), -ESTALE);
	assert_cat(f, "d", "two\n");
}

/* The new directory replaced a file: an edit in the directory is a conflict all the same. */
TEST(in_a_directory_where_a_file_was)
{
	struct fix *f = *state;

	for (unsigned flags = 0; flags < 2; flags++) {
		one_step(f, "file", put(f, "b", "old\n"));
		begin(f, "directory");
		assert_int_equal(md(f, "c"), 0);
		if (!flags)
			assert_int_equal(rm(f, "b"), 0);
		assert_int_equal(mv(f, "c", "b", flags ? RENAME_EXCHANGE : 0), 0);
		commit(f);
		outside(f, "b/x", "human\n");
		assert_int_equal(undo(f, 1, 0), -ESTALE);
		assert_cat(f, "b/x", "human\n");
		assert_int_equal(undo(f, 2, UNDO_FORCE), 0);
	}
}

/* The same if a redo removes a directory that the undo restored under another name. */
TEST(in_a_directory_that_a_redo_takes)
{
	struct fix *f = *state;

	one_step(f, "make", md(f, "b"));
	begin(f, "rename and remove");
	assert_int_equal(mv(f, "b", "c", 0), 0);
	assert_int_equal(rd(f, "c"), 0);
	commit(f);
	assert_int_equal(undo(f, 1, 0), 0);
	outside(f, "b/x", "human\n");
	assert_int_equal(redo(f, 0), -ESTALE);
	assert_cat(f, "b/x", "human\n");
}

/* The edit was left with the directory; then a step removed both. */
TEST(of_what_was_left_in_a_directory)
{
	struct fix *f = *state;
	AUTO_FREE char *after = NULL;

	one_step(f, "make", md(f, "c"));
	outside(f, "c/b", "human\n");
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_int_equal(redo(f, 0), 0);
	begin(f, "remove");
	assert_int_equal(rm(f, "c/b"), 0);
	assert_int_equal(rd(f, "c"), 0);
	commit(f);
	after = snap(f);
	assert_int_equal(undo(f, 2, 0), -ESTALE);
	assert_tree(f, after);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_cat(f, "c/b", "human\n");
}

/* The merge would be written to the place of a path that is left out. */
TEST(a_merge_to_where_nothing_comes_is_none)
{
	const char *paths[] = {"d", NULL};
	struct fix *f = *state;
	struct step *second = NULL;
	struct at a, c;
	int64_t first;
	int fd;

	begin(f, "makes and holds it");
	assert_int_equal(md(f, "d"), 0);
	a = at(f, "b");
	fd = op_open(f->s, &a, O_WRONLY | O_CREAT, 0644, NULL);
	assert_int_equal(write(fd, "agent\n", 6), 6);
	first = commit(f);
	one_step(f, "renames it", mv(f, "b", "a", 0));
	begin(f, "makes another");
	assert_int_equal(put(f, "c", "another\n"), 0);
	assert_int_equal(journal_begin(f->j, STEP_COMMAND, "at once", &second, &f->err), 0);
	a = at(f, "a");
	c = at(f, "c");
	assert_int_equal(op_rename(second, &a, &c, 0, NULL), 0);
	commit(f);
	assert_true(journal_commit(second, 0, &f->err) > 0);
	assert_int_equal(journal_restore(f->j, first, paths, UNDO_FORCE, &f->err), 0);
	assert_int_equal(undo(f, 2, UNDO_KEEP_MINE), 0);
	if (undo(f, 1, UNDO_MERGE | UNDO_KEEP_MINE) < 0)
		fail_msg("%s", f->err.text);
	assert_cat(f, "c", "agent\n");
	close(fd);
}

/* Its mode is an external edit, and it has another path after the rollback. */
TEST(a_directory_that_was_kept_and_moved)
{
	struct fix *f = *state;
	AUTO_FREE char *path = xasprintf("%s/c", f->folder), *mine = NULL;

	begin(f, "make");
	assert_int_equal(md(f, "a"), 0);
	assert_int_equal(put(f, "a/a", "agent\n"), 0);
	assert_int_equal(mv(f, "a", "c", 0), 0);
	commit(f);
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	mine = snap(f);
	assert_non_null(strstr(mine, "/a 40700"));
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, mine);
}

/* A name that another step gave to an open file is removed with that step: there was no external
 * edit. */
TEST(a_name_that_another_step_made_is_none)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	AUTO_CLOSE int fd = -1;
	struct step *first;
	struct at a;

	begin(f, "opens");
	first = f->s;
	a = at(f, "a");
	fd = op_open(f->s, &a, O_WRONLY | O_CREAT, 0644, NULL);
	assert_int_equal(write(fd, "one", 3), 3);
	begin(f, "links");
	assert_int_equal(ln(f, "a", "d"), 0);
	assert_true(journal_commit(first, 0, &f->err) > 0);
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	if (undo(f, 1, 0) < 0)
		fail_msg("%s", f->err.text);
	assert_tree(f, before);
}

/* No file is restored into it: that would create it again. */
TEST(a_directory_that_somebody_moved_stays_away)
{
	struct fix *f = *state;
	AUTO_FREE char *from = xasprintf("%s/b", f->folder);
	AUTO_FREE char *to = xasprintf("%s/mine", f->folder);
	AUTO_FREE char *edited = NULL;

	begin(f, "agent");
	assert_int_equal(md(f, "b"), 0);
	assert_int_equal(put(f, "b/a", "a"), 0);
	assert_int_equal(put(f, "b/c", "c"), 0);
	assert_int_equal(mv(f, "b/a", "d", 0), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(rename(from, to), 0);
	edited = snap(f);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_int_equal(faccessat(AT_FDCWD, from, F_OK, 0), -1);
	assert_cat(f, "mine/c", "c");
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_tree(f, edited);
}

/* Two steps with an external edit between them are undone together: the state that the first one
 * left is known by its image alone. */
TEST(of_a_name_that_came_and_went)
{
	struct fix *f = *state;

	for (int turn = 0; turn < 4; turn++) {
		bool human = turn & 1, touched = turn & 2;
		struct at a;

		begin(f, "touch d; mkdir x; rm d");
		assert_int_equal(put(f, "d", "agent\n"), 0);
		assert_int_equal(md(f, "x"), 0);
		assert_int_equal(rm(f, "d"), 0);
		commit(f);
		if (human)
			outside(f, "d", "human\n");
		begin(f, "chmod d");
		assert_int_equal(put(f, "y", "y\n"), 0);
		a = at(f, "d");
		if (human && touched) /* and nothing is written */
			close(op_open(f->s, &a, O_RDWR, 0, NULL));
		else if (human)
			assert_int_equal(mode(f, "d", 0640), 0);
		commit(f);
		assert_int_equal(undo(f, 2, 0), human ? -ESTALE : 0);
		if (!human)
			continue;
		assert_cat(f, "d", "human\n");
		assert_int_equal(undo(f, 2, UNDO_FORCE), 0);
		assert_null(cat(f, "d"));
		assert_int_equal(redo(f, UNDO_FORCE), 0);
		assert_cat(f, "d", "human\n");
		assert_int_equal(undo(f, 2, UNDO_FORCE), 0);
	}
}

/* The same without an edit. */
TEST(of_nobody_at_a_name_that_came_and_went)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);

	one_step(f, "touch c", put(f, "c", "c\n"));
	one_step(f, "mv c a", mv(f, "c", "a", 0));
	begin(f, "touch c d; rm c");
	assert_int_equal(put(f, "c", "again\n"), 0);
	assert_int_equal(put(f, "d", "d\n"), 0);
	assert_int_equal(rm(f, "c"), 0);
	commit(f);
	assert_int_equal(undo(f, 3, 0), 0);
	assert_tree(f, before);
}

TEST(of_a_file_that_was_opened_for_nothing)
{
	struct fix *f = *state;

	one_step(f, "set up", put(f, "d", "was\n"));
	for (int human = 0; human < 2; human++) {
		struct at a = at(f, "d");

		begin(f, "open d");
		assert_int_equal(put(f, "x", "x\n"), 0);
		close(op_open(f->s, &a, O_RDWR, 0, NULL));
		commit(f);
		if (human)
			save(f, "d", "human\n");
		one_step(f, "chmod d", mode(f, "d", 0640));
		assert_int_equal(undo(f, 2, 0), human ? -ESTALE : 0);
		assert_cat(f, "d", human ? "human\n" : "was\n");
	}
}

int main(void)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return run_all(fix_setup, fix_teardown, NULL, NULL);
}
