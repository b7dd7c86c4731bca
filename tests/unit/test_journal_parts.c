/* test_journal_parts - one step in the stores of several folders. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/inject.h"
#include "tests/support/pairfix.h"

TEST(parts_have_one_id)
{
	struct pair *p = *state;
	int64_t id;

	begin(p->b, "alone");
	put(p->b, "x", "1");
	commit(p->b);
	begin(p->b, "alone");
	put(p->b, "x", "2");
	commit(p->b);
	begin_both(p, "both");
	assert_int_equal(step_id(p->a->s), 3); /* from the higher counter */
	assert_int_equal(step_id(p->b->s), 3);
	assert_ptr_equal(step_part(p->a->s, p->b->j), p->b->s);
	put(p->a, "y", "a");
	put(p->b, "y", "b");
	assert_int_equal(step_paths(p->a->s), 2);
	commit(p->a);
	p->b->s = NULL;
	assert_int_equal(listed(p->a, false, &id), 3); /* the step in both is listed once */
	assert_int_equal(id, 3);
	assert_int_equal(listed(p->b, false, &id), 3);
	begin(p->a, "next");
	assert_int_equal(step_id(p->a->s), 4);
	put(p->a, "z", "z");
	commit(p->a);
}

TEST(a_part_that_changes_nothing_is_not_kept)
{
	struct pair *p = *state;
	struct step_info *list;
	struct change *changes;
	size_t n;

	begin_both(p, "both");
	put(p->a, "f", "f");
	put(p->b, "f", "f");
	rm(p->a, "f");
	assert_int_equal(commit(p->a), 1);
	assert_int_equal(journal_list(p->a->j, false, &list, &n, &p->a->err), 0);
	assert_int_equal(n, 1);
	assert_null(list[0].folders);
	step_info_free(list, n);
	assert_int_equal(journal_changes(p->a->j, 1, &changes, &n, &p->a->err), 0);
	assert_int_equal(n, 1);
	assert_ptr_equal(changes[0].in, p->b->j);
	assert_string_equal(changes[0].base, p->b->folder);
	change_free(changes, n);
}

TEST(abort_takes_every_part_back)
{
	struct pair *p = *state;
	AUTO_FREE char *a = snap(p->a), *b = snap(p->b);

	begin_both(p, "both");
	put(p->a, "f", "f");
	put(p->b, "f", "f");
	assert_int_equal(journal_abort(p->b->s, &p->a->err), 0);
	assert_tree(p->a, a);
	assert_tree(p->b, b);
}

TEST(a_new_step_in_one_ends_redo_in_both)
{
	struct pair *p = *state;
	int64_t id;

	begin(p->a, "one");
	put(p->a, "f", "f");
	commit(p->a);
	assert_int_equal(undo(p->a, 1, false), 0);
	begin(p->b, "two");
	put(p->b, "f", "f");
	commit(p->b);
	assert_int_equal(listed(p->a, true, &id), 0);
}

/* ---- undo and redo ----------------------------------------------------------------------------
 */

TEST(undo_takes_every_part)
{
	struct pair *p = *state;
	AUTO_TREES struct trees before = {0}, after = {0};
	struct undo_plan *plan;

	prepare(p);
	before = both(p);
	step_in_both(p, "both");
	after = both(p);
	assert_int_equal(journal_plan(p->b->j, UNDO_BACK, 1, 0, &plan, &p->b->err), 0);
	assert_int_equal(plan->n_ids, 1);
	assert_int_equal(plan->n_entries, 10);
	assert_null(plan->entries[0].base); /* the plan is b's */
	assert_string_equal(plan->entries[9].base, p->a->folder);
	undo_plan_free(plan);
	assert_int_equal(undo(p->a, 1, false), 0);
	assert_trees(p, &before);
	assert_int_equal(redo(p->b, false), 0);
	assert_trees(p, &after);
	assert_int_equal(undo(p->b, 1, false), 0);
	assert_trees(p, &before);
}

TEST(a_conflict_in_one_stops_both)
{
	struct pair *p = *state;
	AUTO_FREE char *path = xasprintf("%s/new", p->b->folder);
	AUTO_TREES struct trees before = {0}, after = {0};

	prepare(p);
	before = both(p);
	step_in_both(p, "both");
	assert_int_equal(io_write_file(AT_FDCWD, path, 0644, "human", 5, false), 0);
	after = both(p);
	assert_int_equal(undo(p->a, 1, false), -ESTALE);
	assert_non_null(strstr(p->a->err.text, path));
	assert_trees(p, &after);
	assert_int_equal(undo(p->a, 1, true), 0);
	assert_trees(p, &before);
	assert_int_equal(redo(p->a, false), 0);
	assert_trees(p, &after);
}

