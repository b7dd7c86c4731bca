/* hard_links - hard links that a step creates: a change of one name is a change of the others. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/journal/fs/object.h"
#include "core/journal/history/rename_tree.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/util/path_set.h"

/*
 * What a step changes is told by the names that it used. A name that it made itself and took away
 * again shows nothing, though a file was written by it that had been there before under another.
 */

struct alias {		 /* the name that an inode had when the step gave it one more */
	uint64_t key[2]; /* dev, ino */
	int64_t btime_ns;
	uint32_t then; /* when it had that, as a moment of the step's places */
	char *name;    /* "<root>/path" */
	UT_hash_handle hh;
};

void alias_note(struct step *s, const struct obj *o, int root, const char *path)
{
	const struct known *k = step_known(s, o);
	AUTO_FREE char *name = key_make(root, path);
	uint64_t key[2] = {o->dev, o->ino};
	const struct touch *t;
	struct alias *a;

	t = touches_find(&s->touches, name);
	if ((k && k->flags & KNOWN_CREATED) || (t && !t->before))
		return;
	HASH_FIND(hh, s->aliases, key, sizeof(key), a);
	if (a && a->btime_ns == o->btime_ns)
		return;
	if (!a) {
		a = xcalloc(1, sizeof(*a));
		memcpy(a->key, key, sizeof(key));
		HASH_ADD(hh, s->aliases, key, sizeof(a->key), a);
	}
	a->btime_ns = o->btime_ns;
	a->then = s->touches.places.now;
	free(a->name);
	a->name = take_ptr(&name);
}

static struct alias *find(const struct step *s, const struct obj *o)
{
	uint64_t key[2] = {o->dev, o->ino};
	struct alias *a;

	HASH_FIND(hh, s->aliases, key, sizeof(key), a);
	return a && a->btime_ns == o->btime_ns ? a : NULL;
}

bool alias_has(const struct step *s, const struct obj *o)
{
	return find(s, o) != NULL;
}

void alias_use(struct step *s, const struct obj *o)
{
	static const struct obj nothing;
	const struct alias *a = find(s, o);
	AUTO_FREE char *now = NULL;
	const char *path;
	int root;

	if (!a)
		return;
	root = key_root(a->name, &path);
	if (!step_touch(s, root, path, o) || a->then == s->touches.places.now)
		return;
	now = xstrdup(path);
	rename_tree_follow(&s->touches.places, a->then, s->touches.places.now, &root, &now);
	step_touch(s, root, now, &nothing);
}

void aliases_free(struct step *s)
{
	struct alias *a, *next;

	HASH_ITER (hh, s->aliases, a, next) {
		HASH_DEL(s->aliases, a);
		free(a->name);
		free(a);
	}
}
