/* test_runs_tests - command lines that run tests, and whose exit status the user sees. */
/* SPDX-License-Identifier: MIT */
#include "core/hook/runs_tests.h"
#include "tests/support/check.h"

TEST(test_lines)
{
	static const struct {
		const char *line;
		enum runs_tests want;
	} cases[] = {
		{"make test", RUNS_TESTS},
		{"make -j4 B=asan check", RUNS_TESTS},
		{"make", RUNS_NO_TESTS},
		{"make testament", RUNS_NO_TESTS},
		{"npm run test:unit", RUNS_TESTS},
		{"npm install", RUNS_NO_TESTS},
		{"npx jest --ci", RUNS_TESTS},
		{"python3 -m pytest -x", RUNS_TESTS},
		{"python3.11 -m unittest", RUNS_TESTS},
		{"python3 pytest.py", RUNS_NO_TESTS},
		{"pip install pytest", RUNS_NO_TESTS},
		{"poetry run pytest", RUNS_TESTS},
		{"/usr/bin/pytest", RUNS_TESTS},
		{"A=1 timeout 60 cargo test", RUNS_TESTS},
		{"cd sub && go test ./...", RUNS_TESTS},
		{"bash -lc 'make test'", RUNS_TESTS},
		{"bash -lc 'make test | tail -n 3'", RUNS_TESTS_AMONG},
		{"make test; true", RUNS_TESTS_AMONG},
		{"pytest || true", RUNS_TESTS_AMONG},
		{"./gradlew test", RUNS_TESTS},
		{"echo make test", RUNS_NO_TESTS},
		{"test -f x", RUNS_NO_TESTS},
		{"git commit -m test", RUNS_NO_TESTS},
		{"make 'test", RUNS_NO_TESTS},
		{"", RUNS_NO_TESTS},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum runs_tests got = runs_tests(cases[i].line, strlen(cases[i].line));

		if (got != cases[i].want)
			fail_msg("'%s': %d and not %d", cases[i].line, (int)got,
				 (int)cases[i].want);
	}
}

TESTS(NULL, NULL)
