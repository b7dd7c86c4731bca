/* test_journal_parts_crash - a step in several folders, killed at any call: each folder is as
 * before or after, the lists say which, and undo and redo complete the rest. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/comb.h"
#include "tests/support/inject.h"
#include "tests/support/pairfix.h"

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

/* Checks that each folder alone is as before or after. */
static void check_whole(const struct trees *now, const struct trees *before,
			const struct trees *after, int n)
{
	bool a = str_eq(now->a, before->a) || str_eq(now->a, after->a);
	bool b = str_eq(now->b, before->b) || str_eq(now->b, after->b);

	if (a && b)
		return;
	tree_same(a ? before->b : before->a, a ? now->b : now->a);
	fail_msg("killed at system call %d: one folder is neither old nor new", n);
}

/* Returns the folder that the list names beside its newest step: 1 is a, 2 is b, 0 is none. */
static int split_of(struct pair *p, bool undone)
{
	struct step_info *list;
	const char **split;
	size_t n;
	int found;

	assert_int_equal(journal_list(p->a->j, undone, &list, &n, &p->a->err), 0);
	split = n ? journal_split(p->a->j, &list[0], undone) : NULL;
	found = !split ? 0 : str_eq(split[0], p->a->folder) ? 1 : 2;
	assert_true(!split || !split[1]);
	free(split);
	step_info_free(list, n);
	return found;
}

/* Checks that the lists name the folder in which the step is undone, and that in which it is
 * not. */
static void check_lists(struct pair *p, int id)
{
	AUTO_FREE char *kept = xasprintf("steps/%d", id);
	bool a = has(p->a, kept), b = has(p->b, kept);

	if (a == b)
		return;
	assert_int_equal(split_of(p, false), a ? 2 : 1);
	assert_int_equal(split_of(p, true), a ? 1 : 2);
}

static void undo_down_to(struct pair *p, int64_t down_to)
{
	int64_t id;

	while (listed(p->b, false, &id) && id > down_to)
		if (undo(p->b, 1, 0) < 0)
			fail_msg("undo: %s", p->b->err.text);
}

static size_t redo_all(struct pair *p)
{
	size_t n = 0;
	int64_t id;

	for (; listed(p->a, true, &id); n++)
		if (redo(p->a, 0) < 0)
			fail_msg("redo: %s", p->a->err.text);
	return n;
}

/* From the state found by the next start, undo and redo lead to both ends. after: NULL if the steps
 * to redo are unknown. */
static void walk(struct pair *p, int64_t down_to, const struct trees *before,
		 const struct trees *after)
{
	undo_down_to(p, down_to);
	assert_trees(p, before);
	if (redo_all(p) && after)
		assert_trees(p, after);
	undo_down_to(p, down_to);
	assert_trees(p, before);
}

/* a_first, b_first: opens this folder alone after the crash, before both are opened. */
static void each_call(void (*fn)(void *), int apart, bool a_first, bool b_first)
{
	bool more = true;

	for (int n = 1; more; n += comb(apart)) {
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
		if (fn != child_commit) { /* else other inodes and times */
			AUTO_TREES struct trees now = both(p);

			check_whole(&now, &before, &after, n);
		}
		check_lists(p, fn == child_commit ? 3 : 2);
		walk(p, 1, &before, fn == child_commit ? NULL : &after);
		teardown(&state);
	}
}

TEST(in_a_commit)
{
	each_call(child_commit, 19, false, false);
	each_call(child_commit, 41, false, true);
}

TEST(in_an_undo)
{
	each_call(child_undo, 13, false, false);
	each_call(child_undo, 29, true, false);
	each_call(child_undo, 31, false, true);
}

TEST(in_a_redo)
{
	each_call(child_redo, 13, false, false);
	each_call(child_redo, 37, false, true);
}

static struct inject *counted;
static int turned_at; /* the call at which the undo is cancelled */

static bool not_far(void *data, size_t done, size_t total)
{
	(void)data, (void)total;
	if (done < 64)
		return true;
	if (counted)
		turned_at = counted->seen;
	return false;
}

static void child_turn(void *data)
{
	static const struct undo_progress stop = {.tick = not_far};
	struct pair *p = data;

	pair_open(p);
	if (journal_undo(p->a->j, UNDO_BACK, 1, 0, &stop, &p->a->err) != -ECANCELED)
		_exit(1);
}

