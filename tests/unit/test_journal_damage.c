/* test_journal_damage - one step's files are damaged: the others are undone, shown, restored. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/pairfix.h"

static void write_in(struct fix *f, int64_t id, const char *name, const char *text)
{
	AUTO_FREE char *path = xasprintf("steps/%lld/%s", (long long)id, name);

	assert_int_equal(unlinkat(journal_store_fd(f->j), path, 0), 0);
	if (text)
		assert_int_equal(io_write_file(journal_store_fd(f->j), path, 0600, text,
					       strlen(text), false),
				 0);
}

/* Step 1 makes all files, 2 will be damaged, 3 and 4 depend on it. */
static char *four_steps(struct fix *f, char **ret_third)
{
	char *second;

	begin(f, "one");
	put(f, "a", "1\n");
	put(f, "b", "1\n");
	md(f, "d");
	put(f, "d/x", "1\n");
	assert_int_equal(commit(f), 1);
	begin(f, "two");
	add(f, "a", "2\n");
	put(f, "d/x", "2\n");
	rm(f, "b");
	assert_int_equal(commit(f), 2);
	second = snap(f);
	begin(f, "three");
	add(f, "a", "3\n");
	put(f, "c", "3\n");
	assert_int_equal(commit(f), 3);
	*ret_third = snap(f);
	begin(f, "four");
	put(f, "a", "4\n");
	mv(f, "d", "e", 0);
	assert_int_equal(commit(f), 4);
	return second;
}

static void assert_listed(struct fix *f)
{
	struct step_info *list = NULL;
	size_t n = 0;

	assert_int_equal(journal_list(f->j, false, &list, &n, &f->err), 0);
	assert_int_equal(n, 4);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(list[i].id, 4 - (int64_t)i);
	step_info_free(list, n);
}

static void assert_refused(struct fix *f, int r)
{
	assert_int_equal(r, -EBADMSG);
	if (!strstr(f->err.text, "step 2 is damaged"))
		fail_msg("%s", f->err.text);
}

static void check_others(struct fix *f, const char *second, const char *third)
{
	AUTO_FREE char *last = snap(f);

	assert_listed(f);
	assert_refused(f, undo(f, 3, 0));
	assert_refused(f, undo(f, 4, UNDO_FORCE));
	assert_tree(f, last);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, third);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, second);
	assert_refused(f, undo(f, 1, 0));
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, last);
	outside(f, "a", "mine\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_cat(f, "a", "mine\n");
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_tree(f, third);
	fix_reopen(f);
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "a", "mine\n");
	/* Later steps are recorded and undone. */
	begin(f, "five");
	mv(f, "e", "g", 0);
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 1, 0), 0);
}

static void others_are_undone(struct fix *f, const char *name, const char *text)
{
	AUTO_FREE char *second = NULL, *third = NULL;

	second = four_steps(f, &third);
	write_in(f, 2, name, text);
	check_others(f, second, third);
}

TEST(a_summary_is_empty)
{
	others_are_undone(*state, "summary", "");
}

TEST(a_summary_is_gone)
{
	others_are_undone(*state, "summary", NULL);
}

TEST(a_summary_is_not_one)
{
	others_are_undone(*state, "summary", "something quite different, and longer than its head");
}

TEST(a_log_is_empty)
{
	others_are_undone(*state, "undo", "");
}

TEST(images_are_empty)
{
	others_are_undone(*state, "post", "");
}

/* The list shows what the log still has. */
TEST(a_row_says_it)
{
	struct fix *f = *state;
	AUTO_FREE char *second = NULL, *third = NULL;
	struct step_info *list = NULL;
	size_t n = 0;

	second = four_steps(f, &third);
	write_in(f, 2, "summary", "");
	assert_int_equal(journal_list(f->j, false, &list, &n, &f->err), 0);
	assert_string_equal(list[2].command, "two");
	assert_true(list[2].incomplete && list[2].began_us > 0);
	assert_non_null(strstr(list[2].why, "cordon journal verify"));
	assert_false(list[1].incomplete || list[3].incomplete);
	step_info_free(list, n);
}

