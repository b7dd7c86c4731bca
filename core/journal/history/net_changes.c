/* net_changes - the net changes of a step: each path before and after, renames found by inode. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/borrow.h"
#include "core/journal/history/net_changes.h"

#include <errno.h>
#include <string.h>

#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/grow.h"
#include "core/journal/util/path_set.h"

void change_side_set(struct change_side *c, const struct object *o)
{
	*c = (struct change_side){.exists = o->mode != 0,
				  .mode = o->mode,
				  .uid = o->uid,
				  .gid = o->gid,
				  .size = S_ISDIR(o->mode) ? 0 : o->size,
				  .ino = o->ino,
				  .mtime_ns = o->mtime_ns};
}

bool change_sides_equal(const struct change_side *a, const struct change_side *b)
{
	if (!a->exists || !b->exists)
		return a->exists == b->exists;
	if (a->mode != b->mode || a->uid != b->uid || a->gid != b->gid)
		return false;
	/* A directory's times change with its entries. */
	return S_ISDIR(a->mode) || (a->size == b->size && a->mtime_ns == b->mtime_ns);
}

void change_free(struct change *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++) {
		free(list[i].path);
		free(list[i].old_path);
		free(list[i].base);
	}
	free(list);
}

/* ---- paths that differ ------------------------------------------------------------------------
 */

static bool differ(const struct object *a, const struct object *b, bool attrs_set)
{
	if (!a->mode || !b->mode)
		return a->mode != b->mode;
	if (a->mode != b->mode || a->uid != b->uid || a->gid != b->gid)
		return true;
	/* A directory's times change with its entries, too. */
	if (S_ISDIR(a->mode) && !attrs_set)
		return !object_same(a, b);
	/* The ctime shows a change even if a program has set the mtime back. */
	return !object_same(a, b) || a->ctime_ns != b->ctime_ns;
}

/* Returns whether the bytes have another hash: a store through a mapping may change no time. */
static bool rewritten(struct journal *j, const struct touched_inodes *known,
		      const struct object *before, const struct object *after,
		      const struct spot *at)
{
	AUTO_CLOSE int fd = -1;
	const struct touched_inode *k;

	if (!known || !before->mode || !S_ISREG(after->mode))
		return false;
	k = touched_inodes_find(known, object_pack_dev(before->dev), before->ino);
	if (!k || k->btime_ns != before->btime_ns || !k->hash)
		return false;
	fd = borrow_open_file(j, at->fd, at->name);
	return fd >= 0 && content_hash_whole(fd, after->size) != k->hash;
}

/* Compares one path, also in a directory that its owner locked. */
static int look_one(struct journal *j, struct touched_paths *of, size_t i,
		    const struct touched_inodes *known, struct nets *ret, bool *differs)
{
	struct object before, after;
	struct reach reach = {0};
	const char *path;
	int root = path_key_root(touched_paths_key(of, i), &path);
	struct spot at;
	int r = reach_look(j, &reach, root, path, &at, &after);

	*differs = false;
	if (r == 0) {
		touched_paths_set_after(of, i, &after);
		ret->unseen |= after.mode == OBJECT_UNSEEN;
		ret->locked |= reach.n > 0;
		touched_path_before(of, &of->list[i], &before);
		*differs = after.mode != OBJECT_UNSEEN && before.mode != OBJECT_UNSEEN &&
			   (differ(&before, &after, of->list[i].attrs_set) ||
			    rewritten(j, known, &before, &after, &at));
	}
	reach_close(j, &reach);
	return r;
}

static int look_all(struct journal *j, struct touched_paths *of, const struct touched_inodes *known,
		    struct nets *ret)
{
	size_t cap = 0;

	store_forget_near(j);
	for (size_t i = 0; i < touched_paths_count(of); i++) {
		bool differs;
		int r = look_one(j, of, i, known, ret, &differs);

		if (r < 0)
			return r;
		if (!differs)
			continue;
		GROW(ret->list, cap, ret->n);
		ret->list[ret->n++] =
			(struct net){.key = touched_paths_key(of, i), .touch = (uint32_t)i};
	}
	return 0;
}

/* ---- renames ----------------------------------------------------------------------------------
 */

struct gone { /* a name that was removed */
	uint64_t ino;
	const char *key;
	uint32_t touch;
	bool taken; /* it is the source of a rename */
};

static int gone_by_ino(const void *a, const void *b)
{
	const struct gone *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return strcmp(x->key, y->key);
}

static struct gone *find_all_gone(const struct nets *n, size_t *ret_n)
{
	struct gone *list = NULL;
	size_t cap = 0, made = 0;

	*ret_n = 0;
	for (size_t i = 0; i < n->n; i++) {
		const struct touched_path *t = &n->of->list[n->list[i].touch];
		struct object before;

		made += !t->before;
		if (t->after)
			continue;
		GROW(list, cap, *ret_n);
		touched_path_before(n->of, t, &before);
		list[(*ret_n)++] = (struct gone){
			.ino = before.ino, .key = n->list[i].key, .touch = n->list[i].touch};
	}
	if (!made) /* no path was created, so none was renamed */
		*ret_n = 0;
	if (*ret_n)
		qsort(list, *ret_n, sizeof(*list), gone_by_ino);
	return list;
}

/* Returns the removed name whose inode is now `here`, or NULL. */
static struct gone *find_source(const struct nets *n, struct gone *gone, size_t n_gone,
				const struct object *here)
{
	size_t lo = 0, hi = n_gone;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (gone[mid].ino < here->ino)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < n_gone && gone[lo].ino == here->ino; lo++) {
		struct object before;

		touched_path_before(n->of, &n->of->list[gone[lo].touch], &before);
		if (!gone[lo].taken && object_same(&before, here))
			return &gone[lo];
	}
	return NULL;
}

