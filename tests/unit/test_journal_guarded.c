/* test_journal_guarded - protected names in rollbacks get files that no open descriptor can write
 * to. */
/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/store/store.h"
#include "tests/support/comb.h"
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

/* Guards "hooks" and all below it; "nolink" from links, "nodir" from directories. */
static bool is_guarded(void *data, const char *path, mode_t type)
{
	const char *at = strstr(path, "/hooks");

	(void)data;
	if (strstr(path, "/nolink"))
		return !type || S_ISLNK(type);
	if (strstr(path, "/nodir"))
		return !type || S_ISDIR(type);
	return at && (!at[6] || at[6] == '/');
}

static int setup(void **state)
{
	struct fix *f = fix_new();

	f->guards = is_guarded;
	fix_reopen(f);
	outside(f, "x", "mine\n");
	must(f, mkdirat(journal_folder_fd(f->j), "hooks", 0755));
	outside(f, "hooks/a", "alpha\n");
	outside(f, "hooks/b", "beta\n");
	*state = f;
	return 0;
}

static int hold(struct fix *f, const char *path)
{
	int fd = openat(journal_folder_fd(f->j), path, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Writes by the held descriptor; the guarded file must not change. */
static void assert_free(struct fix *f, int fd, const char *path, const char *text)
{
	assert_int_equal(pwrite(fd, "EVIL", 4, 0), 4);
	assert_cat(f, path, text);
}

static void assert_said(struct fix *f, bool said)
{
	AUTO_FREE char *news = journal_news(f->j);

	assert_int_equal(news && strstr(news, "new file at"), said);
}

TEST(moved_away_and_held)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f), *after = NULL;
	AUTO_CLOSE int fd = -1;

	one_step(f, "mv", mv(f, "hooks/a", "y", 0));
	fd = hold(f, "y");
	after = snap(f);
	must(f, undo(f, 1, 0));
	assert_said(f, true);
	assert_tree(f, before);
	assert_free(f, fd, "hooks/a", "alpha\n");
	assert_sound(f);
	must(f, redo(f, 0));
	assert_cat(f, "y", "EVILa\n"); /* the held file itself */
	must(f, undo(f, 1, UNDO_FORCE));
	assert_free(f, fd, "hooks/a", "alpha\n");
	assert_tree(f, before);
}

TEST(not_held_it_is_said_to_nobody)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f), *after = NULL;

	begin(f, "mv");
	must(f, mv(f, "hooks", "d", 0));
	must(f, mv(f, "d/a", "y", 0));
	must(f, mv(f, "y", "z", 0));
	assert_true(commit(f));
	after = snap(f);
	for (int i = 0; i < 3; i++) {
		must(f, undo(f, 1, 0));
		assert_tree(f, before);
		must(f, redo(f, 0));
		assert_tree(f, after);
	}
	assert_said(f, false);
	assert_sound(f);
}

TEST(another_name)
{
	struct fix *f = *state;
	int dir = journal_folder_fd(f->j);
	struct stat st;

	one_step(f, "mv", mv(f, "hooks/a", "y", 0));
	must(f, linkat(dir, "y", dir, "alias", 0));
	must(f, undo(f, 1, UNDO_FORCE));
	must(f, fstatat(dir, "hooks/a", &st, 0));
	assert_int_equal(st.st_nlink, 1);
	assert_cat(f, "hooks/a", "alpha\n");
	assert_cat(f, "alias", "alpha\n");
}

TEST(a_directory_with_more_in_it)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f), *after = NULL;
	AUTO_CLOSE int fd = -1;

	one_step(f, "mv", mv(f, "hooks", "h", 0));
	outside(f, "h/evil", "EVIL");
	outside(f, "h/b", "EVIL");
	must(f, symlinkat("../evil", journal_folder_fd(f->j), "h/link"));
	fd = hold(f, "h/a");
	after = snap(f);
	must(f, undo(f, 1, UNDO_FORCE));
	assert_tree(f, before);
	assert_free(f, fd, "hooks/a", "alpha\n");
	assert_sound(f);
	assert_int_equal(pwrite(fd, "alph", 4, 0), 4);
	must(f, redo(f, UNDO_FORCE));
	assert_cat(f, "h/evil", "EVIL");
	assert_cat(f, "h/b", "EVIL");
	assert_cat(f, "h/a", "alpha\n");
}

