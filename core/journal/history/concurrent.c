/* concurrent - finds steps that ran at the same time and touched the same paths: they can only be
 * undone together.
 */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/journal/fs/object.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/step.h"
#include "core/journal/store/pruned_concurrent.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

/*
 * A step's log restores the state before that step's first change. If two concurrent steps changed
 * the same path in turn, undoing one of them would produce a state that never existed. The same
 * holds for one file that they changed under two names.
 */

struct group_view {
	struct names paths;	/* what the records of the group name */
	struct moves moves;	/* directories that they move */
	struct numbers written; /* files that the group changed in place */
	struct numbers shared;	/* those of them that the others have an image of */
	uint64_t first;		/* number of the moment at which the first of them began */
	struct names *common;	/* the result */
	const char **sorted;	/* the keys of paths, once that is asked for */
	struct names moved;	/* that they were compared with */
};

uint64_t overlap_began(const struct wal *undo)
{
	struct rec rec;
	size_t at = 0;

	return wal_next(undo, &at, &rec) && rec.type == REC_STEP ? rec.seq : 0;
}

static void view_log(struct group_view *v, const struct wal *log)
{
	struct rec rec;
	size_t at = 0;

	while (wal_next(log, &at, &rec)) {
		if (rec_is_quiet(rec.type))
			continue;
		names_add(&v->paths, rec.root, rec.path);
		if (rec.path2[0])
			names_add(&v->paths, rec.root2, rec.path2);
		if (rec_is_in_place(&rec))
			numbers_add(&v->written, rec.ino);
	}
	v->first = MIN(v->first, overlap_began(log));
	moves_add(&v->moves, log);
}

static int by_key(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static void sort_paths(struct group_view *v)
{
	size_t n = names_count(&v->paths);

	v->sorted = xcalloc(n + 1, sizeof(*v->sorted));
	for (size_t i = 0; i < n; i++)
		v->sorted[i] = names_key(&v->paths, i);
	qsort(v->sorted, n, sizeof(*v->sorted), by_key);
}

/* What the group names below a directory. */
static void add_below(struct group_view *v, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	AUTO_FREE char *top = xasprintf("%s/", key);
	size_t lo = 0, n = names_count(&v->paths), hi = n;

	if (!names_add_key(&v->moved, key))
		return;
	if (!v->sorted)
		sort_paths(v);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(v->sorted[mid], top) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < n && strncmp(v->sorted[lo], top, strlen(top)) == 0; lo++)
		names_add_key(v->common, v->sorted[lo]);
}

/* Both have a record of the path, or one moved a directory that the other's path lies in. */
static void compare_path(struct group_view *v, int root, const char *path, bool moved)
{
	if (names_has(&v->paths, root, path) || moves_touch(&v->moves, root, path))
		names_add(v->common, root, path);
	if (moved)
		add_below(v, root, path);
}

/* Where the summary does not tell, its images do: they are written after it. In doubt it still
 * runs.
 */
uint64_t overlap_ended(int stepdir)
{
	uint64_t seq;

	if (summary_seq(stepdir, &seq) < 0)
		seq = post_peek_seq(stepdir, "post");
	return seq ? seq : UINT64_MAX;
}

static bool shows_written(const struct group_view *v, const struct post *p)
{
	return p->obj.mode && p->obj.mode != OBJ_UNSEEN && !(p->flags & POST_PASSING) &&
	       numbers_have(&v->written, p->obj.ino);
}

/* Files that the step has under whatever name, and the group has written by that or another. Of
 * damaged images nothing is known: the paths of its records were compared. */
static int compare_files(struct group_view *v, int stepdir)
{
	AUTO_POST_READER struct post_reader reader;
	struct post p;
	int r = post_begin(&reader, stepdir, "post");

	while (r >= 0 && (r = post_next(&reader, &p)) > 0)
		if (shows_written(v, &p))
			numbers_add(&v->shared, p.obj.ino);
	return step_is_damaged(r) ? 0 : r;
}

/* By the names that the group's records have for them. */
static void name_files(struct group_view *v, const struct wal *log)
{
	struct rec rec;
	size_t at = 0;

	while (v->shared.n && wal_next(log, &at, &rec))
		if (rec_is_in_place(&rec) && numbers_have(&v->shared, rec.ino))
			names_add(v->common, rec.root, rec.path);
}

static int compare_step(struct group_view *v, struct journal *j, const char *dir)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct wal log = WAL_NONE;
	struct rec rec;
	size_t at = 0;
	int r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (overlap_ended(fd) < v->first)
		return 0;
	r = log_look(j, &log, fd, "undo");
	while (r == 0 && wal_next(&log, &at, &rec)) {
		bool moved = rec.flags & REC_DIRECTORY;

		if (rec_is_quiet(rec.type))
			continue;
		compare_path(v, rec.root, rec.path, moved);
		if (rec.path2[0])
			compare_path(v, rec.root2, rec.path2, moved);
	}
	wal_close(&log);
	return r == 0 && v->written.n ? compare_files(v, fd) : r;
}

static int compare_steps(struct group_view *v, struct journal *j, const struct group *group,
			 struct err *err)
{
	char **names = NULL;
	size_t n = 0;
	int r = store_names(j, "steps", &names, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf("steps/%s", names[i]);
		bool inside = false;

		for (size_t k = 0; k < group->n && !inside; k++)
			inside = str_eq(group->dirs[k], dir);
		if (!inside)
			r = compare_step(v, j, dir);
		if (r < 0)
			r = step_unread(err, r, names[i]);
	}
	store_names_free(names, n);
	return r;
}

/* Those that had to go, and of which nothing else is left: damaged ones tell nothing. */
static int compare_gone(struct group_view *v, struct journal *j)
{
	char **names = NULL;
	size_t n = 0;
	int r = store_names(j, BESIDE_DIR, &names, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf(BESIDE_DIR "/%s", names[i]);

		r = compare_step(v, j, dir);
		if (step_is_damaged(r))
			r = 0;
	}
	store_names_free(names, n);
	return r == -ENOENT ? 0 : r;
}

int overlap_find(struct journal *j, const struct group *group, const struct wal *logs,
		 struct names *ret, struct err *err)
{
	struct group_view v = {.first = UINT64_MAX, .common = ret};
	int r;

	for (size_t i = 0; i < group->n; i++)
		view_log(&v, &logs[i]);
	numbers_sort(&v.written);
	r = compare_steps(&v, j, group, err);
	if (r == 0)
		r = compare_gone(&v, j);
	numbers_sort(&v.shared);
	for (size_t i = 0; r == 0 && i < group->n; i++)
		name_files(&v, &logs[i]);
	numbers_done(&v.written);
	numbers_done(&v.shared);
	names_done(&v.paths);
	names_done(&v.moved);
	free(v.sorted);
	moves_done(&v.moves);
	return r;
}