static bool never(void *data, size_t done, size_t total)
{
	(void)data, (void)done, (void)total;
	return false;
}

TEST(a_cancel_in_the_second_puts_the_first_back)
{
	static const struct undo_progress stop = {.tick = never};
	struct pair *p = *state;
	AUTO_TREES struct trees after = {0}, before = both(p);

	begin_both(p, "both");
	put(p->a, "few", "few");
	for (int i = 0; i < 100; i++) {
		AUTO_FREE char *name = xasprintf("f%d", i);

		put(p->b, name, name);
	}
	commit(p->a);
	after = both(p);
	assert_int_equal(journal_undo(p->a->j, UNDO_BACK, 1, 0, &stop, &p->a->err), -ECANCELED);
	assert_trees(p, &after);
	assert_int_equal(undo(p->a, 1, false), 0);
	assert_trees(p, &before);
}

/* Steps of one folder alone, between those of both, are one history. */
TEST(the_newest_of_all_folders_comes_first)
{
	struct pair *p = *state;
	AUTO_TREES struct trees start = both(p), one = {0}, two = {0};

	step_in_both(p, "both"); /* some calls fail, because files are missing: no matter */
	one = both(p);
	begin(p->b, "b alone");
	put(p->b, "x", "x");
	commit(p->b);
	two = both(p);
	begin(p->a, "a alone");
	put(p->a, "y", "y");
	commit(p->a);
	assert_int_equal(undo(p->b, 1, false), 0);
	assert_trees(p, &two);
	assert_int_equal(undo(p->a, 1, false), 0);
	assert_trees(p, &one);
	assert_int_equal(undo(p->a, 1, false), 0);
	assert_trees(p, &start);
	assert_int_equal(redo(p->a, false), 0);
	assert_trees(p, &one);
	assert_int_equal(redo(p->a, false), 0);
	assert_trees(p, &two);
	assert_int_equal(undo(p->a, 2, false), 0);
	assert_trees(p, &start);
	assert_int_equal(redo(p->b, false), 0); /* both stores, one rollback */
	assert_trees(p, &two);
}

struct newest {
	struct journal *j;
	int64_t id;
	int r;
};

static void find_newest(void *arg)
{
	struct newest *n = arg;

	n->r = journal_newest(n->j, &n->id);
}

TEST(the_newest_step_is_found_without_reading_steps)
{
	struct pair *p = *state;
	struct newest got = {.j = p->a->j};
	struct inject none = {0}, many = {0};
	int64_t last = 0;

	inject_run(&none, find_newest, &got);
	assert_int_equal(got.r, 0);
	assert_int_equal(got.id, 0);
	begin(p->a, "first");
	put(p->a, "f", "f");
	commit(p->a);
	for (int i = 0; i < 20; i++) {
		begin(p->b, "later");
		put(p->b, i % 2 ? "x" : "y", "text");
		last = commit(p->b);
	}
	inject_run(&many, find_newest, &got);
	assert_int_equal(got.r, 0);
	assert_int_equal(got.id, last);
	assert_int_equal(many.seen, none.seen);
	for (int n = 1; n <= many.seen; n++) { /* an error is not "no newer step" */
		struct inject in = {.nth = n, .err = EIO};

		inject_run(&in, find_newest, &got);
		if (got.r == 0)
			assert_int_equal(got.id, last);
	}
}

TEST(numbers_and_single_steps_are_as_listed)
{
	struct pair *p = *state;
	struct step_info *list, one;
	AUTO_FREE int64_t *ids = NULL;
	size_t n, n_ids;

	begin(p->a, "first");
	put(p->a, "f", "f");
	commit(p->a);
	begin_both(p, "both");
	put(p->a, "f", "g");
	put(p->b, "f", "f");
	commit(p->a);
	begin(p->b, "last");
	put(p->b, "g", "g");
	commit(p->b);
	assert_int_equal(journal_list(p->a->j, false, &list, &n, &p->a->err), 0);
	assert_int_equal(journal_ids(p->a->j, false, &ids, &n_ids, &p->a->err), 0);
	assert_int_equal(n, 3);
	assert_int_equal(n_ids, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(ids[i], list[i].id);
		assert_int_equal(journal_info(p->a->j, ids[i], &one, &p->a->err), 0);
		assert_int_equal(one.id, list[i].id);
		assert_int_equal(one.began_us, list[i].began_us);
		assert_int_equal(one.created, list[i].created);
		assert_int_equal(one.modified, list[i].modified);
		assert_string_equal(one.command, list[i].command);
		assert_int_equal(one.folders != NULL, list[i].folders != NULL);
		step_info_done(&one);
	}
	step_info_free(list, n);
	assert_int_equal(journal_info(p->a->j, 9, &one, &p->a->err), -ENOENT);
	assert_non_null(strstr(p->a->err.text, "there is no step 9"));
	assert_int_equal(journal_undo(p->a->j, UNDO_BACK, 1, 0, NULL, &p->a->err), 0);
	p->a->err = (struct err){0};
	assert_int_equal(journal_info(p->a->j, 3, &one, &p->a->err), -ENOENT);
	assert_non_null(strstr(p->a->err.text, "step 3 is undone")); /* in the other folder */
}

