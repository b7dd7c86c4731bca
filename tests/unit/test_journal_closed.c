/* test_journal_closed - changes in a directory before it was locked are still seen. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

/* Root is not stopped by modes. */
static struct fix *as_user(void **state)
{
	if (geteuid() == 0)
		skip();
	return *state;
}

static int setup(void **state)
{
	struct fix *f = fix_new();

	*state = f;
	begin(f, "make");
	if (md(f, "d") < 0)
		return -1;
	commit(f);
	return 0;
}

static void set_mode(struct fix *f, const char *path, mode_t m)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);

	assert_int_equal(chmod(whole, m), 0);
}

static void assert_mode(struct fix *f, const char *path, mode_t want)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);
	struct stat st;

	assert_int_equal(lstat(whole, &st), 0);
	assert_int_equal(st.st_mode & 07777, want);
}

/* Opens the directory, and checks the content of a file in it. */
static void assert_opened(struct fix *f, const char *path, const char *want)
{
	set_mode(f, "d", 0755);
	assert_cat(f, path, want);
}

TEST(an_edit_where_a_human_locked_is_one)
{
	struct fix *f = as_user(state);

	begin(f, "write");
	assert_int_equal(put(f, "d/b", "agent\n"), 0);
	assert_int_equal(put(f, "d/c", "agent\n"), 0);
	assert_true(commit(f) > 0);
	outside(f, "d/b", "the human's\n");
	set_mode(f, "d", 0600);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_mode(f, "d", 0600);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_mode(f, "d", 0600);
	assert_opened(f, "d/b", "the human's\n");
	assert_opened(f, "d/c", NULL);
}

TEST(an_edit_before_the_agent_locked_is_one)
{
	struct fix *f = as_user(state);

	one_step(f, "write", put(f, "d/b", "agent\n"));
	outside(f, "d/b", "the human's\n");
	one_step(f, "chmod", mode(f, "d", 0));
	assert_int_equal(undo(f, 2, 0), -ESTALE);
	assert_mode(f, "d", 0);
	assert_opened(f, "d/b", "the human's\n");
}

TEST(a_new_file_in_a_directory_that_would_go_is_one)
{
	struct fix *f = as_user(state);

	one_step(f, "mkdir", md(f, "d/e"));
	outside(f, "d/e/b", "the human's\n");
	set_mode(f, "d", 0600);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_mode(f, "d", 0600);
	assert_opened(f, "d/e/b", "the human's\n");
}

