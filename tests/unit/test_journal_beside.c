/* test_journal_beside - one of two overlapping steps was pruned. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/journal.h"
#include "core/journal/step/step.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/store.h"
#include "core/journal/store/usage.h"
#include "tests/support/comb.h"
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

static size_t count_in(struct fix *f, const char *where)
{
	AUTO_NAMES struct names names = {0};

	assert_int_equal(store_names(f->j, where, &names), 0);
	return names.n;
}

static void prune_to(struct fix *f, size_t steps)
{
	struct journal_prune p = {.steps = steps, .at_least = steps ? 0 : PRUNE_ALL, .note = true};

	assert_int_equal(journal_prune(f->j, &p), 0);
	assert_int_equal(count_in(f, "steps"), steps);
}

static void set_up(struct fix *f)
{
	begin(f, "set up");
	assert_int_equal(put(f, "c", "all that was there\n"), 0);
	assert_int_equal(put(f, "d", "d\n"), 0);
	assert_true(commit(f) > 0);
}

/* The newer step truncates the file, the older one renames it. */
static void two_at_a_time(struct fix *f)
{
	struct step *older;

	begin(f, "mv c b");
	assert_int_equal(md(f, "mine"), 0);
	older = f->s;
	one_step(f, "echo > c", put(f, "c", "new\n"));
	f->s = older;
	assert_int_equal(mv(f, "c", "b", 0), 0);
	assert_true(commit(f) > 0);
}

/* The file would come back under its old name, and stay under the new one. */
TEST(what_both_changed_is_asked_about)
{
	struct fix *f = *state;
	struct undo_plan *plan = NULL;
	AUTO_FREE char *after = NULL;

	set_up(f);
	two_at_a_time(f);
	assert_int_equal(undo(f, 2, 0), 0);
	assert_int_equal(redo(f, 0), 0);
	after = snap(f);
	prune_to(f, 1);
	assert_int_equal(count_in(f, "beside"), 1); /* the first step did not overlap */
	assert_sound(f);
	fix_reopen(f);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_non_null(strstr(f->err.text, "'c'"));
	assert_non_null(strstr(f->err.text, "at the same time"));
	assert_tree(f, after);
	assert_int_equal(journal_plan(f->j, UNDO_BACK, 1, 0, &plan, &f->err), 0);
	assert_true(plan->entries[0].beside);
	undo_plan_free(plan);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_cat(f, "c", "all that was there\n");
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, after);
}

/* The newer step is left, as one to redo. */
static void only_undone_is_left(struct fix *f)
{
	set_up(f);
	two_at_a_time(f);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	prune_to(f, 0);
}

/* An undone step may be redone and undone again later. */
TEST(what_was_undone_meanwhile_too)
{
	struct fix *f = *state;

	only_undone_is_left(f);
	assert_int_equal(count_in(f, "beside"), 1);
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
}

/* The same for a step that was still running. */
TEST(what_still_ran_too)
{
	struct fix *f = *state;
	struct step *older;

	set_up(f);
	begin(f, "mv c b");
	assert_int_equal(md(f, "mine"), 0);
	older = f->s;
	one_step(f, "echo > c", put(f, "c", "new\n"));
	prune_to(f, 0);
	f->s = older;
	assert_int_equal(mv(f, "c", "b", 0), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_cat(f, "b", "new\n");
}

TEST(what_one_alone_changed_is_not)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	struct step *older;

	set_up(f);
	begin(f, "echo > d");
	assert_int_equal(put(f, "d", "new\n"), 0);
	before = snap(f);
	older = f->s;
	one_step(f, "echo > c", put(f, "c", "new\n"));
	f->s = older;
	assert_true(commit(f) > 0);
	prune_to(f, 1);
	assert_int_equal(count_in(f, "beside"), 1);
	if (undo(f, 1, 0) < 0)
		fail_msg("%s", f->err.text);
	assert_tree(f, before);
}

/* It is removed with the last step that had begun before its end. */
TEST(it_goes_with_those_it_is_for)
{
	struct fix *f = *state;

	set_up(f);
	two_at_a_time(f);
	one_step(f, "alone", put(f, "e", "e\n"));
	prune_to(f, 2);
	assert_int_equal(count_in(f, "beside"), 1);
	prune_to(f, 1);
	assert_int_equal(count_in(f, "beside"), 0);
	assert_int_equal(undo(f, 1, 0), 0);
}

static void fill(struct fix *f, const char *path)
{
	AUTO_FREE char *text = xmalloc(100001);

	memset(text, 'x', 100000);
	text[100000] = '\0';
	assert_int_equal(put(f, path, text), 0);
}

/* The saved content of such steps counts for the limits, and is removed; their logs count, too, and
 * are removed last. */