TEST(what_a_human_wrote_meanwhile_is_kept)
{
	struct fix *f = *state;
	AUTO_FREE char *text = NULL, *there = NULL;

	begin(f, "mv");
	must(f, mv(f, "hooks", "h", 0));
	must(f, put(f, "new", "n"));
	assert_true(commit(f));
	outside(f, "h/a", "human\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	must(f, undo(f, 1, UNDO_KEEP_MINE));
	there = faccessat(journal_folder_fd(f->j), "hooks/a", F_OK, 0) == 0 ? xstrdup("hooks/a")
									    : xstrdup("h/a");
	text = cat(f, there);
	assert_string_equal(text, "human\n");
	must(f, redo(f, 0));
	assert_cat(f, "h/a", "human\n");
	assert_cat(f, "h/b", "beta\n");
}

/* Allowed by the user, undone, and redone. */
TEST(a_redo_of_what_was_put_there)
{
	struct fix *f = *state;
	AUTO_CLOSE int fd = -1;

	one_step(f, "mv", mv(f, "x", "hooks/c", 0));
	must(f, undo(f, 1, 0));
	fd = hold(f, "x");
	must(f, redo(f, 0));
	assert_free(f, fd, "hooks/c", "mine\n");
	must(f, undo(f, 1, UNDO_FORCE));
	must(f, redo(f, UNDO_FORCE));
	assert_free(f, fd, "hooks/c", "mine\n");
}

TEST(written_where_it_is)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	AUTO_CLOSE int fd = -1;

	one_step(f, "write", put(f, "hooks/a", "other\n"));
	fd = hold(f, "hooks/a");
	must(f, undo(f, 1, 0));
	assert_tree(f, before);
	assert_free(f, fd, "hooks/a", "alpha\n");
	must(f, redo(f, UNDO_FORCE));
	assert_int_equal(pwrite(fd, "WORSE", 5, 0), 5);
	assert_cat(f, "hooks/a", "EVILr\n");
}

TEST(exchanged)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	AUTO_CLOSE int fd = -1;

	must(f, mkdirat(journal_folder_fd(f->j), "d", 0755));
	before = snap(f);
	one_step(f, "exchange", mv(f, "hooks", "d", RENAME_EXCHANGE));
	fd = hold(f, "d/a");
	outside(f, "d/evil", "EVIL");
	must(f, undo(f, 1, UNDO_FORCE));
	assert_tree(f, before);
	assert_free(f, fd, "hooks/a", "alpha\n");
}

TEST(removed_and_held)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	AUTO_CLOSE int fd = hold(f, "hooks/a");
	AUTO_CLOSE int fd2 = hold(f, "hooks/b");

	begin(f, "rm");
	must(f, rm(f, "hooks/a"));
	must(f, mv(f, "x", "hooks/b", 0));
	assert_int_equal(pwrite(fd, "EVIL", 4, 0), 4);
	assert_int_equal(pwrite(fd2, "EVIL", 4, 0), 4);
	assert_true(commit(f));
	must(f, undo(f, 1, UNDO_FORCE));
	assert_tree(f, before);
	assert_free(f, fd, "hooks/a", "alpha\n");
	assert_free(f, fd2, "hooks/b", "beta\n");
}

TEST(an_open_step_says_what_is_held)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	int fd;

	begin(f, "mv");
	must(f, mv(f, "hooks/a", "y", 0));
	must(f, journal_check_held(f->s, &f->err));
	fd = hold(f, "y");
	assert_int_equal(journal_check_held(f->s, &f->err), -EBUSY);
	assert_non_null(strstr(f->err.text, "'y' is still open for writing"));
	must(f, mv(f, "y", "z", 0));
	assert_int_equal(journal_check_held(f->s, &f->err), -EBUSY);
	assert_non_null(strstr(f->err.text, "'z'"));
	close(fd);
	must(f, journal_check_held(f->s, &f->err));
	fd = hold(f, "z");
	must(f, journal_roll_back(f->s, &f->err));
	f->s = NULL;
	assert_tree(f, before);
	assert_free(f, fd, "hooks/a", "alpha\n");
	close(fd);
}

