/* test_journal_writers - files that stay open: writes to them, and content that cannot be saved. */
/* SPDX-License-Identifier: MIT */
#include <sys/mman.h>

#include "tests/support/journalfix.h"

static int hold(struct fix *f, struct step *s, const char *path)
{
	struct at a = at(f, path);
	int fd = op_open(s, &a, O_WRONLY | O_CREAT, 0644, NULL);

	assert_true(fd >= 0);
	return fd;
}

/* One command still writes after another has removed the name: that one has saved the content of
 * that time. */
static void what_is_written_to_a_file_without_its_name(struct fix *f,
						       void (*take)(struct fix *f, struct step *s))
{
	struct step *writes, *takes;
	AUTO_CLOSE int fd = -1;

	outside(f, "file", "before");
	begin(f, "writes");
	writes = f->s;
	begin(f, "takes");
	takes = f->s;
	fd = hold(f, writes, "file");
	assert_int_equal(pwrite(fd, "BEFORE", 6, 0), 6);
	take(f, takes);
	assert_int_equal(pwrite(fd, "behind", 6, 0), 6);
	assert_int_equal(journal_commit(writes, 0, &f->err), 1);
	assert_true(commit(f) > 0);
	must(f, undo(f, 1, UNDO_FORCE));
	assert_cat(f, "file", "BEFORE");
	must(f, redo(f, 0));
	must(f, undo(f, 2, UNDO_FORCE));
	assert_cat(f, "file", "before");
}

static void take_by_unlink(struct fix *f, struct step *s)
{
	struct at a = at(f, "file");

	assert_int_equal(op_unlink(s, &a, NULL), 0);
}

static void take_by_rename(struct fix *f, struct step *s)
{
	struct at a, b;

	f->s = s;
	assert_int_equal(put(f, "new", "new"), 0);
	a = at(f, "new");
	b = at(f, "file");
	assert_int_equal(op_rename(s, &a, &b, 0, NULL), 0);
}

TEST(what_is_written_after_an_unlink_is_not_what_was)
{
	what_is_written_to_a_file_without_its_name(*state, take_by_unlink);
}

TEST(what_is_written_after_a_rename_over_it_is_not_what_was)
{
	what_is_written_to_a_file_without_its_name(*state, take_by_rename);
}

static void assert_incomplete(struct fix *f, const char *why)
{
	struct step_info *list = NULL;
	size_t n = 0;

	assert_int_equal(journal_list(f->j, false, &list, &n, &f->err), 0);
	assert_true(n > 0);
	if (!list[0].incomplete || !strstr(list[0].why, why))
		fail_msg("'%s' does not say '%s'", list[0].why ? list[0].why : "", why);
	step_info_free(list, n);
}

/* An earlier command has it open, and it is too large to be saved for this step as well. */
TEST(what_is_too_large_to_keep_again_is_told)
{
	struct fix *f = *state;
	AUTO_FREE char *text = xmalloc(200001);
	AUTO_CLOSE int fd = -1;

	memset(text, 'x', 200000);
	text[200000] = '\0';
	outside(f, "large", text);
	f->options.step_size = (size_t)256 << 10;
	fix_reopen(f);
	begin(f, "holds");
	fd = hold(f, f->s, "large");
	assert_true(commit(f) > 0);
	begin(f, "grows");
	assert_int_equal(pwrite(fd, text, 100000, 200000), 100000);
	assert_true(commit(f) > 0);
	begin(f, "works");
	assert_int_equal(put(f, "other", "x"), 0);
	assert_int_equal(pwrite(fd, "y", 1, 0), 1);
	assert_true(commit(f) > 0);
	assert_incomplete(f, "'large' is held open by an earlier command");
	must(f, undo(f, 1, 0));
	assert_int_equal(faccessat(journal_folder_fd(f->j), "other", F_OK, 0), -1);
}

/* A writer continues with the file in the folder, not with one in the store. */
TEST(what_is_open_when_it_comes_back_stays_the_same_file)
{
	struct fix *f = *state;
	AUTO_CLOSE int fd = -1;

	outside(f, "file", "before");
	begin(f, "writes");
	fd = hold(f, f->s, "file");
	assert_int_equal(pwrite(fd, "after!", 6, 0), 6);
	assert_true(commit(f) > 0);
	must(f, undo(f, 1, 0));
	assert_cat(f, "file", "before");
	assert_int_equal(pwrite(fd, "B", 1, 0), 1);
	assert_cat(f, "file", "Before");
	must(f, redo(f, UNDO_FORCE));
	assert_cat(f, "file", "after!");
}

/* The close event comes after the end of the step that opened the file, or after the begin of the
 * next. */
