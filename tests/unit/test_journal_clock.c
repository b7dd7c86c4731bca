/* test_journal_clock - the wall clock is set back: the order of steps stays. */
/* SPDX-License-Identifier: MIT */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/journalfix.h"

#define DAY 86400

static time_t back; /* in seconds */

/* Replaces the library's function; time stamps of files by the kernel are unchanged. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ret);

	if (r == 0 && clock == CLOCK_REALTIME)
		ret->tv_sec -= back;
	return r;
}

static int setup(void **state)
{
	back = 0;
	*state = fix_new();
	return 0;
}

static int64_t change(struct fix *f, const char *text)
{
	begin(f, text);
	assert_int_equal(put(f, "a", text), 0);
	return commit(f);
}

static void assert_text(struct fix *f, const char *want)
{
	AUTO_FREE char *text = cat(f, "a");

	assert_string_equal(text, want);
}

TEST(undo_goes_by_the_steps)
{
	struct fix *f = *state;

	assert_true(change(f, "first") == 1);
	back = DAY;
	assert_true(change(f, "second") == 2);
	back = 2 * (time_t)DAY;
	fix_reopen(f);
	assert_true(change(f, "third") == 3);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_text(f, "second");
	assert_int_equal(undo(f, 1, 0), 0);
	assert_text(f, "first");
	assert_int_equal(redo(f, 0), 0);
	assert_text(f, "second");
	assert_int_equal(redo(f, 0), 0);
	assert_text(f, "third");
	assert_sound(f);
}

/* A process died with an open step before the clock was set back. */
TEST(recovery_does_not_ask_the_clock)
{
	struct fix *f = *state;

	change(f, "first");
	begin(f, "left open");
	assert_int_equal(put(f, "a", "second"), 0);
	assert_int_equal(rm(f, "a"), 0);
	back = DAY;
	fix_reopen(f);
	assert_text(f, "first");
	assert_sound(f);
}

/* The oldest step is the one with the lowest number. */
TEST(old_steps_go_in_their_order)
{
	struct fix *f = *state;
	struct journal_prune p = {.steps = 1};

	change(f, "first");
	back = DAY;
	change(f, "second");
	back = 2 * (time_t)DAY;
	change(f, "third");
	assert_int_equal(journal_prune(f->j, &p), 0);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.first, 1);
	assert_int_equal(p.last, 2);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_text(f, "second");
}

int main(void)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return run_all(setup, fix_teardown, NULL, NULL);
}
