/* test_journal_merge - the result of a merge, when it is undone and when it is restored. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

#define LINES  "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
#define AGENTS "one\nAGENT\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
#define MERGED "one\nAGENT\nthree\nfour\nfive\nsix\nseven\nHUMAN\nnine\n"

/* The result of a merge by a redo is removed by an undo, and restored by a redo. */
TEST(what_a_redo_merged_comes_back)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	AUTO_FREE char *merged = NULL;

	one_step(f, "make", put(f, "n", LINES));
	one_step(f, "agent", put(f, "n", AGENTS));
	assert_int_equal(undo(f, 1, 0), 0);
	outside(f, "n", "one\ntwo\nthree\nfour\nfive\nsix\nseven\nHUMAN\nnine\n");
	assert_int_equal(redo(f, UNDO_MERGE), 0);
	assert_cat(f, "n", MERGED);
	merged = snap(f);
	for (size_t n = 2; n > 0; n--) {
		assert_int_equal(undo(f, n, UNDO_FORCE), 0);
		if (n == 2)
			assert_tree(f, before);
		fix_reopen(f);
		assert_int_equal(redo(f, 0), -ESTALE);
		assert_int_equal(redo(f, UNDO_FORCE), 0);
		assert_tree(f, merged);
	}
	/* The user edits it further. */
	outside(f, "n", AGENTS "MORE\n");
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_cat(f, "n", AGENTS "MORE\n");
}

TEST(a_merge_that_somebody_went_on_with_is_kept)
{
	struct fix *f = *state;
	AUTO_FREE char *edited = NULL, *further = NULL;

	one_step(f, "set up", put(f, "a", LINES));
	one_step(f, "agent", put(f, "a", AGENTS));
	outside(f, "a", MERGED);
	edited = snap(f);
	assert_int_equal(undo(f, 1, UNDO_MERGE), 0);
	outside(f, "a", "one\ntwo\nthree\nfour\nfive\nsix\nseven\nHUMAN\nMORE\n");
	further = snap(f);
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_tree(f, edited);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_tree(f, further);
}

/* An edit that a redo left in place moves along when the next redo renames the file and sets its
 * mode. */
TEST(an_edit_goes_along_with_the_next_redo)
{
	struct fix *f = *state;
	AUTO_FREE char *edited = NULL;
	struct stat st;

	begin(f, "make");
	put(f, "b", LINES);
	md(f, "d");
	commit(f);
	one_step(f, "mode", mode(f, "b", 0600));
	begin(f, "move");
	mode(f, "b", 02775);
	assert_int_equal(mv(f, "b", "d", RENAME_EXCHANGE), 0);
	commit(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	outside(f, "b", LINES "HUMAN\n");
	assert_int_equal(redo(f, UNDO_MERGE | UNDO_FORCE), 0);
	edited = snap(f);
	assert_cat(f, "b", LINES "HUMAN\n");
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "d", LINES "HUMAN\n");
	assert_int_equal(fstatat(journal_folder_fd(f->j), "d", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFREG | 02775);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, edited);
}

/* A mode without any bit is a mode like others. */
TEST(a_mode_of_nothing_is_somebodys_too)
{
	struct fix *f = *state;
	AUTO_FREE char *path = xasprintf("%s/a", f->folder);
	struct stat st;

	one_step(f, "set up", put(f, "a", LINES));
	one_step(f, "agent", put(f, "a", AGENTS));
	outside(f, "a", MERGED);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(undo(f, 1, UNDO_MERGE), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0);
	assert_int_equal(chmod(path, 0600), 0);
	assert_cat(f, "a", "one\ntwo\nthree\nfour\nfive\nsix\nseven\nHUMAN\nnine\n");
}

/* The content before the step is in the store, and damaged: undo changes nothing. */
TEST(what_cannot_be_read_is_no_reason_to_go_over_it)
{
	struct fix *f = *state;
	AUTO_BUF struct buf text = BUF_INIT;
	AUTO_FREE char *command = xasprintf("rm '%s'/*/steps/2/obj/*", f->state), *mine = NULL;

	for (int i = 0; i < 4000; i++)
		buf_fmt(&text, "line %d\n", i);
	one_step(f, "set up", put(f, "a", text.data));
	one_step(f, "agent", add(f, "a", "AGENT\n"));
	outside(f, "a", "HUMAN\n");
	mine = snap(f);
	assert_int_equal(system(command), 0);
	assert_true(undo(f, 1, UNDO_MERGE | UNDO_KEEP_MINE) < 0);
	assert_non_null(strstr(f->err.text, "read 'a'"));
	assert_tree(f, mine);
}