TEST(one_path_of_a_step)
{
	struct fix *f = *state;
	AUTO_CLOSE int fd = -1;
	AUTO_CLOSE int fd2 = -1;
	int64_t id;

	begin(f, "mv");
	must(f, mv(f, "hooks/a", "y", 0));
	must(f, put(f, "hooks/b", "other\n"));
	must(f, put(f, "x", "other\n"));
	id = commit(f);
	fd = hold(f, "y");
	fd2 = hold(f, "hooks/b");
	must(f, restore(f, id, "hooks/a", 0));
	assert_free(f, fd, "hooks/a", "alpha\n");
	must(f, restore(f, id, "hooks/b", 0));
	assert_free(f, fd2, "hooks/b", "beta\n");
	assert_cat(f, "x", "other\n");
	id = one_step(f, "mv", mv(f, "hooks", "h", 0));
	outside(f, "h/evil", "EVIL");
	assert_int_equal(restore(f, id, "hooks", UNDO_FORCE), -EOPNOTSUPP);
	assert_cat(f, "h/evil", "EVIL");
}

/* Regular files may be put there without a question, but no link, or no directory. */
TEST(a_name_that_is_guarded_from_one_type)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	int dir = journal_folder_fd(f->j);

	outside(f, "nolink", "text\n");
	outside(f, "nodir", "text\n");
	must(f, symlinkat("x", dir, "nodir2"));
	before = snap(f);
	begin(f, "mv");
	must(f, mv(f, "nolink", "a", 0));
	must(f, mv(f, "nodir", "b", 0));
	must(f, mv(f, "nodir2", "c", 0));
	assert_true(commit(f));
	must(f, undo(f, 1, 0));
	assert_tree(f, before);
	must(f, redo(f, 0));
	must(f, unlinkat(dir, "a", 0));
	must(f, symlinkat("evil", dir, "a"));
	must(f, unlinkat(dir, "b", 0));
	must(f, mkdirat(dir, "b", 0755));
	outside(f, "b/config", "EVIL");
	must(f, undo(f, 1, UNDO_FORCE));
	assert_int_equal(faccessat(dir, "nolink", F_OK, AT_SYMLINK_NOFOLLOW), -1);
	assert_int_equal(faccessat(dir, "nodir", F_OK, AT_SYMLINK_NOFOLLOW), -1);
	assert_int_equal(faccessat(dir, "nodir2", F_OK, AT_SYMLINK_NOFOLLOW), 0);
	must(f, redo(f, UNDO_FORCE));
	assert_cat(f, "b/config", "EVIL");
}

/* The same link may come back, another may not; a regular file may. */
TEST(a_link_that_was_there)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	int dir = journal_folder_fd(f->j);

	must(f, symlinkat("x", dir, "nolink"));
	must(f, symlinkat("x", dir, "nolink2"));
	before = snap(f);
	begin(f, "mv");
	must(f, mv(f, "nolink", "a", 0));
	must(f, mv(f, "nolink2", "b", 0));
	assert_true(commit(f));
	must(f, undo(f, 1, 0));
	assert_tree(f, before);
	must(f, redo(f, 0));
	must(f, unlinkat(dir, "a", 0));
	must(f, symlinkat("evil", dir, "a"));
	must(f, unlinkat(dir, "b", 0));
	outside(f, "b", "file\n");
	must(f, undo(f, 1, UNDO_FORCE));
	assert_int_equal(faccessat(dir, "nolink", F_OK, AT_SYMLINK_NOFOLLOW), -1);
	assert_cat(f, "nolink2", "file\n");
}

static bool cat_is(struct fix *f, const char *path, const char *want)
{
	AUTO_FREE char *text = cat(f, path);

	return text && str_eq(text, want);
}

static void work(void *arg)
{
	struct fix *f = arg;

	fix_open(f);
	must(f, undo(f, 1, UNDO_FORCE));
}

/* Killed anywhere, the guarded name has only its former content, and the next start finishes the
 * rollback. */