static int by_touch(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Drops the changes at names that were renamed: the new name's change has the old name. */
static void drop_sources(struct nets *n, const struct gone *gone, size_t n_gone)
{
	AUTO_FREE uint32_t *taken = xcalloc(n_gone + 1, sizeof(*taken));
	size_t n_taken = 0, kept = 0;

	for (size_t i = 0; i < n_gone; i++)
		if (gone[i].taken)
			taken[n_taken++] = gone[i].touch;
	if (!n_taken)
		return;
	qsort(taken, n_taken, sizeof(*taken), by_touch);
	for (size_t i = 0; i < n->n; i++)
		if (!bsearch(&n->list[i].touch, taken, n_taken, sizeof(*taken), by_touch))
			n->list[kept++] = n->list[i];
	n->n = kept;
}

static void pair_renames(struct nets *n)
{
	size_t n_gone = 0;
	AUTO_FREE struct gone *gone = find_all_gone(n, &n_gone);

	for (size_t i = 0; n_gone && i < n->n; i++) {
		struct net *one = &n->list[i];
		const struct touched_path *t = &n->of->list[one->touch];
		struct gone *source;
		struct object after;

		if (t->before || !t->after)
			continue;
		touched_path_after(n->of, t, &after);
		source = find_source(n, gone, n_gone, &after);
		if (!source)
			continue;
		source->taken = true;
		one->source = source->touch + 1;
		if (n->inverted)
			one->key = source->key;
	}
	drop_sources(n, gone, n_gone);
}

/* ---- the list ---------------------------------------------------------------------------------
 */

static int net_by_path(const void *a, const void *b)
{
	const struct net *x = a, *y = b;
	const char *p, *q;
	int i = path_key_root(x->key, &p), k = path_key_root(y->key, &q);

	return i != k ? i - k : strcmp(p, q);
}

int nets_build(struct journal *j, struct touched_paths *of, const struct touched_inodes *known,
	       bool inverted, struct nets *ret)
{
	int r;

	*ret = (struct nets){.of = of, .inverted = inverted};
	r = look_all(j, of, known, ret);
	if (r < 0) {
		nets_done(ret);
		return r;
	}
	pair_renames(ret);
	if (ret->n)
		qsort(ret->list, ret->n, sizeof(*ret->list), net_by_path);
	return 0;
}

static enum change_kind kind_of(const struct change *c)
{
	if (c->old_path)
		return CHANGE_RENAMED;
	if (!c->before.exists)
		return CHANGE_CREATED;
	return c->after.exists ? CHANGE_MODIFIED : CHANGE_DELETED;
}

/* Returns the path of a key as struct change needs it; the touches own it. */
static char *borrow(const char *key, int *root)
{
	const char *path;

	*root = path_key_root(key, &path);
	return (char *)(uintptr_t)path;
}

static bool has_more_names(const struct object *o)
{
	return !S_ISDIR(o->mode) && o->nlink > 1;
}

void nets_get(const struct nets *n, size_t i, struct change *ret)
{
	const struct net *one = &n->list[i];
	const struct touched_path *t = &n->of->list[one->touch];
	const struct touched_path *from = one->source ? &n->of->list[one->source - 1] : t;
	struct object before, after;
	int source_root;

	touched_path_before(n->of, from, &before);
	touched_path_after(n->of, t, &after);
	*ret = (struct change){.linked = has_more_names(n->inverted ? &after : &before)};
	ret->path = borrow(touched_paths_key(n->of, one->touch), &ret->root);
	if (one->source)
		ret->old_path = borrow(touched_paths_key(n->of, one->source - 1), &source_root);
	change_side_set(&ret->before, n->inverted ? &after : &before);
	change_side_set(&ret->after, n->inverted ? &before : &after);
	if (n->inverted && ret->old_path) {
		char *path = ret->path;

		ret->path = ret->old_path;
		ret->old_path = path;
	}
	ret->kind = kind_of(ret);
}

/* Compares a key with an entry's. */
static int key_against(const void *key, const void *one)
{
	const struct net wanted = {.key = key};

	return net_by_path(&wanted, one);
}

/* Returns whether this is the removed temporary name of a save of x, and x is changed: one file was
 * changed, and it exists. */
static bool carried_save(const struct nets *n, const struct net *one)
{
	size_t len = path_saved_as(one->key);
	AUTO_FREE char *x = len ? xstrndup(one->key, len) : NULL;
	const struct net *found =
		x ? bsearch(x, n->list, n->n, sizeof(*n->list), key_against) : NULL;
	struct change c;

	if (!found)
		return false;
	nets_get(n, (size_t)(found - n->list), &c);
	return c.after.exists;
}

void nets_count(const struct nets *n, struct step_info *ret)
{
	ret->created = ret->modified = ret->deleted = ret->renamed = 0;
	for (size_t i = 0; i < n->n; i++) {
		struct change c;

		nets_get(n, i, &c);
		ret->created += c.kind == CHANGE_CREATED;
		ret->modified += c.kind == CHANGE_MODIFIED;
		ret->deleted += c.kind == CHANGE_DELETED && !carried_save(n, &n->list[i]);
		ret->renamed += c.kind == CHANGE_RENAMED;
	}
}

bool nets_elsewhere(const struct nets *nets, const struct journal *j)
{
	for (size_t i = 0; i < nets->n; i++) {
		struct change c;

		nets_get(nets, i, &c);
		if (root_is_own(j, c.root))
			return false;
	}
	return nets->n > 0;
}

void nets_done(struct nets *n)
{
	free(n->list);
	*n = (struct nets){0};
}
