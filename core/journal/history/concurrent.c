/* concurrent - finds concurrent steps that touched the same paths, to be undone together. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/journal/fs/object.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/concurrent.h"
#include "core/journal/history/list.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/store/store.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

/*
 * A step's log restores the state before that step's first change. If two concurrent steps changed
 * the same path in turn, undoing one of them would produce a state that never existed. The same
 * holds for one file that they changed under two names.
 */

struct group_view {
	struct path_set paths;	 /* paths in the group's records */
	struct renames moves;	 /* renames of directories in them */
	struct u64_set written;	 /* files that the group changed in place */
	struct u64_set shared;	 /* of these, files that other steps have images of */
	uint64_t first;		 /* sequence number at which the group's first step began */
	struct path_set *common; /* the result */
	const char **sorted;	 /* the keys of paths; NULL until the first use */
	struct path_set moved;	 /* renamed directories that were compared */
};

uint64_t concurrent_began(const struct undo_log *undo)
{
	struct rec rec;
	size_t at = 0;

	return undo_log_next(undo, &at, &rec) && rec.type == REC_STEP ? rec.seq : 0;
}

static void view_log(struct group_view *v, const struct undo_log *log)
{
	log_paths(log, &v->paths);
	log_written(log, &v->written);
	v->first = MIN(v->first, concurrent_began(log));
	renames_add(&v->moves, log);
}

static int by_key(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static void sort_paths(struct group_view *v)
{
	size_t n = path_set_count(&v->paths);

	v->sorted = xcalloc(n + 1, sizeof(*v->sorted));
	for (size_t i = 0; i < n; i++)
		v->sorted[i] = path_set_key(&v->paths, i);
	qsort(v->sorted, n, sizeof(*v->sorted), by_key);
}

/* Adds the group's paths below a directory to the result. */
static void add_below(struct group_view *v, int root, const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);
	AUTO_FREE char *top = xasprintf("%s/", key);
	size_t lo = 0, n = path_set_count(&v->paths), hi = n;

	if (!path_set_add_key(&v->moved, key))
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
		path_set_add_key(v->common, v->sorted[lo]);
}

/* Adds the path if both have a record of it, or one renamed a directory above the other's path. */
static void compare_path(struct group_view *v, int root, const char *path, bool moved)
{
	if (path_set_has(&v->paths, root, path) || renames_touch(&v->moves, root, path))
		path_set_add(v->common, root, path);
	if (moved)
		add_below(v, root, path);
}

/* Reads the number from the summary or, without one, from the after-images, which are newer. */
uint64_t concurrent_ended(int stepdir)
{
	uint64_t seq;

	if (summary_seq(stepdir, &seq) < 0)
		seq = after_image_peek_seq(stepdir, "post");
	return seq ? seq : UINT64_MAX;
}

static bool shows_written(const struct group_view *v, const struct after_image *p)
{
	return p->obj.mode && p->obj.mode != OBJECT_UNSEEN && !(p->flags & IMAGE_PASSING) &&
	       u64_set_have(&v->written, p->obj.ino);
}

/* Finds files that the group wrote and the step has images of, under any names. Damaged images show
 * nothing; the paths of the step's records were compared. */
static int compare_files(struct group_view *v, int stepdir)
{
	AUTO_IMAGE_READER struct after_image_reader reader;
	struct after_image p;
	int r = after_image_begin(&reader, stepdir, "post");

	while (r >= 0 && (r = after_image_next(&reader, &p)) > 0)
		if (shows_written(v, &p))
			u64_set_add(&v->shared, p.obj.ino);
	return history_step_is_damaged(r) ? 0 : r;
}

/* Adds the names that the group's records have for the shared files. */
static void name_files(struct group_view *v, const struct undo_log *log)
{
	struct rec rec;
	size_t at = 0;

	while (v->shared.n && undo_log_next(log, &at, &rec))
		if (rec_is_in_place(&rec) && u64_set_have(&v->shared, rec.ino))
			path_set_add(v->common, rec.root, rec.path);
}

static int compare_step(struct group_view *v, struct journal *j, const char *dir)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	AUTO_UNDO_LOG struct undo_log log = UNDO_LOG_NONE;
	struct rec rec;
	size_t at = 0;
	int r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (concurrent_ended(fd) < v->first)
		return 0;
	r = log_look(j, &log, fd, "undo");
	while (r == 0 && undo_log_next(&log, &at, &rec)) {
		bool moved = rec.flags & REC_DIRECTORY;

		if (rec_is_quiet(rec.type))
			continue;
		compare_path(v, rec.root, rec.path, moved);
		if (rec.path2[0])
			compare_path(v, rec.root2, rec.path2, moved);
	}
	return r == 0 && v->written.n ? compare_files(v, fd) : r;
}

static int compare_steps(struct group_view *v, struct journal *j, const struct names *group,
			 struct err *err)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, "steps", &names);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		AUTO_FREE char *dir = xasprintf("steps/%s", names.list[i]);
		bool inside = false;

		for (size_t k = 0; k < group->n && !inside; k++)
			inside = str_eq(group->list[k], dir);
		if (!inside)
			r = compare_step(v, j, dir);
		if (r < 0)
			r = history_step_unread(err, r, names.list[i]);
	}
	return r;
}

/* Compares the group with pruned concurrent steps. Skips damaged ones, whose paths are unknown. */
static int compare_gone(struct group_view *v, struct journal *j)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, BESIDE_DIR, &names);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		AUTO_FREE char *dir = xasprintf(BESIDE_DIR "/%s", names.list[i]);

		r = compare_step(v, j, dir);
		if (history_step_is_damaged(r))
			r = 0;
	}
	return r == -ENOENT ? 0 : r;
}

int concurrent_find(struct journal *j, const struct names *group, const struct undo_log *logs,
		    struct path_set *ret, struct err *err)
{
	struct group_view v = {.first = UINT64_MAX, .common = ret};
	int r;

	for (size_t i = 0; i < group->n; i++)
		view_log(&v, &logs[i]);
	u64_set_sort(&v.written);
	r = compare_steps(&v, j, group, err);
	if (r == 0)
		r = compare_gone(&v, j);
	u64_set_sort(&v.shared);
	for (size_t i = 0; r == 0 && i < group->n; i++)
		name_files(&v, &logs[i]);
	u64_set_done(&v.written);
	u64_set_done(&v.shared);
	path_set_done(&v.paths);
	path_set_done(&v.moved);
	free(v.sorted);
	renames_done(&v.moves);
	return r;
}

static bool tangled(const struct step *s, struct step *other)
{
	if (other == s || !other->made)
		return false;
	if (s->moved || other->moved)
		return true;
	for (size_t i = 0; i < touched_paths_count(&s->touches); i++)
		if (touched_paths_find(&other->touches, touched_paths_key(&s->touches, i)))
			return true;
	return false;
}

void concurrent_tangle(struct step *s)
{
	for (struct step *other = s->j->open; other; other = other->next)
		if (tangled(s, other))
			s->tangled = other->tangled = true;
}

void concurrent_untangle(struct step *s)
{
	for (struct step *other = s->j->open; other; other = other->next)
		if (tangled(s, other))
			step_mark_incomplete(other, "what ran at the same time was rolled back");
}
