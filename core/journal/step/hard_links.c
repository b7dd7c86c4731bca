/* hard_links - hard links that a step creates: a change of one name is a change of the others. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/journal/fs/object.h"
#include "core/journal/step/hard_links.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/rename_tree.h"

/*
 * A step's changes are found by the names that it used. If the step links a file, writes to it
 * through the new name and removes that name again, the name shows no change, although the file
 * changed under its old name.
 */

struct hard_link {	 /* a name of an inode before the step gave it another one */
	uint64_t key[2]; /* dev, ino */
	int64_t btime_ns;
	uint32_t then; /* when it had that name, as a moment of the step's places */
	char *name;    /* "<root>/path" */
	UT_hash_handle hh;
};

void hard_link_note(struct step *s, const struct object *o, int root, const char *path)
{
	const struct touched_inode *k = step_known(s, o);
	AUTO_FREE char *name = path_key_make(root, path);
	uint64_t key[2] = {o->dev, o->ino};
	const struct touched_path *t;
	struct hard_link *a;

	t = touched_paths_find(&s->touches, name);
	if ((k && k->flags & TOUCHED_CREATED) || (t && !t->before))
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

static struct hard_link *find(const struct step *s, const struct object *o)
{
	uint64_t key[2] = {o->dev, o->ino};
	struct hard_link *a;

	HASH_FIND(hh, s->aliases, key, sizeof(key), a);
	return a && a->btime_ns == o->btime_ns ? a : NULL;
}

bool hard_link_has(const struct step *s, const struct object *o)
{
	return find(s, o) != NULL;
}

void hard_link_use(struct step *s, const struct object *o)
{
	static const struct object nothing;
	const struct hard_link *a = find(s, o);
	AUTO_FREE char *now = NULL;
	const char *path;
	int root;

	if (!a)
		return;
	root = path_key_root(a->name, &path);
	if (!step_touch(s, root, path, o) || a->then == s->touches.places.now)
		return;
	now = xstrdup(path);
	rename_tree_follow(&s->touches.places, a->then, s->touches.places.now, &root, &now);
	step_touch(s, root, now, &nothing);
}

void hard_links_free(struct step *s)
{
	struct hard_link *a, *next;

	HASH_ITER (hh, s->aliases, a, next) {
		HASH_DEL(s->aliases, a);
		free(a->name);
		free(a);
	}
}
