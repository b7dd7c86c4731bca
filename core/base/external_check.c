/* external_check - refuses programs, paths and lines of a folder that the agent writes. */
/* SPDX-License-Identifier: MIT */
#include "core/base/external_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/base/program.h"

/* ---- folders --------------------------------------------------------------------------------- */

static char **places;
static size_t n_places;
static external_writes writes;
static bool told; /* which they are */

int external_check_told(const char *what, struct err *err)
{
	return told ? 0
		    : err_say(err, -EPERM,
			      "%s: not run: this command does not know where agents write: report "
			      "this",
			      what);
}

void external_keep_out(const char *dir)
{
	AUTO_FREE char *real = dir ? realpath(dir, NULL) : NULL;

	told = true;
	if (!real || str_eq(real, "/"))
		return;
	for (size_t i = 0; i < n_places; i++)
		if (path_is_beneath(real, places[i]))
			return;
	places = xrealloc(places, (n_places + 1) * sizeof(*places));
	places[n_places++] = take_ptr(&real);
}

void external_ask(external_writes fn)
{
	writes = fn;
}

bool external_is_in_folder(const char *path, enum external_use use)
{
	for (size_t i = 0; i < n_places; i++)
		if (path_is_beneath(path, places[i]))
			return true;
	return writes && writes(path, use);
}

/* Resolves the longest part of an absolute path that exists. */
static bool leads_there(const char *path, enum external_use use)
{
	AUTO_FREE char *clean = path_clean(path);
	char *end = clean + strlen(clean);

	if (external_is_in_folder(clean, use))
		return true;
	while (end > clean) {
		AUTO_FREE char *head = xstrndup(clean, (size_t)(end - clean));
		AUTO_FREE char *real = realpath(head, NULL);
		AUTO_FREE char *whole = real ? xasprintf("%s%s", real, end) : NULL;

		if (whole)
			return external_is_in_folder(whole, use);
		do
			end--;
		while (end > clean && *end != '/');
	}
	return false;
}

bool external_is_kept_out(const char *path)
{
	AUTO_FREE char *real = realpath(path, NULL);

	return !real || leads_there(path, EXTERNAL_PROGRAM);
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char separators[] = " \t\n:,;|&<>()\"'=`{}";

static bool ends_with(const char *text, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len >= n && memcmp(text + len - n, suffix, n) == 0;
}

/* Returns the path that begins at the slash `at` of text, with the home in front if the text names
 * it. Heap. */
static char *path_at(const char *text, size_t at)
{
	static const char *const homes[] = {"~", "$HOME", "${HOME}", "\"$HOME\"", "\"${HOME}\""};
	size_t len = strcspn(text + at, separators);
	const char *home = getenv("HOME");

	for (size_t i = 0; home && i < ARRAY_LEN(homes); i++)
		if (ends_with(text, at, homes[i]))
			return xasprintf("%s%.*s", home, (int)len, text + at);
	return xstrndup(text + at, len);
}

/* Is it a script whose first line names a program of a folder? */
static bool has_interpreter_there(const char *path)
{
	char head[256];
	AUTO_CLOSE int fd = program_runs(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head) - 1);

	if (n < 2 || memcmp(head, "#!", 2) != 0)
		return false;
	head[n] = '\0';
	head[strcspn(head, "\n")] = '\0';
	for (size_t i = 2; head[i]; i++) {
		AUTO_FREE char *named = head[i] == '/' ? path_at(head, i) : NULL;

		if (named && leads_there(named, EXTERNAL_PROGRAM))
			return true;
	}
	return false;
}

bool external_is_refused(const char *program)
{
	return external_is_in_folder(program, EXTERNAL_PROGRAM) || has_interpreter_there(program);
}

bool external_leads_to_folder(const char *path, enum external_use use)
{
	return leads_there(path, use) || (use == EXTERNAL_PROGRAM && has_interpreter_there(path));
}

bool external_holds_folder(const char *text)
{
	for (size_t i = 0; i < n_places; i++) {
		size_t len = strlen(places[i]);

		for (const char *at = text; (at = strstr(at, places[i])); at += len)
			if (!at[len] || at[len] == '/' || strchr(separators, at[len]))
				return true;
	}
	return false;
}

bool external_names_folder(const char *text, enum external_use use)
{
	if (external_holds_folder(text))
		return true;
	for (size_t i = 0; text[i]; i++) {
		AUTO_FREE char *path = text[i] == '/' ? path_at(text, i) : NULL;

		if (path && external_leads_to_folder(path, use))
			return true;
	}
	return false;
}

int external_refuse(const char *setting, const char *what, struct err *err)
{
	return err_say(err, -EPERM,
		       "%s: %s is in a folder that the agent can write: not run: name a program "
		       "elsewhere, by its whole path",
		       setting, what);
}

/* Checks one word. A relative path is not found from "/", so the user is told where it leads. */
static int check_word(const char *setting, const char *word, struct err *err)
{
	AUTO_FREE char *cwd = getcwd(NULL, 0);
	AUTO_FREE char *from_here = cwd ? path_join(cwd, word) : NULL;
	AUTO_FREE char *found = NULL;
	struct err why = {0};

	if (strchr(word, '/'))
		return from_here && access(from_here, F_OK) == 0 &&
				       external_leads_to_folder(from_here, EXTERNAL_PROGRAM)
			       ? external_refuse(setting, word, err)
			       : 0;
	found = external_find(word, &why);
	return why.code == -EPERM ? external_refuse(setting, word, err) : 0;
}

int external_check(const char *setting, const char *line, struct err *err)
{
	AUTO_FREE char *words = xstrdup(line);
	char *rest = NULL;
	int r = external_names_folder(line, EXTERNAL_PROGRAM) ? external_refuse(setting, line, err)
							      : 0;

	for (char *word = strtok_r(words, separators, &rest); r == 0 && word;
	     word = strtok_r(NULL, separators, &rest))
		r = check_word(setting, word, err);
	return r;
}
