/* test_journal_crash - killed before each system call of a step, an undo, a redo, a recovery. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/background.h"
#include "core/journal/journal.h"
#include "core/journal/store/store.h"
#include "tests/support/comb.h"
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

/* Makes every kind of record, in an order in which they interfere. */
static void work(struct fix *f)
{
	begin(f, "work");
	put(f, "new", "new");
	add(f, "a", "more");
	add(f, "linked", "more");
	mv(f, "a", "a2", 0);
	put(f, "tmp", "replacement");
	mv(f, "tmp", "b", 0);
	rm(f, "d/x");
	rm(f, "d/e/y");
	rd(f, "d/e");
	md(f, "n");
	put(f, "n/in", "in");
	mv(f, "d", "n/d", 0);
	mv(f, "b", "c", RENAME_EXCHANGE);
	mode(f, "c", 0600);
	md(f, "z");
	mv(f, "z", "empty", 0);
	sym(f, "target", "s");
	ln(f, "c", "clink");
	md(f, "n");
	mv(f, "n", "n/d/n", 0);
	put(f, "a", "another a");
}

static void prepare(struct fix *f)
{
	begin(f, "prepare");
	md(f, "d");
	md(f, "d/e");
	md(f, "empty");
	put(f, "a", "alpha");
	put(f, "b", "beta");
	put(f, "c", "gamma");
	put(f, "linked", "delta");
	ln(f, "linked", "d/link");
	put(f, "d/x", "x-ray");
	put(f, "d/e/y", "yankee");
	assert_true(commit(f) != 0);
}

struct doomed {
	struct fix *f;
	void (*fn)(struct fix *);
};

static void child_step(struct fix *f)
{
	fix_open(f);
	work(f);
}

/* The renames after the second are performed without a check of the new name, which exists in the
 * end. */
static void child_moves(struct fix *f)
{
	fix_open(f);
	begin(f, "moves");
	put(f, "t1", "1");
	mv(f, "t1", "n1", 0);
	mv(f, "n1", "n2", 0);
	mv(f, "a", "n3", 0);
	mv(f, "c", "b", 0);
	mv(f, "n3", "n4", 0);
	mv(f, "n4", "n5", 0);
	mv(f, "n5", "linked", 0);
}

static void child_commit(struct fix *f)
{
	fix_open(f);
	work(f);
	commit(f);
}

static void child_abort(struct fix *f)
{
	fix_open(f);
	work(f);
	if (journal_abort(f->s, &f->err) < 0)
		_exit(1);
}

static void child_undo(struct fix *f)
{
	fix_open(f);
	undo(f, 2, 0);
}

static void child_redo(struct fix *f)
{
	fix_open(f);
	redo(f, 0);
}

static void child_restore(struct fix *f)
{
	static const char *const paths[] = {"a", "b", "c", "new", NULL};

	fix_open(f);
	if (journal_restore(f->j, 2, paths, true, &f->err) < 0)
		_exit(1);
}

static void child_tidy(struct fix *f)
{
	fix_open(f);
	background_once(f->j);
}

static void child_fit(struct fix *f)
{
	f->options.steps = 1;
	fix_open(f);
}

static void child_prune(struct fix *f)
{
	struct journal_prune p = {.steps = 1};

	fix_open(f);
	if (journal_prune(f->j, &p) < 0)
		_exit(1);
}

static void child_open(struct fix *f)
{
	fix_open(f);
}

static void run(void *arg)
{
	struct doomed *d = arg;

	d->fn(d->f);
}

/* Runs fn in a child that dies at the start of its n-th system call. Returns false if it has
 * fewer. */
static bool die_at(struct fix *f, void (*fn)(struct fix *), int n)
{
	struct doomed d = {.f = f, .fn = fn};

	if (f->j) {
		fix_drop_dirs(f);
		journal_close(f->j);
		f->j = NULL;
	}
	return inject_kill(n, run, &d);
}

/* Checks that the folder is as one of the two trees, and that undo and redo work without a
 * conflict. */
static void check(struct fix *f, const char *one, const char *other, size_t steps, int n)
{
	AUTO_FREE char *now = NULL;

	fix_open(f);
	assert_sound(f);
	now = snap(f);
	if (!str_eq(now, one) && (!other || !str_eq(now, other))) {
		tree_same(one, now);
		fail_msg("killed at system call %d: neither old nor new", n);
	}
	if (!str_eq(now, one)) {
		assert_int_equal(undo(f, steps, false), 0);
		assert_tree(f, one);
		assert_int_equal(redo(f, 0), 0);
		assert_tree(f, now);
	} else if (redo(f, 0) == 0) {
		assert_int_equal(undo(f, steps, false), 0);
		assert_tree(f, one);
	}
}

