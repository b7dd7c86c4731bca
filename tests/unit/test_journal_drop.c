/* test_journal_drop - steps that a redo makes unredoable are dropped with it, killed or failed
 * anywhere. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/comb.h"
#include "tests/support/inject.h"
#include "tests/support/pairfix.h"

static void child_open(void *data)
{
	pair_open(data);
}

static void child_dies_in_a(void *data)
{
	struct pair *p = data;

	pair_open(p);
	begin(p->a, "dies");
	put(p->a, "x", "x");
	kill(getpid(), SIGKILL);
}

static void child_commits(void *data)
{
	struct pair *p = data;

	pair_open(p);
	one_step(p->a, "4", put(p->a, "4", "4"));
}

static void redo_last(void *data)
{
	struct pair *p = data;

	(void)redo(p->a, 0);
}

static void child_redo_last(void *data)
{
	pair_open(data);
	redo_last(data);
}

/* Makes stores in which the first step of `a` alone, that of `b` alone, and a later one that died
 * in `a` can be redone: redoing the last one ends the others. */
static struct pair *outlived(void)
{
	void *state;
	struct pair *p;

	setup(&state);
	p = state;
	step_in_each(p);
	assert_int_equal(undo(p->a, 2, 0), 0);
	pair_close(p);
	assert_true(inject_kill(100000, child_dies_in_a, p));
	pair_open(p);
	assert_true(has(p->a, "redo/1") && has(p->b, "redo/2") && has(p->a, "redo/3"));
	pair_close(p);
	return p;
}

/* first: this journal is opened alone first, as by a command in that folder; or NULL. */
static void check_outlived(struct pair *p, struct fix *first, int n)
{
	p->b->with = NULL;
	if (first) {
		fix_open(first);
		journal_close(first->j);
		first->j = NULL;
	}
	pair_open(p);
	/* A start in one folder alone does not check the others. */
	if (has(p->a, "redo/1") != has(p->b, "redo/2") && (!first || has(p->a, "redo/1")))
		fail_msg("at system call %d: half of a rollback is left", n);
	if (has(p->a, "steps/3") == has(p->a, "redo/1"))
		fail_msg("at system call %d: it %s", n,
			 has(p->a, "steps/3") ? "came back, and the others can, too"
					      : "did not come back, and the others cannot");
	assert_false(has(p->a, "rollback") || has(p->b, "rollback"));
	while (has(p->b, "redo/2")) /* still redoable */
		assert_int_equal(redo(p->b, 0), 0);
}

/* A redo drops older undone steps in all stores at once. */
TEST(what_a_redo_ends_goes_as_one)
{
	for (int turn = 0; turn < 3; turn++) {
		bool more = true;

		for (int n = 1 + 3 * turn; more; n += comb(7)) {
			struct pair *p = outlived();
			void *mine = p;

			more = inject_kill(n, child_redo_last, p);
			inject_kill(40 + n * 7 % 150, child_open, p);
			check_outlived(p, turn == 1 ? p->a : turn == 2 ? p->b : NULL, n);
			teardown(&mine);
		}
	}
}

TEST(what_a_redo_ends_stays_where_it_fails)
{
	bool more = true;

	for (int n = 1; more; n += comb(5)) {
		struct pair *p = outlived();
		struct inject in = {.nth = n, .err = EIO};
		void *mine = p;

		pair_open(p);
		inject_run(&in, redo_last, p);
		more = in.failed >= 0;
		pair_close(p);
		/* An undone step with a log that cannot be read stays; see redo_drop.c. */
		if (in.failed != SYS_openat && in.failed != SYS_pread64)
			check_outlived(p, NULL, n);
		teardown(&mine);
	}
}

/* Undoes three steps, and kills a commit at its n-th call. Returns whether it was killed. */
static bool commit_killed(struct pair *p, int n)
{
	pair_open(p);
	for (char name[] = "1"; *name < '4'; ++*name)
		one_step(p->a, name, put(p->a, name, name));
	for (int i = 0; i < 3; i++)
		assert_int_equal(undo(p->a, 1, 0), 0);
	pair_close(p);
	return inject_kill(n, child_commits, p);
}

/* Opens the store without recovery. */
static void open_for_reading(struct fix *f)
{
	const struct journal_spec spec = {
		.folder = f->folder, .state_dir = f->state, .read_only = true};

	assert_int_equal(journal_open(&f->j, &spec, NULL, &f->err), 0);
}

/* A dropped step must not have an undone newer one: its redo would lead to a state that never
 * was. */
static void assert_oldest_left(struct pair *p, int n)
{
	static const char *const undone[] = {"redo/1", "redo/2", "redo/3"};
	size_t left = 0;

	while (left < ARRAY_LEN(undone) && has(p->a, undone[left]))
		left++;
	for (size_t i = left; i < ARRAY_LEN(undone); i++)
		if (has(p->a, undone[i]))
			fail_msg("at system call %d: %s stays and %s is dropped", n, undone[i],
				 undone[left]);
}

/* Kills the commit at its n-th call and, unless `start` is 0, the next start at that call. Returns
 * whether the last of them was killed. *ret_kept: whether the step is kept. */
static bool drop_killed(int n, int start, bool *ret_kept)
{
	struct pair *p;
	bool killed;

	setup((void **)&p);
	pair_close(p);
	killed = commit_killed(p, n);
	if (start)
		killed = inject_kill(start, child_open, p);
	open_for_reading(p->a);
	assert_oldest_left(p, start ? start : n);
	*ret_kept = has(p->a, "steps/4");
	teardown((void **)&p);
	return killed;
}

TEST(what_a_commit_ends_goes_from_the_newest)
{
	bool kept = false, now, more = true;
	int at = 1;

	while (!kept)
		assert_true(drop_killed(at++, 0, &kept));
	for (int n = at; more; n++)
		more = drop_killed(n, 0, &now);
	more = true;
	for (int n = 1; more; n += comb(2))
		more = drop_killed(at - 1, n, &now);
}

TESTS(NULL, NULL)
