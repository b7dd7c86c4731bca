/* test_journal_overwritten - external edits between two changes of one step are saved. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/stat.h>

#include "core/base/hash.h"
#include "tests/support/journalfix.h"

enum end {
	COMMIT,
	ABORT,
	ROLL_BACK,
	CRASH,
	ENDS
};

static void end(struct fix *f, enum end how)
{
	if (how == COMMIT)
		assert_true(commit(f) > 0);
	else if (how == ABORT)
		must(f, journal_abort(take_ptr(&f->s), &f->err));
	else if (how == ROLL_BACK)
		must(f, journal_roll_back(take_ptr(&f->s), &f->err));
	else
		fix_reopen(f);
}

/* Reads the event of the step's own close; then nothing is queued. */
static void settle(struct fix *f, const char *path)
{
	assert_false(journal_is_foreign(f->j, path, SEEN_CLOSED, 0));
	journal_all_seen(f->j);
}

/* The user's editor writes the file in place, or saves another one over it. */
static void user_saves(struct fix *f, const char *path, const char *text, bool over)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);

	settle(f, path);
	if (!over)
		outside(f, path, text);
	else
		must(f, io_write_file(AT_FDCWD, whole, 0640, text, strlen(text), false));
	assert_true(journal_is_foreign(f->j, path, over ? SEEN_NAMED : SEEN_CLOSED, 0));
}

static struct saved_redo *saved(struct fix *f, size_t *ret_n)
{
	struct saved_redo *list = NULL;

	must(f, journal_saved_redos(f->j, &list, ret_n, &f->err));
	return list;
}

/* Checks the versions of the path, the newest first, each after a bar. */
static void assert_versions(struct fix *f, const char *path, const char *want)
{
	size_t n = 0, i = 0;
	struct saved_redo *list = saved(f, &n);
	AUTO_BUF struct buf all = BUF_INIT;
	struct err none = {0};

	while (i < n && !list[i].overwritten)
		i++;
	assert_true(i < n);
	assert_int_equal(journal_saved_of(f->j, list[i].step, path), list[i].number);
	for (size_t newer = 0;; newer++) {
		AUTO_CLOSE int fd = -1;
		AUTO_FREE char *text = NULL;
		int r = journal_saved_redo_open(f->j, list[i].number, path, newer, &fd, &none);

		if (r == -ENOENT)
			break;
		must(f, r);
		must(f, io_read_all(fd, 1 << 20, &text, NULL));
		buf_fmt(&all, "|%s", text);
	}
	assert_string_equal(all.data, want);
	saved_redos_free(list, n);
}

static void assert_none(struct fix *f)
{
	size_t n = 0;
	struct saved_redo *list = saved(f, &n);

	for (size_t i = 0; i < n; i++)
		assert_false(list[i].overwritten);
	saved_redos_free(list, n);
}

/* Makes three versions of the user's, each followed by a change of the step. */
static void work(struct fix *f)
{
	outside(f, "f", "before");
	begin(f, "several changes");
	must(f, put(f, "f", "a"));
	user_saves(f, "f", "one", false);
	must(f, put(f, "f", "b"));
	user_saves(f, "f", "two", true);
	must(f, put(f, "tmp", "c"));
	must(f, mv(f, "tmp", "f", 0));
	must(f, put(f, "f", "d"));
	user_saves(f, "f", "three", false);
	must(f, rm(f, "f"));
	must(f, put(f, "f", "e"));
}

TEST_WITH(each_version, NULL, NULL)
{
	for (enum end how = 0; how < ENDS; how++) {
		struct fix *f = fix_new();

		work(f);
		end(f, how);
		assert_versions(f, "f", "|three|two|one");
		assert_sound(f);
		fix_reopen(f);
		assert_versions(f, "f", "|three|two|one");
		fix_free(f);
	}
}

