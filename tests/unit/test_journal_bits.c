/* test_journal_bits - mode bits that are borrowed for a moment, and always restored. */
/* SPDX-License-Identifier: MIT */
#include <sys/xattr.h>

#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/journal.h"
#include "core/journal/op.h"
#include "core/journal/store/borrow_mode.h"
#include "core/journal/store/borrowed_dirs.h"
#include "core/journal/store/store.h"
#include "tests/support/comb.h"
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

/* As root no bits are borrowed: all tests pass and prove nothing. */

static void prepare(struct fix *f)
{
	AUTO_FREE char *marked = xasprintf("%s/marked", f->folder);

	begin(f, "prepare");
	put(f, "written", "write only");
	put(f, "marked", "marked");
	put(f, "old", "old");
	put(f, "new", "new");
	setxattr(marked, "user.x", "value", 5, 0); /* if the file system has them */
	mode(f, "written", 0200);
	mode(f, "marked", 0);
	mode(f, "old", 0);
	assert_true(commit(f) != 0);
}

/* Locks the folder itself by this mode. */
static int lock(struct fix *f, mode_t m)
{
	struct at a = {.dirfd = journal_folder_fd(f->j), .dir = "", .name = "", .leaf = ""};

	return op_chmod(f->s, &a, m, NULL);
}

static void child(void *data)
{
	struct fix *f = data;

	fix_open(f);
	begin(f, "work");
	lock(f, 0711);
	put(f, "written", "anew");
	mode(f, "marked", 0640);
	mv(f, "new", "old", 0);
	lock(f, 0500);
	commit(f);
}

static void child_undo(void *data)
{
	struct fix *f = data;

	fix_open(f);
	if (undo(f, 1, 0) < 0)
		_exit(1);
}

static void child_open(void *data)
{
	fix_open(data);
}

static void close_it(struct fix *f)
{
	fix_drop_dirs(f);
	journal_close(f->j);
	f->j = NULL;
	f->s = NULL;
}

static bool none_lent(struct fix *f)
{
	AUTO_NAMES struct names names = {0};

	return store_names(f->j, "lent", &names) < 0 || names.n == 0;
}

static void killed_at_each_call(void (*fn)(void *), int apart)
{
	bool more = true;

	for (int n = 1; more; n += comb(apart)) {
		struct fix *f = fix_new();
		AUTO_FREE char *before = NULL;
		AUTO_FREE char *after = NULL;
		AUTO_FREE char *now = NULL;

		prepare(f);
		before = snap(f);
		close_it(f);
		if (fn == child_undo) {
			child(f);
			after = snap(f);
			close_it(f);
		}
		more = inject_kill(n, fn, f);
		inject_kill(20 + n * 7 % 90, child_open, f);
		fix_open(f);
		assert_true(none_lent(f));
		now = snap(f);
		if (!after && !str_eq(now, before)) {
			assert_int_equal(undo(f, 1, 0), 0);
			assert_tree(f, before);
		} else if (after && !str_eq(now, before) && !tree_same(after, now)) {
			fail_msg("killed at system call %d: neither old nor new", n);
		}
		fix_free(f);
	}
}

TEST(in_a_step)
{
	killed_at_each_call(child, 1);
}

TEST(in_an_undo)
{
	killed_at_each_call(child_undo, 3);
}

static mode_t mode_of(struct fix *f, const char *path)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);
	struct stat st;

	return stat(whole, &st) < 0 ? 0 : st.st_mode & 07777;
}

static void child_open_data(void *data)
{
	struct fix *f = data;

	fix_open(f);
	close(borrow_open_file(f->j, journal_folder_fd(f->j), "old"));
}

/* The name leads to another object than the one whose bits were borrowed. */
TEST(a_name_that_leads_elsewhere_is_left_alone)
{
	bool more = true, borrowed = false;

	for (int n = 1; more; n++) {
		struct fix *f = fix_new();
		AUTO_FREE char *old = xasprintf("%s/old", f->folder);
		AUTO_FREE char *away = xasprintf("%s/away", f->folder);
		AUTO_FREE char *outer = xasprintf("%s/outer", f->top);

		prepare(f);
		close_it(f);
		outside(f, "../outer", "precious");
		assert_int_equal(chmod(outer, 0400), 0);
		more = inject_kill(n, child_open_data, f);
		borrowed |= mode_of(f, "old") == 0400;
		assert_int_equal(rename(old, away), 0);
		assert_int_equal(symlink(outer, old), 0);
		fix_open(f);
		assert_true(none_lent(f));
		assert_int_equal(mode_of(f, "../outer"), 0400);
		fix_free(f);
	}
	assert_true(borrowed || geteuid() == 0);
}

