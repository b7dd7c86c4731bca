/* restore_select - selects the changes of a step to restore, and those they depend on. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/journal/history.h"
#include "core/journal/history/content.h"
#include "core/journal/history/list.h"
#include "core/journal/history/past.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/rollback/git_objects.h"
#include "core/journal/rollback/restore.h"
#include "core/journal/store/store.h"

void restore_look_back(struct restore *r, bool chosen)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct change *c = &r->list[i];
		const char *path = c->old_path ? c->old_path : c->path;
		int root = c->root;

		if ((r->pieces[i].chosen || !chosen) && c->before.exists && !r->pieces[i].was)
			r->pieces[i].was = step_names_first(
				&r->names, step_names_record(&r->names, root, path), &root, path);
	}
}

/* Returns the path relative to this root, or NULL. A relative path is beneath the folder. */
static const char *name_in(const struct journal *j, int root, const char *path)
{
	if (*path != '/')
		return root == 0 ? path : NULL;
	return root >= 0 && root < j->n_roots ? path_below(path, j->roots[root].path) : NULL;
}

bool restore_wants(const struct journal *j, const struct change *c, const char *const *paths)
{
	for (size_t i = 0; paths[i]; i++) {
		const char *path = name_in(j, c->root, paths[i]);

		if (path && (!*path || path_is_beneath(c->path, path) ||
			     (c->old_path && path_is_beneath(c->old_path, path))))
			return true;
	}
	return false;
}

bool restore_covers(const struct journal *j, const char *path)
{
	for (int root = 0; root < j->n_roots; root++)
		if (name_in(j, root, path))
			return true;
	return false;
}

static int by_path(const void *key, const void *item)
{
	const struct change *x = key, *y = item;

	return x->root != y->root ? x->root - y->root : strcmp(x->path, y->path);
}

const struct change *restore_find(const struct restore *r, int root, const char *path)
{
	const struct change key = {.root = root, .path = (char *)(uintptr_t)path};

	return bsearch(&key, r->list, r->n, sizeof(*r->list), by_path);
}

