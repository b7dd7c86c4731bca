/* git2 - libgit2, opened when needed. */
/* SPDX-License-Identifier: MIT */
#include "core/base/git2.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

static struct git2 table;
static struct err failure;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool resolve(void *lib, const char *name, void *slot)
{
	void *sym = dlsym(lib, name);

	if (!sym) {
		err_say(&failure, -ENOSYS,
			"libgit2 lacks %s: install the version that cordon was built with (%s)",
			name, LIBGIT2_SONAME);
		return false;
	}
	memcpy(slot, &sym, sizeof(sym));
	return true;
}

static void empty_search_paths(void)
{
	static const git_config_level_t levels[] = {
		GIT_CONFIG_LEVEL_PROGRAMDATA,
		GIT_CONFIG_LEVEL_SYSTEM,
		GIT_CONFIG_LEVEL_XDG,
		GIT_CONFIG_LEVEL_GLOBAL,
	};

	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		table.git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
}

static void open_once(void)
{
	void *lib = dlopen(LIBGIT2_SONAME, RTLD_NOW | RTLD_LOCAL);

	if (!lib) {
		err_say(&failure, -ENOENT, "open libgit2: %s: install %s", dlerror(),
			LIBGIT2_SONAME);
		return;
	}
#define X(name)                                                                                    \
	if (!resolve(lib, #name, &table.name))                                                     \
		return;
	GIT2_FUNCTIONS(X)
#undef X
	if (table.git_libgit2_init() < 0) {
		err_say(&failure, -EIO, "libgit2 does not start: reinstall %s", LIBGIT2_SONAME);
		return;
	}
	empty_search_paths();
}

const struct git2 *git2_get(struct err *err)
{
	pthread_once(&once, open_once);
	if (failure.code == 0)
		return &table;
	if (err)
		*err = failure;
	return NULL;
}

int git2_fail(const struct git2 *g, struct err *err, const char *fmt, ...)
{
	const git_error *last = g->git_error_last();
	char head[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(head, sizeof(head), fmt, ap);
	va_end(ap);
	return err_say(err, -EIO, "%s: %s", head,
		       last && last->message ? last->message : "libgit2 gives no reason");
}
