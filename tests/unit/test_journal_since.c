/* test_journal_since - the source of a later change: a later step, an overlapping one, or an
 * external edit. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/journalfix.h"

static int64_t wrote(struct fix *f, const char *path, const char *text)
{
	begin(f, "write");
	assert_int_equal(put(f, path, text), 0);
	return commit(f);
}

/* The later content is saved, like everything that a restore replaces. */
TEST(over_later_steps)
{
	struct fix *f = *state;
	const char *const paths[] = {"x", NULL};
	struct undo_plan *plan = NULL;
	AUTO_FREE char *before = NULL;
	int64_t id;

	wrote(f, "x", "one\n");
	id = wrote(f, "x", "second\n");
	wrote(f, "x", "the third\n");
	begin(f, "another file in its place");
	assert_int_equal(put(f, "tmp", "the fourth one\n"), 0);
	assert_int_equal(mv(f, "tmp", "x", 0), 0);
	commit(f);
	before = snap(f);
	assert_int_equal(journal_restore_plan(f->j, id, paths, 0, &plan, &f->err), 0);
	assert_int_equal(plan->n_conflicts, 0);
	assert_true(plan->entries[0].later);
	undo_plan_free(plan);
	must(f, restore(f, id, "x", 0));
	assert_cat(f, "x", "one\n");
	must(f, restore(f, id + 1, "x", 0));
	assert_cat(f, "x", "second\n");
	must(f, undo(f, 2, 0));
	assert_tree(f, before);
}

TEST(over_a_later_step_that_removed_it)
{
	struct fix *f = *state;
	int64_t id;

	wrote(f, "x", "one\n");
	id = wrote(f, "x", "second\n");
	begin(f, "remove");
	assert_int_equal(mv(f, "x", "y", 0), 0);
	assert_int_equal(rm(f, "y"), 0);
	commit(f);
	must(f, restore(f, id, "x", 0));
	assert_cat(f, "x", "one\n");
	must(f, undo(f, 1, 0));
	assert_cat(f, "x", NULL);
}

/* The file stays unchanged under its new name. */
TEST(over_a_later_step_that_moved_the_directory)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	int64_t id;

	one_step(f, "mkdir", md(f, "d"));
	wrote(f, "d/x", "one\n");
	id = wrote(f, "d/x", "second\n");
	one_step(f, "mv d e", mv(f, "d", "e", 0));
	before = snap(f);
	must(f, restore(f, id, "d/x", 0));
	assert_cat(f, "d/x", "one\n");
	assert_cat(f, "e/x", "second\n");
	must(f, undo(f, 1, 0));
	assert_tree(f, before);
	outside(f, "d", "the human's\n");
	assert_true(restore(f, id, "d/x", 0) < 0);
	assert_cat(f, "d", "the human's\n");
}

/* If the moved directory itself is restored, the later step's change is no conflict. */
TEST(over_a_later_step_that_moved_the_very_directory)
{
	struct fix *f = *state;
	const char *const paths[] = {"d", NULL};
	struct undo_plan *plan = NULL;
	int64_t id;

	id = one_step(f, "mkdir", md(f, "d"));
	one_step(f, "mv d e", mv(f, "d", "e", 0));
	must(f, journal_restore_plan(f->j, id, paths, 0, &plan, &f->err));
	assert_int_equal(plan->n_conflicts, 0);
	undo_plan_free(plan);
	begin(f, "mkdir d/x; mv d/x d");
	must(f, md(f, "d"));
	must(f, md(f, "d/x"));
	id = commit(f);
	begin(f, "rm -r d; mv e d");
	must(f, rd(f, "d/x"));
	must(f, rd(f, "d"));
	must(f, mv(f, "e", "d", 0));
	commit(f);
	must(f, journal_restore_plan(f->j, id, paths, 0, &plan, &f->err));
	for (size_t i = 0; i < plan->n_entries; i++)
		if (str_eq(plan->entries[i].path, "d"))
			assert_false(plan->entries[i].conflict);
	undo_plan_free(plan);
}

/* A temporary second name changes the inode's time, like an edit does; the content shows that there
 * is no edit. */