size_t restore_below(const struct restore *r, int root, const char *dir)
{
	AUTO_FREE char *first = xasprintf("%s/", dir);
	const struct change key = {.root = root, .path = first};
	size_t lo = 0, hi = r->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (by_path(&r->list[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool restore_is_inside(const struct restore *r, size_t i, int root, const char *dir)
{
	return i < r->n && r->list[i].root == root && path_is_inside(r->list[i].path, dir);
}

/* Returns whether one of the paths selects the change. An entry of a directory that the step
 * renamed and then removed is recorded under a path that did not exist before the step; it is
 * selected by its path before the step. */
static bool is_wanted(const struct restore *r, size_t i, const char *const *paths)
{
	const struct change then = {.root = r->list[i].root, .path = r->pieces[i].was};

	return restore_wants(r->j, &r->list[i], paths) ||
	       (then.path && restore_wants(r->j, &then, paths));
}

/* Chooses the directories above that the step removed or replaced by another object. */
static void choose_parents(struct restore *r, size_t i)
{
	const struct change *c = &r->list[i];
	const char *was = r->pieces[i].was;
	AUTO_FREE char *prefix = xstrdup(was ? was : c->old_path ? c->old_path : c->path);

	for (char *slash = strchr(prefix, '/'); slash; slash = strchr(slash + 1, '/')) {
		const struct change *dir;

		*slash = '\0';
		dir = restore_find(r, c->root, prefix);
		if (dir && S_ISDIR(dir->before.mode) && !S_ISDIR(dir->after.mode))
			r->pieces[dir - r->list].chosen = true;
		*slash = '/';
	}
}

static int by_after(const void *a, const void *b)
{
	const struct change *const *x = a, *const *y = b;

	return ((*x)->after.ino > (*y)->after.ino) - ((*x)->after.ino < (*y)->after.ino);
}

static const struct change *find_inode(const struct change **by_ino, size_t n, uint64_t ino)
{
	const struct change key = {.after.ino = ino}, *keyp = &key;
	const struct change **found =
		n ? bsearch(&keyp, by_ino, n, sizeof(struct change *), by_after) : NULL;

	return found ? *found : NULL;
}

static bool choose_one(struct restore *r, size_t i)
{
	bool fresh = !r->pieces[i].chosen;

	r->pieces[i].chosen = true;
	return fresh;
}

/* The object of change i goes back to another path. Chooses the change that replaced it as well,
 * and all changes below if it is a directory. */
static bool choose_with(struct restore *r, size_t i)
{
	const struct change *from = &r->list[i];
	bool more = from->before.exists && choose_one(r, i);

	if (!S_ISDIR(from->after.mode))
		return more;
	for (size_t k = restore_below(r, from->root, from->path);
	     restore_is_inside(r, k, from->root, from->path); k++)
		more |= choose_one(r, k);
	return more;
}

/* Finds objects that have another name after the step. Returns true if it chose further changes,
 * whose objects must be found as well. */
static bool find_sources(struct restore *r)
{
	AUTO_FREE const struct change **by_ino = xcalloc(r->n + 1, sizeof(struct change *));
	bool more = false;
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->list[i].after.exists && r->list[i].after.ino != r->list[i].before.ino)
			by_ino[n++] = &r->list[i];
	if (n)
		qsort(by_ino, n, sizeof(struct change *), by_after);
	for (size_t i = 0; i < r->n; i++) {
		const struct change *c = &r->list[i];
		const struct change *from = c->old_path ? c : NULL;

		if (!r->pieces[i].chosen || r->pieces[i].source != SIZE_MAX)
			continue;
		if (!from && c->before.exists && c->after.ino != c->before.ino)
			from = find_inode(by_ino, n, c->before.ino);
		/* An object whose change is not chosen stays where it is, and a copy is
		 * restored. */
		if (!from || (from->after.mode & S_IFMT) != (c->before.mode & S_IFMT) ||
		    r->pieces[from - r->list].leaves ||
		    (!r->pieces[from - r->list].chosen && !S_ISDIR(c->before.mode)))
			continue;
		r->pieces[i].source = (size_t)(from - r->list);
		r->pieces[from - r->list].leaves = true;
		more |= choose_with(r, (size_t)(from - r->list));
	}
	return more;
}

/* Finds directories of the step that replaced a chosen one, and chooses their return to their old
 * paths. Returns true if it chose further changes. */
static bool find_displaced(struct restore *r)
{
	bool more = false;

	for (size_t i = 0; i < r->n; i++) {
		const struct change *c = &r->list[i];

		if (!r->pieces[i].chosen || !c->before.exists || !S_ISDIR(c->after.mode) ||
		    c->before.ino == c->after.ino)
			continue;
		for (size_t k = 0; k < r->n; k++)
			if (S_ISDIR(r->list[k].before.mode) &&
			    r->list[k].before.ino == c->after.ino && !r->pieces[k].chosen)
				more |= choose_with(r, k);
	}
	return more;
}

static size_t choose(struct restore *r, const char *const *paths)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (is_wanted(r, i, paths)) {
			r->pieces[i].chosen = true;
			n++;
			if (r->list[i].before.exists)
				choose_parents(r, i);
		}
	while (find_sources(r) || (r->names.back.n && find_displaced(r)))
		continue;
	return n;
}

static void make_pieces(struct restore *r)
{
	r->pieces = xcalloc(r->n + 1, sizeof(*r->pieces));
	for (size_t i = 0; i < r->n; i++) {
		r->pieces[i].source = SIZE_MAX;
		r->pieces[i].here = (struct content_origin)CONTENT_ORIGIN_NONE;
	}
}

static int say_none(const struct restore *r, const char *const *paths, struct err *err)
{
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; paths[k]; k++) {
			const struct change *c = &r->list[i];
			const char *path = name_in(r->j, c->root, paths[k]);

			if (path && c->old_path && path_is_beneath(path, c->old_path))
				return err_say(err, -ENOENT,
					       "step %" PRId64 " moved '%s' to '%s', with all that "
					       "is in it: name that",
					       r->id, c->old_path, c->path);
		}
	return err_say(err, -ENOENT,
		       "step %" PRId64 " changed none of these paths: `cordon diff %" PRId64
		       " --stat` lists what it did",
		       r->id, r->id);
}

int restore_load(struct restore *r, const char *const *paths, struct err *err)
{
	bool undone = false;
	AUTO_CLOSE int dir = history_find(r->j, r->id, &undone, err);
	int e;

	if (dir < 0)
		return take_fd(&dir);
	past_drop(r->j); /* may be of an older question, and older than the store */
	if (undone)
		return err_say(err, -EINVAL, "step %" PRId64 " is undone: redo brings it back",
			       r->id);
	r->bare = content_unprotected(dir);
	e = step_names_load(&r->names, dir, false);
	if (e < 0)
		return err_set(err, e, "read step %" PRId64, r->id);
	e = history_changes(r->j, r->id, &r->list, &r->n, err);
	if (e < 0)
		return e;
	make_pieces(r);
	if (r->names.back.n)
		restore_look_back(r, false);
	if (choose(r, paths) == 0)
		return say_none(r, paths, err);
	git_objects_unchoose(r);
	return 0;
}

void restore_done(struct restore *r)
{
	struct made *m, *next;

	for (size_t i = 0; r->pieces && i < r->n; i++) {
		content_origin_done(&r->pieces[i].here);
		free(r->pieces[i].was);
		free(r->pieces[i].temp);
	}
	free(r->pieces);
	HASH_ITER (hh, r->made, m, next) {
		HASH_DEL(r->made, m);
		free(m->path);
		free(m);
	}
	for (size_t i = 0; i < r->n_parents; i++) {
		free(r->parents[i].path);
		buf_done(&r->parents[i].meta);
	}
	free(r->parents);
	renames_done(&r->moved);
	step_names_done(&r->names);
	change_free(r->list, r->n);
	past_drop(r->j);
}