/* Returns 0 if the content after the step is want; else the error. */
static int then(struct fix *f, int64_t id, const char *path, const char *want)
{
	struct change *list = NULL;
	size_t n = 0, i = 0;
	char text[64] = "";
	int fd = -1, r;

	f->err = (struct err){0};
	assert_int_equal(journal_changes(f->j, id, &list, &n, &f->err), 0);
	while (i < n && !str_eq(list[i].path, path))
		i++;
	assert_true(i < n);
	r = journal_content(f->j, id, &list[i], true, &fd, &f->err);
	if (r == 0)
		assert_true(io_pread_full(fd, text, sizeof(text) - 1, 0) >= 0);
	util_close_fd(&fd);
	change_free(list, n);
	if (r == 0)
		assert_string_equal(text, want);
	return r;
}

TEST(the_past_is_read_across_a_sound_log)
{
	struct fix *f = *state;
	AUTO_FREE char *second = NULL, *third = NULL;

	second = four_steps(f, &third);
	write_in(f, 2, "summary", "");
	assert_int_equal(then(f, 1, "a", "1\n"), 0);
	assert_int_equal(then(f, 1, "b", "1\n"), 0);
	assert_int_equal(then(f, 1, "d/x", "1\n"), 0);
	assert_int_equal(then(f, 3, "a", "1\n2\n3\n"), 0);
}

/* Content of a later time is never returned. */
TEST(the_past_is_not_guessed_across_a_damaged_log)
{
	struct fix *f = *state;
	AUTO_FREE char *second = NULL, *third = NULL;
	const char *const paths[] = {"b", NULL};

	second = four_steps(f, &third);
	write_in(f, 2, "undo", "");
	for (int i = 0; i < 3; i++) {
		const char *const names[] = {"a", "b", "d/x"};

		assert_int_equal(then(f, 1, names[i], ""), -ESTALE);
		assert_non_null(strstr(f->err.text, "step 2"));
	}
	assert_int_equal(then(f, 3, "a", "1\n2\n3\n"), 0);
	assert_int_equal(journal_restore(f->j, 4, (const char *const[]){"a", NULL}, 0, &f->err), 0);
	assert_cat(f, "a", "1\n2\n3\n");
	assert_true(journal_restore(f->j, 2, paths, UNDO_FORCE, &f->err) < 0);
}

/* An overlapping step: its end before the other is not known, and one alone is not undone. */
TEST(one_that_ran_beside_it_is_a_conflict)
{
	struct fix *f = *state;
	struct step *first;

	begin(f, "set up");
	put(f, "a", "0\n");
	commit(f);
	begin(f, "beside");
	first = f->s;
	add(f, "a", "1\n");
	begin(f, "it");
	add(f, "a", "2\n");
	assert_int_equal(commit(f), 3);
	f->s = first;
	add(f, "a", "3\n");
	assert_int_equal(commit(f), 2);
	write_in(f, 2, "summary", "");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	write_in(f, 2, "post", "");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	write_in(f, 2, "undo", "");
	assert_refused(f, undo(f, 1, 0));
	assert_cat(f, "a", "0\n1\n2\n3\n");
}

/* The other folder's part is not left behind without a message. */
TEST_WITH(a_part_elsewhere, setup, teardown)
{
	struct pair *p = *state;
	struct step_info *list = NULL;
	size_t n = 0;

	begin(p->a, "one");
	put(p->a, "x", "x");
	commit(p->a);
	begin_both(p, "both");
	put(p->a, "f", "f");
	put(p->b, "f", "f");
	assert_int_equal(commit(p->a), 2);
	p->b->s = NULL;
	write_in(p->b, 2, "summary", "");
	assert_refused(p->a, undo(p->a, 1, 0));
	assert_cat(p->a, "f", "f");
	assert_int_equal(journal_list(p->a->j, false, &list, &n, &p->a->err), 0);
	assert_int_equal(n, 2);
	assert_true(list[0].incomplete);
	step_info_free(list, n);
	assert_int_equal(undo(p->a, 1, UNDO_FORCE), 0);
	assert_cat(p->a, "f", NULL);
	assert_cat(p->b, "f", "f");
}

TESTS(fix_setup, fix_teardown)