/* The versions stay after an undo, a redo, other steps and a prune. */
TEST(outlasts_the_step)
{
	struct fix *f = *state;

	work(f);
	end(f, COMMIT);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_non_null(strstr(f->err.text, "cordon redo --saved"));
	must(f, undo(f, 1, UNDO_FORCE));
	assert_cat(f, "f", "before");
	assert_versions(f, "f", "|three|two|one");
	must(f, redo(f, 0));
	assert_cat(f, "f", "e");
	must(f, undo(f, 1, UNDO_FORCE));
	one_step(f, "next", put(f, "next", "x"));
	f->options.steps = 1;
	one_step(f, "last", put(f, "last", "x"));
	fix_reopen(f);
	assert_versions(f, "f", "|three|two|one");
	assert_sound(f);
}

/* The step's own versions, before and after the edit, are not saved. */
TEST(own_versions_are_not)
{
	struct fix *f = *state;

	outside(f, "f", "before");
	outside(f, "g", "other");
	begin(f, "sed -i, several times");
	for (int i = 0; i < 8; i++) {
		must(f, put(f, "tmp", "agent"));
		must(f, mv(f, "tmp", "f", 0));
		if (i == 4)
			user_saves(f, "f", "user", false);
	}
	must(f, mv(f, "g", "f", 0));
	must(f, put(f, "f", "last"));
	end(f, COMMIT);
	assert_versions(f, "f", "|user");
}

TEST(nothing_was_overwritten)
{
	struct fix *f = *state;

	outside(f, "f", "before");
	begin(f, "two changes");
	must(f, put(f, "f", "a"));
	must(f, put(f, "g", "a"));
	must(f, rm(f, "g"));
	user_saves(f, "f", "user", true);
	end(f, COMMIT);
	assert_cat(f, "f", "user");
	assert_none(f);
}

/* The step renames the file, or its directory, before it changes it again. */
TEST(under_another_name)
{
	struct fix *f = *state;

	one_step(f, "mkdir", md(f, "d"));
	outside(f, "d/f", "before");
	outside(f, "f", "before");
	begin(f, "renames");
	must(f, put(f, "d/f", "a"));
	must(f, put(f, "f", "a"));
	user_saves(f, "d/f", "user below", false);
	user_saves(f, "f", "user", false);
	must(f, mv(f, "d", "e", 0));
	must(f, mv(f, "f", "g", 0));
	must(f, put(f, "e/f", "b"));
	must(f, put(f, "g", "b"));
	end(f, COMMIT);
	assert_versions(f, "e/f", "|user below");
	assert_versions(f, "g", "|user");
}

static int hold(struct fix *f, const char *path)
{
	struct at a = at(f, path);
	int fd = op_open(f->s, &a, O_WRONLY | O_APPEND, 0, NULL);

	assert_true(fd >= 0);
	return fd;
}

static int cut(struct fix *f, const char *path)
{
	struct at a = at(f, path);

	return op_truncate(f->s, &a, 0, NULL);
}

static int replace(struct fix *f, const char *path)
{
	int r = put(f, "tmp", "b");

	return r < 0 ? r : mv(f, "tmp", path, 0);
}

static int rewrite(struct fix *f, const char *path)
{
	return put(f, path, "b");
}

static int rename_first(struct fix *f, const char *path)
{
	int r = mv(f, path, "g", 0);

	return r < 0 ? r : rewrite(f, "g");
}

static int begin_another(struct fix *f, const char *path)
{
	struct step *other = NULL;

	must(f, journal_begin(f->j, STEP_COMMAND, "other", &other, &f->err));
	must(f, rewrite(f, path));
	return journal_commit(other, 0, &f->err);
}

/* A process of the step has the file open all the time. The only close is then the user's, who
 * saves it in place; or there is one more close than the step's other descriptors have had. */