TEST(a_close_that_is_told_late_is_no_edit)
{
	struct fix *f = *state;

	for (int next = 0; next < 2; next++) {
		int fd;

		begin(f, "writes");
		fd = hold(f, f->s, "file");
		assert_int_equal(pwrite(fd, "x", 1, next), 1);
		if (!next)
			close(fd);
		assert_true(commit(f) > 0);
		if (next) {
			close(fd);
			begin(f, "another");
			assert_int_equal(put(f, "other", "x"), 0);
		}
		assert_false(journal_is_foreign(f->j, "file", SEEN_CLOSED, 0));
		journal_all_seen(f->j);
		assert_true(journal_is_foreign(f->j, "file", SEEN_CLOSED, 0));
		if (next)
			assert_true(commit(f) > 0);
	}
}

/* The list of open files is shortened, but files that are still open stay in it. */
TEST(the_first_of_very_many_is_still_kept)
{
	struct fix *f = *state;
	AUTO_CLOSE int fd = -1;
	AUTO_FREE char *between = NULL;

	begin(f, "opens many");
	fd = hold(f, f->s, "held");
	for (int i = 0; i < 8500; i++) {
		AUTO_FREE char *name = xasprintf("f%d", i);

		assert_int_equal(put(f, name, "x"), 0);
	}
	assert_true(commit(f) > 0);
	between = snap(f);
	begin(f, "another");
	assert_int_equal(put(f, "other", "x"), 0);
	assert_int_equal(pwrite(fd, "later", 5, 0), 5);
	assert_true(commit(f) > 0);
	must(f, undo(f, 1, 0));
	assert_tree(f, between);
}

static int chmod_outside(struct fix *f, const char *path, mode_t mode)
{
	return fchmodat(journal_folder_fd(f->j), path, mode, 0);
}

/* One step locked the directory, the next one opens it: the writer had the file open all the
 * time. */
TEST(what_is_held_in_a_directory_that_was_locked)
{
	struct fix *f = *state;
	AUTO_CLOSE int fd = -1;

	begin(f, "mkdir d; ... >d/file");
	assert_int_equal(md(f, "d"), 0);
	fd = hold(f, f->s, "d/file");
	assert_int_equal(pwrite(fd, "before", 6, 0), 6);
	assert_true(commit(f) > 0);
	one_step(f, "chmod -x d", mode(f, "d", 0600));
	begin(f, "chmod +x d");
	assert_int_equal(mode(f, "d", 0700), 0);
	assert_int_equal(pwrite(fd, "behind", 6, 0), 6);
	assert_true(commit(f) > 0);
	must(f, undo(f, 1, 0));
	assert_int_equal(chmod_outside(f, "d", 0700), 0);
	assert_cat(f, "d/file", "before");
	assert_int_equal(chmod_outside(f, "d", 0600), 0);
	must(f, undo(f, 2, 0));
	assert_cat(f, "d/file", NULL);
}

/* The page was stored to before, and is not written back yet: no time stamp changes. */
TEST_WITH(what_is_stored_through_a_mapping_from_before, NULL, NULL)
{
	static const char *const tmp[] = {"/tmp", "/dev/shm"};
	static const off_t places[] = {0, 50000};

	for (int i = 0; i < 4; i++) {
		const char *const was = getenv("TMPDIR");
		AUTO_FREE char *restore = was ? xstrdup(was) : NULL;
		off_t place = places[i / 2];
		AUTO_CLOSE int fd = -1;
		struct fix *f;
		int64_t id;
		char *map;

		if (access(tmp[i % 2], W_OK) < 0)
			continue;
		assert_int_equal(setenv("TMPDIR", tmp[i % 2], 1), 0);
		f = fix_new();
		assert_int_equal(restore ? setenv("TMPDIR", restore, 1) : unsetenv("TMPDIR"), 0);
		begin(f, "maps");
		assert_int_equal(put(f, "file", ""), 0);
		fd = openat(journal_folder_fd(f->j), "file", O_RDWR | O_CLOEXEC);
		assert_int_equal(pwrite(fd, "before", 6, place), 6);
		map = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		assert_ptr_not_equal(map, MAP_FAILED);
		map[place] = 'B';
		assert_true(commit(f) > 0);
		begin(f, "stores");
		map[place] = 'x';
		id = commit(f);
		if (!id)
			fail_msg("a store at %lld on %s is in no step", (long long)place,
				 tmp[i % 2]);
		must(f, undo(f, 1, 0));
		assert_int_equal(map[place], 'B');
		must(f, redo(f, 0));
		assert_int_equal(map[place], 'x');
		munmap(map, 65536);
		fix_free(f);
	}
}

TESTS(fix_setup, fix_teardown)
