/* runs_tests - guesses whether a command line runs the tests of a project. */
/* SPDX-License-Identifier: MIT */
#include "core/hook/runs_tests.h"

#include <errno.h>
#include <string.h>

#include "core/base/path.h"
#include "core/hook/program.h"
#include "core/hook/shell.h"

/* Programs that only run tests. */
static const char *const runners[] = {
	"pytest",  "py.test", "tox",   "nox",	    "nose2",  "behave", "ctest",
	"jest",	   "vitest",  "mocha", "ava",	    "tap",    "karma",	"rspec",
	"phpunit", "bats",    "prove", "gotestsum", "busted", NULL,
};

/* Programs that run tests if one of their words is such a target. */
static const char *const builders[] = {
	"make",	 "gmake", "ninja",    "just",	"task",	  "rake", "npm",    "yarn",    "pnpm",
	"bun",	 "cargo", "go",	      "dotnet", "mvn",	  "mvnw", "gradle", "gradlew", "mix",
	"swift", "zig",	  "flutter",  "dart",	"bazel",  "deno", "meson",  "sbt",     "lein",
	"stack", "cabal", "composer", "bundle", "poetry", "uv",	  "hatch",  "rails",   NULL,
};

static const char *const targets[] = {
	"test", "tests", "check", "nextest", "verify", "spec", "selftest", "distcheck", NULL,
};

/* Returns whether the word is a target for tests: "test", "test:unit", "check-all", "test_fast". */
static bool is_target(const char *word)
{
	for (size_t i = 0; targets[i]; i++) {
		const char *rest = word + strlen(targets[i]);

		if (str_starts(word, targets[i]) && (!*rest || strchr(":-_.", *rest)))
			return true;
	}
	return false;
}

static bool is_python(const char *name)
{
	return str_starts(name, "python") && !name[strspn(name + 6, "0123456789.") + 6];
}

/* Returns whether an argument is a runner: "npx jest", "poetry run pytest", "python3 -m pytest". */
static bool names_runner(const struct program *p)
{
	static const char *const launchers[] = {"npx",	"bunx",	  "uvx",    "npm", "yarn",
						"pnpm", "bun",	  "poetry", "uv",  "hatch",
						"pipx", "bundle", "php",    NULL};
	const char *name = path_base(p->argv[0]);
	bool python = is_python(name);

	if (!python && !str_one_of(name, launchers))
		return false;
	for (size_t i = 1; i < MIN(p->n, (size_t)6); i++) {
		const char *word = path_base(p->argv[i]);

		if (python && !str_eq(p->argv[i - 1], "-m"))
			continue;
		if (str_one_of(word, runners) || (python && str_eq(word, "unittest")))
			return true;
	}
	return false;
}

static bool is_test(const struct program *p)
{
	const char *name = p->n ? path_base(p->argv[0]) : "";

	if (str_one_of(name, runners))
		return true;
	for (size_t i = 1; str_one_of(name, builders) && i < p->n; i++)
		if (is_target(p->argv[i]))
			return true;
	return p->n && names_runner(p);
}

static enum runs_tests look_at_line(const char *text, size_t len, unsigned depth);

/* Looks into "timeout 60 make test" and "sh -c 'make test'". */
static enum runs_tests look_at_words(const char *const *argv, size_t n, unsigned depth)
{
	for (size_t left = n; left;) {
		struct program p;
		const char *script;

		program_of(&p, argv + (n - left), left);
		if (is_test(&p))
			return RUNS_TESTS;
		script = program_script(&p);
		if (script && depth < SHELL_DEPTH_MAX)
			return look_at_line(script, strlen(script), depth + 1);
		left = program_wrapped(&p);
	}
	return RUNS_NO_TESTS;
}

static enum runs_tests look_at_line(const char *text, size_t len, unsigned depth)
{
	AUTO_SHELL struct shell_line line = {0};
	enum runs_tests found = RUNS_NO_TESTS;

	if (shell_parse(&line, text, len) == -EINVAL)
		return RUNS_NO_TESTS;
	for (size_t i = 0; i < line.n_commands; i++) {
		const struct shell_command *c = &line.commands[i];
		const char *argv[64];
		size_t n = MIN(c->n_words, ARRAY_LEN(argv));
		enum runs_tests here;

		for (size_t k = 0; k < n; k++)
			argv[k] = line.words[c->word + k].text;
		here = look_at_words(argv, n, depth);
		if (here != RUNS_NO_TESTS)
			found = i + 1 == line.n_commands ? here : RUNS_TESTS_AMONG;
	}
	return found;
}

enum runs_tests runs_tests(const char *line, size_t len)
{
	return look_at_line(line, len, 0);
}
