/* check - cmocka, after the headers that it needs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * A test registers itself where it is defined, and the tests of a file run in that order:
 *
 *	TEST(an_empty_list_has_no_end)
 *	{
 *		struct fixture *f = *state;
 *		...
 *	}
 *	TESTS(setup, teardown)
 *
 * TEST_WITH() has a fixture of its own, or none: NULL. run_all() is for a main() that does more.
 */
#define TESTS_MAX 64

struct tests {
	struct CMUnitTest list[TESTS_MAX];
	size_t n;
};
__attribute__((unused)) static struct tests tests;

/* Stands for the fixture that run_all() is given. */
static inline int test_fixture(void **state)
{
	(void)state;
	return 0;
}

static inline void test_add(struct CMUnitTest test)
{
	if (tests.n == TESTS_MAX)
		abort();
	tests.list[tests.n++] = test;
}

#define TEST_WITH(name, setup, teardown)                                                           \
	static void name(void **state);                                                            \
	__attribute__((constructor)) static void add_##name(void)                                  \
	{                                                                                          \
		test_add((struct CMUnitTest){#name, name, setup, teardown, NULL});                 \
	}                                                                                          \
	static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_WITH(name, test_fixture, test_fixture)

static inline int run_all(CMFixtureFunction setup, CMFixtureFunction teardown,
			  CMFixtureFunction first, CMFixtureFunction last)
{
	for (size_t i = 0; i < tests.n; i++) {
		struct CMUnitTest *t = &tests.list[i];

		t->setup_func = t->setup_func == test_fixture ? setup : t->setup_func;
		t->teardown_func = t->teardown_func == test_fixture ? teardown : t->teardown_func;
	}
	return _cmocka_run_group_tests("tests", tests.list, tests.n, first, last);
}

#define TESTS(setup, teardown)                                                                     \
	int main(void)                                                                             \
	{                                                                                          \
		return run_all(setup, teardown, NULL, NULL);                                       \
	}
