/* test_options - the command line that starts another agent with the options of this one. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/hook/shell.h"
#include "tests/support/check.h"
#include "tui/commands/options.h"

/* Parses options, and compares their command line with a NULL-terminated list. */
static void line_is(const char *cwd, const char *const *argv, const char *const *want)
{
	CLEANUP(run_options_done) struct run_options o = {0};
	AUTO_SHELL struct shell_line words = {0};
	AUTO_FREE char *line = NULL;
	struct err err = {0};
	size_t argc = 0, n = 0;

	while (argv[argc])
		argc++;
	assert_int_equal(run_options_parse(&o, (int)argc, (char **)(uintptr_t)argv, &err), 0);
	line = run_options_line(&o, cwd);
	assert_int_equal(shell_parse(&words, line, strlen(line)), 0);
	assert_int_equal(words.n_commands, 1);
	for (; want[n]; n++) {
		assert_true(n < words.n_words);
		assert_string_equal(words.words[n].text, want[n]);
	}
	assert_int_equal(words.n_words, n);
}

TEST(a_command_is_the_same)
{
	static const char *const time[] = {"time", "make", NULL};
	static const char *const function[] = {"function", "if", "it's", "a  b", "", NULL};
	static const char *const in[] = {"--exit", "time", "make", NULL};
	static const char *const out[] = {"--exit", "--", "time", "make", NULL};

	line_is("/", time, time);
	line_is("/", function, function);
	line_is("/", in, out);
}

static void name(char *out, size_t size, const char *dir, const char *below)
{
	snprintf(out, size, "%s/%s", dir, below);
}

/* "top/app" is the directory of the run; app/link leads to top/docs, by a link of a user. */
TEST(a_path_is_the_same_elsewhere)
{
	char top[] = "/tmp/cordon-options-XXXXXX", app[64], docs[64], c[64], p[64], s[64], link[64];
	static const char *const in[] = {
		"--rw",	    ".",	 "--rw",	 "link",    "--ro",
		"../docs",  "--ro",	 "/usr",	 "--hide",  "secret",
		"--hide",   "../docs",	 "--hide",	 "~/x",	    "--config",
		"conf/c",   "--profile", "./p.profile",	 "--theme", "mono",
		"--record", "cast",	 "--allow-unix", "s",	    "--allow-unix",
		"$DISPLAY", "agent",	 "../docs",	 NULL};
	const char *const out[] = {
		"--rw",	     ".",     "--rw",	      docs,	"--ro",		docs,
		"--ro",	     "/usr",  "--hide",	      "secret", "--hide",	docs,
		"--hide",    "~/x",   "--allow-unix", s,	"--allow-unix", "$DISPLAY",
		"--profile", p,	      "--config",     c,	"--theme",	"mono",
		"--",	     "agent", "../docs",      NULL};

	assert_non_null(mkdtemp(top));
	name(app, sizeof(app), top, "app");
	name(docs, sizeof(docs), top, "docs");
	name(c, sizeof(c), app, "conf/c");
	name(p, sizeof(p), app, "p.profile");
	name(s, sizeof(s), app, "s");
	name(link, sizeof(link), app, "link");
	assert_int_equal(mkdir(app, 0700), 0);
	assert_int_equal(mkdir(docs, 0700), 0);
	assert_int_equal(symlink(docs, link), 0);
	line_is(app, in, out);
	assert_int_equal(io_remove_tree(AT_FDCWD, top), 0);
}

TESTS(NULL, NULL)
