/* borrowed_dirs - directories whose mode a running rollback has changed, and their old modes. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/borrowed_dirs.h"

#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/store/store.h"

struct borrowed {
	uint64_t key[2]; /* device, inode */
	mode_t mode;
	UT_hash_handle hh;
};

static struct borrowed *find(const struct journal *j, uint64_t dev, uint64_t ino)
{
	const uint64_t key[2] = {dev, ino};
	struct borrowed *one;

	HASH_FIND(hh, j->borrowed, key, sizeof(key), one);
	return one;
}

void borrowed_add(struct journal *j, const struct object *o)
{
	struct borrowed *one = find(j, o->dev, o->ino);

	if (!one) {
		one = xcalloc(1, sizeof(*one));
		one->key[0] = o->dev;
		one->key[1] = o->ino;
		HASH_ADD(hh, j->borrowed, key, sizeof(one->key), one);
	}
	one->mode = o->mode;
}

static void drop(struct journal *j, struct borrowed *one)
{
	HASH_DEL(j->borrowed, one);
	free(one);
}

void borrowed_drop(struct journal *j, const struct object *o)
{
	struct borrowed *one = find(j, o->dev, o->ino);

	if (one)
		drop(j, one);
}

void borrowed_clear(struct journal *j)
{
	struct borrowed *one, *next;

	HASH_ITER (hh, j->borrowed, one, next)
		drop(j, one);
}

mode_t borrowed_mode(const struct journal *j, uint64_t dev, uint64_t ino, mode_t mode)
{
	const struct borrowed *one = find(j, dev, ino);

	return one && mode == (one->mode | 0700) ? one->mode : mode;
}
