/* test_journal_hunk - one hunk of a step's diff is taken back, as a step that undo takes back. */
/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>

#include "core/base/path.h"
#include "tests/support/journalfix.h"

/* Returns 40 lines "line N", with other words in lines 5, 20 and 35. */
static char *lines(const char *a, const char *b, const char *c)
{
	struct buf text = BUF_INIT;

	for (int i = 1; i <= 40; i++)
		buf_fmt(&text, "%s %d\n", i == 5 ? a : i == 20 ? b : i == 35 ? c : "line", i);
	return buf_take(&text);
}

static int64_t change(struct fix *f)
{
	AUTO_FREE char *before = lines("one", "two", "three");
	AUTO_FREE char *after = lines("ONE", "TWO", "THREE");

	begin(f, "before");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(put(f, "d/a", before), 0);
	commit(f);
	begin(f, "after");
	assert_int_equal(put(f, "d/a", after), 0);
	return commit(f);
}

static int hunk(struct fix *f, int64_t id, unsigned n)
{
	f->err = (struct err){0};
	return journal_restore_hunk(f->j, id, "d/a", n, &f->err);
}

TEST(each_hunk_alone)
{
	struct fix *f = *state;
	AUTO_FREE char *first = lines("one", "TWO", "THREE"), *snapshot = NULL;
	AUTO_FREE char *both = lines("one", "TWO", "three");
	int64_t id = change(f);

	snapshot = snap(f);
	must(f, hunk(f, id, 1));
	assert_cat(f, "d/a", first);
	must(f, hunk(f, id, 3));
	assert_cat(f, "d/a", both);
	assert_int_equal(hunk(f, id, 3), -EALREADY);
	must(f, undo(f, 2, 0));
	assert_tree(f, snapshot);
	must(f, redo(f, 0));
	assert_cat(f, "d/a", both);
	assert_sound(f);
}

/* An external edit during the step is in the step's result, and in its diff. */
TEST(an_edit_while_the_step_ran_stays)
{
	struct fix *f = *state;
	const char *const paths[] = {"d/a", NULL}, *const other[] = {"d/b", NULL};
	AUTO_FREE char *snapshot = NULL;
	int64_t id;

	begin(f, "before");
	assert_int_equal(md(f, "d"), 0);
	assert_int_equal(put(f, "d/a", "1\n2\n3\n4\n"), 0);
	assert_int_equal(put(f, "d/b", "1\n"), 0);
	commit(f);
	begin(f, "change");
	assert_int_equal(put(f, "d/a", "1\ntwo\n3\n4\n"), 0);
	assert_int_equal(put(f, "d/b", "2\n"), 0);
	outside(f, "d/a", "1\ntwo\nmine\n4\n");
	assert_int_equal(journal_add_barrier(f->j, paths, 1, &f->err), 1);
	id = commit(f);
	snapshot = snap(f);
	assert_int_equal(hunk(f, id, 1), -ESTALE);
	assert_non_null(strstr(f->err.text, "edited from outside"));
	f->err = (struct err){0};
	assert_int_equal(journal_restore(f->j, id, paths, 0, &f->err), -ESTALE);
	assert_tree(f, snapshot);
	f->err = (struct err){0};
	must(f, journal_restore(f->j, id, other, 0, &f->err));
	assert_cat(f, "d/b", "1\n");
	must(f, journal_restore(f->j, id, paths, UNDO_FORCE, &f->err));
	assert_cat(f, "d/a", "1\n2\n3\n4\n");
	must(f, undo(f, 2, 0));
	assert_tree(f, snapshot);
	assert_sound(f);
}

TEST(edits_elsewhere_stay)
{
	struct fix *f = *state;
	AUTO_FREE char *edited = lines("ONE", "TWO", "mine"), *want = lines("one", "TWO", "mine");
	int64_t id = change(f);

	outside(f, "d/a", edited);
	must(f, hunk(f, id, 1));
	assert_cat(f, "d/a", want);
	assert_int_equal(hunk(f, id, 3), -ESTALE);
	assert_cat(f, "d/a", want);
	assert_sound(f);
}

static void assert_mode(struct fix *f, mode_t want)
{
	AUTO_FREE char *path = path_join(f->folder, "d/a");
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, want);
}

TEST(the_mode_alone)
{
	struct fix *f = *state;
	AUTO_FREE char *after = lines("ONE", "TWO", "THREE"), *snapshot = NULL;
	AUTO_FREE char *path = path_join(f->folder, "d/a");
	int64_t id;

	change(f);
	begin(f, "edit and chmod");
	assert_int_equal(put(f, "d/a", "other\n"), 0);
	assert_int_equal(mode(f, "d/a", 0755), 0);
	id = commit(f);
	snapshot = snap(f);
	must(f, hunk(f, id, 0));
	assert_cat(f, "d/a", "other\n");
	assert_mode(f, 0644);
	assert_int_equal(hunk(f, id, 0), -EALREADY);
	must(f, undo(f, 1, 0));
	assert_tree(f, snapshot);
	must(f, hunk(f, id, 1));
	assert_cat(f, "d/a", after);
	assert_mode(f, 0755);
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(hunk(f, id, 0), -ESTALE);
	assert_mode(f, 0700);
	assert_sound(f);
}

TEST(what_cannot_be_had)
{
	struct fix *f = *state;
	int64_t id = change(f), made;

	assert_int_equal(hunk(f, id, 0), -ENOENT);
	assert_int_equal(hunk(f, id, 4), -ENOENT);
	assert_int_equal(hunk(f, id + 7, 1), -ENOENT);
	made = one_step(f, "made", put(f, "d/b", "new\n"));
	assert_int_equal(journal_restore_hunk(f->j, made, "d/b", 1, &f->err), -EINVAL);
	assert_int_equal(journal_restore_hunk(f->j, made, "/etc/passwd", 1, &f->err), -ENOENT);
	begin(f, "gone");
	assert_int_equal(rm(f, "d/a"), 0);
	assert_int_equal(sym(f, "/etc/passwd", "d/a"), 0);
	commit(f);
	assert_int_equal(hunk(f, id, 1), -ESTALE); /* never through a link */
	assert_sound(f);
}

TESTS(fix_setup, fix_teardown)
