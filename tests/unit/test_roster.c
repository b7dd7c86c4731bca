/* test_roster - a session's changed lines are counted, and again when its steps change. */
/* SPDX-License-Identifier: MIT */
#include "core/api/socket/roster.h"
#include "core/base/clock.h"
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

static int64_t write_step(struct fix *f, const char *path, const char *text)
{
	begin(f, "write");
	must(f, put(f, path, text));
	return committed(f);
}

/* The state directory is where roster_count() looks for it. */
static void use_state(const struct fix *f)
{
	AUTO_FREE char *link = xasprintf("%s/cordon", f->top);

	assert_int_equal(symlink(f->state, link), 0);
	assert_int_equal(setenv("XDG_STATE_HOME", f->top, 1), 0);
}

static void assert_lines(const struct roster_row *row, uint64_t added, uint64_t deleted)
{
	assert_true(row->counted);
	assert_int_equal(row->added, added);
	assert_int_equal(row->deleted, deleted);
}

TEST(lines_are_counted_when_the_steps_change)
{
	struct fix *f = *state;
	struct roster_row row = {.folder = f->folder};
	int64_t first, last;

	use_state(f);
	roster_count(&row);
	assert_lines(&row, 0, 0);
	first = write_step(f, "a", "1\n2\n");
	last = write_step(f, "b", "1\n");
	roster_count(&row);
	assert_lines(&row, 3, 0);
	assert_int_equal(row.first, first);
	assert_int_equal(row.last, last);

	row.added = 1000; /* what is known is not counted again */
	roster_count(&row);
	assert_lines(&row, 1000, 0);

	last = write_step(f, "a", "1\n");
	roster_count(&row);
	assert_lines(&row, 2, 0);
	assert_int_equal(row.last, last);
	must(f, undo(f, 1, 0));
	roster_count(&row);
	assert_lines(&row, 3, 0);
	must(f, redo(f, 0));
	roster_count(&row);
	assert_lines(&row, 2, 0);
	must(f, undo(f, 3, 0));
	roster_count(&row);
	assert_lines(&row, 0, 0);
	assert_int_equal(row.first, 0);
}

static void count_row(void *row)
{
	roster_count(row);
}

/* Counts the system calls that the row of a session takes which begins now. */
static int calls_of_session(struct fix *f)
{
	struct roster_row row = {.folder = f->folder, .since_us = clock_wall_us()};
	struct inject calls = {0};

	inject_run(&calls, count_row, &row);
	assert_lines(&row, 0, 0);
	return calls.seen;
}

TEST(steps_before_the_session_are_not_read)
{
	struct fix *f = *state;
	int few;

	use_state(f);
	write_step(f, "a", "1\n");
	few = calls_of_session(f);
	for (int i = 0; i < 20; i++)
		write_step(f, i % 2 ? "a" : "b", "1\n2\n");
	assert_int_equal(calls_of_session(f), few);
}

TEST(a_folder_without_a_history_has_no_lines)
{
	struct fix *f = *state;
	AUTO_FREE char *other = xasprintf("%s/other", f->top);
	struct roster_row row = {.folder = other, .added = 5, .counted = true};

	use_state(f);
	roster_count(&row);
	assert_false(row.counted);
}

TESTS(fix_setup, fix_teardown)
