/* stale - rollbacks that cannot be redone any more: a step is kept that began after them. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/priv.h"

/*
 * A step that is committed clears what was undone. One that was interrupted, and rolled back at the
 * next start, leaves it: until a redo brings it back. What had been undone before it began would
 * then come back over it, and the order of the history would be that of nothing that ever was.
 */

/* When the last of the kept steps began, as a number of the store. One whose log cannot be read
 * says nothing. */
static int newest_begin(struct journal *j, uint64_t *ret)
{
	char **names = NULL;
	size_t n = 0;
	int r = store_names(j, "steps", &names, &n);

	*ret = 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf("steps/%s", names[i]);
		AUTO_CLOSE int fd = store_open_dir(j, dir);
		struct wal log = WAL_NONE;

		if (fd >= 0 && log_look(j, &log, fd, "undo") == 0)
			*ret = MAX(*ret, overlap_began(&log));
		wal_close(&log);
	}
	store_names_free(names, n);
	return r;
}

struct groups { /* rollbacks that have gone in one store go in all */
	uint64_t *list;
	size_t n;
};

static bool is_gone(const struct groups *g, uint64_t group)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->list[i] == group)
			return true;
	return false;
}

static int drop_in(struct journal *j, struct groups *gone)
{
	char **names = NULL;
	size_t n = 0;
	uint64_t begin = 0;
	int r = store_names(j, "redo", &names, &n);

	if (r == 0 && n)
		r = newest_begin(j, &begin);
	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf("redo/%s", names[i]);
		AUTO_CLOSE int fd = store_open_dir(j, dir);
		uint64_t group = 0;

		r = fd < 0 ? fd : wal_peek_group(fd, "redo", &group);
		if (r < 0 || (group > begin && !is_gone(gone, group)))
			continue;
		if (!is_gone(gone, group)) {
			gone->list = xrealloc(gone->list, (gone->n + 1) * sizeof(*gone->list));
			gone->list[gone->n++] = group;
		}
		r = store_drop_undone(j, dir);
	}
	store_names_free(names, n);
	return r;
}

int stale_drop(struct journal *j)
{
	struct groups gone = {0};
	struct journal *k = j;
	int r;

	do
		r = drop_in(k, &gone);
	while (r == 0 && (k = k->kin) != j);
	free(gone.list);
	return r;
}
