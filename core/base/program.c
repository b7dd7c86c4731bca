/* program - finds the file of a program by name. */
/* SPDX-License-Identifier: MIT */
#include "core/base/program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool program_runs(const char *file)
{
	struct stat st;

	return access(file, X_OK) == 0 && stat(file, &st) == 0 && S_ISREG(st.st_mode);
}

char *program_find(const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return program_runs(name) ? xstrdup(name) : NULL;
	for (const char *at = path && *name ? path : ""; *at; at += *at == ':') {
		size_t len = strcspn(at, ":");
		AUTO_FREE char *file =
			len ? xasprintf("%.*s/%s", (int)len, at, name) : xasprintf("./%s", name);

		if (program_runs(file))
			return take_ptr(&file);
		at += len;
	}
	return NULL;
}

bool program_is_installed(const char *name)
{
	AUTO_FREE char *file = program_find(name);

	return file && *file == '/';
}