TEST_WITH(while_the_step_has_it_open, NULL, NULL)
{
	int (*const changes[])(struct fix * f, const char *path) = {
		rewrite, cut, rm, replace, rename_first, begin_another};

	for (size_t i = 0; i < ARRAY_LEN(changes) * 2; i++) {
		struct fix *f = fix_new();
		bool other = i % 2;
		int fd;

		journal_expect_events(f->j);
		outside(f, "f", "before");
		begin(f, "holds it");
		fd = hold(f, "f");
		if (other) {
			close(hold(f, "f"));
			assert_false(journal_is_foreign(f->j, "f", SEEN_CLOSED, 0));
		}
		outside(f, "f", "user");
		assert_int_equal(journal_is_foreign(f->j, "f", SEEN_CLOSED, 0), other);
		must(f, changes[i / 2](f, "f"));
		close(fd);
		assert_true(commit(f) > 0);
		assert_versions(f, changes[i / 2] == rename_first ? "g" : "f", "|user");
		assert_sound(f);
		fix_free(f);
	}
}

/* No other program writes to it: the step's processes close it often and in any order. */
TEST(while_only_the_step_has_it_open)
{
	struct fix *f = *state;
	int fd, other;

	journal_expect_events(f->j);
	outside(f, "f", "before");
	begin(f, "holds it");
	fd = hold(f, "f");
	for (int i = 0; i < 3; i++) {
		must(f, rewrite(f, "f"));
		assert_false(journal_is_foreign(f->j, "f", SEEN_CLOSED, 0));
		must(f, cut(f, "f"));
		other = hold(f, "f");
		close(fd);
		fd = other;
		assert_false(journal_is_foreign(f->j, "f", SEEN_CLOSED, 0));
		journal_all_seen(f->j);
	}
	must(f, rm(f, "f"));
	close(fd);
	end(f, COMMIT);
	assert_none(f);
	must(f, undo(f, 1, 0));
	assert_cat(f, "f", "before");
}

/* The user moves the file, or its directory, and then saves it in place. */
TEST(by_a_name_of_the_users)
{
	struct fix *f = *state;
	int fd;

	one_step(f, "mkdir", md(f, "d"));
	outside(f, "d/f", "before");
	outside(f, "f", "before");
	begin(f, "several changes");
	must(f, put(f, "d/f", "a"));
	must(f, put(f, "f", "a"));
	must(f, put(f, "made", "a"));
	settle(f, "d/f");
	settle(f, "f");
	settle(f, "made");
	fd = journal_folder_fd(f->j);
	assert_int_equal(renameat(fd, "d", fd, "e"), 0);
	assert_int_equal(renameat(fd, "f", fd, "g"), 0);
	assert_int_equal(renameat(fd, "made", fd, "moved"), 0);
	assert_true(journal_is_foreign(f->j, "e", SEEN_NAMED, 0));
	assert_true(journal_is_foreign(f->j, "g", SEEN_NAMED, 0));
	must(f, put(f, "moved", "b")); /* not edited */
	outside(f, "e/f", "user below");
	outside(f, "g", "user");
	assert_true(journal_is_foreign(f->j, "e/f", SEEN_CLOSED, 0));
	assert_true(journal_is_foreign(f->j, "g", SEEN_CLOSED, 0));
	must(f, put(f, "e/f", "b"));
	must(f, put(f, "g", "b"));
	must(f, put(f, "g", "c"));
	end(f, COMMIT);
	assert_versions(f, "e/f", "|user below");
	assert_versions(f, "g", "|user");
	assert_sound(f);
}

/* The same, and the user gives it the old name again. */
TEST_WITH(by_a_name_that_is_gone, NULL, NULL)
{
	int (*const changes[])(struct fix * f, const char *path) = {rewrite, cut, rm, replace};

	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		struct fix *f = fix_new();
		int fd = journal_folder_fd(f->j);

		one_step(f, "mkdir", md(f, "d"));
		outside(f, "d/f", "before");
		begin(f, "several changes");
		must(f, put(f, "d/f", "a"));
		settle(f, "d/f");
		must(f, renameat(fd, "d", fd, "e"));
		outside(f, "e/f", "user");
		assert_true(journal_is_foreign(f->j, "e/f", SEEN_CLOSED, 0));
		must(f, renameat(fd, "e", fd, "d"));
		must(f, changes[i](f, "d/f"));
		end(f, COMMIT);
		assert_versions(f, "d/f", "|user");
		assert_sound(f);
		fix_free(f);
	}
}

