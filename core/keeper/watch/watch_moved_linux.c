/* watch_moved_linux - follows directories that appear, move or change places. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>

#include "core/base/path.h"
#include "core/keeper/loop.h"
#include "core/keeper/state.h"
#include "core/keeper/watch/watch.h"
#include "core/keeper/watch/watch_priv.h"

void watch_end_move(struct watch *w)
{
	if (w->by->moving)
		watch_tree_drop(&w->by->tree, w->by->moving, true);
	w->by->moving = NULL;
}

static bool lies_in(const struct watched_dir *d, const struct watched_dir *top)
{
	while (d && d != top)
		d = d->parent;
	return d;
}

/* A directory gets the name of a watched one, by another program. The events do not tell whether
 * that one was removed or exchanged (RENAME_EXCHANGE), so both are searched for. */
static void on_collision(struct keeper *k, struct watched_dir *d, struct watched_dir *child)
{
	struct watch *w = k->watch;
	int wd = w->by->moving->wd;
	struct watched_dir *moved;

	watch_tree_drop(&w->by->tree, child, true);
	moved = watch_tree_find(&w->by->tree, wd);
	if (moved && !lies_in(d, moved))
		watch_tree_drop(&w->by->tree, moved, true);
	watch_tree_queue(&w->by->tree, d);
	watch_list_soon(w, k->now + WATCH_BUSY_US);
}

/* Returns the watch of watch_made() if this is its event, or 0. */
static int take_made(struct watch *w, struct watched_dir *d, const char *name)
{
	int wd = w->by->made;

	if (!wd || w->by->made_in != d->folder)
		return 0;
	watch_dir_path(d, name, &w->path);
	if (!str_eq(w->path.data, w->by->made_path.data))
		return 0;
	w->by->made = 0;
	return wd;
}

/* Returns whether the agent's rename replaced the directory; the kernel may report its end
 * later. */
static bool is_replaced(struct watch *w, struct watched_dir *d, struct watched_dir *child)
{
	const struct watched_dir *moving = w->by->moving;

	return take_made(w, d, child->name) == moving->wd && !lies_in(moving, child);
}

static void on_moved_dir(struct keeper *k, struct watched_dir *d, const char *name)
{
	struct watch *w = k->watch;
	struct watched_dir *child = watch_dir_child(d, name), *moving = w->by->moving;
	int made = w->by->made;

	if (lies_in(d, moving)) {
		/* It was listed at a later name, before its events were read: that is right. */
		watch_tree_queue(&w->by->tree, d);
		watch_list_soon(w, k->now + WATCH_BUSY_US);
	} else if (made && made != moving->wd && take_made(w, d, name)) {
		/* The agent's exchange: `moving` has got its new name by the event before. */
		watch_tree_put(&w->by->tree, made, d, d->folder, name);
	} else if (child && child != moving && child->wd == made) {
		watch_tree_move(moving, d, name); /* the next event is about the other directory */
	} else if (child && child != moving && !is_replaced(w, d, child)) {
		on_collision(k, d, child);
	} else {
		if (child && child != moving)
			watch_tree_drop(&w->by->tree, child, true);
		watch_tree_move(moving, d, name);
	}
	w->by->moving = NULL;
}

/* Returns whether it is a directory that the agent has made or moved. */
static bool on_new_dir(struct keeper *k, struct watched_dir *d, const char *name, bool empty)
{
	struct watch *w = k->watch;
	int wd = take_made(w, d, name);
	struct watched_dir *made = wd ? watch_tree_put(&w->by->tree, wd, d, d->folder, name) : NULL;

	if (made)
		made->whole |= empty;
	if (watch_dir_is_run(d, name))
		watch_list_now(k, d, name);
	if (!made)
		watch_tree_queue(&w->by->tree, d); /* it may have other new directories */
	watch_list_soon(w, k->now + WATCH_BUSY_US);
	return wd || w->by->tree.full;
}

bool watch_dir_event(struct keeper *k, struct watched_dir *d, const struct inotify_event *ev)
{
	struct watch *w = k->watch;

	if (!(ev->mask & (IN_CREATE | IN_ATTRIB)))
		watch_expect_nothing(k); /* paths below it have changed */
	if (ev->mask & IN_MOVED_FROM) {
		w->by->moving = watch_dir_child(d, ev->name);
		w->by->cookie = ev->cookie;
	} else if ((ev->mask & IN_MOVED_TO) && w->by->moving && w->by->cookie == ev->cookie) {
		on_moved_dir(k, d, ev->name);
	} else if (ev->mask & (IN_CREATE | IN_MOVED_TO)) {
		return !on_new_dir(k, d, ev->name, ev->mask & IN_CREATE);
	}
	return false;
}

/* The parent of its directory is not watched yet, and will list it. */
void watch_end_made(struct watch *w)
{
	if (w->by->made && !watch_tree_find(&w->by->tree, w->by->made))
		inotify_rm_watch(w->by->tree.fd, w->by->made);
	w->by->made = 0;
}

/* The event is judged before the agent's next call that opens a file. */
void watch_made(struct keeper *k, const struct folder *f, int dirfd, const char *path)
{
	struct watcher *by = k->watch && !f->root ? k->watch->by : NULL;
	int wd = by ? watch_tree_begin(&by->tree, dirfd, path_base(path)) : -ENOENT;

	if (wd < 0)
		return;
	by->made = wd;
	by->made_in = f;
	buf_clear(&by->made_path);
	buf_str(&by->made_path, path_below(path, f->path));
	if (!by->drain_at)
		by->drain_at = k->now + WATCH_DRAIN_US;
}
