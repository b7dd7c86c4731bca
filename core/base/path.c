/* path - functions on paths as text; none reads a file system. */
/* SPDX-License-Identifier: MIT */
#include "core/base/path.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "core/base/buf.h"

/* Drops the last component of the result so far. Returns false if ".." cannot remove one. */
static bool pop(struct buf *b, size_t root)
{
	char *slash;
	const char *last;

	if (b->len == root)
		return root == 1; /* "/.." is "/" */
	slash = strrchr(b->data, '/');
	last = slash ? slash + 1 : b->data;
	if (str_eq(last, ".."))
		return false;
	buf_truncate(b, slash ? MAX((size_t)(slash - b->data), root) : 0);
	return true;
}

char *path_clean(const char *path)
{
	AUTO_BUF struct buf b = BUF_INIT;
	size_t root = *path == '/';

	if (root)
		buf_ch(&b, '/');
	while (*path) {
		size_t n = strcspn(path, "/");
		bool up = n == 2 && path[0] == '.' && path[1] == '.';

		if (n > 0 && !(n == 1 && path[0] == '.') && !(up && pop(&b, root))) {
			if (b.len > root)
				buf_ch(&b, '/');
			buf_add(&b, path, n);
		}
		path += n + (path[n] == '/');
	}
	if (b.len == 0)
		buf_ch(&b, '.');
	return buf_take(&b);
}

char *path_join(const char *dir, const char *name)
{
	if (*name == '/' || *dir == '\0')
		return xstrdup(name);
	return xasprintf("%s%s%s", dir, str_ends(dir, "/") ? "" : "/", name);
}

/* Most paths differ in the first bytes: one pass, without computing lengths. */
const char *path_below(const char *path, const char *dir)
{
	size_t n = 0;

	if (dir[0] == '/' && dir[1] == '\0')
		return *path == '/' ? path + 1 : NULL;
	while (dir[n] != '\0' && dir[n] == path[n])
		n++;
	if (dir[n] != '\0')
		return NULL;
	if (path[n] == '\0')
		return path + n;
	return path[n] == '/' ? path + n + 1 : NULL;
}

bool path_is_beneath(const char *path, const char *dir)
{
	return path_below(path, dir) != NULL;
}

bool path_is_inside(const char *path, const char *dir)
{
	size_t n = 0;

	while (dir[n] != '\0' && dir[n] == path[n])
		n++;
	return dir[n] == '\0' && path[n] == '/';
}

bool path_carry(char **path, const char *from, const char *to)
{
	char *moved;

	if (!path_is_beneath(*path, from))
		return false;
	moved = xasprintf("%s%s", to, *path + strlen(from));
	free(*path);
	*path = moved;
	return true;
}

bool path_is_in(const char *path, const char *const *list)
{
	for (; list && *list; list++)
		if (path_is_beneath(path, *list))
			return true;
	return false;
}

bool path_meets(const char *path, const char *const *list)
{
	for (; list && *list; list++)
		if (path_is_beneath(path, *list) || path_is_beneath(*list, path))
			return true;
	return false;
}

int path_deeper(const char *a, const char *b)
{
	size_t n = str_eq(a, ".") ? 0 : strlen(a), m = str_eq(b, ".") ? 0 : strlen(b);

	return n > m ? -1 : n < m;
}

unsigned path_depth(const char *path)
{
	unsigned n = 0;

	for (; *path; path++)
		n += *path == '/' && path[1];
	return n;
}

bool path_begins(const char *path, const char *component)
{
	size_t n = strlen(component);

	return strncmp(path, component, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

char *path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash > path ? xstrndup(path, (size_t)(slash - path)) : xstrdup("/");
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

char *path_expand_home(const char *path, const char *home)
{
	if (path[0] == '~' && (path[1] == '/' || path[1] == '\0'))
		return xasprintf("%s%s", home, path + 1);
	return xstrdup(path);
}

char *path_label(const char *path)
{
	uint64_t hash = XXH3_64bits(path, strlen(path)) >> 16;
	AUTO_FREE char *base = xstrndup(path_base(path), 64);

	for (char *p = base; *p; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		      (*p >= '0' && *p <= '9') || strchr("-_+", *p) || (*p == '.' && p > base)))
			*p = '_';
	return xasprintf("%s-%012" PRIx64, base, hash);
}

size_t path_saved_as(const char *path)
{
	const char *name = path_base(path), *mark = strstr(name, ".tmp.");
	size_t len = strlen(path);

	if (!mark && len > 4 && str_eq(path + len - 4, ".tmp"))
		mark = path + len - 4;
	if (!mark && len && path[len - 1] == '~')
		mark = path + len - 1;
	return mark && mark > name ? (size_t)(mark - path) : 0;
}