/* Of steps dropped in one folder and then in the other, the last one is redone first. */
TEST(the_last_dropped_of_all_folders_comes_back_first)
{
	struct pair *p = *state;
	int64_t first, last, newest;

	begin(p->a, "dropped last");
	last = step_id(p->a->s);
	begin(p->b, "dropped first");
	first = step_id(p->b->s);
	put(p->a, "x", "x");
	for (int i = 0; i < 10; i++) { /* its store uses more numbers */
		md(p->b, "y");
		rd(p->b, "y");
	}
	put(p->b, "y", "y");
	assert_int_equal(journal_roll_back(p->b->s, &p->b->err), 0);
	assert_int_equal(journal_roll_back(p->a->s, &p->a->err), 0);
	assert_int_equal(redo(p->a, false), 0);
	assert_int_equal(listed(p->a, false, &newest), 1);
	assert_int_equal(newest, last);
	assert_int_equal(redo(p->a, false), 0);
	assert_int_equal(listed(p->a, true, &newest), 0);
	assert_int_equal(listed(p->a, false, &newest), 2);
	assert_int_equal(newest, first);
}

/* ---- a folder that is opened alone ----------------------------------------------------------- */

static void reopen_alone(struct pair *p)
{
	pair_close(p);
	p->b->with = NULL;
	fix_open(p->b);
}

TEST(alone_it_opens_the_other_for_its_part)
{
	struct pair *p = *state;
	AUTO_TREES struct trees before = {0}, after = {0};

	prepare(p);
	before = both(p);
	step_in_both(p, "both");
	after = both(p);
	reopen_alone(p);
	assert_int_equal(undo(p->b, 1, false), 0);
	assert_trees(p, &before);
	assert_int_equal(redo(p->b, false), 0);
	assert_trees(p, &after);
}

TEST(later_steps_on_the_other_part_are_named)
{
	struct pair *p = *state;
	AUTO_TREES struct trees before = {0}, after = {0};

	prepare(p);
	before = both(p);
	step_in_both(p, "both");
	begin(p->a, "later");
	put(p->a, "later", "later");
	commit(p->a);
	after = both(p);
	reopen_alone(p);
	assert_int_equal(undo(p->b, 1, false), -EBUSY);
	assert_non_null(strstr(p->b->err.text, p->a->folder));
	assert_trees(p, &after);
	assert_int_equal(undo(p->b, 1, true), 0); /* this part alone */
	assert_tree(p->b, before.b);
	assert_tree(p->a, after.a);
	assert_int_equal(redo(p->b, false), 0);
	assert_trees(p, &after);
}

TEST(a_part_out_of_reach_is_named)
{
	struct pair *p = *state;
	AUTO_FREE char *away = xasprintf("%s-away", p->a->folder);
	AUTO_TREES struct trees before = {0};

	prepare(p);
	before = both(p);
	step_in_both(p, "both");
	reopen_alone(p);
	assert_int_equal(rename(p->a->folder, away), 0);
	assert_int_equal(undo(p->b, 1, false), -ENOENT);
	assert_non_null(strstr(p->b->err.text, p->a->folder));
	assert_int_equal(undo(p->b, 1, true), 0);
	assert_tree(p->b, before.b);
	assert_int_equal(rename(away, p->a->folder), 0);
}

/* The numbers of a new history begin at 1: they do not show which step is older. */
TEST(a_discarded_part_is_not_called_undone)
{
	struct pair *p = *state;
	struct journal_spec spec = {.folder = p->b->folder, .state_dir = p->b->state};
	struct step_info *list;
	const char **split;
	size_t n;

	prepare(p);
	step_in_both(p, "both");
	pair_close(p);
	assert_int_equal(journal_discard(&spec, &p->b->err), 0);
	p->b->with = NULL;
	fix_open(p->b);
	one_step(p->b, "new", put(p->b, "new", "new"));
	assert_true(has(p->b, "steps/1"));
	fix_open(p->a);
	assert_int_equal(journal_list(p->a->j, false, &list, &n, &p->a->err), 0);
	assert_int_equal(list[0].id, 2);
	split = journal_split(p->a->j, &list[0], false);
	assert_null(split);
	step_info_free(list, n);
}

TESTS(setup, teardown)
