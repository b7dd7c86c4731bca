/* test_options - the line that starts another agent as this one was started. */
/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/hook/shell.h"
#include "tui/commands/options.h"

/* Parses options, and compares the words of their line with a list that ends with NULL. */
static void line_is(const char *const *argv, const char *const *want)
{
	CLEANUP(run_options_done) struct run_options o = {0};
	AUTO_SHELL struct shell_line words = {0};
	AUTO_FREE char *line = NULL;
	struct err err = {0};
	size_t argc = 0, n = 0;

	while (argv[argc])
		argc++;
	assert_int_equal(run_options_parse(&o, (int)argc, (char **)(uintptr_t)argv, &err), 0);
	line = run_options_line(&o);
	assert_int_equal(shell_parse(&words, line, strlen(line)), 0);
	assert_int_equal(words.n_commands, 1);
	for (; want[n]; n++) {
		assert_true(n < words.n_words);
		assert_string_equal(words.words[n].text, want[n]);
	}
	assert_int_equal(words.n_words, n);
}

static void a_command_is_the_same(void **state)
{
	static const char *const time[] = {"time", "make", NULL};
	static const char *const function[] = {"function", "if", "it's", "a  b", "", NULL};
	static const char *const in[] = {"--exit", "time", "make", NULL};
	static const char *const out[] = {"--exit", "--", "time", "make", NULL};

	(void)state;
	line_is(time, time);
	line_is(function, function);
	line_is(in, out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
