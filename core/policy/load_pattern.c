/* load_pattern - expands `~` and the variables that a pattern of the settings begins with. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/load_priv.h"

#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/policy/builtin/sockets.h"

/* Returns whether a name of n bytes is that of a variable such as "SSH_AUTH_SOCK", and which. */
static bool is_socket_variable(const char *text, size_t n, const char **ret)
{
	for (size_t i = 0; sockets_variables[i]; i++) {
		if (strlen(sockets_variables[i]) != n || memcmp(sockets_variables[i], text, n) != 0)
			continue;
		*ret = sockets_variables[i];
		return true;
	}
	return false;
}

/* Returns the value of a leading variable, to be freed; or NULL, with *why. */
static char *variable(const struct rules_scope *scope, const char *name, size_t len,
		      const char **why)
{
	static const struct {
		const char *name, *usual; /* usual: below $HOME */
	} list[] = {{"HOME", ""},
		    {"USER", NULL},
		    {"XDG_CONFIG_HOME", "/.config"},
		    {"XDG_STATE_HOME", "/.local/state"},
		    {"XDG_DATA_HOME", "/.local/share"},
		    {"XDG_CACHE_HOME", "/.cache"},
		    {"XDG_RUNTIME_DIR", NULL}};
	size_t i = 0;
	const char *set;

	while (i < ARRAY_LEN(list) &&
	       !(strlen(list[i].name) == len && memcmp(list[i].name, name, len) == 0))
		i++;
	*why = "unknown variable: say $FOLDER, $ABOVE, $HOME, $USER, $XDG_..._HOME or, of a "
	       "socket, $SSH_AUTH_SOCK";
	if (i == ARRAY_LEN(list))
		return NULL;
	set = i ? getenv(list[i].name) : NULL;
	*why = "its variable is not set to an absolute path";
	if (set && *set == '/')
		return path_clean(set);
	if (list[i].usual)
		return xasprintf("%s%s", scope->home, list[i].usual);
	if (str_eq(list[i].name, "XDG_RUNTIME_DIR"))
		return xasprintf("/run/user/%u", geteuid());
	return NULL;
}

const char *loader_behind(struct loader *l, const char *place, const char *rest)
{
	size_t len;

	if (l->place != place) {
		buf_clear(&l->whole);
		if (!str_eq(place, "/"))
			glob_quote(&l->whole, place);
		l->place = place;
		l->quoted = l->whole.len;
	}
	if (!l->quoted && !*rest)
		rest = "/";
	len = strlen(rest);
	if (l->whole.cap <= l->quoted + len)
		buf_reserve(&l->whole, len);
	memcpy(l->whole.data + l->quoted, rest, len + 1);
	l->whole.len = l->quoted + len;
	return l->whole.data;
}

/* Expands $ABOVE: each directory above the folder, but not /. */
static bool expand_above(struct loader *l, const char *folder, const char *rest, on_pattern on,
			 void *data, const char **why)
{
	AUTO_FREE char *dir = path_dir(folder);
	bool good = true;

	while (good && !str_eq(dir, "/")) {
		char *up = path_dir(dir);

		good = on(data, loader_behind(l, dir, rest), why);
		l->place = NULL; /* freed by the return */
		free(dir);
		dir = up;
	}
	return good;
}

/* Expands $FOLDER, $ABOVE, a socket's variable, or another one. */
static bool expand_variable(struct loader *l, const char *text, on_pattern on, void *data,
			    const char **why)
{
	const char *const *folders = l->scope->folders;
	AUTO_FREE char *place = NULL;
	size_t n = strcspn(text, "/");
	const char *name;
	bool good = true;

	if (n == strlen("$FOLDER") && str_starts(text, "$FOLDER")) {
		for (size_t i = 0; good && folders && folders[i]; i++)
			good = on(data, loader_behind(l, folders[i], text + n), why);
		return good;
	}
	if (n == strlen("$ABOVE") && str_starts(text, "$ABOVE")) {
		for (size_t i = 0; good && folders && folders[i]; i++)
			good = expand_above(l, folders[i], text + n, on, data, why);
		return good;
	}
	if (is_socket_variable(text + 1, n - 1, &name)) {
		place = sockets_named(name, getenv(name));
		if (!place) /* the variable names no socket */
			return true;
	} else {
		place = variable(l->scope, text + 1, n - 1, why);
	}
	if (!place)
		return false;
	good = on(data, loader_behind(l, place, text + n), why);
	l->place = NULL; /* freed by the return */
	return good;
}

bool loader_expand(struct loader *l, const char *text, on_pattern on, void *data, const char **why)
{
	if (text[0] == '$')
		return expand_variable(l, text, on, data, why);
	if (text[0] == '~' && (text[1] == '/' || !text[1]))
		return on(data, loader_behind(l, l->scope->home, text + 1), why);
	if (text[0] == '*' && text[1] == '*') {
		AUTO_FREE char *place = path_join("/", text);

		return on(data, place, why);
	}
	return on(data, text, why);
}
