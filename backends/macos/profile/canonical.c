/* canonical - the kernel's path of a file, also of one that does not exist yet. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/profile/canonical.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/path.h"

#define MAX_LINKS 32 /* MAXSYMLINKS of xnu */

static const char *const known_links[] = {"/tmp", "/var", "/etc"};

/* Returns a link's target; NULL: not a link. Heap. */
static char *link_at(const struct mac_os *os, const char *path)
{
	char to[PATH_MAX];
	ssize_t n = os ? os->read_link(os->data, path, to, sizeof(to)) : -ENOENT;

	if (n > 0 && (size_t)n < sizeof(to))
		return xstrndup(to, (size_t)n);
	for (size_t i = 0; n != -EINVAL && i < ARRAY_LEN(known_links); i++)
		if (str_eq(path, known_links[i]))
			return xasprintf("private%s", known_links[i]);
	return NULL;
}

/* A path that is resolved component by component: done is resolved, rest is not. */
struct way {
	struct buf done;
	char *rest;
	int links;
};

static void go_up(struct buf *done)
{
	const char *slash = strrchr(done->data, '/');

	buf_truncate(done, slash ? (size_t)(slash - done->data) : 0);
}

static int take_link(struct way *w, size_t parent, const char *to, const char *behind)
{
	char *rest = xasprintf("%s/%s", to, behind);

	free(w->rest);
	w->rest = rest;
	buf_truncate(&w->done, *to == '/' ? 0 : parent);
	return ++w->links > MAX_LINKS ? -ELOOP : 0;
}

/* Resolves the first component of the rest. */
static int step(const struct mac_os *os, struct way *w, const char *name, size_t n)
{
	size_t parent = w->done.len;
	AUTO_FREE char *to = NULL;

	if (n == 1 && *name == '.')
		return 0;
	if (n == 2 && name[0] == '.' && name[1] == '.') {
		go_up(&w->done);
		return 0;
	}
	buf_ch(&w->done, '/');
	buf_add(&w->done, name, n);
	to = link_at(os, w->done.data);
	return to ? take_link(w, parent, to, name + n) : 1;
}

static int follow(const struct mac_os *os, struct way *w)
{
	const char *at = w->rest;

	while (*(at += strspn(at, "/"))) {
		size_t n = strcspn(at, "/");
		const char *was = w->rest;
		int r = step(os, w, at, n);

		if (r < 0)
			return r;
		at = w->rest == was ? at + n : w->rest;
	}
	if (!w->done.len)
		buf_ch(&w->done, '/');
	return 0;
}

int canonical_path(const struct mac_os *os, const char *path, char **ret)
{
	struct way w = {.done = BUF_INIT};
	int r = -EINVAL;

	if (*path == '/') {
		w.rest = xstrdup(path);
		r = follow(os, &w);
	}
	if (r == 0)
		*ret = buf_take(&w.done);
	buf_done(&w.done);
	free(w.rest);
	return r;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Returns whether a path of the list contains this one. All entries are compared: sorted by bytes,
 * "/a-b" is between "/a" and "/a/b". */
static bool is_covered(char *const *list, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (path_is_beneath(path, list[i]))
			return true;
	return false;
}

static size_t drop_covered(char **list, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		char *path = list[i];

		if (is_covered(list, kept, path))
			free(path);
		else
			list[kept++] = path;
	}
	list[kept] = NULL;
	return kept;
}

int canonical_list(const struct mac_os *os, const char *const *list, char ***ret, struct err *err)
{
	char **all = xcalloc(1, sizeof(*all));
	size_t n = 0;

	for (; list && *list; list++) {
		char *path = NULL;
		int r = canonical_path(os, *list, &path);

		if (r < 0) {
			util_free_list(&all);
			return err_set(err, r, "find the place of '%s'", *list);
		}
		util_list_push(&all, &n, path);
	}
	if (n)
		qsort(all, n, sizeof(*all), util_by_text);
	drop_covered(all, n);
	*ret = all;
	return 0;
}
