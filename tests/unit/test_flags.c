/* test_flags - options and arguments of the commands that only read. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "tests/support/check.h"
#include "tui/commands/flags.h"

struct options {
	bool json;
	const char *count;
};

static const struct flag flags[] = {
	{"--json", NULL, offsetof(struct options, json), "as JSON"},
	{"--count", "N", offsetof(struct options, count), "how many"},
};
static const struct usage usage = {"test [--json]", "Nothing.", flags, ARRAY_LEN(flags)};

/* Splits a string at blanks into argv. Returns the parser's result. */
static int parse(const char *line, struct options *o, struct strings *rest, struct err *err)
{
	static char text[256];
	char *argv[16], *save = NULL;
	int argc = 0;

	snprintf(text, sizeof(text), "%s", line);
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	*o = (struct options){0};
	strings_done(rest);
	return flags_parse(&usage, argc, argv, o, rest, err);
}

TEST(sorts)
{
	struct options o;
	struct strings rest = {0};
	struct err err = {0};

	assert_int_equal(parse("a --json -3 --count=7 b", &o, &rest, &err), 0);
	assert_true(o.json);
	assert_string_equal(o.count, "7");
	assert_int_equal(rest.n, 3);
	assert_string_equal(rest.list[1], "-3");
	assert_int_equal(parse("--count 8 -- --json", &o, &rest, &err), 0);
	assert_false(o.json);
	assert_string_equal(o.count, "8");
	assert_string_equal(rest.list[0], "--json");
	assert_int_equal(parse("--", &o, &rest, &err), 0);
	assert_int_equal(rest.n, 0);
	strings_done(&rest);
}

TEST(refuses)
{
	static const char *const bad[] = {"--jso", "-x", "--count", "--json=1", "---"};
	struct options o;
	struct strings rest = {0};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = {0};

		assert_int_equal(parse(bad[i], &o, &rest, &err), -EINVAL);
		assert_true(err.code < 0);
	}
	strings_done(&rest);
}

TESTS(NULL, NULL)
