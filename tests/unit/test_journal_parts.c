/* test_journal_parts - one step in the stores of several folders. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

/* Two folders of one session: `a` is first, `b` its kin. */
struct pair {
	struct fix *a, *b;
};

static void pair_open(struct pair *p)
{
	fix_open(p->a);
	p->b->with = p->a->j;
	fix_open(p->b);
}

static void pair_close(struct pair *p)
{
	fix_drop_dirs(p->a);
	fix_drop_dirs(p->b);
	journal_close(p->b->j);
	journal_close(p->a->j);
	p->a->j = p->b->j = NULL;
	p->a->s = p->b->s = NULL;
}

static int setup(void **state)
{
	struct pair *p = xcalloc(1, sizeof(*p));

	p->a = fix_new();
	p->b = fix_new();
	/* One state directory, as in a session. */
	free(p->b->state);
	p->b->state = xstrdup(p->a->state);
	pair_close(p);
	pair_open(p);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct pair *p = *state;

	fix_free(p->b);
	fix_free(p->a);
	free(p);
	return 0;
}

static void begin_both(struct pair *p, const char *command)
{
	begin(p->a, command);
	assert_int_equal(journal_begin_part(p->b->j, p->a->s, &p->b->s, &p->a->err), 0);
}

static size_t listed(struct fix *f, bool undone, int64_t *newest)
{
	struct step_info *list;
	size_t n;

	assert_int_equal(journal_list(f->j, undone, &list, &n, &f->err), 0);
	*newest = n ? list[0].id : 0;
	step_info_free(list, n);
	return n;
}

static void parts_have_one_id(void **state)
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
	assert_int_equal(step_id(p->a->s), 3); /* of the higher counter */
	assert_int_equal(step_id(p->b->s), 3);
	assert_ptr_equal(step_part(p->a->s, p->b->j), p->b->s);
	put(p->a, "y", "a");
	put(p->b, "y", "b");
	assert_int_equal(step_paths(p->a->s), 2);
	commit(p->a);
	p->b->s = NULL;
	assert_int_equal(listed(p->a, false, &id), 3); /* the one in both comes once */
	assert_int_equal(id, 3);
	assert_int_equal(listed(p->b, false, &id), 3);
	begin(p->a, "next");
	assert_int_equal(step_id(p->a->s), 4);
	put(p->a, "z", "z");
	commit(p->a);
}

static void a_part_that_changes_nothing_is_not_kept(void **state)
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

static void abort_takes_every_part_back(void **state)
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

static void a_new_step_in_one_ends_redo_in_both(void **state)
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

struct trees {
	char *a, *b;
};

static struct trees both(struct pair *p)
{
	return (struct trees){snap(p->a), snap(p->b)};
}

static void trees_done(struct trees *t)
{
	free(t->a);
	free(t->b);
}

#define AUTO_TREES CLEANUP(trees_done)

static void assert_trees(struct pair *p, const struct trees *want)
{
	assert_tree(p->a, want->a);
	assert_tree(p->b, want->b);
}

static void change(struct fix *f)
{
	put(f, "new", "new");
	put(f, "kept", "changed");
	rm(f, "gone");
	md(f, "d");
	mv(f, "moved", "d/moved", 0);
}

static void prepare(struct pair *p)
{
	begin_both(p, "prepare");
	for (int i = 0; i < 2; i++) {
		struct fix *f = i ? p->b : p->a;

		put(f, "kept", "was");
		put(f, "gone", "gone");
		put(f, "moved", "moved");
	}
	commit(p->a);
}

static void step_in_both(struct pair *p, const char *command)
{
	begin_both(p, command);
	change(p->a);
	change(p->b);
	commit(p->a);
	p->b->s = NULL;
}