/* The user saves the file by another of its names. */
TEST(by_another_of_its_names)
{
	struct fix *f = *state;

	outside(f, "f", "before");
	assert_int_equal(linkat(journal_folder_fd(f->j), "f", journal_folder_fd(f->j), "g", 0), 0);
	begin(f, "several changes");
	must(f, put(f, "f", "a"));
	settle(f, "f");
	outside(f, "g", "user");
	assert_true(journal_is_foreign(f->j, "g", SEEN_CLOSED, 0));
	must(f, put(f, "f", "b"));
	must(f, put(f, "f", "c"));
	end(f, COMMIT);
	assert_versions(f, "f", "|user");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	must(f, undo(f, 1, UNDO_FORCE));
	assert_cat(f, "g", "before");
	assert_sound(f);
}

static void user_puts(struct fix *f, const char *path, const char *text, enum seen_what what)
{
	outside(f, "new", text);
	must(f, renameat(journal_folder_fd(f->j), "new", journal_folder_fd(f->j), path));
	if (what == SEEN_MADE) /* in a directory that was not watched yet */
		journal_found(f->j, path);
	else
		assert_true(journal_is_foreign(f->j, path, what, 0));
}

/* The step removes them with its own directory, which no undo brings back. */
TEST(in_a_directory_of_the_steps)
{
	struct fix *f = *state;

	begin(f, "mkdir d; rm -r d");
	must(f, md(f, "d"));
	must(f, put(f, "d/own", "a"));
	must(f, put(f, "own", "a"));
	user_puts(f, "d/one", "user 1", SEEN_CLOSED);
	user_puts(f, "d/two", "user 2", SEEN_NAMED);
	must(f, mkdirat(journal_folder_fd(f->j), "d/s", 0755));
	user_puts(f, "d/s/three", "user 3", SEEN_MADE);
	user_puts(f, "d/own", "user 4", SEEN_MADE);
	user_puts(f, "other", "user 5", SEEN_NAMED);
	must(f, mv(f, "own", "d/own2", 0));
	must(f, rm(f, "d/one") | rm(f, "d/two") | rm(f, "d/s/three") | rm(f, "d/own"));
	must(f, rm(f, "d/own2") | rm(f, "other"));
	must(f, rd(f, "d/s"));
	must(f, rd(f, "d"));
	end(f, COMMIT);
	assert_versions(f, "d/one", "|user 1");
	assert_versions(f, "d/two", "|user 2");
	assert_versions(f, "d/s/three", "|user 3");
	assert_versions(f, "d/own", "|user 4");
	must(f, undo(f, 1, UNDO_FORCE));
	assert_cat(f, "other", "user 5"); /* an undo brings it back */
	assert_sound(f);
}

/* Content in a file of its own, and the user's permissions. */
TEST(large)
{
	struct fix *f = *state;
	AUTO_FREE char *user = xcalloc(1, 200001);
	AUTO_FREE char *want = NULL;
	AUTO_CLOSE int fd = -1;
	struct saved_redo *list;
	struct stat st;
	size_t n = 0;

	memset(user, 'u', 200000);
	want = xasprintf("|%s", user);
	outside(f, "f", "before");
	begin(f, "two changes");
	must(f, put(f, "f", "a"));
	user_saves(f, "f", user, true);
	must(f, put(f, "f", "b"));
	end(f, COMMIT);
	assert_versions(f, "f", want);
	list = saved(f, &n);
	must(f, journal_saved_redo_open(f->j, list->number, "f", 0, &fd, &f->err));
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	saved_redos_free(list, n);
	assert_sound(f);
}

TESTS(fix_setup, fix_teardown)