/* The result of a redo's merge is not the state that the next step had found. */
TEST(the_next_redo_asks_about_a_merge)
{
	struct fix *f = *state;
	AUTO_FREE char *text = NULL;

	one_step(f, "set up", put(f, "a", LINES));
	one_step(f, "agent", put(f, "a", AGENTS));
	one_step(f, "agent again", put(f, "a", AGENTS "ten\n"));
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	outside(f, "a", "one\ntwo\nthree\nfour\nfive\nsix\nseven\nHUMAN\nnine\n");
	assert_int_equal(redo(f, UNDO_MERGE), 0);
	assert_cat(f, "a", MERGED);
	assert_int_equal(redo(f, 0), -ESTALE);
	assert_cat(f, "a", MERGED);
	assert_int_equal(redo(f, UNDO_MERGE | UNDO_FORCE), 0);
	text = cat(f, "a");
	assert_non_null(text);
	assert_non_null(strstr(text, "HUMAN"));
}

/* Of two concurrent steps one made the file, the other truncated it: the undo of both leaves no
 * file, whatever the older one had found. */
TEST(with_what_steps_at_the_same_time_did_is_none)
{
	struct fix *f = *state;
	AUTO_FREE char *whole = xasprintf("%s/b", f->folder);
	struct step *cutter, *maker;
	struct stat was, is;
	struct at a;

	begin(f, "cutter");
	cutter = f->s;
	begin(f, "maker");
	maker = f->s;
	assert_int_equal(put(f, "b", "agent"), 0);
	f->s = cutter;
	a = at(f, "b");
	close(op_open(f->s, &a, O_RDONLY | O_TRUNC, 0, NULL));
	assert_true(commit(f) > 0);
	f->s = maker;
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 2, 0), 0);
	outside(f, "b", "human");
	assert_int_equal(stat(whole, &was), 0);
	assert_int_equal(redo(f, UNDO_MERGE), -ESTALE);
	assert_int_equal(redo(f, UNDO_MERGE | UNDO_KEEP_MINE), 0);
	assert_cat(f, "b", "human");
	assert_int_equal(stat(whole, &is), 0);
	assert_true(was.st_ino == is.st_ino);
}

/* The user removed the file that the first step left, before the second step created another: an
 * undo would remove it. */
TEST(a_file_that_a_human_removed_between_is_none)
{
	struct fix *f = *state;
	AUTO_FREE char *whole = xasprintf("%s/d", f->folder);

	outside(f, "d", "one\ntwo\nthree\n");
	one_step(f, "echo >>d", add(f, "d", "four\n"));
	assert_int_equal(unlink(whole), 0);
	one_step(f, "echo >d", put(f, "d", "new\n"));
	assert_int_equal(undo(f, 2, UNDO_MERGE), -ESTALE);
	assert_non_null(strstr(f->err.text, "'d'"));
	assert_cat(f, "d", "new\n");
	assert_int_equal(undo(f, 2, UNDO_MERGE | UNDO_KEEP_MINE), 0);
	assert_cat(f, "d", "new\n");
	assert_int_equal(redo(f, UNDO_FORCE), 0);
	assert_cat(f, "d", "new\n");
}

TEST(a_merge_that_brings_nothing_keeps_the_time)
{
	static const struct timespec then[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	struct fix *f = *state;
	int dir = journal_folder_fd(f->j);
	struct stat st;

	one_step(f, "set up", put(f, "a", LINES));
	one_step(f, "agent", put(f, "a", AGENTS));
	outside(f, "a", "one\ntwo\nthree\nfour\nfive\nsix\nseven\nHUMAN\nnine\n");
	assert_int_equal(utimensat(dir, "a", then, 0), 0);
	assert_int_equal(undo(f, 1, UNDO_MERGE), 0);
	assert_cat(f, "a", "one\ntwo\nthree\nfour\nfive\nsix\nseven\nHUMAN\nnine\n");
	assert_int_equal(fstatat(dir, "a", &st, 0), 0);
	assert_int_equal(st.st_mtime, then[1].tv_sec);
}

TESTS(fix_setup, fix_teardown)
