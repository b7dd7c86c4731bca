/* flags - a command's options: one table for parsing and --help. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/flags.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/nearest.h"
#include "tui/commands/show.h"

#define HELP_COLUMNS 80

/* Returns the length of the next word of a synopsis; a bracket is one word. */
static int word_length(const char *s)
{
	int n = 0, depth = 0;

	for (; s[n] && (s[n] != ' ' || depth > 0); n++)
		depth += (s[n] == '[') - (s[n] == ']');
	return n;
}

/* Prints a synopsis in several lines. Each alternative ("log [--json] | --prune") has its own line,
 * which begins with the command's name: "cordon log --prune". */
static void print_synopsis(const char *s)
{
	const int name = word_length(s);
	const char *at = s;
	int used = printf("usage: cordon");

	while (*at) {
		int n = word_length(at);

		if (n == 1 && *at == '|') {
			bool named = strncmp(at + 2, s, (size_t)name + 1) == 0;

			used = printf("\n       cordon%s%.*s", named ? "" : " ", named ? 0 : name,
				      s) -
			       1;
		} else {
			if (used + 1 + n > HELP_COLUMNS)
				used = printf("\n           ") - 1;
			used += printf(" %.*s", n, at);
		}
		at += n + (at[n] == ' ');
	}
	fputs("\n\n", stdout);
}

/* Prints lines that fit unchanged (they may be a table), and wraps longer ones. */
static void print_about(const char *about)
{
	for (const char *line = about; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		AUTO_FREE char *one = xstrndup(line, strcspn(line, "\n"));

		if (strlen(one) <= HELP_COLUMNS)
			puts(one);
		else
			show_wrapped(one, 0, HELP_COLUMNS);
	}
}

static void print_help(const struct usage *u)
{
	print_synopsis(u->synopsis);
	print_about(u->about);
	if (u->n_flags)
		printf("\n");
	for (size_t i = 0; i < u->n_flags; i++) {
		char left[64];

		snprintf(left, sizeof(left), "%s%s%s", u->flags[i].name, u->flags[i].arg ? " " : "",
			 u->flags[i].arg ? u->flags[i].arg : "");
		show_option(left, u->flags[i].help);
	}
}

static const struct flag *find_flag(const struct usage *u, const char *arg, size_t len)
{
	for (size_t i = 0; i < u->n_flags; i++)
		if (strlen(u->flags[i].name) == len && memcmp(u->flags[i].name, arg, len) == 0)
			return &u->flags[i];
	return NULL;
}

static int unknown_flag(const struct usage *u, const char *arg, size_t len, struct err *err)
{
	AUTO_FREE char *word = xstrndup(arg, len);
	struct nearest near = nearest_to(word);

	for (size_t i = 0; i < u->n_flags; i++)
		nearest_try(&near, u->flags[i].name);
	return err_say(err, -EINVAL, "unknown option '%s'%s%s%s: usage: cordon %s", arg,
		       near.best ? ": did you mean " : "", near.best ? near.best : "",
		       near.best ? "?" : "", u->synopsis);
}

/* Reads a flag. i is increased if its value is the next argument. */
static int take_flag(const struct usage *u, int argc, char **argv, int *i, void *out,
		     struct err *err)
{
	const char *arg = argv[*i];
	size_t len = strcspn(arg, "=");
	const struct flag *f = find_flag(u, arg, len);
	void *field;

	if (!f)
		return unknown_flag(u, arg, len, err);
	if (!f->arg && arg[len])
		return err_say(err, -EINVAL, "option '%s': takes no value", f->name);
	if (f->arg && !arg[len] && *i + 1 >= argc)
		return err_say(err, -EINVAL, "option '%s': needs a value: %s %s", f->name, f->name,
			       f->arg);
	field = (char *)out + f->at;
	if (!f->arg)
		*(bool *)field = true;
	else
		*(const char **)field = arg[len] ? arg + len + 1 : argv[++*i];
	return 0;
}

int flags_parse(const struct usage *u, int argc, char **argv, void *out, struct strings *rest,
		struct err *err)
{
	bool flags = true;

	for (int i = 0; i < argc; i++) {
		bool number = argv[i][0] == '-' && argv[i][1] >= '0' && argv[i][1] <= '9';
		int r;

		if (flags && str_eq(argv[i], "--")) {
			flags = false;
			if (rest)
				rest->ahead = rest->n;
		} else if (flags && (str_eq(argv[i], "--help") || str_eq(argv[i], "-h"))) {
			print_help(u);
			return 1;
		} else if (flags && argv[i][0] == '-' && argv[i][1] && !number) {
			r = take_flag(u, argc, argv, &i, out, err);
			if (r < 0)
				return r;
		} else if (!rest) {
			return err_say(err, -EINVAL, "%.*s: takes no arguments: usage: cordon %s",
				       (int)strcspn(u->synopsis, " "), u->synopsis, u->synopsis);
		} else if (flags && rest->most && rest->n == rest->most) {
			return err_say(
				err, -EINVAL, "%.*s: unexpected argument '%s': usage: cordon %s",
				(int)strcspn(u->synopsis, " "), u->synopsis, argv[i], u->synopsis);
		} else {
			strings_add(rest, argv[i]);
		}
	}
	if (flags && rest)
		rest->ahead = rest->n;
	return 0;
}
