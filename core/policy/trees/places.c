/* places - lists of paths: adding, searching, reading a directory. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/path.h"
#include "core/os/volume.h"
#include "core/policy/policy_priv.h"

void places_add(struct places *p, char *path)
{
	util_list_push(&p->list, &p->n, path);
}

bool places_cover(const struct places *p, const char *path)
{
	for (size_t i = 0; i < p->n; i++)
		if (path_is_beneath(path, p->list[i]))
			return true;
	return false;
}

static void places_sort(struct places *p)
{
	if (p->n)
		qsort(p->list, p->n, sizeof(*p->list), util_by_text);
}

/* Returns whether reading the directory lists all names: automounts appear only on a lookup. */
static bool lists_all(DIR *d)
{
	const int volume = os_volume(dirfd(d));

	return volume >= 0 && volume != VOLUME_AUTO;
}

int places_read_dir(const char *dir, struct places *names, struct places *links)
{
	AUTO_DIR DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return -errno;
	if (!lists_all(d))
		return -EOPNOTSUPP;
	while ((e = readdir(d))) {
		places_add(names, xstrdup(e->d_name));
		if (links && (e->d_type == DT_LNK || e->d_type == DT_UNKNOWN))
			places_add(links, xstrdup(e->d_name));
	}
	places_sort(names);
	if (links)
		places_sort(links);
	return 0;
}

bool places_has(const struct places *p, const char *path)
{
	for (size_t i = 0; i < p->n; i++)
		if (str_eq(p->list[i], path))
			return true;
	return false;
}

bool places_has_sorted(const struct places *p, const char *text, size_t len)
{
	size_t from = 0, to = p->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		int r = strncmp(p->list[mid], text, len);

		if (r == 0 && !p->list[mid][len])
			return true;
		if (r < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return false;
}

void places_done(struct places *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->list[i]);
	free(p->list);
	*p = (struct places){0};
}

void places_move(struct places *to, struct places *from)
{
	for (size_t i = 0; i < from->n; i++)
		places_add(to, from->list[i]);
	free(from->list);
	*from = (struct places){0};
}
