/* verdicts - the user's answers about directories, for as long as they last. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/endpoint/verdicts.h"

#include <errno.h>
#include <string.h>

#include "core/base/hash.h"

struct verdict {
	char *key; /* a letter for the access, then the directory */
	bool allow;
	int64_t until_us;
	UT_hash_handle hh;
};

struct verdicts {
	struct verdict *list; /* in the order of their last use */
};

static char *key_of(const char *dir, enum es_access access)
{
	return xasprintf("%c%s", "rwx"[access], dir);
}

static void drop(struct verdicts *v, struct verdict *one)
{
	HASH_DEL(v->list, one);
	free(one->key);
	free(one);
}

static struct verdict *find(const struct verdicts *v, const char *dir, enum es_access access)
{
	AUTO_FREE char *key = key_of(dir, access);
	struct verdict *one;

	HASH_FIND_STR(v->list, key, one);
	return one;
}

struct verdicts *verdicts_new(void)
{
	return xcalloc(1, sizeof(struct verdicts));
}

void verdicts_clear(struct verdicts *v)
{
	struct verdict *one, *next;

	HASH_ITER (hh, v->list, one, next)
		drop(v, one);
}

void verdicts_free(struct verdicts *v)
{
	if (v)
		verdicts_clear(v);
	free(v);
}

void verdicts_add(struct verdicts *v, const char *dir, enum es_access access, bool allow,
		  int64_t until_us)
{
	struct verdict *one = find(v, dir, access);

	if (one)
		drop(v, one);
	if (HASH_COUNT(v->list) >= VERDICTS_MAX)
		drop(v, v->list);
	one = xcalloc(1, sizeof(*one));
	one->key = key_of(dir, access);
	one->allow = allow;
	one->until_us = until_us;
	HASH_ADD_KEYPTR(hh, v->list, one->key, strlen(one->key), one);
}

int verdicts_find(struct verdicts *v, const char *dir, enum es_access access, int64_t now_us)
{
	struct verdict *one = find(v, dir, access);

	if (!one)
		return -ENOENT;
	if (one->until_us <= now_us) {
		drop(v, one);
		return -ENOENT;
	}
	HASH_DEL(v->list, one); /* to the end */
	HASH_ADD_KEYPTR(hh, v->list, one->key, strlen(one->key), one);
	return one->allow;
}
