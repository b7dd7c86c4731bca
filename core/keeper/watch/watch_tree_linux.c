/* watch_tree_linux - the watched directories, by inotify watch and by name. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/watch/watch_tree.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <utlist.h>

#define EVENTS                                                                                     \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB |        \
	 IN_ONLYDIR | IN_EXCL_UNLINK)

struct watched_dir *watch_tree_find(const struct watched_tree *t, int wd)
{
	struct watched_dir *d;

	HASH_FIND_INT(t->dirs, &wd, d);
	return d;
}

/* Appends a name without formatting: this runs for each event of the agent's changes. */
static void add_name(struct buf *path, const char *name)
{
	if (path->len)
		buf_ch(path, '/');
	buf_str(path, name);
}

void watch_dir_path(const struct watched_dir *d, const char *name, struct buf *ret)
{
	const struct watched_dir *up[128];
	size_t n = 0;

	buf_clear(ret);
	for (; d->parent && n < ARRAY_LEN(up); d = d->parent)
		up[n++] = d;
	while (n-- > 0)
		add_name(ret, up[n]->name);
	if (name)
		add_name(ret, name);
}

struct watched_dir *watch_dir_child(const struct watched_dir *d, const char *name)
{
	struct watched_dir *c = d->children ? d->children->prev : NULL;

	while (c && !str_eq(c->name, name))
		c = c == d->children ? NULL : c->prev;
	return c;
}

bool watch_dir_is_run(const struct watched_dir *d, const char *name)
{
	static const char *const names[] = {".git", ".vscode", ".claude", ".husky", ".idea"};

	if (d->parent && str_eq(d->name, ".git") && str_eq(name, "hooks"))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

void watch_tree_queue(struct watched_tree *t, struct watched_dir *d)
{
	if (d->queued)
		return;
	if (t->head && t->head == t->n_queue)
		t->head = t->n_queue = 0;
	if (t->n_queue % 256 == 0)
		t->queue = xrealloc(t->queue, (t->n_queue + 256) * sizeof(struct watched_dir *));
	t->queue[t->n_queue++] = d;
	d->queued = t->n_queue;
}

struct watched_dir *watch_tree_pop(struct watched_tree *t)
{
	while (t->head < t->n_queue) {
		struct watched_dir *d = t->queue[t->head++];

		if (!d)
			continue; /* dropped meanwhile */
		d->queued = 0;
		return d;
	}
	return NULL;
}

void watch_tree_move(struct watched_dir *d, struct watched_dir *parent, const char *name)
{
	char *copy = xstrdup(name);

	if (d->parent)
		DL_DELETE(d->parent->children, d);
	free(d->name);
	d->name = copy;
	d->parent = parent;
	if (parent)
		DL_APPEND(parent->children, d);
}

int watch_tree_begin(const struct watched_tree *t, int dirfd, const char *name)
{
	char proc[40 + NAME_MAX];
	int wd;

	if (t->full || HASH_COUNT(t->dirs) >= t->most)
		return -EMFILE;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d%s%s", dirfd, name ? "/" : "",
		 name ? name : "");
	wd = inotify_add_watch(t->fd, proc, name ? EVENTS | IN_DONT_FOLLOW : EVENTS);
	return wd < 0 ? -errno : wd;
}

struct watched_dir *watch_tree_put(struct watched_tree *t, int wd, struct watched_dir *parent,
				   void *folder, const char *name)
{
	struct watched_dir *d = watch_tree_find(t, wd);

	if (d && d->parent != d && parent) {
		for (const struct watched_dir *up = parent; up; up = up->parent)
			if (up == d)
				return NULL;
		watch_tree_move(d, parent, name);
	} else if (!d) {
		d = xcalloc(1, sizeof(*d));
		d->wd = wd;
		d->folder = folder;
		watch_tree_move(d, parent, name);
		HASH_ADD_INT(t->dirs, wd, d);
	}
	d->late = d->late || (parent && parent->late);
	watch_tree_queue(t, d);
	return d;
}

int watch_tree_add(struct watched_tree *t, struct watched_dir *parent, void *folder,
		   const char *name, int fd)
{
	int wd = watch_tree_begin(t, fd, NULL);

	if (wd < 0)
		return wd;
	return watch_tree_put(t, wd, parent, folder, name) ? 0 : -ELOOP;
}

static void forget(struct watched_tree *t, struct watched_dir *d, bool watched)
{
	if (d->queued)
		t->queue[d->queued - 1] = NULL;
	if (watched)
		inotify_rm_watch(t->fd, d->wd);
	HASH_DEL(t->dirs, d);
	free(d->name);
	free(d);
}

/* Drops the lowest directories first, without recursion, as the depth is unlimited. */
void watch_tree_drop(struct watched_tree *t, struct watched_dir *top, bool watched)
{
	struct watched_dir *d = top;

	for (;;) {
		struct watched_dir *up = d->parent;

		if (d->children) {
			d = d->children;
			continue;
		}
		if (up)
			DL_DELETE(up->children, d);
		forget(t, d, watched || d != top);
		if (d == top)
			return;
		assert(up); /* top is above */
		d = up;
	}
}

void watch_tree_done(struct watched_tree *t)
{
	struct watched_dir *d, *next;

	HASH_ITER (hh, t->dirs, d, next) {
		HASH_DEL(t->dirs, d);
		free(d->name);
		free(d);
	}
	free(t->queue);
	util_close_fd(&t->fd);
	*t = (struct watched_tree){.fd = -1};
}
