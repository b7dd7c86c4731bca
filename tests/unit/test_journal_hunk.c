/* test_journal_hunk - one hunk of a step's diff is taken back, as a step that undo takes back. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

/* 40 lines "line N", and at each of the three places given, from 0: another word. */
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

static void each_hunk_alone(void **state)
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

static void edits_elsewhere_stay(void **state)
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

static void what_cannot_be_had(void **state)
{
	struct fix *f = *state;
	int64_t id = change(f), made;

	assert_int_equal(hunk(f, id, 0), -ENOENT);
	assert_int_equal(hunk(f, id, 4), -ENOENT);
	assert_int_equal(hunk(f, id + 7, 1), -ENOENT);
	begin(f, "made");
	assert_int_equal(put(f, "d/b", "new\n"), 0);
	made = commit(f);
	assert_int_equal(journal_restore_hunk(f->j, made, "d/b", 1, &f->err), -EINVAL);
	assert_int_equal(journal_restore_hunk(f->j, made, "/etc/passwd", 1, &f->err), -ENOENT);
	begin(f, "gone");
	assert_int_equal(rm(f, "d/a"), 0);
	assert_int_equal(sym(f, "/etc/passwd", "d/a"), 0);
	commit(f);
	assert_int_equal(hunk(f, id, 1), -ESTALE); /* never through a link */
	assert_sound(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_hunk_alone),
		TEST(edits_elsewhere_stay),
		TEST(what_cannot_be_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
