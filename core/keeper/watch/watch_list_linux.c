/* watch_list_linux - lists the directories of the working folders, to watch those below. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/running.h"
#include "core/keeper/loop.h"
#include "core/keeper/state.h"
#include "core/keeper/watch/watch.h"
#include "core/keeper/watch/watch_priv.h"

/*
 * Directories are listed for the user and not for the agent: while other threads want a processor,
 * a grep of the agent's say, listing waits. At full speed beside it, the listing of a tree of 500
 * made a grep of 120 ms 15 ms longer. It does not wait for ever: a process that makes changes all
 * the time must not hide changes of protected names. New directories with such names are listed at
 * once.
 */

#define LIST_TURN  2000	   /* at most in one turn, as the agent's calls wait */
#define LIST_LOOK  64	   /* entries between two reads of the clock */
#define LIST_BATCH 4	   /* directories listed in one turn while nothing else runs */
#define LIST_PART  100	   /* while other processes run, this part of the time, */
#define LIST_US	   1000000 /* but at least once in this time */
#define LIST_DIRS  64	   /* directories listed at once in a new external one */

static int open_beneath(const struct folder *f, const char *path)
{
	struct open_how how = {.flags =
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					  RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
	int fd = (int)syscall(SYS_openat2, f->fd, *path ? path : ".", &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

void watch_expect_nothing(struct keeper *k)
{
	for (size_t i = 0; i < k->n_folders; i++)
		journal_expect_nothing(k->folders[i]->journal);
}

/* Returns whether it is cordon's own: an undo store, or the folder in which cordon keeps its
 * state. */
static bool is_ours(const struct keeper *k, const struct folder *f, const char *path, int fd)
{
	AUTO_FREE char *whole = path_join(f->path, path);
	struct stat st;

	if (str_eq(whole, k->spec->state_dir))
		return true;
	for (size_t i = 0; i < k->n_folders; i++) {
		dev_t dev;
		ino_t ino;

		journal_store_inode(k->folders[i]->journal, &dev, &ino);
		if (ino && fstat(fd, &st) == 0 && st.st_dev == dev && st.st_ino == ino)
			return true;
	}
	return false;
}

/* Notes that a limit was reached. r: the result of watch_tree_add(). */
static void note_full(struct keeper *k, int r)
{
	struct watcher *by = k->watch->by;

	if ((r != -ENOSPC && r != -EMFILE) || by->tree.full)
		return;
	by->tree.full = true;
	if (r == -EMFILE)
		keeper_warn(k,
			    "edits from outside are seen at once in %zu directories only: raise "
			    "undo.watched-directories; an undo still compares every path first",
			    by->tree.most);
	else
		keeper_warn(k, "edits from outside are not seen at once in all directories, as the "
			       "kernel lets no more be watched: sysctl "
			       "fs.inotify.max_user_watches; an undo "
			       "still compares every path first");
}

void watch_add_dir(struct keeper *k, struct watched_dir *parent, const char *name)
{
	struct watch *w = k->watch;
	struct folder *f = parent->folder;
	AUTO_CLOSE int fd = -1;

	watch_dir_path(parent, name, &w->path);
	fd = open_beneath(f, w->path.data);
	if (fd < 0 || is_ours(k, f, w->path.data, fd))
		return;
	watch_expect_nothing(k); /* events about it may be incomplete */
	note_full(k, watch_tree_add(&w->by->tree, parent, f, name, fd));
}

/* Looks, after an overflow, whether the file was changed meanwhile. */
static void look_again(struct keeper *k, struct watched_dir *d, int dirfd, const char *name)
{
	struct watch *w = k->watch;
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode) ||
	    (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec < w->lost_ns)
		return;
	watch_dir_path(d, name, &w->path);
	watch_judge(k, d->folder, w->path.data, SEEN_MOVED, false);
}

static void list_entry(struct keeper *k, struct watched_dir *d, int dirfd, const struct dirent *e)
{
	struct watch *w = k->watch;
	struct folder *f = d->folder;

	if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
		return;
	if (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN)
		watch_add_dir(k, d, e->d_name);
	if (e->d_type == DT_DIR)
		return;
	/* The file may be older than the watch of its directory. */
	watch_dir_path(d, e->d_name, &w->path);
	watch_note_filled(w, f, w->path.data, false);
	if (!d->whole)
		journal_watched(f->journal, w->path.data);
	if (d->late)
		journal_found(f->journal, w->path.data);
	if (d->late || (k->policy && policy_name_is_secret(k->policy, e->d_name)))
		watch_cover(k, f, w->path.data);
	if (w->lost_ns)
		look_again(k, d, dirfd, e->d_name);
}

static DIR *open_dir(struct keeper *k, const struct watched_dir *d)
{
	struct watch *w = k->watch;
	DIR *dir;
	int fd;

	watch_dir_path(d, NULL, &w->path);
	fd = open_beneath(d->folder, w->path.data);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		util_close_fd(&fd);
	return dir;
}

/* Lists the rest of a directory, until `end`. Returns false if entries are left. */
static bool list_until(struct keeper *k, struct watched_dir *d, DIR *dir, int64_t end)
{
	struct dirent *e;
	unsigned n = 0;

	while ((e = readdir(dir))) {
		list_entry(k, d, dirfd(dir), e);
		if (++n % LIST_LOOK == 0 && clock_mono_us() > end)
			return false;
	}
	d->whole = true;
	return true;
}

/* Continues with the directory of the last turn, or begins another. Returns false if there is
 * none. */
static bool list_next(struct keeper *k, int64_t end)
{
	struct watcher *by = k->watch->by;
	struct watched_dir *d = by->dir ? watch_tree_find(&by->tree, by->dir_wd) : NULL;

	if (!d && by->dir)
		closedir(take_ptr(&by->dir)); /* it was removed */
	if (!d) {
		d = watch_tree_pop(&by->tree);
		if (!d)
			return false;
		by->dir = open_dir(k, d);
		by->dir_wd = d->wd;
	}
	if (by->dir && list_until(k, d, by->dir, end))
		closedir(take_ptr(&by->dir));
	return true;
}

/* Lists at that time, or at the latest time of an earlier call. */
void watch_list_soon(struct watch *w, int64_t at)
{
	if (!w->by->list_at)
		w->by->list_by = at + WATCH_BUSY_US;
	w->by->list_at = MIN(MAX(w->by->list_at, at), w->by->list_by);
}

void watch_list_some(struct keeper *k)
{
	struct watch *w = k->watch;
	bool alone = running_now(w->by->load) == 1, more = true;
	int64_t began = clock_mono_us();
	uint64_t shut = watch_count_shut(w);

	for (int i = 0; more && i < (alone ? LIST_BATCH : 1); i++) {
		more = list_next(k, began + LIST_TURN);
		if (w->by->dir)
			break;
	}
	if (more) {
		w->by->list_at = k->now;
		if (!alone)
			w->by->list_at += MIN((clock_mono_us() - began) * LIST_PART, LIST_US);
		w->by->list_by = w->by->list_at + WATCH_BUSY_US;
	} else {
		w->by->list_at = w->lost_ns = 0;
	}
	/* The close events of the steps' files are queued or were lost: a later close is another
	 * program's. */
	if (watch_count_shut(w) != shut)
		watch_drain(k);
}

void watch_busy(struct keeper *k)
{
	if (k->watch && k->watch->by->list_at)
		watch_list_soon(k->watch, k->now + WATCH_BUSY_US);
}

void watch_list_now(struct keeper *k, struct watched_dir *d, const char *name)
{
	AUTO_DIR DIR *dir = NULL;

	watch_add_dir(k, d, name);
	d = watch_dir_child(d, name);
	dir = d ? open_dir(k, d) : NULL;
	if (dir && !list_until(k, d, dir, clock_mono_us() + LIST_TURN))
		watch_tree_queue(&k->watch->by->tree, d);
}

/* Returns the folder's own directory; these were watched first. */
static struct watched_dir *top_of(const struct watcher *by, const struct folder *f)
{
	struct watched_dir *d = by->tree.dirs;

	while (d && !d->parent && d->folder != f)
		d = d->hh.next;
	return d && !d->parent ? d : NULL;
}

/* Watches each directory of this path below d. */
static void watch_way(struct keeper *k, struct watched_dir *d, char *path)
{
	char *name;

	while (d && (name = strsep(&path, "/"))) {
		struct watched_dir *up = d;

		if (!watch_dir_child(up, name))
			watch_add_dir(k, up, name);
		d = watch_dir_child(up, name);
	}
}

void watch_touched(struct keeper *k, const struct folder *f, const char *path)
{
	struct watcher *by = k->watch && !f->root ? k->watch->by : NULL;
	const char *below = by && by->list_at && !by->tree.full ? path_below(path, f->path) : NULL;
	const char *slash = below ? strrchr(below, '/') : NULL;
	size_t len = slash ? (size_t)(slash - path) : 0;
	AUTO_FREE char *way = NULL;

	if (!slash || (by->touched.len == len && memcmp(by->touched.data, path, len) == 0))
		return;
	buf_clear(&by->touched);
	buf_add(&by->touched, path, len);
	way = xstrndup(below, (size_t)(slash - below));
	watch_way(k, top_of(by, f), way);
}

/* An external directory may have secrets and files that rules close, so it is listed at once, with
 * up to LIST_DIRS directories below it. */
static void list_foreign(struct keeper *k, struct watched_dir *d, unsigned *left)
{
	DIR *dir = open_dir(k, d);
	struct watched_dir *child;
	bool done;

	d->late = true;
	done = dir && list_until(k, d, dir, clock_mono_us() + LIST_TURN);
	if (dir)
		closedir(dir);
	DL_FOREACH (d->children, child) {
		if (!done || !*left)
			return;
		(*left)--;
		list_foreign(k, child, left);
	}
}

void watch_list_foreign(struct keeper *k, struct watched_dir *d, const char *name)
{
	unsigned left = LIST_DIRS;
	struct watched_dir *child;

	watch_add_dir(k, d, name);
	child = watch_dir_child(d, name);
	if (child)
		list_foreign(k, child, &left);
}