static void undo_takes_every_part(void **state)
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
	assert_null(plan->entries[0].base); /* b was asked */
	assert_string_equal(plan->entries[9].base, p->a->folder);
	undo_plan_free(plan);
	assert_int_equal(undo(p->a, 1, false), 0);
	assert_trees(p, &before);
	assert_int_equal(redo(p->b, false), 0);
	assert_trees(p, &after);
	assert_int_equal(undo(p->b, 1, false), 0);
	assert_trees(p, &before);
}

static void a_conflict_in_one_stops_both(void **state)
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

static void a_cancel_in_the_second_puts_the_first_back(void **state)
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

/* Steps of one folder alone, between those of both: one history. */
static void the_newest_of_all_folders_comes_first(void **state)
{
	struct pair *p = *state;
	AUTO_TREES struct trees start = both(p), one = {0}, two = {0};

	step_in_both(p, "both"); /* some calls fail, as nothing is there: never mind */
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

/* ---- a folder that is opened alone -------------------------------------------------------------
 */

static void reopen_alone(struct pair *p)
{
	pair_close(p);
	p->b->with = NULL;
	fix_open(p->b);
}

static void alone_it_opens_the_other_for_its_part(void **state)
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

static void later_steps_on_the_other_part_are_named(void **state)
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

static void a_part_out_of_reach_is_named(void **state)
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

/* ---- killed ------------------------------------------------------------------------------------
 */

static void child_commit(void *data)
{
	struct pair *p = data;

	pair_open(p);
	step_in_both(p, "both");
}

static void child_undo(void *data)
{
	struct pair *p = data;

	pair_open(p);
	if (undo(p->a, 1, false) < 0)
		_exit(1);
}

static void child_redo(void *data)
{
	struct pair *p = data;

	pair_open(p);
	if (redo(p->b, false) < 0)
		_exit(1);
}

static void child_open(void *data)
{
	pair_open(data);
}

/* The next start finds both as before or both as after, and walks from the one to the other. */
static void check(struct pair *p, const struct trees *before, const struct trees *after, int n)
{
	AUTO_TREES struct trees now = both(p);
	bool old = str_eq(now.a, before->a) && str_eq(now.b, before->b);
	bool new = str_eq(now.a, after->a) && str_eq(now.b, after->b);

	if (!old && !new) {
		tree_same(before->a, now.a);
		tree_same(before->b, now.b);
		fail_msg("killed at system call %d: neither old nor new", n);
	}
	if (new) {
		assert_int_equal(undo(p->a, 1, false), 0);
		assert_trees(p, before);
	}
	if (redo(p->b, false) == 0) {
		if (new)
			assert_trees(p, after);
		assert_int_equal(undo(p->b, 1, false), 0);
		assert_trees(p, before);
	}
}

/* who: which folder is opened alone after the crash, before both are; NULL: none. */
static void each_call(void (*fn)(void *), int stride, bool a_first, bool b_first)
{
	bool more = true;

	if (getenv("CORDON_TEST_THOROUGH"))
		stride = 1;
	for (int n = 1; more; n += stride) {
		void *state;
		struct pair *p;
		AUTO_TREES struct trees before = {0}, after = {0};

		setup(&state);
		p = state;
		prepare(p);
		before = both(p);
		step_in_both(p, "model");
		after = both(p);
		if (fn != child_undo)
			assert_int_equal(undo(p->a, 1, false), 0);
		pair_close(p);
		more = inject_kill(n, fn, p);
		inject_kill(40 + n * 7 % 150, child_open, p);
		if (a_first || b_first) {
			struct fix *f = a_first ? p->a : p->b;

			p->b->with = NULL;
			fix_open(f);
			journal_close(f->j);
			f->j = NULL;
		}
		pair_open(p);
		if (fn == child_commit) { /* other inodes, other times: walk from what is there */
			AUTO_TREES struct trees now = both(p);

			if (!str_eq(now.a, before.a) && !str_eq(now.b, before.b)) {
				trees_done(&after);
				after = both(p);
			}
		}
		check(p, &before, &after, n);
		teardown(&state);
	}
}

static void in_a_commit(void **state)
{
	(void)state;
	each_call(child_commit, 19, false, false);
	each_call(child_commit, 41, false, true);
}

static void in_an_undo(void **state)
{
	(void)state;
	each_call(child_undo, 13, false, false);
	each_call(child_undo, 29, true, false);
	each_call(child_undo, 31, false, true);
}

static void in_a_redo(void **state)
{
	(void)state;
	each_call(child_redo, 13, false, false);
	each_call(child_redo, 37, false, true);
}

static void die_in(struct fix *f)
{
	begin(f, "dies");
	put(f, "x", "x");
	kill(getpid(), SIGKILL);
}

static void child_dies_in_b(void *data)
{
	struct pair *p = data;

	p->b->with = NULL;
	fix_open(p->b);
	die_in(p->b);
}

static void child_dies_in_a(void *data)
{
	struct pair *p = data;

	pair_open(p);
	die_in(p->a);
}

/* However much higher the other store's numbers are. */
static void what_died_last_is_redone_first(void **state)
{
	struct pair *p = *state;

	pair_close(p);
	for (int i = 0; i < 3; i++)
		assert_true(inject_kill(100000, child_dies_in_b, p));
	pair_open(p);
	begin(p->b, "b alone");
	put(p->b, "y", "y");
	commit(p->b);
	assert_int_equal(undo(p->b, 1, false), 0);
	pair_close(p);
	assert_true(inject_kill(100000, child_dies_in_a, p));
	pair_open(p);
	assert_int_equal(redo(p->b, false), 0);
	assert_int_equal(faccessat(journal_folder_fd(p->a->j), "x", F_OK, 0), 0);
}

static void child_b_alone(void *data)
{
	struct pair *p = data;

	pair_open(p);
	begin(p->b, "b alone");
	put(p->b, "x", "x");
	commit(p->b);
}

static bool has(const struct fix *f, const char *step)
{
	return faccessat(journal_store_fd(f->j), step, F_OK, 0) == 0;
}

/* One rollback in two stores can be redone in both, or nowhere any more. */
static void what_can_be_redone_goes_as_one(void **state)
{
	bool more = true;

	(void)state;
	for (int n = 1; more; n += getenv("CORDON_TEST_THOROUGH") ? 1 : 3) {
		void *mine;
		struct pair *p;

		setup(&mine);
		p = mine;
		prepare(p);
		step_in_both(p, "both");
		assert_int_equal(undo(p->a, 1, false), 0);
		assert_true(has(p->a, "redo/2") && has(p->b, "redo/2"));
		pair_close(p);
		more = inject_kill(n, child_b_alone, p);
		inject_kill(40 + n * 7 % 150, child_open, p);
		pair_open(p);
		if (has(p->a, "redo/2") != has(p->b, "redo/2"))
			fail_msg("killed at system call %d: half of a rollback is left", n);
		if (has(p->b, "steps/3") && has(p->a, "redo/2"))
			fail_msg("killed at system call %d: kept, and nothing has gone", n);
		assert_false(has(p->a, "doomed") || has(p->b, "doomed"));
		teardown(&mine);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(parts_have_one_id),
		TEST(a_part_that_changes_nothing_is_not_kept),
		TEST(abort_takes_every_part_back),
		TEST(a_new_step_in_one_ends_redo_in_both),
		TEST(undo_takes_every_part),
		TEST(a_conflict_in_one_stops_both),
		TEST(a_cancel_in_the_second_puts_the_first_back),
		TEST(the_newest_of_all_folders_comes_first),
		TEST(alone_it_opens_the_other_for_its_part),
		TEST(later_steps_on_the_other_part_are_named),
		TEST(a_part_out_of_reach_is_named),
		cmocka_unit_test(in_a_commit),
		cmocka_unit_test(in_an_undo),
		cmocka_unit_test(in_a_redo),
		cmocka_unit_test(what_can_be_redone_goes_as_one),
		TEST(what_died_last_is_redone_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