static bool turns_round(int nth)
{
	struct inject count = {0};
	AUTO_TREES struct trees before = {0}, after = {0}, now = {0};
	bool killed = true;
	struct pair *p;

	setup((void **)&p);
	before = both(p);
	begin_both(p, "both");
	for (char name[] = "f0"; name[1] < 'z'; name[1]++) {
		put(p->a, name, name);
		put(p->b, name, name);
	}
	commit(p->a);
	after = both(p);
	pair_close(p);
	if (nth) {
		killed = inject_kill(turned_at + nth, child_turn, p);
	} else {
		counted = &count;
		inject_run(&count, child_turn, p);
		counted = NULL;
		pair_close(p);
	}
	pair_open(p);
	now = both(p);
	check_whole(&now, &before, &after, nth);
	check_lists(p, 1);
	walk(p, 0, &before, &after);
	teardown((void **)&p);
	return killed;
}

TEST(in_an_undo_that_turns_round)
{
	for (int nth = 0; turns_round(nth); nth += nth < 40 ? 1 : comb(61))
		continue;
	assert_true(turned_at > 0);
}

static void die_in_step(struct fix *f)
{
	put(f, "x", "x");
	kill(getpid(), SIGKILL);
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
TEST_WITH(what_died_last_is_redone_first, setup, teardown)
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

static void child_dies_in_a_alone(void *data)
{
	struct pair *p = data;

	fix_open(p->a);
	die_in(p->a);
}

/* Two stores that were never open together use the same numbers: not for the same rollback. */
TEST_WITH(a_number_alone_says_nothing_of_another_store, setup, teardown)
{
	struct pair *p = *state;
	int64_t id;

	pair_close(p);
	assert_true(inject_kill(100000, child_dies_in_b, p));
	assert_true(inject_kill(100000, child_dies_in_b, p));
	assert_true(inject_kill(100000, child_dies_in_a_alone, p));
	pair_open(p);
	assert_int_equal(listed(p->b, true, &id), 3);
	assert_int_equal(redo(p->b, 0), 0); /* the second one in b; the first one in b is dropped */
	assert_true(has(p->b, "steps/2") && !has(p->b, "redo/1"));
	assert_true(has(p->a, "redo/1"));
	assert_int_equal(redo(p->b, 0), 0);
	assert_true(has(p->a, "steps/1"));
}

/* Each redo brings back one of them. */
TEST_WITH(two_that_died_apart_come_back_one_by_one, setup, teardown)
{
	struct pair *p = *state;
	int64_t id;

	pair_close(p);
	assert_true(inject_kill(100000, child_dies_in_b, p));
	assert_true(inject_kill(100000, child_dies_in_a_alone, p));
	pair_open(p);
	assert_int_equal(listed(p->b, true, &id), 2);
	assert_int_equal(redo(p->a, 0), 0);
	assert_int_equal(listed(p->b, true, &id), 1);
	assert_int_equal(redo(p->a, 0), 0);
	assert_true(has(p->a, "steps/1") && has(p->b, "steps/1"));
}

static void child_dies_in_both(void *data)
{
	struct pair *p = data;

	pair_open(p);
	assert_int_equal(undo(p->a, 1, 0), 0);
	begin_both(p, "both");
	put(p->b, "y", "y");
	die_in_step(p->a);
}

/* The undone parts of a step are dropped in all stores together, whatever their numbers. */
TEST_WITH(parts_that_died_go_as_one, setup, teardown)
{
	struct pair *p = *state;
	int64_t id;

	begin(p->a, "a alone");
	put(p->a, "n", "n");
	commit(p->a);
	pair_close(p);
	assert_true(inject_kill(100000, child_dies_in_both, p));
	pair_open(p);
	assert_true(has(p->a, "redo/2") && has(p->b, "redo/2"));
	pair_close(p);
	assert_true(inject_kill(100000, child_dies_in_a, p));
	pair_open(p);
	assert_int_equal(listed(p->a, true, &id), 3);
	assert_int_equal(redo(p->b, 0), 0);
	assert_true(has(p->a, "steps/3"));
	assert_int_equal(listed(p->a, true, &id), 0);
}

static void child_b_alone(void *data)
{
	struct pair *p = data;

	pair_open(p);
	begin(p->b, "b alone");
	put(p->b, "x", "x");
	commit(p->b);
}

/* A commit in one folder drops the redo of a rollback in both. */
TEST(what_can_be_redone_goes_as_one)
{
	bool more = true;

	for (int n = 1; more; n += comb(3)) {
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
		teardown(&mine);
	}
}

/* A rollback of two steps, one in each folder: after a killed redo, redo brings back the rest. */
TEST(what_is_left_of_a_rollback_is_redone)
{
	bool more = true;

	for (int n = 1; more; n += comb(3)) {
		AUTO_TREES struct trees before = {0}, after = {0};
		void *mine;
		struct pair *p;
		int64_t id;

		setup(&mine);
		p = mine;
		before = both(p);
		step_in_each(p);
		after = both(p);
		assert_int_equal(undo(p->a, 2, 0), 0);
		pair_close(p);
		more = inject_kill(n, child_redo, p);
		inject_kill(40 + n * 7 % 150, child_open, p);
		pair_open(p);
		redo_all(p);
		assert_int_equal(listed(p->a, false, &id), 2);
		assert_trees(p, &after);
		walk(p, 0, &before, &after);
		teardown(&mine);
	}
}

static void child_nothing_in_a(void *data)
{
	struct pair *p = data;

	pair_open(p);
	begin_both(p, "both");
	put(p->a, "f", "f");
	put(p->b, "f", "f");
	rm(p->a, "f");
	commit(p->a);
}

static void child_nothing_in_b(void *data)
{
	struct pair *p = data;

	pair_open(p);
	begin_both(p, "both");
	put(p->a, "f", "f");
	put(p->b, "f", "f");
	rm(p->b, "f");
	commit(p->b);
}

TEST(a_part_of_nothing_comes_along)
{
	bool more = true;

	for (int n = 1; more; n += comb(2)) {
		more = false;
		for (int b = 0; b < 2; b++) {
			void *mine;
			struct pair *p;
			int64_t id;

			setup(&mine);
			p = mine;
			pair_close(p);
			more |= inject_kill(n, b ? child_nothing_in_b : child_nothing_in_a, p);
			inject_kill(40 + n * 7 % 150, child_open, p);
			pair_open(p);
			if (redo_all(p) || listed(p->a, false, &id))
				assert_int_equal(listed(p->a, false, &id), 1);
			undo_down_to(p, 0);
			assert_true(listed(p->a, true, &id) <= 1);
			teardown(&mine);
		}
	}
}

static void child_undo_both(void *data)
{
	struct pair *p = data;

	pair_open(p);
	if (undo(p->a, 2, 0) < 0)
		_exit(1);
}

/* Renames the folder and adopts its history, in the middle of a rollback that also concerns another
 * folder. */
static void adopt(struct fix *f)
{
	struct journal_spec spec = {.state_dir = f->state};
	AUTO_FREE char *was = NULL;
	char *now = xasprintf("%s.new", f->folder);

	assert_int_equal(rename(f->folder, now), 0);
	spec.folder = now;
	assert_int_equal(journal_adopt(&spec, &was, &f->err), 0);
	free(f->folder);
	f->folder = now;
}

TEST(a_folder_is_renamed_in_a_rollback)
{
	bool more = true;

	for (int n = 1; more; n += comb(3))
		for (int b = 0; b < 2; b++) {
			AUTO_TREES struct trees before = {0}, after = {0}, now = {0};
			void *mine;
			struct pair *p;

			setup(&mine);
			p = mine;
			before = both(p);
			step_in_each(p);
			after = both(p);
			pair_close(p);
			more = inject_kill(n, child_undo_both, p);
			adopt(b ? p->b : p->a);
			pair_open(p);
			now = both(p);
			check_whole(&now, &before, &after, n);
			walk(p, 0, &before, &after);
			teardown(&mine);
		}
}

/* ---- stores of an older version, whose rollback in several folders was one ------------------- */

static void store_put(struct fix *f, const char *name, const struct buf *b)
{
	assert_int_equal(io_write_file(journal_store_fd(f->j), name, 0600, b->data, b->len, false),
			 0);
}

/* Writes the list of folders into each store that took part. */
static void put_joint(struct pair *p)
{
	AUTO_BUF struct buf names = BUF_INIT;

	buf_add(&names, p->a->folder, strlen(p->a->folder) + 1);
	buf_add(&names, p->b->folder, strlen(p->b->folder) + 1);
	store_put(p->a, "joint", &names);
	store_put(p->b, "joint", &names);
}

/* Marks the undone steps of this store to be dropped when the step is kept. */
static void put_doomed(struct fix *f, uint64_t step, const char *folder)
{
	AUTO_BUF struct buf b = BUF_INIT;
	const uint64_t head[3] = {step, 1, strlen(folder)};

	buf_add(&b, (const char *)head, sizeof(head));
	buf_add(&b, folder, strlen(folder) + 1);
	store_put(f, "doomed", &b);
}

/* Adds a step to drop to the transaction's file, or to a new file. */
static void add_drop(struct fix *f, const char *step)
{
	AUTO_BUF struct buf b = BUF_INIT;
	AUTO_FREE char *text = NULL;
	int r = io_read_file(journal_store_fd(f->j), "rollback", 65536, &text, NULL);

	buf_fmt(&b, "%sdrop %s\n", r < 0 ? "redo on 1000 1\n" : text, step);
	store_put(f, "rollback", &b);
}

static void look_at(struct fix *f)
{
	const struct journal_spec spec = {
		.folder = f->folder, .state_dir = f->state, .read_only = true};

	assert_int_equal(journal_open(&f->j, &spec, NULL, &f->err), 0);
}

/* Makes stores as the older version left them: runs `shape` on both, while no process has them
 * open. */
static void make_older(struct pair *p, void (*shape)(struct pair *))
{
	look_at(p->a);
	look_at(p->b);
	shape(p);
	pair_close(p);
	p->b->with = NULL;
}

/* The first store decides: it gets its file last. */
static void shape_undecided(struct pair *p)
{
	put_joint(p);
	if (has(p->a, "rollback") && !has(p->b, "rollback"))
		unlinkat(journal_store_fd(p->a->j), "rollback", 0);
}

/* The rollback was being reverted, and only the first store records that. */
static void shape_turned(struct pair *p)
{
	AUTO_FREE char *text = NULL;
	AUTO_BUF struct buf b = BUF_INIT;

	put_joint(p);
	if (io_read_file(journal_store_fd(p->a->j), "rollback", 65536, &text, NULL) < 0 ||
	    !has(p->a, "steps/2"))
		return;
	buf_fmt(&b, "undo back%s", text + strlen("undo on"));
	store_put(p->a, "rollback", &b);
}

static void older_undo(void (*shape)(struct pair *), int apart)
{
	bool more = true;

	for (int n = 1; more; n += comb(apart)) {
		AUTO_TREES struct trees before = {0}, after = {0}, now = {0};
		struct pair *p;

		setup((void **)&p);
		prepare(p);
		before = both(p);
		step_in_both(p, "both");
		after = both(p);
		pair_close(p);
		more = inject_kill(n, child_undo, p);
		make_older(p, shape);
		pair_open(p);
		now = both(p);
		check_whole(&now, &before, &after, n);
		check_lists(p, 2);
		assert_false(has(p->a, "rollback") || has(p->b, "rollback"));
		teardown((void **)&p);
	}
}

TEST(an_older_rollback_is_finished_in_each_folder)
{
	older_undo(put_joint, 23);
	older_undo(shape_undecided, 23);
	older_undo(shape_turned, 23);
}

static void shape_drops(struct pair *p)
{
	put_joint(p);
	add_drop(p->a, "redo/1");
	add_drop(p->b, "redo/2");
}

/* A redo of a step that died in `a` alone drops one undone step in each folder. */
TEST_WITH(an_older_redo_ends_the_same_steps, setup, teardown)
{
	struct pair *p = *state;
	AUTO_BUF struct buf b = BUF_INIT;

	step_in_each(p);
	assert_int_equal(undo(p->a, 2, 0), 0);
	pair_close(p);
	assert_true(inject_kill(100000, child_dies_in_a, p));
	pair_open(p);
	assert_true(has(p->a, "redo/1") && has(p->b, "redo/2") && has(p->a, "redo/3"));
	buf_str(&b, "redo on 1000 1\nredo/3\n");
	store_put(p->a, "rollback", &b);
	pair_close(p);
	make_older(p, shape_drops);
	pair_open(p);
	assert_true(has(p->a, "steps/3"));
	assert_false(has(p->a, "redo/1") || has(p->b, "redo/2"));
	assert_false(has(p->a, "rollback") || has(p->b, "rollback"));
}

static void shape_doomed(struct pair *p)
{
	put_doomed(p->a, 9, p->b->folder);
	put_doomed(p->b, 9, p->b->folder);
}

/* A commit that did not happen drops nothing. */
TEST_WITH(an_older_commit_that_was_not_kept_ends_nothing, setup, teardown)
{
	struct pair *p = *state;

	step_in_each(p);
	assert_int_equal(undo(p->a, 2, 0), 0);
	pair_close(p);
	make_older(p, shape_doomed);
	pair_open(p);
	assert_true(has(p->a, "redo/1") && has(p->b, "redo/2"));
	assert_false(has(p->a, "rollback") || has(p->b, "rollback"));
	assert_int_equal(redo(p->a, 0), 0);
}

TESTS(NULL, NULL)
