/* main - arguments and dispatch, nothing else. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include "backends/bwrap/bwrap.h"
#endif
#include "core/base/err.h"
#include "core/base/io.h"
#include "core/base/nearest.h"
#include "core/base/text.h"
#include "core/base/program.h"
#include "tui/commands/alone.h"
#include "tui/commands/commands.h"
#include "tui/commands/tool.h"
#include "tui/commands/version.h"
#include "tui/look/terminal.h"

static void usage(FILE *out)
{
	fputs("usage: cordon                      the console, with this folder's last command\n"
	      "       cordon [run] [OPTIONS] [--] COMMAND [ARGUMENT...]\n"
	      "       cordon SUBCOMMAND [OPTIONS]\n\n",
	      out);
	for (const struct command *c = commands; c->name; c++)
		if (c->summary)
			fprintf(out, "  %-10s %s\n", c->name, c->summary);
	fprintf(out, "\ncordon SUBCOMMAND --help says more; man cordon names the pages of the "
		     "manual.\n");
}

static const struct command *find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (str_eq(c->name, name))
			return c;
	return NULL;
}

static bool is_program(const char *name)
{
	AUTO_FREE char *file = program_find(name);

	return file || strchr(name, '/') != NULL;
}

/* Words of other programs, and the commands that do the same here. A program of that name comes
 * first: "cordon ls" runs ls. */
static const struct {
	const char *word, *instead;
} habits[] = {
	{"status", "cordon log (the steps) or cordon sessions (what runs)"},
	{"list", "cordon log (the steps) or cordon sessions (what runs)"},
	{"show", "cordon diff STEP"},
	{"history", "cordon log"},
	{"restore", "cordon undo --step STEP -- PATH"},
	{"checkout", "cordon undo --step STEP -- PATH"},
	{"revert", "cordon undo --step STEP"},
	{"rollback", "cordon undo"},
	{"rewind", "cordon undo"},
	{"checkpoint", "cordon mark"},
	{"snapshot", "cordon mark"},
	{"start", "cordon run -- COMMAND"},
	{"stop", "cordon board, and x there"},
	{"resume", "cordon attach"},
	{"allow", "cordon approve"},
	{"trust", "cordon policy trust"},
	{"config", "cordon init (writes a settings file) or cordon policy list"},
};

static const char *habit(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(habits); i++)
		if (str_eq(word, habits[i].word))
			return habits[i].instead;
	return NULL;
}

/* Refuses a word that is neither a subcommand nor a program, and names the one that is meant
 * or the nearest. Returns the exit status; 127, as for a command that is not found, without such a
 * subcommand. */
static int refuse_unknown(const char *word)
{
	struct nearest near = nearest_to(word);
	const char *instead = habit(word);
	AUTO_BUF struct buf shown = BUF_INIT;

	text_escape(&shown, word, strlen(word));
	for (const struct command *c = commands; c->name; c++)
		if (c->summary)
			nearest_try(&near, c->name);
	fprintf(stderr, "cordon: '%s': neither a subcommand of cordon nor a program: ", shown.data);
	if (instead)
		fprintf(stderr, "did you mean %s?\n", instead);
	else if (near.best)
		fprintf(stderr, "did you mean cordon %s?\n", near.best);
	else
		fprintf(stderr, "cordon --help lists the subcommands\n");
	return instead || near.best ? CMD_FAILED : 127;
}

/* Returns the subcommand behind options of run ("cordon -v log"), if it is no program; else
 * NULL. */
static const char *behind_options(int argc, char **argv)
{
	static const char *const without_value[] = {"-v", "--verbose", "--headless"};
	bool is_one = false;

	for (size_t i = 0; argc > 2 && i < ARRAY_LEN(without_value); i++)
		is_one |= str_eq(argv[1], without_value[i]);
	return is_one && find(argv[2]) && !is_program(argv[2]) ? argv[2] : NULL;
}

static bool asks_version(const char *word)
{
	return str_eq(word, "--version") || str_eq(word, "-V") ||
	       (str_eq(word, "version") && !is_program(word));
}

/* Turns "help undo" into "undo --help" and "help" into "--help", unless a program has that name. */
static void take_help(int argc, char **argv)
{
	static char option[] = "--help";

	if (argc < 2 || !str_eq(argv[1], "help") || is_program(argv[1]))
		return;
	if (argc > 2 && find(argv[2])) {
		argv[1] = argv[2];
		argv[2] = option;
	} else {
		argv[1] = option;
	}
}

int main(int argc, char **argv)
{
	const struct command *c;
	struct err err = {0};
	int status;

	if (io_hold_stdio() < 0)
		return CMD_FAILED;
	if (tool_is(argv[0]))
		return tool_main(argv);
#ifdef __linux__
	bwrap_become_first(argc, argv);
#endif
	if ((isatty(STDOUT_FILENO) || isatty(STDERR_FILENO)) && !terminal_here_is_utf8())
		text_escape_to_ascii();
	take_help(argc, argv);
	c = argc > 1 ? find(argv[1]) : NULL;
	if (argc < 2 && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))) {
		usage(stderr);
		return CMD_FAILED;
	}
	if (argc < 2) {
		status = cmd_alone(&err);
		if (err.code)
			fprintf(stderr, "cordon: %s\n", err.text);
		return status;
	}
	if (str_eq(argv[1], "--help") || str_eq(argv[1], "-h")) {
		usage(stdout);
		return 0;
	}
	if (asks_version(argv[1])) {
		version_print();
		return 0;
	}
	if (!c && *argv[1] != '-' && !is_program(argv[1]))
		return refuse_unknown(argv[1]);
	if (!c && behind_options(argc, argv)) {
		fprintf(stderr,
			"cordon: %s %s: the options of a subcommand come after it: cordon %s "
			"--help "
			"lists them\n",
			argv[1], argv[2], argv[2]);
		return CMD_FAILED;
	}
	if (c && command_is_misplaced(c, argc - 2, argv + 2, &err))
		status = CMD_FAILED;
	else if (c)
		status = c->run(argc - 2, argv + 2, &err);
	else
		status = cmd_run(argc - 1, argv + 1, &err);
	if (err.code)
		fprintf(stderr, "cordon: %s\n", err.text);
	return status;
}