TEST(a_name_that_came_and_went_is_no_change)
{
	static const size_t sizes[] = {100, 16384, 16385, 100000}; /* whole, and parts of it */
	static char text[100001];
	struct fix *f = *state;
	AUTO_FREE char *path = xasprintf("%s/x", f->folder), *other = xasprintf("%s/y", f->folder);

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		wrote(f, "x", "before\n");
		for (size_t k = 0; k < sizes[i]; k++)
			text[k] = (char)('a' + k / 100 % 26);
		text[sizes[i]] = '\0';
		wrote(f, "x", text);
		assert_int_equal(link(path, other), 0);
		assert_int_equal(unlink(other), 0);
		must(f, undo(f, 1, 0));
		assert_cat(f, "x", "before\n");
	}
}

/* Content and times do not show this change. */
TEST(not_over_a_change_of_the_owner)
{
	struct fix *f = *state;
	AUTO_FREE char *path = NULL;
	int64_t id;

	if (geteuid() != 0)
		skip();
	path = xasprintf("%s/x", f->folder);
	wrote(f, "x", "one\n");
	id = wrote(f, "x", "second\n");
	wrote(f, "x", "the third\n");
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_int_equal(restore(f, id, "x", 0), -ESTALE);
	must(f, restore(f, id, "x", UNDO_FORCE));
	assert_cat(f, "x", "one\n");
}

/* The plan asks about an external edit anywhere between them. */
TEST(not_over_an_edit_among_later_steps)
{
	struct fix *f = *state;
	int64_t id;

	wrote(f, "x", "one\n");
	id = wrote(f, "x", "second\n");
	wrote(f, "x", "the third\n");
	outside(f, "x", "the third, and a human's\n");
	assert_int_equal(restore(f, id, "x", 0), -ESTALE);
	one_step(f, "on top of that", add(f, "x", "the fourth\n"));
	assert_int_equal(restore(f, id, "x", 0), -ESTALE);
	assert_cat(f, "x", "the third, and a human's\nthe fourth\n");
	must(f, restore(f, id + 2, "x", 0));
	assert_cat(f, "x", "the third, and a human's\n");
	assert_int_equal(restore(f, id, "x", 0), -ESTALE);
	must(f, restore(f, id, "x", UNDO_FORCE));
	assert_cat(f, "x", "one\n");
}

/* A damaged step's changes are unknown. */
TEST(not_over_a_damaged_step)
{
	struct fix *f = *state;
	AUTO_FREE char *summary = NULL;
	int64_t id, later;

	wrote(f, "x", "one\n");
	id = wrote(f, "x", "second\n");
	later = wrote(f, "x", "the third\n");
	summary = xasprintf("steps/%lld/summary", (long long)later);
	assert_int_equal(unlinkat(journal_store_fd(f->j), summary, 0), 0);
	assert_int_equal(restore(f, id, "x", 0), -ESTALE);
	assert_cat(f, "x", "the third\n");
	must(f, restore(f, id, "x", UNDO_FORCE));
	assert_cat(f, "x", "one\n");
}

/* A running command had the file open when another command removed it. */
TEST(what_a_step_beside_it_changed_is_nobody_elses)
{
	struct fix *f = *state;
	struct undo_plan *plan = NULL;
	struct step *writer;
	struct at a;
	int fd;

	wrote(f, "x", "one\n");
	begin(f, "writer");
	writer = f->s;
	a = at(f, "x");
	fd = op_open(f->s, &a, O_WRONLY | O_APPEND, 0, NULL);
	assert_int_equal(write(fd, "w\n", 2), 2);
	one_step(f, "remover", rm(f, "x"));
	close(fd);
	f->s = writer;
	commit(f);
	assert_int_equal(journal_plan(f->j, UNDO_BACK, 1, 0, &plan, &f->err), 0);
	assert_int_equal(plan->n_stops, 1);
	assert_true(plan->entries[0].conflict && plan->entries[0].beside);
	undo_plan_free(plan);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_non_null(strstr(f->err.text, "a step that ran at the same time"));
	must(f, undo(f, 2, 0));
	assert_cat(f, "x", "one\n");
	outside(f, "x", "mine\n");
	assert_int_equal(journal_plan(f->j, UNDO_BACK, 1, 0, &plan, &f->err), 0);
	assert_true(plan->entries[0].conflict && !plan->entries[0].beside);
	undo_plan_free(plan);
}

