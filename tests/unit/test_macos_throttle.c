/* test_macos_throttle - a session that exceeds its limits is slowed, held and ended. */
/* SPDX-License-Identifier: MIT */
#include <sys/resource.h>

#include "backends/macos/throttle.h"
#include "tests/support/fake_seatbelt.h"

/* ---- holding back ---------------------------------------------------------------------------- */

struct told {
	char words[512];
	int ends;
};

static void on_say(void *data, const char *words)
{
	struct told *t = data;

	snprintf(t->words, sizeof(t->words), "%s", words);
}

static void on_end(void *data)
{
	((struct told *)data)->ends++;
}

static bool is_stopped(pid_t pid)
{
	AUTO_FREE char *path = xasprintf("/proc/%d/stat", (int)pid), *text = NULL;
	size_t len = 0;

	assert_int_equal(io_read_file(AT_FDCWD, path, 4096, &text, &len), 0);
	return strstr(text, ") T ") != NULL;
}

TEST(slowed_and_free_again)
{
	struct fixture *f = *state;
	struct told told = {.ends = 0};
	pid_t child = fork();
	struct throttle_spec spec = {.os = &f->os,
				     .session = "test",
				     .root = child,
				     .limits = {.memory_soft = 100, .memory_hard = 1000},
				     .say = on_say,
				     .end = on_end,
				     .data = &told};
	struct throttle *t;
	int held = 0, status;

	if (child == 0)
		for (;;)
			pause();
	t = throttle_new(&spec);
	throttle_tick(t);
	assert_int_equal(throttle_period(t), THROTTLE_LOOK_MS);
	assert_false(*told.words);
	f->usage.resident = 200;
	throttle_tick(t);
	assert_int_equal(throttle_period(t), THROTTLE_TICK_MS);
	assert_non_null(strstr(told.words, "slowed"));
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)child),
			 MIN(getpriority(PRIO_PROCESS, 0) + 10, 19));
	for (int i = 0; i < 10; i++) {
		throttle_tick(t);
		if (throttle_is_holding(t)) {
			assert_int_equal(waitpid(child, &status, WUNTRACED), child);
			assert_true(WIFSTOPPED(status) && is_stopped(child));
			held++;
		}
	}
	assert_int_equal(held, 5);
	f->usage.resident = 10;
	while (throttle_period(t) == THROTTLE_TICK_MS)
		throttle_tick(t);
	assert_false(throttle_is_holding(t));
	assert_false(is_stopped(child));
	f->usage.resident = 2000;
	throttle_tick(t);
	throttle_tick(t);
	assert_int_equal(told.ends, 1);
	throttle_free(t);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
}

int main(int argc, char **argv)
{
	helper_fake(argc, argv, inside_nobody);
	return run_all(setup, teardown, NULL, NULL);
}
