/* test_journal_drop - what a redo ends goes with it, wherever it is killed or fails. */
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

/* What the first step in `a` alone and the one in `b` alone were can be redone, and a later one
 * that died in `a`: once that is back, the others are over. */
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

/* `first`: this one is opened before both are, as by a command in that folder. */
static void check_outlived(struct pair *p, struct fix *first, int n)
{
	p->b->with = NULL;
	if (first) {
		fix_open(first);
		journal_close(first->j);
		first->j = NULL;
	}
	pair_open(p);
	/* A start looks at one store after the other: what has gone in the first is not found. */
	if (has(p->a, "redo/1") && !has(p->b, "redo/2"))
		fail_msg("at system call %d: half of a rollback is left", n);
	if (has(p->a, "steps/3") == has(p->a, "redo/1"))
		fail_msg("at system call %d: it %s", n,
			 has(p->a, "steps/3") ? "came back, and the others can, too"
					      : "did not come back, and the others cannot");
	assert_false(has(p->a, "rollback") || has(p->b, "rollback"));
	while (has(p->b, "redo/2")) /* it can still be redone */
		assert_int_equal(redo(p->b, 0), 0);
}

/* What a redo ends in one store, for it came before what is back, ends in all of them. */
static void what_a_redo_ends_goes_as_one(void **state)
{
	(void)state;
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

static void what_a_redo_ends_stays_where_it_fails(void **state)
{
	bool more = true;

	(void)state;
	for (int n = 1; more; n += comb(5)) {
		struct pair *p = outlived();
		struct inject in = {.nth = n, .err = EIO};
		void *mine = p;

		pair_open(p);
		inject_run(&in, redo_last, p);
		more = in.failed >= 0;
		pair_close(p);
		check_outlived(p, NULL, n);
		teardown(&mine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_redo_ends_goes_as_one),
		cmocka_unit_test(what_a_redo_ends_stays_where_it_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