TEST(the_limits_hold)
{
	struct fix *f = *state;
	struct journal_prune p = {.size = 64 << 10};
	struct step *older;

	begin(f, "set up");
	fill(f, "c");
	fill(f, "d");
	assert_true(commit(f) > 0);
	begin(f, "echo > c");
	assert_int_equal(put(f, "c", "1\n"), 0);
	older = f->s;
	begin(f, "echo > d");
	assert_int_equal(put(f, "d", "2\n"), 0);
	assert_int_equal(put(f, "c", "2\n"), 0);
	assert_true(commit(f) > 0);
	f->s = older;
	assert_true(commit(f) > 0);
	prune_to(f, 1);
	assert_int_equal(count_in(f, "beside"), 1);
	assert_in_range(store_holds(f->j), 98 << 10, 160 << 10);
	p.look_only = true;
	assert_int_equal(journal_prune(f->j, &p), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(count_in(f, "beside"), 1);
	p = (struct journal_prune){.size = 1, .spare = 1};
	assert_int_equal(journal_prune(f->j, &p), 0);
	assert_int_equal(p.n, 0);
	assert_int_equal(count_in(f, "beside"), 0);
	assert_int_equal(count_in(f, "steps"), 1);
}

TEST(a_full_disk_gets_it_in_the_end)
{
	struct fix *f = *state;

	only_undone_is_left(f);
	begin(f, "more");
	store_empty_trash(f->j, NULL);
	assert_int_equal(count_in(f, "beside"), 1);
	while (store_relieve(f->j, -ENOSPC, false))
		;
	assert_int_equal(count_in(f, "beside"), 1);
	while (reserve_give(f->j, -ENOSPC))
		;
	assert_true(store_relieve(f->j, -ENOSPC, true));
	assert_int_equal(count_in(f, "beside"), 0);
	assert_false(store_relieve(f->j, -ENOSPC, true));
}

/* The undo continues without it. */
TEST(a_damaged_one_says_nothing)
{
	struct fix *f = *state;
	struct journal_sound sound;

	set_up(f);
	two_at_a_time(f);
	prune_to(f, 1);
	assert_int_equal(io_write_file(f->j->store, "beside/2/undo", 0600, "x", 1, false), 0);
	assert_int_equal(io_write_file(f->j->store, "beside/2/post", 0600, "x", 1, false), 0);
	assert_int_equal(journal_verify(f->j, print_damage, NULL, &sound, &f->err), -EBADMSG);
	assert_int_equal(sound.damages, 2);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
}

static void prune_and_die(void *arg)
{
	struct fix *f = arg;

	fix_open(f);
	prune_to(f, 1);
}

/* Killed anywhere: two steps are left, or one whose undo asks; that steps went is noted; the next
 * prune cleans up. */
TEST_WITH(killed_while_it_goes, NULL, NULL)
{
	bool more = true;

	for (int n = 1; more; n += comb(5)) {
		struct fix *f = fix_new();
		struct journal_pruned noted = {0};
		size_t left, all;

		set_up(f);
		two_at_a_time(f);
		all = count_in(f, "steps");
		fix_drop_dirs(f);
		journal_close(take_ptr(&f->j));
		more = inject_kill(n, prune_and_die, f);
		fix_open(f);
		assert_sound(f);
		left = count_in(f, "steps");
		assert_true(journal_pruned(f->j, &noted) || left == all);
		assert_true(more || noted.n == all - left);
		assert_int_equal(undo(f, 1, 0), -ESTALE);
		assert_int_equal(left + count_in(f, "beside") >= 2, 1);
		if (left == 1)
			assert_int_equal(count_in(f, "beside"), 1);
		prune_to(f, 1);
		assert_int_equal(faccessat(f->j->store, "beside/2/obj", F_OK, 0), -1);
		assert_int_equal(undo(f, 1, 0), -ESTALE);
		fix_free(f);
	}
}

/* ---- a session prunes beside the agent
 * --------------------------------------------------------
 */

static void session(struct fix *f, size_t steps)
{
	f->options.steps = steps;
	f->lasting = true;
	fix_reopen(f);
}

/* The second of two steps at a time stays, and the log of the first one, with what came
 * later. */
static void assert_pruned(struct fix *f)
{
	assert_int_equal(count_in(f, "steps"), 2);
	assert_int_equal(count_in(f, "beside"), 1);
	assert_false(journal_is_full(f->j));
	assert_sound(f);
}

/* Ends a session after so many parts of its pruning. Returns whether parts were left. */
static bool prune_some(size_t parts)
{
	struct fix *f = fix_new();
	bool left;

	for (int i = 0; i < 4; i++)
		one_step(f, "echo > a", put(f, "a", i % 2 ? "even\n" : "odd\n"));
	set_up(f);
	two_at_a_time(f);
	session(f, 1);
	assert_int_equal(count_in(f, "steps"), 7);
	left = journal_prune_on(f->j, parts);
	one_step(f, "echo > e", put(f, "e", "new\n"));
	if (!left)
		assert_pruned(f);
	session(f, 2);
	assert_false(journal_prune_on(f->j, PRUNE_REST));
	assert_pruned(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_non_null(strstr(f->err.text, "at the same time"));
	fix_free(f);
	return left;
}

TEST_WITH(a_session_may_end_after_any_part, NULL, NULL)
{
	size_t parts = 0;

	while (prune_some(parts))
		parts++;
	assert_in_range(parts, 7 * 2 + 6, 30); /* two looks at each step, and six go */
}

TESTS(fix_setup, fix_teardown)
