/* fate - what several steps together did to a path, and whether somebody else was there between. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/journal/priv.h"

static struct fate *get(struct fate **set, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	struct fate *f;

	HASH_FIND_STR(*set, key, f);
	if (f)
		return f;
	f = xcalloc(1, sizeof(*f));
	f->key = take_ptr(&key);
	HASH_ADD_KEYPTR(hh, *set, f->key, strlen(f->key), f);
	return f;
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

static struct fate *add(struct fate **set, int root, const char *path,
			const struct change_side *before, const struct change_side *after,
			bool tangled)
{
	struct fate *f = get(set, root, path);

	f->tangled |= tangled;
	if (!f->seen)
		f->after = *after;
	else if (!f->tangled && !sides_equal(&f->before, after))
		f->broken = true;
	f->seen = true;
	f->before = *before;
	return f;
}

void fate_add(struct fate **set, const struct summary *s, bool tangled)
{
	static const struct change_side nothing;

	/* What it did to the others' paths it may not say. */
	for (struct fate *f = s->partial ? *set : NULL; f; f = f->hh.next)
		f->tangled = true;
	tangled |= s->partial;
	for (size_t i = 0; i < s->n; i++) {
		const struct change *c = &s->changes[i];
		struct fate *f;

		if (c->kind != CHANGE_RENAMED) {
			add(set, c->root, c->path, &c->before, &c->after, tangled || c->linked);
			continue;
		}
		add(set, c->root, c->old_path, &c->before, &nothing, tangled || c->linked);
		f = add(set, c->root, c->path, &nothing, &c->after, tangled || c->linked);
		free(f->renamed_from);
		f->renamed_from = xstrdup(c->old_path);
	}
}

void fate_free(struct fate *set)
{
	struct fate *f, *next;

	HASH_ITER (hh, set, f, next) {
		HASH_DEL(set, f);
		free(f->key);
		free(f->renamed_from);
		free(f);
	}
}
