/* program - finds the command in another: env, sudo, timeout, xargs, find -exec; see program.h. */
/* SPDX-License-Identifier: MIT */
#include "core/hook/program.h"

#include <ctype.h>
#include <string.h>

#include "core/base/path.h"

static bool is_assignment(const char *word)
{
	const char *p = word;

	if (!isalpha((unsigned char)*p) && *p != '_')
		return false;
	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	return *p == '=' || strncmp(p, "+=", 2) == 0;
}

void program_of(struct program *ret, const char *const *words, size_t n)
{
	size_t skip = 0;

	while (skip < n && is_assignment(words[skip]))
		skip++;
	*ret = (struct program){words + skip, n - skip};
}

bool program_has(const struct program *p, const char *word)
{
	for (size_t i = 1; i < p->n; i++)
		if (str_eq(p->argv[i], word))
			return true;
	return false;
}

bool program_has_short(const char *word, char letter)
{
	return word[0] == '-' && word[1] && word[1] != '-' && strchr(word + 1, letter) != NULL;
}

bool program_has_flag(const struct program *p, char letter)
{
	for (size_t i = 1; i < p->n && !str_eq(p->argv[i], "--"); i++)
		if (program_has_short(p->argv[i], letter))
			return true;
	return false;
}

const char *program_git_command(const struct program *p)
{
	for (size_t i = 1; i < p->n; i++) {
		const char *word = p->argv[i];

		if (*word != '-')
			return word;
		if (str_eq(word, "-C") || str_eq(word, "-c") || str_eq(word, "--git-dir") ||
		    str_eq(word, "--work-tree") || str_eq(word, "--namespace"))
			i++;
	}
	return NULL;
}

bool program_is_shell(const char *name)
{
	static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "ash"};

	name = path_base(name);
	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		if (str_eq(name, shells[i]))
			return true;
	return false;
}

const char *program_script(const struct program *p)
{
	if (p->n > 1 && str_eq(p->argv[0], "eval"))
		return p->argv[1];
	if (p->n == 0 || !program_is_shell(p->argv[0]))
		return NULL;
	for (size_t i = 1; i + 1 < p->n && *p->argv[i] == '-'; i++)
		if (program_has_short(p->argv[i], 'c'))
			return p->argv[i + 1];
	return NULL;
}

/* Programs that run the rest of their words, with their options that take a value, and the number
 * of operands before the command. */
static const struct wrapper {
	const char *name, *with_value;
	size_t operands;
} wrappers[] = {
	{"sudo", "ugpCDhrtT", 0}, {"doas", "uC", 0},	      {"env", "uCS", 0},
	{"nice", "n", 0},	  {"ionice", "cnp", 0},	      {"nohup", "", 0},
	{"time", "fo", 0},	  {"timeout", "ks", 1},	      {"stdbuf", "ioe", 0},
	{"setsid", "", 0},	  {"command", "", 0},	      {"builtin", "", 0},
	{"exec", "a", 0},	  {"xargs", "aEIJLnPsdR", 0}, {"parallel", "jIaN", 0},
	{"chroot", "", 1},	  {"watch", "n", 0},	      {"strace", "eopsE", 0},
	{"unshare", "", 0},
};

/* Returns where the command of "find ... -exec rm {} ;" begins. */
static size_t find_exec(const struct program *p)
{
	static const char *const words[] = {"-exec", "-execdir", "-ok", "-okdir"};

	for (size_t i = 1; i + 1 < p->n; i++)
		for (size_t k = 0; k < ARRAY_LEN(words); k++)
			if (str_eq(p->argv[i], words[k]))
				return i + 1;
	return 0;
}

/* Returns the index after the wrapper's options, assignments and own operands. */
static size_t skip_options(const struct program *p, const struct wrapper *w)
{
	size_t i = 1, operands = w->operands;

	while (i < p->n) {
		const char *word = p->argv[i];

		if (str_eq(word, "--")) {
			i++;
			break;
		}
		if (*word == '-' && word[1]) {
			bool value = word[1] != '-' && !word[2] && strchr(w->with_value, word[1]);

			i += value ? 2 : 1;
		} else if (is_assignment(word)) {
			i++;
		} else if (operands > 0) {
			operands--;
			i++;
		} else {
			break;
		}
	}
	return i;
}

size_t program_wrapped(const struct program *p)
{
	const char *name = p->n > 0 ? path_base(p->argv[0]) : "";
	size_t at = str_eq(name, "find") ? find_exec(p) : 0;

	for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
		if (str_eq(wrappers[i].name, name))
			at = skip_options(p, &wrappers[i]);
	return at > 0 && at < p->n ? p->n - at : 0;
}
