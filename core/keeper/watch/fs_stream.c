/* fs_stream - what events of FSEvents mean: a change of a path, a look at a directory, or a loss.
 */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/watch/fs_stream.h"

#include "core/base/hash.h"
#include "core/base/path.h"

#define DROPPED	 (FSE_USER_DROPPED | FSE_KERNEL_DROPPED)
#define META	 (FSE_INODE_META | FSE_FINDER_INFO | FSE_OWNER | FSE_XATTR)
#define HAPPENED (FSE_CREATED | FSE_REMOVED | FSE_RENAMED | FSE_MODIFIED | META)
#define TELLS	 (HAPPENED | DROPPED | FSE_MUST_SCAN | FSE_ROOT_CHANGED)

struct item { /* a path of the batch */
	const char *path;
	uint32_t marks;
	struct item *next;
	UT_hash_handle hh;
};

struct batch {
	struct item *by_path, *first, **end;
	bool lost;
};

static void add(struct batch *b, const struct os_fs_event *e)
{
	struct item *i;

	HASH_FIND_STR(b->by_path, e->path, i);
	if (!i) {
		i = xcalloc(1, sizeof(*i));
		i->path = e->path;
		HASH_ADD_KEYPTR(hh, b->by_path, i->path, strlen(i->path), i);
		*b->end = i;
		b->end = &i->next;
	}
	i->marks |= e->flags;
}

static enum seen_what what_of(uint32_t marks)
{
	switch (marks & HAPPENED & ~META) {
	case 0:
		return SEEN_META;
	case FSE_CREATED:
		return SEEN_MADE;
	case FSE_RENAMED:
		return SEEN_NAMED;
	default:
		return SEEN_MOVED;
	}
}

static void take_item(const struct fs_stream_ops *ops, const struct item *i)
{
	const bool came = i->marks & (FSE_CREATED | FSE_RENAMED);
	mode_t type = ops->look(ops->data, i->path);

	if (!type) {
		ops->changed(ops->data, i->path, SEEN_GONE, false, 0);
		return;
	}
	/* A change of a directory's metadata is not an edit. */
	if (S_ISDIR(type) && !came)
		return;
	ops->changed(ops->data, i->path, what_of(i->marks), came, type);
	if (S_ISDIR(type))
		ops->scan(ops->data, i->path, true);
}

/* Returns whether a directory above the path is scanned anyway. */
static bool is_covered(const struct batch *b, const char *path)
{
	for (const struct item *i = b->first; i; i = i->next)
		if (i->path != path && i->marks & FSE_MUST_SCAN && path_is_beneath(path, i->path))
			return true;
	return false;
}

static void collect(const struct fs_stream_ops *ops, struct batch *b,
		    const struct os_fs_event *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct os_fs_event *e = &list[i];

		/* A restart of the event numbers is no loss, because none is stored. */
		if (!(e->flags & TELLS))
			continue;
		if (e->flags & DROPPED || !e->path || *e->path != '/')
			b->lost = true;
		else if (e->flags & FSE_ROOT_CHANGED)
			ops->root_changed(ops->data, e->path);
		else
			add(b, e);
	}
}

void fs_stream_take(const struct fs_stream_ops *ops, const struct os_fs_event *list, size_t n)
{
	struct batch b = {.end = &b.first};
	struct item *i, *next;

	collect(ops, &b, list, n);
	for (i = b.first; i; i = next) {
		next = i->next;
		if (i->marks & HAPPENED)
			take_item(ops, i);
		if (i->marks & FSE_MUST_SCAN && !b.lost && !is_covered(&b, i->path))
			ops->scan(ops->data, i->path, false);
	}
	if (b.lost)
		ops->lost(ops->data);
	HASH_ITER (hh, b.by_path, i, next) {
		HASH_DEL(b.by_path, i);
		free(i);
	}
}
