/* borrowed_dirs - directories whose mode a running rollback has changed, and their old modes. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/rollback/borrowed_dirs.h"

#include "core/journal/store/store.h"

struct lent {
	uint64_t ino;
	mode_t mode;
	UT_hash_handle hh;
};

static struct lent *find(const struct journal *j, uint64_t ino)
{
	struct lent *one;

	HASH_FIND(hh, j->lent, &ino, sizeof(ino), one);
	return one;
}

void lent_add(struct journal *j, uint64_t ino, mode_t mode)
{
	struct lent *one = find(j, ino);

	if (!one) {
		one = xcalloc(1, sizeof(*one));
		one->ino = ino;
		HASH_ADD(hh, j->lent, ino, sizeof(one->ino), one);
	}
	one->mode = mode;
}

static void drop(struct journal *j, struct lent *one)
{
	HASH_DEL(j->lent, one);
	free(one);
}

void lent_drop(struct journal *j, uint64_t ino)
{
	struct lent *one = find(j, ino);

	if (one)
		drop(j, one);
}

void lent_clear(struct journal *j)
{
	struct lent *one, *next;

	HASH_ITER (hh, j->lent, one, next)
		drop(j, one);
}

mode_t lent_mode(const struct journal *j, uint64_t ino, mode_t mode)
{
	const struct lent *one = find(j, ino);

	return one && mode == (one->mode | 0700) ? one->mode : mode;
}
