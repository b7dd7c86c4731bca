/* links - resolves the leading directory of a pattern if links are on its path. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/os/text.h"
#include "core/policy/policy_priv.h"

/*
 * Rules are about objects, and are matched with resolved paths: a rule about ~/notes, which is a
 * link to /data/notes, must match the latter. Nearly no pattern has a link in it, and there may be
 * ten thousand patterns. So the type of each directory is cached, and if a directory is needed
 * often all its links are read at once.
 */
#define LIST_AFTER 16
#define LINKS_MAX  40 /* as in the kernel */
#define HINTS	   16

struct link_dir {
	char *path;
	size_t len;
	enum link_place place;
	unsigned asked;
	bool listed;
	struct places links, names; /* once listed: of links, and of all entries; sorted */
	uint64_t hints[HINTS];	    /* bits of names, which quickly show that a name is missing */
	UT_hash_handle hh;
};

struct links {
	struct link_dir *dirs;
	struct link_dir *last; /* adjacent patterns often share the directory */
};

struct links *links_new(void)
{
	return xcalloc(1, sizeof(struct links));
}

void links_free(struct links *l)
{
	struct link_dir *d, *next;

	if (!l)
		return;
	HASH_ITER (hh, l->dirs, d, next) {
		HASH_DEL(l->dirs, d);
		places_done(&d->links);
		places_done(&d->names);
		free(d->path);
		free(d);
	}
	free(l);
}

/* ---- detecting links ------------------------------------------------------------------------- */

static enum link_place look(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR ? IS_MISSING : IS_PLAIN;
	return S_ISLNK(st.st_mode) ? IS_LINK : IS_PLAIN;
}

/* Returns the bit of a name: from its first and last byte and its length. */
static uint64_t hint(const char *name, size_t len, size_t *ret_word)
{
	const unsigned char first = (unsigned char)name[0], last = (unsigned char)name[len - 1];
	size_t h = (first * 31u + last * 7u + len * 131u) % (HINTS * 64);

	*ret_word = h / 64;
	return UINT64_C(1) << (h % 64);
}

static void list(struct link_dir *d)
{
	size_t word;

	d->listed = places_read_dir(d->path, &d->names, &d->links) == 0;
	for (size_t i = 0; i < d->names.n; i++) {
		uint64_t bit = hint(d->names.list[i], strlen(d->names.list[i]), &word);

		d->hints[word] |= bit;
	}
}

static bool is_listed(const struct link_dir *d, const char *name, size_t len)
{
	size_t word;
	uint64_t bit = hint(name, len, &word);

	return d->hints[word] & bit && places_has_sorted(&d->names, name, len);
}

static enum link_place look_at(const char *path, size_t len)
{
	AUTO_FREE char *whole = xstrndup(path, len);

	return look(whole);
}

/* Looks up the entry `name` of d; whole is the path of both. */
static enum link_place look_in(struct link_dir *d, const char *whole, size_t len, const char *name)
{
	size_t n = len - (size_t)(name - whole);

	if (d->place != IS_PLAIN)
		return d->place;
	if (++d->asked == LIST_AFTER)
		list(d);
	if (d->listed && !is_listed(d, name, n))
		return IS_MISSING;
	if (d->listed && !places_has_sorted(&d->links, name, n))
		return IS_PLAIN;
	return look_at(whole, len);
}

/* Returns the last component of a path, and the length of its parent, 1 for "/". */
static const char *leaf_at(const char *path, size_t len, size_t *ret_parent)
{
	const char *slash = memrchr(path, '/', len);

	*ret_parent = slash > path ? (size_t)(slash - path) : 1;
	return slash + 1;
}

/* Returns whether d is the directory, or an ancestor with the same result: it is missing, or a
 * link. */
static bool stands_for(const struct link_dir *d, const char *path, size_t len)
{
	if (!d || d->len > len || memcmp(d->path, path, d->len) != 0)
		return false;
	return d->len == len || (d->place != IS_PLAIN && path[d->len] == '/');
}

static struct link_dir *add_dir(struct links *l, const char *path, size_t len,
				enum link_place place)
{
	struct link_dir *d = xcalloc(1, sizeof(*d));

	d->path = xstrndup(path, len);
	d->len = len;
	d->place = place;
	HASH_ADD_KEYPTR(hh, l->dirs, d->path, len, d);
	return d;
}

/* Recursive, but a pattern has at most PATTERN_PARTS components. */
static struct link_dir *dir_of(struct links *l, const char *path, size_t len)
{
	struct link_dir *d = l->last, *above;
	const char *leaf;
	size_t parent;

	if (stands_for(d, path, len))
		return d;
	HASH_FIND(hh, l->dirs, path, len, d);
	if (!d && len == 1)
		d = add_dir(l, path, len, IS_PLAIN);
	if (!d) {
		leaf = leaf_at(path, len, &parent);
		above = dir_of(l, path, parent);
		d = above->place == IS_PLAIN
			    ? add_dir(l, path, len, look_in(above, path, len, leaf))
			    : above;
	}
	l->last = d;
	return d;
}

enum link_place links_look(struct links *l, const char *path, size_t len)
{
	const char *leaf;
	size_t parent;

	if (len < 2)
		return IS_PLAIN;
	leaf = leaf_at(path, len, &parent);
	return look_in(dir_of(l, path, parent), path, len, leaf);
}

/* ---- following ------------------------------------------------------------------------------- */

/* Returns the target of the link at `at` joined with the rest, absolute. Heap; NULL: no link. */
static char *target_of(const char *at, const char *rest)
{
	AUTO_FREE char *dir = path_dir(at);
	AUTO_FREE char *joined = NULL;
	AUTO_FREE char *whole = NULL;
	char target[PATH_MAX];
	ssize_t n = readlink(at, target, sizeof(target) - 1);

	if (n < 0)
		return NULL;
	target[n] = '\0';
	joined = path_join(dir, target);
	whole = xasprintf("%s%s", joined, rest);
	return take_ptr(&whole);
}

int links_follow(const char *path, const char *const *folders, char **ret, bool *ret_inside)
{
	return links_follow_each(path, folders, NULL, ret, ret_inside);
}

int links_follow_each(const char *path, const char *const *folders, struct places *ret_links,
		      char **ret, bool *ret_inside)
{
	AUTO_FREE char *left = xstrdup(path);
	AUTO_BUF struct buf done = BUF_INIT;
	const char *c = left;
	int followed = 0;

	*ret_inside = false;
	while (*c) {
		size_t n = strcspn(c + 1, "/");
		char *next;

		if (n == 0 || (n == 1 && c[1] == '.')) {
			c += 1 + n;
			continue;
		}
		if (n == 2 && c[1] == '.' && c[2] == '.') {
			AUTO_FREE char *up = path_dir(done.len ? done.data : "/");

			buf_clear(&done);
			buf_str(&done, str_eq(up, "/") ? "" : up);
			c += 1 + n;
			continue;
		}
		buf_add(&done, c, 1 + n);
		c += 1 + n;
		next = target_of(done.data, c);
		if (!next)
			continue;
		*ret_inside = *ret_inside || path_is_in(done.data, folders);
		if (ret_links)
			places_add(ret_links, xstrdup(done.data));
		free(left);
		left = next;
		c = left;
		buf_clear(&done);
		if (++followed > LINKS_MAX)
			return -ELOOP;
	}
	*ret = xstrdup(done.len ? done.data : "/");
	return 0;
}
