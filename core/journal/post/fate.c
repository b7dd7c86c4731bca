/* fate - what several steps together did to a path, and whether somebody else was there between. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/journal/priv.h"

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

static struct fate *find(const struct fates *f, const char *key)
{
	size_t i = names_find(&f->keys, key);

	return i == NAMES_NONE ? NULL : &f->list[i];
}

const struct fate *fates_find(const struct fates *f, const char *key)
{
	return find(f, key);
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
			enum fate_hands hands)
{
	struct fate *f = get(all, root, path);

	f->tangled |= hands != FATE_ALONE;
	f->turn = all->turn;
	if (!f->seen) {
		f->newest = all->turn;
		f->after = *after;
	} else if (!f->tangled && !sides_equal(&f->before, after)) {
		f->broken = true;
	}
	f->seen = true;
	f->before = *before;
	return f;
}

/* ---- files by several names -------------------------------------------------------------------
 */

struct found_file { /* as the oldest step that was added found it, under whatever name */
	uint64_t ino;
	struct change_side before;
	bool alone;
	unsigned turn;
	UT_hash_handle hh;
};

static struct found_file *find_file(const struct fates *f, uint64_t ino)
{
	struct found_file *file;

	HASH_FIND(hh, f->files, &ino, sizeof(ino), file);
	return file;
}

/* Did newer steps find another state of the file than this one left? */
static bool is_cut(const struct fates *f, const struct change *c, enum fate_hands hands)
{
	const struct found_file *file = c->after.exists ? find_file(f, c->after.ino) : NULL;

	return file && file->turn != f->turn && file->alone && hands == FATE_ALONE &&
	       !sides_equal(&file->before, &c->after);
}

static void note_file(struct fates *f, const struct change *c, enum fate_hands hands)
{
	struct found_file *file = c->before.exists ? find_file(f, c->before.ino) : NULL;

	if (!file && !c->linked)
		return;
	if (!file) {
		file = xcalloc(1, sizeof(*file));
		file->ino = c->before.ino;
		HASH_ADD(hh, f->files, ino, sizeof(file->ino), file);
	}
	file->before = c->before;
	file->alone = hands == FATE_ALONE;
	file->turn = f->turn;
}

static void files_done(struct fates *f)
{
	struct found_file *file, *rest;

	HASH_ITER (hh, f->files, file, rest) {
		HASH_DEL(f->files, file);
		free(file);
	}
}

/* ---- all of them ------------------------------------------------------------------------------
 */

void fates_tangle(struct fates *f)
{
	for (size_t i = 0; i < names_count(&f->keys); i++)
		f->list[i].tangled = true;
}

void fates_add(struct fates *all, const struct change *c, enum fate_hands hands,
	       enum fate_hands old_hands)
{
	static const struct change_side nothing;
	bool cut = is_cut(all, c, hands);
	struct fate *f;

	note_file(all, c, MAX(hands, old_hands));
	if (c->linked)
		hands = old_hands = FATE_SHARED;
	if (c->kind != CHANGE_RENAMED) {
		f = add(all, c->root, c->path, &c->before, &c->after, hands);
		f->cut |= cut;
		return;
	}
	add(all, c->root, c->old_path, &c->before, &nothing, old_hands);
	f = add(all, c->root, c->path, &nothing, &c->after, hands);
	f->cut |= cut;
	free(f->renamed_from);
	f->renamed_from = xstrdup(c->old_path);
}

/* Of one file by several names nobody knows which step changed it last. */
static bool is_another(const struct change_side *a, const struct change_side *b)
{
	return !sides_equal(a, b) && !(a->exists && b->exists && a->ino == b->ino);
}

void fates_left(struct fates *changed, struct fates *quiet, const struct post *p)
{
	struct fate *c = find(changed, p->key), *q = find(quiet, p->key);
	struct change_side left;

	change_side_set(&left, &p->obj);
	if (c && c->turn != changed->turn)
		c->broken |= !c->tangled && !sides_equal(&c->before, &left);
	/* Down to the first change, which tells by itself what it found. */
	if (q && (!c || c->newest == changed->turn))
		q->broken |= is_another(&q->before, &left);
	if (!c && !q)
		add(quiet, p->root, p->path, &left, &left, FATE_ALONE);
}

void fates_done(struct fates *f)
{
	for (size_t i = 0; i < names_count(&f->keys); i++)
		free(f->list[i].renamed_from);
	free(f->list);
	files_done(f);
	names_done(&f->keys);
	*f = (struct fates){0};
}
