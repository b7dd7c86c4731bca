/* watch_tree_linux - the watched directories, by inotify watch and by name. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/watch/watch_tree.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <utlist.h>

#define EVENTS                                                                                     \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB |        \
	 IN_ONLYDIR | IN_EXCL_UNLINK)

struct wdir *wtree_find(const struct wtree *t, int wd)
{
	struct wdir *d;

	HASH_FIND_INT(t->dirs, &wd, d);
	return d;
}

/* No formatting: each event of what the agent does comes here. */
static void add_name(struct buf *path, const char *name)
{
	if (path->len)
		buf_ch(path, '/');
	buf_str(path, name);
}

void wdir_path(const struct wdir *d, const char *name, struct buf *ret)
{
	const struct wdir *up[128];
	size_t n = 0;

	buf_clear(ret);
	for (; d->parent && n < ARRAY_LEN(up); d = d->parent)
		up[n++] = d;
	while (n-- > 0)
		add_name(ret, up[n]->name);
	if (name)
		add_name(ret, name);
}

struct wdir *wdir_child(const struct wdir *d, const char *name)
{
	struct wdir *c;

	DL_FOREACH (d->children, c)
		if (str_eq(c->name, name))
			return c;
	return NULL;
}

bool wdir_is_run(const struct wdir *d, const char *name)
{
	static const char *const names[] = {".git", ".vscode", ".claude", ".husky", ".idea"};

	if (d->parent && str_eq(d->name, ".git") && str_eq(name, "hooks"))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

void wtree_queue(struct wtree *t, struct wdir *d)
{
	if (d->queued)
		return;
	d->queued = true;
	if (t->head && t->head == t->n_queue)
		t->head = t->n_queue = 0;
	if (t->n_queue % 256 == 0)
		t->queue = xrealloc(t->queue, (t->n_queue + 256) * sizeof(struct wdir *));
	t->queue[t->n_queue++] = d;
}

struct wdir *wtree_pop(struct wtree *t)
{
	while (t->head < t->n_queue) {
		struct wdir *d = t->queue[t->head++];

		if (!d)
			continue; /* dropped meanwhile */
		d->queued = false;
		return d;
	}
	return NULL;
}

void wtree_move(struct wdir *d, struct wdir *parent, const char *name)
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

int wtree_add(struct wtree *t, struct wdir *parent, void *folder, const char *name, int fd)
{
	struct wdir *d;
	char proc[40];
	int wd;

	if (t->full || HASH_COUNT(t->dirs) >= WATCH_DIRS_MAX)
		return -EMFILE;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	wd = inotify_add_watch(t->fd, proc, EVENTS);
	if (wd < 0)
		return -errno;
	d = wtree_find(t, wd);
	if (d && d->parent != d && parent) {
		for (const struct wdir *up = parent; up; up = up->parent)
			if (up == d)
				return -ELOOP; /* moved while we looked: its event is still to come
						*/
		wtree_move(d, parent, name);
	} else if (!d) {
		d = xcalloc(1, sizeof(*d));
		d->wd = wd;
		d->folder = folder;
		wtree_move(d, parent, name);
		HASH_ADD_INT(t->dirs, wd, d);
	}
	wtree_queue(t, d);
	return 0;
}

static void forget(struct wtree *t, struct wdir *d, bool watched)
{
	for (size_t i = t->head; d->queued && i < t->n_queue; i++)
		if (t->queue[i] == d)
			t->queue[i] = NULL;
	if (watched)
		inotify_rm_watch(t->fd, d->wd);
	HASH_DEL(t->dirs, d);
	free(d->name);
	free(d);
}

/* The lowest first: no recursion, however deep somebody nests. */
void wtree_drop(struct wtree *t, struct wdir *top, bool watched)
{
	struct wdir *d = top;

	for (;;) {
		struct wdir *up = d->parent;

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

void wtree_done(struct wtree *t)
{
	struct wdir *d, *next;

	HASH_ITER (hh, t->dirs, d, next) {
		HASH_DEL(t->dirs, d);
		free(d->name);
		free(d);
	}
	free(t->queue);
	util_close_fd(&t->fd);
	*t = (struct wtree){.fd = -1};
}