TEST(what_a_step_left_unreadable_is_read)
{
	struct fix *f = as_user(state);

	begin(f, "mkdir; chmod");
	assert_int_equal(md(f, "d/e"), 0);
	assert_int_equal(mode(f, "d/e", 0300), 0);
	assert_true(commit(f) > 0);
	outside(f, "d/e/b", "the human's\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_mode(f, "d/e", 0300);
	set_mode(f, "d/e", 0700);
	assert_opened(f, "d/e/b", "the human's\n");
}

TEST(a_lock_alone_stops_nothing)
{
	struct fix *f = as_user(state);

	one_step(f, "write", put(f, "d/b", "agent\n"));
	set_mode(f, "d", 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_mode(f, "d", 0);
	assert_opened(f, "d/b", NULL);
	set_mode(f, "d", 0);
	assert_int_equal(redo(f, 0), 0);
	assert_mode(f, "d", 0);
	assert_opened(f, "d/b", "agent\n");
}

/* The file is gone, and its directory as well. */
TEST(what_went_with_its_directory_comes_back)
{
	struct fix *f = as_user(state);

	begin(f, "write");
	assert_int_equal(md(f, "d/e"), 0);
	assert_int_equal(put(f, "d/e/b", "agent\n"), 0);
	assert_true(commit(f) > 0);
	begin(f, "rm -r");
	assert_int_equal(rm(f, "d/e/b"), 0);
	assert_int_equal(rd(f, "d/e"), 0);
	assert_true(commit(f) > 0);
	set_mode(f, "d", 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_mode(f, "d", 0);
	assert_opened(f, "d/e/b", "agent\n");
}

/* A directory that an earlier rollback left out and a forced redo restored gets no mode. */
TEST(what_was_left_before_is_locked_again)
{
	struct fix *f = as_user(state);

	begin(f, "mkdir");
	assert_int_equal(md(f, "e"), 0);
	assert_int_equal(md(f, "e/f"), 0);
	assert_int_equal(put(f, "e/f/a", "agent\n"), 0);
	assert_true(commit(f) > 0);
	set_mode(f, "e", 0640);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_mode(f, "e", 0640);
}

/* The writer of the locked content is unknown. */
TEST(what_a_human_locked_stays_whole)
{
	struct fix *f = as_user(state);

	begin(f, "mkdir");
	assert_int_equal(md(f, "e"), 0);
	assert_int_equal(md(f, "e/f"), 0);
	assert_int_equal(put(f, "e/f/a", "agent\n"), 0);
	assert_true(commit(f) > 0);
	set_mode(f, "e", 0600);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_mode(f, "e", 0600);
	set_mode(f, "e", 0755);
	assert_cat(f, "e/f/a", "agent\n");
}

/* The content behind a step's own lock is known: a later external edit is found. */
TEST(an_edit_after_the_agent_locked_is_one)
{
	struct fix *f = as_user(state);

	begin(f, "write; chmod");
	assert_int_equal(put(f, "d/b", "agent\n"), 0);
	assert_int_equal(put(f, "d/c", "agent\n"), 0);
	assert_int_equal(mode(f, "d", 0), 0);
	assert_true(commit(f) > 0);
	assert_mode(f, "d", 0);
	set_mode(f, "d", 0755);
	outside(f, "d/b", "the human's\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	set_mode(f, "d", 0); /* locked again: only the edit is in the way */
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	set_mode(f, "d", 0755);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_opened(f, "d/b", "the human's\n");
	assert_opened(f, "d/c", NULL);
}

TEST(a_step_tells_what_it_did_behind_its_lock)
{
	const char *const paths[] = {"d/b", NULL};
	struct fix *f = as_user(state);
	struct change *changes;
	int64_t id;
	size_t n;

	one_step(f, "write", put(f, "d/b", "before\n"));
	begin(f, "write; chmod");
	assert_int_equal(put(f, "d/b", "agent\n"), 0);
	assert_int_equal(mode(f, "d", 0), 0);
	id = commit(f);
	assert_int_equal(journal_changes(f->j, id, &changes, &n, &f->err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(changes[1].path, "d/b");
	change_free(changes, n);
	set_mode(f, "d", 0755);
	assert_int_equal(journal_restore(f->j, id, paths, UNDO_FORCE, &f->err), 0);
	assert_opened(f, "d/b", "before\n");
}

/* A step that died is rolled back behind its lock, and redone completely. */
TEST(what_a_dead_step_did_behind_its_lock_is_known)
{
	struct fix *f = as_user(state);
	struct step_info *list;
	struct change *changes;
	size_t n;

	begin(f, "write; mkdir; chmod");
	assert_int_equal(put(f, "d/b", "agent\n"), 0);
	assert_int_equal(md(f, "d/e"), 0);
	assert_int_equal(mode(f, "d", 0600), 0);
	fix_reopen(f);
	assert_mode(f, "d", 0755);
	assert_cat(f, "d/b", NULL);
	assert_int_equal(journal_list(f->j, true, &list, &n, &f->err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(journal_changes(f->j, list[0].id, &changes, &n, &f->err), 0);
	assert_int_equal(n, 3);
	assert_string_equal(changes[1].path, "d/b");
	assert_true(changes[1].kind == CHANGE_CREATED && changes[2].kind == CHANGE_CREATED);
	change_free(changes, n);
	step_info_free(list, 1);
	assert_int_equal(redo(f, 0), 0);
	assert_mode(f, "d", 0600);
	assert_int_equal(undo(f, 2, 0), 0);
	assert_int_equal(faccessat(journal_folder_fd(f->j), "d", F_OK, 0), -1);
}

/* The redo restores the lock that the undo had removed, before it writes the merge. */
TEST(a_merge_behind_a_lock_is_written)
{
	struct fix *f = as_user(state);

	one_step(f, "write", put(f, "b", "one\ntwo\n"));
	outside(f, "b", "the human's\n");
	one_step(f, "mv", mv(f, "b", "d/b", 0));
	set_mode(f, "d", 0600);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(undo(f, 1, UNDO_MERGE | UNDO_FORCE), 0);
	assert_int_equal(redo(f, UNDO_MERGE | UNDO_FORCE), 0);
	assert_int_equal(redo(f, UNDO_MERGE | UNDO_FORCE), 0);
	assert_mode(f, "d", 0600);
	assert_opened(f, "d/b", "the human's\n");
}

/* For a diff: the content after a step is readable, like that before it. */
TEST(what_a_step_left_behind_a_lock_can_be_read)
{
	struct fix *f = as_user(state);
	struct change_side now;
	struct change *changes;
	char text[7] = "";
	int64_t id;
	size_t n;
	int fd;

	id = one_step(f, "write", put(f, "d/b", "agent\n"));
	set_mode(f, "d", 0600);
	assert_int_equal(journal_changes(f->j, id, &changes, &n, &f->err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(journal_content(f->j, id, changes, true, &fd, &f->err), 0);
	assert_int_equal(io_pread_full(fd, text, 6, 0), 6);
	assert_string_equal(text, "agent\n");
	close(fd);
	change_free(changes, n);
	assert_int_equal(journal_present(f->j, "d/b", &now, &fd, &f->err), 0);
	assert_true(now.exists && now.size == 6);
	close(fd);
	assert_mode(f, "d", 0600);
}

TEST(an_edit_behind_a_lock_is_merged)
{
	struct fix *f = as_user(state);

	one_step(f, "write", put(f, "d/b", "one\ntwo\nthree\nfour\nfive\n"));
	one_step(f, "write", put(f, "d/b", "ONE\ntwo\nthree\nfour\nfive\n"));
	outside(f, "d/b", "ONE\ntwo\nthree\nfour\nFIVE\n");
	set_mode(f, "d", 0600);
	if (undo(f, 1, UNDO_MERGE) < 0)
		fail_msg("%s", f->err.text);
	assert_mode(f, "d", 0600);
	assert_opened(f, "d/b", "one\ntwo\nthree\nfour\nFIVE\n");
}

/* The content was changed only by a step, by the other name. */
TEST(what_another_name_changed_behind_a_lock_is_no_edit)
{
	struct fix *f = as_user(state);

	begin(f, "write; ln");
	assert_int_equal(put(f, "a", "one\n"), 0);
	assert_int_equal(md(f, "d/e"), 0);
	assert_int_equal(ln(f, "a", "d/e/b"), 0);
	assert_true(commit(f) > 0);
	one_step(f, "write", add(f, "a", "two\n"));
	one_step(f, "mv", mv(f, "d/e", "d/f", 0));
	set_mode(f, "d", 0600);
	assert_int_equal(undo(f, 3, 0), 0);
	assert_mode(f, "d", 0600);
	assert_cat(f, "a", NULL);
}

/* Neither of the two steps that moved the file has an image of its current path. */
TEST(an_edit_where_two_moved_it_and_a_human_locked_is_one)
{
	struct fix *f = as_user(state);
	struct step *first;

	begin(f, "write");
	assert_int_equal(md(f, "d/e"), 0);
	assert_int_equal(put(f, "d/e/b", "agent\n"), 0);
	assert_true(commit(f) > 0);
	begin(f, "mv d/e d/f");
	first = f->s;
	assert_int_equal(mv(f, "d/e", "d/f", 0), 0);
	one_step(f, "mv d/f d/g", mv(f, "d/f", "d/g", 0));
	f->s = first;
	assert_true(commit(f) > 0);
	outside(f, "d/g/b", "the human's\n");
	set_mode(f, "d", 0600);
	assert_int_equal(undo(f, 3, 0), -ESTALE);
	assert_mode(f, "d", 0600);
	assert_opened(f, "d/g/b", "the human's\n");
}

/* An external file is in the place of a directory that the rollback needs. */
TEST(a_file_behind_a_lock_where_a_directory_is_needed_is_one)
{
	struct fix *f = as_user(state);
	AUTO_FREE char *dir = NULL;

	dir = xasprintf("%s/d/e", f->folder);
	begin(f, "write");
	assert_int_equal(md(f, "d/e"), 0);
	assert_int_equal(put(f, "d/e/b", "agent\n"), 0);
	assert_true(commit(f) > 0);
	one_step(f, "rm", rm(f, "d/e/b"));
	assert_int_equal(rmdir(dir), 0);
	outside(f, "d/e", "the human's\n");
	set_mode(f, "d", 0600);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_opened(f, "d/e", "the human's\n");
}

TESTS(setup, fix_teardown)