/* A mode that was set externally in the meantime stays. */
TEST(a_mode_that_was_set_since_stays)
{
	bool more = true;

	for (int n = 1; more; n++) {
		struct fix *f = fix_new();
		AUTO_FREE char *old = xasprintf("%s/old", f->folder);

		prepare(f);
		close_it(f);
		more = inject_kill(n, child_open_data, f);
		assert_int_equal(chmod(old, 0640), 0);
		fix_open(f);
		assert_true(none_lent(f));
		assert_int_equal(mode_of(f, "old"), 0640);
		fix_free(f);
	}
}

/* The number of a thread that died may belong to a thread that borrows. */
TEST_WITH(the_next_loan_does_not_cover_the_last_one, fix_setup, fix_teardown)
{
	struct fix *f = *state;
	int dir = journal_folder_fd(f->j), old, written;
	mode_t was;

	prepare(f);
	old = object_open(dir, "old");
	written = object_open(dir, "written");
	assert_int_equal(borrow_bits(f->j, old, S_IRUSR, &was), 0);
	assert_int_equal(borrow_bits(f->j, written, S_IRUSR, &was), 0);
	assert_int_equal(borrow_return(f->j, written, was), 0);
	assert_int_equal(mode_of(f, "old"), 0400);
	assert_int_equal(borrow_settle(f->j), 0);
	assert_true(none_lent(f));
	assert_int_equal(mode_of(f, "old"), 0);
	assert_int_equal(mode_of(f, "written"), 0200);
	close(old);
	close(written);
}

/* Each directory is reached through the one before it. */
TEST_WITH(one_locked_directory_in_another_is_locked_again, fix_setup, fix_teardown)
{
	static const char *const dirs[] = {"", "d", "d/e", "d/e/f", "d/e/f/g"};
	struct fix *f = *state;
	mode_t was;

	begin(f, "prepare");
	for (size_t i = 1; i < ARRAY_LEN(dirs); i++)
		assert_int_equal(md(f, dirs[i]), 0);
	for (size_t i = ARRAY_LEN(dirs); i-- > 1;)
		assert_int_equal(mode(f, dirs[i], 0), 0);
	assert_int_equal(lock(f, 0), 0);
	assert_true(commit(f) != 0);
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		int fd = object_open(journal_folder_fd(f->j), dirs[i]);

		assert_int_equal(borrow_bits(f->j, fd, S_IRUSR | S_IXUSR, &was), 0);
		close(fd);
	}
	assert_int_equal(borrow_settle(f->j), 0);
	assert_true(none_lent(f));
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, dirs[i]);

		assert_int_equal(mode_of(f, dirs[i]), 0);
		assert_int_equal(chmod(whole, 0700), 0);
	}
}

/* The folder itself, whose mode was captured before the step's changes in it. */
TEST(a_locked_folder_does_not_stop_an_undo)
{
	static const mode_t modes[] = {0, 0100, 0400, 0500, 0600};

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		struct fix *f = fix_new();
		AUTO_FREE char *before = NULL;

		prepare(f);
		before = snap(f);
		begin(f, "work");
		assert_int_equal(lock(f, 0711), 0);
		assert_int_equal(put(f, "x", "1"), 0);
		assert_int_equal(rm(f, "old"), 0);
		assert_int_equal(lock(f, modes[i]), 0);
		assert_true(commit(f) != 0);
		fix_reopen(f);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(undo(f, 1, 0), 0);
			assert_tree(f, before);
			assert_int_equal(redo(f, 0), 0);
			assert_int_equal(mode_of(f, ""), modes[i]);
		}
		assert_sound(f);
		fix_free(f);
	}
}

