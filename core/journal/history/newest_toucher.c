/* newest_toucher - finds the newest of several steps that touched a path or wrote to a file. */
/* SPDX-License-Identifier: MIT */
#include "core/base/hash.h"
#include "core/journal/history/newest_toucher.h"

#include <stdlib.h>

#include "core/journal/history/rename_list.h"
#include "core/journal/util/path_set.h"

void touchers_note(struct touchers *h, size_t place, const struct path_set *names)
{
	for (size_t i = 0; i < path_set_count(names); i++)
		path_set_add_key(&h->names, path_set_key(names, i));
	h->ends = xrealloc(h->ends, (place + 1) * sizeof(*h->ends));
	h->ends[place] = path_set_count(&h->names);
}

void touchers_find(const struct touchers *h, size_t place, const struct renames *moves,
		   const struct path_set *names, struct path_set *ret)
{
	size_t newer = h->ends && place ? h->ends[place - 1] : 0;

	for (size_t i = 0; h->ends && i < path_set_count(names); i++) {
		const char *key = path_set_key(names, i), *path;
		int root = path_key_root(key, &path);

		if ((newer && path_set_find(&h->names, key) < newer) ||
		    renames_touch(moves, root, path))
			path_set_add_key(ret, key);
	}
}

struct writing {
	uint64_t ino;
	size_t place; /* of the newest step */
	UT_hash_handle hh;
};

static struct writing *find_writing(const struct touchers *h, uint64_t ino)
{
	struct writing *one;

	HASH_FIND(hh, h->files, &ino, sizeof(ino), one);
	return one;
}

void touchers_wrote(struct touchers *h, size_t place, uint64_t ino)
{
	struct writing *one;

	if (find_writing(h, ino))
		return;
	one = xcalloc(1, sizeof(*one));
	one->ino = ino;
	one->place = place;
	HASH_ADD(hh, h->files, ino, sizeof(one->ino), one);
}

bool touchers_have_file(const struct touchers *h, size_t place, uint64_t ino)
{
	const struct writing *one = find_writing(h, ino);

	return one && one->place < place;
}

void touchers_done(struct touchers *h)
{
	struct writing *one, *rest;

	HASH_ITER (hh, h->files, one, rest) {
		HASH_DEL(h->files, one);
		free(one);
	}
	path_set_done(&h->names);
	free(h->ends);
}
