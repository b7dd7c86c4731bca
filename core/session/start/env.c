/* env - builds the environment of the agent from an allow list. */
/* SPDX-License-Identifier: MIT */
#include "core/session/start/env.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/policy/builtin/certificates.h"

/*
 * Left out on purpose: TMPDIR and XDG_RUNTIME_DIR (they name directories of the host; /tmp is
 * private), SSH_AUTH_SOCK and the like (sockets of the host), LD_*, BASH_ENV, ENV, PYTHONSTARTUP,
 * NODE_OPTIONS, PERL5OPT, GIT_* (code or commands to run), every *_TOKEN and *_KEY.
 */
static const char *const names[] = {
	/* the session */
	"HOME", "USER", "LOGNAME", "SHELL", "PATH", "HOSTNAME", "PWD",
	/* the terminal */
	"TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLUMNS", "LINES", "NO_COLOR",
	"FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LS_COLORS", "COLORFGBG",
	/* language and time */
	"LANG", "LANGUAGE", "LC_*", "TZ",
	/* the user's choices */
	"EDITOR", "VISUAL", "PAGER", "LESS", "MANPATH", "INFOPATH", "XDG_CONFIG_HOME",
	"XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS",
	/* paths of tool chains */
	"JAVA_HOME", "GOPATH", "GOROOT", "GOBIN", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "NVM_BIN",
	"VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR", "PYENV_ROOT", "VIRTUAL_ENV",
	"CONDA_PREFIX", "CONDA_DEFAULT_ENV", "RBENV_ROOT", "GEM_HOME", "SDKMAN_DIR", "ANDROID_HOME",
	"NIX_PATH", "NIX_PROFILES", "PKG_CONFIG_PATH", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS",
	"CI", "SOURCE_DATE_EPOCH", "DEBIAN_FRONTEND", NULL};

static bool matches(const char *pattern, const char *name, size_t len)
{
	size_t n = strlen(pattern);

	if (n && pattern[n - 1] == '*')
		return len >= n - 1 && strncmp(name, pattern, n - 1) == 0;
	return len == n && strncmp(name, pattern, n) == 0;
}

static bool is_among(const char *const *list, const char *name, size_t len)
{
	for (; list && *list; list++)
		if (matches(*list, name, len))
			return true;
	return false;
}

/* Returns whether this name is on the allow list. */
static bool env_name_passes(const char *name, size_t len, const char *const *extra)
{
	return is_among(names, name, len) || is_among(certificate_variables, name, len) ||
	       is_among(extra, name, len);
}

/* Returns whether a value is safe to print and to use as a file name, which TERM is. */
static bool value_is_plain(const char *name, size_t len, const char *value)
{
	size_t n = strlen(value);

	if (len == 4 && strncmp(name, "TERM", 4) == 0) {
		static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					    "0123456789-_.+";

		return n <= 64 && strspn(value, plain) == n;
	}
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)value[i] < ' ' || value[i] == 0x7f)
			return false;
	}
	return true;
}

char **env_scrub(char *const *environ, const char *const *extra, const char *session)
{
	size_t n = 0, count = util_list_len(environ);
	char **out = xcalloc(count + 3, sizeof(*out));

	for (size_t i = 0; i < count; i++) {
		const char *eq = strchr(environ[i], '=');
		size_t len = eq ? (size_t)(eq - environ[i]) : 0;

		if (len && env_name_passes(environ[i], len, extra) &&
		    value_is_plain(environ[i], len, eq + 1))
			out[n++] = xstrdup(environ[i]);
	}
	out[n++] = xstrdup("CORDON=1");
	out[n] = xasprintf("CORDON_SESSION=%s", session);
	return out;
}

/* Sets a variable. Takes setting over. */
static char **put(char **env, char *setting)
{
	size_t len = strcspn(setting, "=") + 1, n = 0;

	while (env[n] && strncmp(env[n], setting, len) != 0)
		n++;
	if (env[n]) {
		free(env[n]);
	} else {
		env = xrealloc(env, (n + 2) * sizeof(*env));
		env[n + 1] = NULL;
	}
	env[n] = setting;
	return env;
}

char **env_set(char **env, const char *const *settings, const char *cache)
{
	static const char mark[] = "$CORDON_CACHE";

	if (cache)
		env = put(env, xasprintf("CORDON_CACHE=%s", cache));
	for (; settings && *settings; settings++) {
		const char *value = strchr(*settings, '=');
		const char *at = value ? strstr(value, mark) : NULL;

		if (!value || value == *settings || (at && !cache))
			continue;
		env = put(env, at ? xasprintf("%.*s%s%s", (int)(at - *settings), *settings, cache,
					      at + strlen(mark))
				  : xstrdup(*settings));
	}
	return env;
}

static const char *value_of(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; *env; env++)
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return *env + len + 1;
	return NULL;
}

char **env_add_git(char **env, const char *key, const char *value)
{
	const char *given = value_of(env, "GIT_CONFIG_COUNT");
	unsigned long n = given ? strtoul(given, NULL, 10) : 0;

	n = n > 1000 ? 0 : n;
	env = put(env, xasprintf("GIT_CONFIG_KEY_%lu=%s", n, key));
	env = put(env, xasprintf("GIT_CONFIG_VALUE_%lu=%s", n, value));
	return put(env, xasprintf("GIT_CONFIG_COUNT=%lu", n + 1));
}

char **env_add_tools(char **env, const char *dir, const char *mode, const char *const *folders)
{
	const char *path = value_of(env, "PATH");
	struct buf list = BUF_INIT;
	bool plain = true;

	if (!dir)
		return env;
	buf_str(&list, "CORDON_FOLDERS=");
	for (size_t i = 0; folders[i]; i++) {
		plain = plain && !strchr(folders[i], ':');
		buf_fmt(&list, "%s%s", i ? ":" : "", folders[i]);
	}
	env = put(env, xasprintf("PATH=%s:%s", dir, path ? path : "/usr/bin:/bin"));
	env = put(env, xasprintf("CORDON_TOOLS=%s", mode));
	if (plain)
		env = put(env, buf_take(&list));
	buf_done(&list);
	return env;
}

static char **take_out(char **env, const char *name)
{
	size_t len = strlen(name), kept = 0;

	for (size_t i = 0; env[i]; i++) {
		if (strncmp(env[i], name, len) == 0 && env[i][len] == '=')
			free(env[i]);
		else
			env[kept++] = env[i];
	}
	env[kept] = NULL;
	return env;
}

/*
 * Removes variables from which programs take keys and features: rxvt's Home key differs from the
 * pane's, and a size that a shell exported for its own window is wrong here.
 */
char **env_in_pane(char **env)
{
	static const char *const around[] = {"TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLUMNS",
					     "LINES"};

	for (size_t i = 0; i < ARRAY_LEN(around); i++)
		env = take_out(env, around[i]);
	return put(env, xstrdup("TERM=xterm-256color"));
}
