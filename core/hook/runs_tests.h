/* runs_tests - guesses whether a command line runs the tests of a project. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

enum runs_tests {
	RUNS_NO_TESTS,
	RUNS_TESTS,	  /* its exit status is that of the tests */
	RUNS_TESTS_AMONG, /* as above, but another command's status: "make test | tail" */
};

/* Guesses from the names of programs and their first words; runs nothing. Any thread. */
enum runs_tests runs_tests(const char *line, size_t len);