/* A file gets another name, by which one step writes to it; another step removes the first name. */
static void write_by_another_name(struct fix *f, bool overlapped)
{
	struct step *writer;

	one_step(f, "ln b a", ln(f, "b", "a"));
	begin(f, "write a");
	assert_int_equal(put(f, "a", "two\n"), 0);
	writer = f->s;
	if (!overlapped)
		assert_true(commit(f) > 0);
	one_step(f, "rm b", rm(f, "b"));
	if (overlapped) {
		f->s = writer;
		assert_true(commit(f) > 0);
	}
}

/* After these steps are undone the file is as it was made, without an external edit. */
static void writes_by_another_name_have_gone(struct fix *f, bool overlapped, bool human)
{
	AUTO_FREE char *empty = snap(f), *made = NULL;

	one_step(f, "make", put(f, "b", "one\n"));
	made = snap(f);
	write_by_another_name(f, overlapped);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(undo(f, 2, 0), 0);
	assert_tree(f, made);
	if (human)
		outside(f, "b", "own\n");
	assert_int_equal(undo(f, 1, 0), human ? -ESTALE : 0);
	if (human) {
		assert_cat(f, "b", "own\n");
		return;
	}
	assert_tree(f, empty);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, made);
}

TEST_WITH(writes_by_another_name_that_have_gone_are_no_edit, NULL, NULL)
{
	for (int i = 0; i < 4; i++) {
		struct fix *f = fix_new();

		writes_by_another_name_have_gone(f, i & 1, i & 2);
		fix_free(f);
	}
}

/* The file is as the step that added the name left it; but that step had found the edit. */
TEST_WITH(an_edit_before_writes_that_have_gone_is_one, NULL, NULL)
{
	for (int overlapped = 0; overlapped < 2; overlapped++) {
		struct fix *f = fix_new();

		one_step(f, "make", put(f, "b", "one\n"));
		outside(f, "b", "own\n");
		write_by_another_name(f, overlapped);
		assert_int_equal(undo(f, 1, 0), 0);
		assert_int_equal(undo(f, 1, 0), 0);
		assert_int_equal(undo(f, 2, 0), -ESTALE);
		assert_int_equal(undo(f, 1, 0), 0);
		assert_int_equal(undo(f, 1, 0), -ESTALE);
		assert_cat(f, "b", "own\n");
		fix_free(f);
	}
}

static void add_outside(struct fix *f, const char *path, const char *text)
{
	AUTO_CLOSE int fd = openat(journal_folder_fd(f->j), path, O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
}

/* A later step only adds a name, and its image of the file fits. by_that: another step writes by
 * the new name. */
static void name_it(struct fix *f, bool by_that, bool human)
{
	wrote(f, "c", "one\n");
	one_step(f, "write", add(f, "c", "two\n"));
	if (human)
		add_outside(f, "c", "the human's\n");
	one_step(f, "ln c a", ln(f, "c", "a"));
	if (!by_that)
		return;
	one_step(f, "write by that name", add(f, "a", "three\n"));
}

TEST(an_edit_before_another_name_is_one)
{
	struct fix *f = *state;
	AUTO_FREE char *after = NULL;

	name_it(f, false, true);
	after = snap(f);
	assert_int_equal(undo(f, 3, 0), -ESTALE);
	assert_non_null(strstr(f->err.text, "'c' has changed since"));
	assert_tree(f, after);
	must(f, undo(f, 3, UNDO_KEEP_MINE));
	assert_cat(f, "c", "one\ntwo\nthe human's\n");
	assert_cat(f, "a", NULL);
	must(f, redo(f, 0));
	assert_tree(f, after);
}

TEST(an_edit_before_writes_by_another_name_is_one)
{
	struct fix *f = *state;
	AUTO_FREE char *after = NULL;

	name_it(f, true, true);
	after = snap(f);
	assert_int_equal(undo(f, 4, 0), -ESTALE);
	assert_tree(f, after);
}

TEST(another_name_alone_is_no_edit)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f), *after = NULL;

	for (int by_that = 0; by_that < 2; by_that++) {
		name_it(f, by_that, false);
		after = snap(f);
		must(f, undo(f, by_that ? 4 : 3, 0));
		assert_tree(f, before);
		must(f, redo(f, 0));
		assert_tree(f, after);
		must(f, undo(f, by_that ? 4 : 3, 0));
		assert_tree(f, before);
		free(take_ptr(&after));
	}
}

TESTS(fix_setup, fix_teardown)