static void each_call(void (*fn)(struct fix *), bool committed, int apart)
{
	bool more = true;

	for (int n = 1; more; n += comb(apart)) {
		struct fix *f = fix_new();
		AUTO_FREE char *before = NULL;
		AUTO_FREE char *after = NULL;

		prepare(f);
		before = snap(f);
		if (committed) {
			AUTO_FREE char *base = before;

			work(f);
			assert_true(commit(f) != 0);
			after = snap(f);
			if (fn == child_restore) {
				before = xstrdup(after); /* start of a restore */
				free(take_ptr(&after));
			} else if (fn == child_undo) {
				assert_int_equal(undo(f, 2, 0), 0);
				before = snap(f);
				assert_int_equal(redo(f, 0), 0);
			} else {
				before = xstrdup(base);
				assert_int_equal(undo(f, 1, 0), 0);
			}
		}
		more = die_at(f, fn, n);
		/* The recovery is killed as well, at some call. */
		die_at(f, child_open, 20 + n * 7 % 90);
		if ((fn == child_commit || fn == child_restore) && !after) {
			fix_open(f);
			after = snap(f); /* committed or not: check() begins here */
			fix_drop_dirs(f);
			journal_close(f->j);
			f->j = NULL;
			if (str_eq(after, before))
				free(take_ptr(&after));
		}
		check(f, before, after, fn == child_undo ? 2 : 1, n);
		fix_free(f);
	}
}

TEST(in_a_step)
{
	each_call(child_step, false, 7);
}

TEST(in_a_row_of_renames)
{
	each_call(child_moves, false, 3);
}

TEST(in_a_commit)
{
	each_call(child_commit, false, 9);
}

TEST(in_an_abort)
{
	each_call(child_abort, false, 11);
}

TEST(in_an_undo)
{
	each_call(child_undo, true, 7);
}

TEST(in_a_redo)
{
	each_call(child_redo, true, 7);
}

TEST(in_a_restore)
{
	each_call(child_restore, true, 7);
}

/* ---- background work: compression, pruning --------------------------------------------------- */

static void fill_big(struct fix *f, char fill)
{
	AUTO_FREE char *text = xmalloc(150001);

	memset(text, fill, 150000);
	text[150000] = '\0';
	begin(f, "fill");
	assert_int_equal(put(f, "big", text), 0);
	assert_int_equal(put(f, "huge", text), 0);
	text[30000] = '\0';
	for (int i = 0; i < 6; i++) {
		AUTO_FREE char *name = xasprintf("small%d", i);

		assert_int_equal(put(f, name, text), 0);
	}
	assert_true(commit(f) > 0);
}

/* The folder must not change, the store must stay sound, and the newest steps must be undoable. */
static void each_upkeep(void (*fn)(struct fix *), size_t steps, int apart)
{
	bool more = true;

	for (int n = 1; more; n += comb(apart)) {
		struct fix *f = fix_new();
		char *was[3] = {0};

		for (int i = 0; i < 3; i++) {
			fill_big(f, (char)('a' + i));
			was[i] = snap(f);
		}
		more = die_at(f, fn, n);
		die_at(f, fn, 20 + n * 7 % 90);
		fix_open(f);
		assert_sound(f);
		assert_tree(f, was[2]);
		if (undo(f, steps, 0) < 0)
			fail_msg("killed at system call %d: %s", n, f->err.text);
		assert_tree(f, was[2 - steps]);
		assert_sound(f);
		assert_int_equal(redo(f, 0), 0);
		assert_tree(f, was[2]);
		for (int i = 0; i < 3; i++)
			free(was[i]);
		fix_free(f);
	}
}

TEST(while_compressing)
{
	each_upkeep(child_tidy, 2, 5);
}

TEST(while_old_steps_go)
{
	each_upkeep(child_fit, 1, 5);
}

TEST(while_pruning)
{
	each_upkeep(child_prune, 1, 5);
}

static void open_again(void *arg)
{
	struct fix *f = arg;
	struct journal_spec spec = {.folder = f->folder, .state_dir = f->state};

	if (journal_open(&f->j, &spec, NULL, &f->err) < 0)
		f->j = NULL;
}

/* The step cannot be rolled back: steps undone before it began would be redone over it. */
TEST(what_stays_ends_what_was_undone)
{
	size_t stayed = 0;
	bool more = true;

	for (int n = 1; more; n += comb(2)) {
		struct inject in = {.nth = n, .err = EIO};
		struct fix *f = fix_new();

		prepare(f);
		one_step(f, "undone", put(f, "u", "u"));
		assert_int_equal(undo(f, 1, 0), 0);
		die_at(f, child_step, 100000);
		inject_run(&in, open_again, f);
		more = in.failed >= 0;
		if (!f->j)
			fix_open(f);
		stayed += has(f, "steps/3");
		if (has(f, "steps/3") == has(f, "redo/2") || has(f, "redo/3") != has(f, "redo/2"))
			fail_msg("call %d failed: the step %s, what was undone is %s", n,
				 has(f, "steps/3") ? "stayed" : "went",
				 has(f, "redo/2") ? "there" : "gone");
		fix_free(f);
	}
	assert_true(stayed > 0);
}

TESTS(NULL, NULL)