TEST(killed)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	AUTO_CLOSE int fd = -1;
	bool dead = true;
	int nth = 1;

	begin(f, "mv");
	must(f, mv(f, "hooks", "h", 0));
	must(f, mv(f, "h/b", "y", 0));
	assert_true(commit(f));
	fd = hold(f, "h/a");
	for (; dead; nth += comb(3)) {
		AUTO_FREE char *evil = NULL;

		assert_int_equal(pwrite(fd, "EVIL", 4, 0), 4);
		fix_drop_dirs(f);
		journal_close(f->j);
		f->j = NULL;
		dead = inject_kill(nth, work, f);
		evil = cat(f, "hooks/a");
		assert_true(!evil || str_eq(evil, "alpha\n"));
		fix_open(f);
		if (!cat_is(f, "hooks/a", "alpha\n")) /* it had not begun */
			must(f, undo(f, 1, UNDO_FORCE));
		assert_tree(f, before);
		assert_free(f, fd, "hooks/a", "alpha\n");
		assert_sound(f);
		must(f, redo(f, UNDO_FORCE));
		util_close_fd(&fd);
		fd = hold(f, "h/a");
	}
	assert_true(nth > 50);
}

TEST(a_missing_object_changes_nothing)
{
	struct fix *f = *state;
	AUTO_FREE char *command = NULL, *after = NULL;
	int64_t id;

	begin(f, "rm");
	must(f, rm(f, "x"));
	must(f, put(f, "new", "n"));
	id = commit(f);
	after = snap(f);
	command = xasprintf("rm -f '%s'/*/steps/%lld/obj/* '%s'/cordon/*/steps/%lld/obj/*",
			    f->state, (long long)id, f->state, (long long)id);
	assert_int_equal(system(command), 0);
	assert_int_equal(undo(f, 1, 0), -EBADMSG);
	assert_non_null(strstr(f->err.text, "'x' is not in the undo store"));
	assert_tree(f, after);
	must(f, undo(f, 1, UNDO_FORCE));
	assert_int_equal(faccessat(journal_folder_fd(f->j), "new", F_OK, 0), -1);
}

TEST(a_lease_that_is_broken_ends_nobody)
{
	struct fix *f = *state;
	AUTO_CLOSE int fd = openat(journal_folder_fd(f->j), "x", O_RDONLY | O_CLOEXEC);
	int status;
	pid_t pid;

	assert_false(object_has_writer(fd));
	pid = fork();
	if (pid == 0)
		_exit(openat(journal_folder_fd(f->j), "x", O_WRONLY | O_NONBLOCK) >= 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(f->j != NULL); /* SIGIO arrived */
}

TEST(a_mode_that_was_set_while_it_was_lent_stays)
{
	struct fix *f = *state;
	AUTO_CLOSE int fd = object_open(journal_folder_fd(f->j), "x");
	struct stat st;
	mode_t was;

	must(f, fchmodat(journal_folder_fd(f->j), "x", 0200, 0));
	must(f, borrow_bits(f->j, fd, S_IRUSR, &was));
	must(f, fchmodat(journal_folder_fd(f->j), "x", 0755, 0));
	must(f, borrow_return(f->j, fd, was));
	must(f, fstatat(journal_folder_fd(f->j), "x", &st, 0));
	assert_int_equal(st.st_mode & 07777, 0755);
	must(f, fchmodat(journal_folder_fd(f->j), "x", 0200, 0));
	must(f, borrow_bits(f->j, fd, S_IRUSR, &was));
	must(f, borrow_return(f->j, fd, was));
	must(f, fstatat(journal_folder_fd(f->j), "x", &st, 0));
	assert_int_equal(st.st_mode & 07777, 0200);
}

TEST(times_beyond_what_nanoseconds_hold)
{
	struct fix *f = *state;
	(void)f;

	assert_true(attributes_ns((uint64_t)1 << 34, 5) == INT64_MAX);
	assert_true(attributes_ns((uint64_t) - ((int64_t)1 << 34), 5) == INT64_MIN);
	assert_true(attributes_ns(2, 5) == 2000000005);
}

TESTS(setup, fix_teardown)