/* An external program locked it, not the step that is undone. */
TEST_WITH(a_locked_folder_is_locked_again, fix_setup, fix_teardown)
{
	struct fix *f = *state;

	prepare(f);
	one_step(f, "works", put(f, "x", "1"));
	assert_int_equal(chmod(f->folder, 0500), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(mode_of(f, "x"), 0);
	assert_int_equal(mode_of(f, ""), 0500);
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(mode_of(f, "x"), 0644);
	assert_int_equal(mode_of(f, ""), 0500);
}

/* The folder is opened after the directory, and locked again after it. */
TEST_WITH(a_locked_directory_in_a_locked_folder_is_too, fix_setup, fix_teardown)
{
	struct fix *f = *state;
	AUTO_FREE char *d = xasprintf("%s/d", f->folder);

	one_step(f, "prepare", md(f, "d"));
	one_step(f, "first", put(f, "x", "1"));
	assert_int_equal(chmod(f->folder, 0), 0);
	begin(f, "second");
	assert_int_equal(lock(f, 0755), 0);
	assert_int_equal(put(f, "d/y", "2"), 0);
	assert_true(commit(f) != 0);
	assert_int_equal(chmod(d, 0500), 0);
	assert_int_equal(undo(f, 2, 0), 0);
	assert_int_equal(mode_of(f, ""), 0);
	assert_int_equal(chmod(f->folder, 0755), 0);
	assert_int_equal(mode_of(f, "x"), 0);
	assert_int_equal(mode_of(f, "d"), 0500);
}

/* A file that was opened before is written through its descriptor. */
TEST_WITH(a_file_written_in_a_locked_folder_comes_back, fix_setup, fix_teardown)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	struct at a;
	int fd;

	begin(f, "prepare");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(put(f, "d/e", "1"), 0);
	assert_true(commit(f) != 0);
	before = snap(f);
	a = at(f, "d/e");
	a = (struct at){.dirfd = object_open(a.dirfd, "e"), .dir = "d", .name = "", .leaf = "e"};
	begin(f, "work");
	assert_int_equal(lock(f, 0), 0);
	fd = op_open(f->s, &a, O_WRONLY | O_TRUNC, 0, NULL);
	assert_true(fd >= 0);
	close(fd);
	close(a.dirfd);
	assert_true(commit(f) != 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
}

/* An external program locked it while the step ran; also for the rollback of an open step. */
TEST(a_directory_is_locked_again_after_an_abort)
{
	for (int died = 0; died < 2; died++) {
		struct fix *f = fix_new();
		struct stat st;

		(void)state;
		begin(f, "mkdir d; touch d/f");
		assert_int_equal(md(f, "d"), 0);
		assert_int_equal(put(f, "d/f", "was\n"), 0);
		assert_true(commit(f) != 0);
		begin(f, "echo >d/f");
		assert_int_equal(put(f, "d/f", "is\n"), 0);
		assert_int_equal(fchmodat(journal_folder_fd(f->j), "d", 0400, 0), 0);
		if (died)
			fix_reopen(f);
		else
			must(f, journal_abort(f->s, &f->err));
		assert_int_equal(fstatat(journal_folder_fd(f->j), "d", &st, 0), 0);
		assert_int_equal(st.st_mode & 07777, 0400);
		assert_int_equal(fchmodat(journal_folder_fd(f->j), "d", 0700, 0), 0);
		assert_cat(f, "d/f", "was\n");
		fix_free(f);
	}
}

/* The last step begins with a file that is open for writing, in a directory that another step has
 * locked: undo opens the directory, and goes on to the other step. */
TEST(what_was_lent_is_in_no_redo)
{
	for (int made = 0; made < 2; made++) { /* locked by the step that made it */
		struct fix *f = fix_new();
		AUTO_CLOSE int fd = -1;
		struct at a;

		(void)state;
		begin(f, "mkdir d; ... >d/f");
		assert_int_equal(md(f, "d"), 0);
		a = at(f, "d/f");
		fd = op_open(f->s, &a, O_WRONLY | O_CREAT, 0644, NULL);
		assert_true(fd >= 0);
		if (!made) {
			assert_true(commit(f) != 0);
			begin(f, "chmod 400 d");
		}
		assert_int_equal(mode(f, "d", 0400), 0);
		assert_true(commit(f) != 0);
		one_step(f, "chmod 500 d", mode(f, "d", 0500));
		for (int turn = 0; turn < 2; turn++) {
			must(f, undo(f, 3 - made, 0));
			must(f, redo(f, 0));
			assert_int_equal(mode_of(f, "d"), 0500);
			must(f, undo(f, 1, 0));
			assert_int_equal(mode_of(f, "d"), 0400);
			must(f, redo(f, 0));
		}
		fix_free(f);
	}
}

/* Two file systems can have the same inode numbers. */
TEST_WITH(a_directory_elsewhere_was_not_lent, fix_setup, fix_teardown)
{
	struct fix *f = *state;
	const struct object o = {.dev = 1, .ino = 7, .mode = S_IFDIR | 0500};

	borrowed_add(f->j, &o);
	assert_int_equal(borrowed_mode(f->j, 1, 7, S_IFDIR | 0700), S_IFDIR | 0500);
	assert_int_equal(borrowed_mode(f->j, 2, 7, S_IFDIR | 0700), S_IFDIR | 0700);
	borrowed_drop(f->j, &o);
	assert_int_equal(borrowed_mode(f->j, 1, 7, S_IFDIR | 0700), S_IFDIR | 0700);
}

TESTS(NULL, NULL)
