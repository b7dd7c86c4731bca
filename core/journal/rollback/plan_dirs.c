/* plan_dirs - finds files in the place of a directory that a rollback needs. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/journal/fs/object.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

struct ways {
	struct path_set dirs;  /* directories that were checked */
	struct path_set files; /* files in the place of a directory */
};

/* Looks from the top down for a file in the place of a directory, and adds a conflict for it. A
 * path of the steps is left to the comparison with its after-image. */
static int check_way(struct planner *p, struct ways *ways, int root, char *dir)
{
	char *end = dir;
	struct object o;
	int r = 0;

	while (r == 0 && end) {
		end = strchr(end + 1, '/');
		if (end)
			*end = '\0';
		r = reach_see(p->j, root, dir, &o);
		if (r == 0 && o.mode && o.mode != OBJECT_UNSEEN && !S_ISDIR(o.mode)) {
			if (!path_set_has(&p->places, root, dir) &&
			    path_set_add(&ways->files, root, dir))
				plan_entry(p, root, dir, 'D', true);
			return 0;
		}
		if (end)
			*end = '/';
	}
	return r;
}

/* Returns whether the record's inverse puts an object at its path and needs its directories. */
static bool needs_way(enum rec_type type)
{
	return type == REC_GONE || type == REC_DIR_GONE || type == REC_RENAME ||
	       type == REC_CONTENT || type == REC_XINODE;
}

static int check_needs(struct planner *p, const struct rec *rec, struct ways *ways)
{
	AUTO_FREE char *now = NULL, *dir = NULL;
	int root = rec->root, r;
	const char *slash;
	struct spot at;

	if (!needs_way(rec->type) || rec->flags & REC_SKIPPED)
		return 0;
	now = renames_now(&p->moves, rec->seq, &root, rec->path);
	slash = strrchr(now, '/');
	if (!slash)
		return 0;
	dir = xstrndup(now, (size_t)(slash - now));
	if (!path_set_add(&ways->dirs, root, dir))
		return 0;
	r = root_find(p->j, root, now, &at);
	/* -EACCES: a locked directory may hide such a file. */
	return r == -ENOTDIR || r == -ELOOP || r == -EACCES ? check_way(p, ways, root, dir) : 0;
}

int plan_check_dirs(struct planner *p)
{
	struct undo_log_walk at = {0};
	struct ways ways = {0};
	struct rec rec;
	int r = 0;

	while (r == 0 && undo_log_walk(p->logs, p->dirs->n, &at, &rec))
		r = check_needs(p, &rec, &ways);
	path_set_done(&ways.dirs);
	path_set_done(&ways.files);
	return r;
}
