/* listing - the names in a directory, to find out without system calls that files are missing. */
/* SPDX-License-Identifier: MIT */
#include "core/base/listing.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/path.h"

#define NAMES_MAX 4096

struct listing {
	char *dir;
	char **names; /* sorted */
	size_t n;
};

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcasecmp(*x, *y);
}

static bool read_names(struct listing *l, DIR *d)
{
	struct dirent *e;

	while ((e = readdir(d))) {
		if (l->n == NAMES_MAX)
			return false;
		l->names[l->n++] = xstrdup(e->d_name);
	}
	return true;
}

struct listing *listing_new(const char *dir)
{
	AUTO_DIR DIR *d = opendir(dir);
	struct listing *l;

	if (!d)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->dir = path_clean(dir);
	l->names = xcalloc(NAMES_MAX, sizeof(*l->names));
	if (!read_names(l, d)) {
		listing_free(l);
		return NULL;
	}
	qsort(l->names, l->n, sizeof(*l->names), by_name);
	return l;
}

void listing_free(struct listing *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++)
		free(l->names[i]);
	free(l->names);
	free(l->dir);
	free(l);
}

bool listing_lacks(const struct listing *l, const char *path)
{
	const char *below = l && path_is_inside(path, l->dir) ? path_below(path, l->dir) : NULL;
	AUTO_FREE char *name = below ? xstrndup(below, strcspn(below, "/")) : NULL;

	return name && !bsearch(&name, l->names, l->n, sizeof(*l->names), by_name);
}
