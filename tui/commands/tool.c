/* tool - cordon under the name of find, xargs, parallel or rm: a front end inside the sandbox. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/tool.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/hook/safe_tools.h"
#include "core/os/file.h"

bool tool_is(const char *name)
{
	return name && safe_tools_has(path_base(name));
}

static bool is_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Finds the first program of that name in PATH that is neither this one nor the script `called`
 * (npm packages start it by a script where links are missing). Heap; NULL: none. */
static char *find_real(const char *name, const char *called)
{
	const char *path = getenv("PATH");
	struct stat self, script = {0}, st;
	char own[PATH_MAX];

	if (os_self_path(own, sizeof(own)) < 0 || stat(own, &self) < 0)
		return NULL;
	if (!strchr(called, '/') || stat(called, &script) < 0)
		script = self;
	for (const char *at = path ? path : "/usr/bin:/bin"; *at; at += *at == ':') {
		size_t len = strcspn(at, ":");
		AUTO_FREE char *file = xasprintf("%.*s/%s", (int)len, at, name);

		if (len && access(file, X_OK) == 0 && stat(file, &st) == 0 &&
		    !is_file(&st, &self) && !is_file(&st, &script))
			return take_ptr(&file);
		at += len;
	}
	return NULL;
}

static char *advice(const char *name, char **args)
{
	AUTO_FREE char *fd = find_real("fd", "");
	AUTO_FREE char *fdfind = fd ? NULL : find_real("fdfind", "");
	AUTO_FREE char *cwd = getcwd(NULL, 0);
	const struct safe_tools_context context = {
		.cwd = cwd ? cwd : "/",
		.folders = getenv("CORDON_FOLDERS"),
		.cache = getenv("CORDON_CACHE"),
		.fd = fd       ? "fd"
		      : fdfind ? "fdfind"
			       : NULL,
	};

	return safe_tools_advice(name, args, &context);
}

int tool_main(char **argv)
{
	const char *name = path_base(argv[0]), *mode = getenv("CORDON_TOOLS");
	AUTO_FREE char *words = NULL;
	AUTO_FREE char *real = NULL;

	if (str_eq(mode, "on") || str_eq(mode, "warn"))
		words = advice(name, argv + 1);
	if (words)
		fprintf(stderr, "cordon: %s.\n", words);
	if (words && str_eq(mode, "on"))
		return 1;
	real = find_real(name, argv[0]);
	if (!real) {
		fprintf(stderr, "cordon: %s: there is no such program here\n", name);
		return 127;
	}
	execv(real, argv);
	fprintf(stderr, "cordon: %s: %s\n", real, strerror(errno));
	return 126;
}
