/* net_effect - the net effect of several steps on each path. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/journal/history/net_effect.h"
#include "core/journal/journal.h"
#include "core/journal/util/path_set.h"

static struct fate *get(struct fates *f, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	bool fresh;
	size_t i = names_put(&f->keys, key, &fresh);

	if (fresh && i == f->cap) {
		f->cap = f->cap ? f->cap + f->cap / 2 : 8;
		f->list = xrealloc(f->list, f->cap * sizeof(*f->list));
	}
	if (fresh)
		f->list[i] = (struct fate){0};
	return &f->list[i];
}

const struct fate *fates_find(const struct fates *f, const char *key)
{
	size_t i = names_find(&f->keys, key);

	return i == NAMES_NONE ? NULL : &f->list[i];
}

bool sides_equal(const struct change_side *a, const struct change_side *b)
{
	if (!a->exists || !b->exists)
		return a->exists == b->exists;
	if (a->mode != b->mode || a->uid != b->uid || a->gid != b->gid)
		return false;
	/* Entries come and go in a directory. */
	return S_ISDIR(a->mode) || (a->size == b->size && a->mtime_ns == b->mtime_ns);
}

static struct fate *add(struct fates *all, int root, const char *path,
			const struct change_side *before, const struct change_side *after,
			bool tangled)
{
	struct fate *f = get(all, root, path);

	f->tangled |= tangled;
	if (!f->seen)
		f->after = *after;
	f->seen = true;
	f->before = *before;
	return f;
}

void fates_tangle(struct fates *f)
{
	for (size_t i = 0; i < names_count(&f->keys); i++)
		f->list[i].tangled = true;
}

void fates_add(struct fates *all, const struct change *c, bool tangled, bool old_tangled)
{
	static const struct change_side nothing;
	struct fate *f;

	if (c->kind != CHANGE_RENAMED) {
		add(all, c->root, c->path, &c->before, &c->after, tangled || c->linked);
		return;
	}
	add(all, c->root, c->old_path, &c->before, &nothing, old_tangled || c->linked);
	f = add(all, c->root, c->path, &nothing, &c->after, tangled || c->linked);
	free(f->renamed_from);
	f->renamed_from = xstrdup(c->old_path);
}

void fates_done(struct fates *f)
{
	for (size_t i = 0; i < names_count(&f->keys); i++)
		free(f->list[i].renamed_from);
	free(f->list);
	names_done(&f->keys);
	*f = (struct fates){0};
}
