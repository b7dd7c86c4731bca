/* plan_dirs - checks the directories that a rollback would remove, and those that it needs. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

/* Returns a descriptor, or -1 if the path is no directory or cannot be opened; then the comparison
 * with its after-image shows that. */
static int open_dir(struct journal *j, int root, const char *path)
{
	struct reach reach = {0};
	struct spot at;
	struct object o;
	int fd = -1;

	if (reach_look(j, &reach, root, path, &at, &o) == 0 && S_ISDIR(o.mode) &&
	    reach_open(j, &reach, &at, S_IRUSR) == 0)
		fd = openat(at.fd, at.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	reach_close(j, &reach);
	return fd;
}

/* ---- directories to be removed ----------------------------------------------------------------
 */

struct going { /* a directory that a record removes */
	const struct rec *by;
	struct path_set *list; /* directories to check, and checked ones */
};

/* Returns whether `now` was at the record's path, or below it, right after the record. */
static bool goes(const struct planner *p, const struct going *g, int root, const char *now)
{
	AUTO_FREE char *then = xasprintf("%s/", now);

	renames_back(&p->moves, g->by->seq, &root, &then);
	return root == g->by->root && path_is_inside(then, g->by->path);
}

/* Adds a conflict for each entry that is not a path of the steps, and to the list each directory
 * that is removed with this one. */
static int check_dir(struct planner *p, const struct going *g, int root, const char *path)
{
	AUTO_CLOSE int fd = open_dir(p->j, root, path);
	AUTO_DIR DIR *dir = NULL;
	struct dirent *e;

	if (fd < 0)
		return 0;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	fd = -1;
	while ((errno = 0, e = readdir(dir))) {
		AUTO_FREE char *child = xasprintf("%s/%s", path, e->d_name);

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		if (!path_set_has(&p->places, root, child))
			plan_entry(p, root, child, 'D', true);
		else if (path_set_has(&p->there, root, child) && goes(p, g, root, child))
			path_set_add(g->list, root, child);
	}
	return -errno;
}

/* Checks this directory and the listed ones below it, one after the other. */
static int check_tree(struct planner *p, const struct going *g, int root, const char *path)
{
	size_t i = path_set_count(g->list);
	int r = 0;

	path_set_add(g->list, root, path);
	for (; r == 0 && i < path_set_count(g->list); i++) {
		root = path_key_root(path_set_key(g->list, i), &path);
		r = check_dir(p, g, root, path);
	}
	return r;
}

/* Returns whether the record's inverse removes a directory at its path, if only to make room. */
static bool takes_away(enum rec_type type)
{
	return type == REC_DIR_NEW || type == REC_NEW || type == REC_GONE || type == REC_RENAME ||
	       type == REC_CONTENT || type == REC_XINODE;
}

static int check_record(struct planner *p, const struct rec *rec, struct path_set *done)
{
	const struct going g = {.by = rec, .list = done};
	AUTO_FREE char *now = NULL;
	int root = rec->root;

	if (!takes_away(rec->type) || rec->flags & REC_SKIPPED)
		return 0;
	/* The slash makes a rename of the directory itself count. */
	now = xasprintf("%s/", rec->path);
	renames_follow(&p->moves, rec->seq, &root, &now);
	now[strlen(now) - 1] = '\0';
	if (rec->type != REC_DIR_NEW && !path_set_has(&p->there, root, now))
		return 0;
	if (path_set_has(done, root, now) || !goes(p, &g, root, now))
		return 0;
	return check_tree(p, &g, root, now);
}

/* ---- directories that are needed --------------------------------------------------------------
 */

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
	AUTO_PATH_SET struct path_set done = {0};
	struct ways ways = {0};
	int r = 0;

	for (size_t i = 0; i < p->dirs->n; i++) {
		struct rec rec;
		size_t at = 0;

		while (r == 0 && undo_log_next(&p->logs[i], &at, &rec)) {
			r = check_record(p, &rec, &done);
			if (r == 0)
				r = check_needs(p, &rec, &ways);
		}
	}
	path_set_done(&ways.dirs);
	path_set_done(&ways.files);
	return r;
}
