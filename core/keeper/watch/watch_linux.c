/* watch_linux - watches the working folders for external edits: reports and records them. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/running.h"
#include "core/config/config.h"
#include "core/keeper/loop.h"
#include "core/keeper/sources.h"
#include "core/keeper/state.h"
#include "core/keeper/watch/watch.h"
#include "core/keeper/watch/watch_shared.h"

/*
 * Theory of operation. inotify reports which directory entry changed, not the process. Nearly all
 * changes of the agent are performed by this process, which asks the journal. An event about a path
 * that an open step touched belongs to the step, and so does the end of writing to a file that its
 * processes have open (core/journal/history/attribution.c). The queue is therefore emptied before a
 * step is committed, while the journal still knows; before names and writers change; and around a
 * rollback, whose own changes count as cordon's. At other times events may wait for a moment:
 * nearly all are the agent's own, whose next call would wait for the judgement.
 *
 * External edits are collected for a moment (an editor saves in several calls), checked again,
 * reported to cordon, and written into the history as a barrier.
 *
 * A queue that overflows has lost events. Then every directory is listed anew. Files whose ctime is
 * later than the last complete look count as edited, and so do paths that differ from their state
 * after the steps.
 *
 * Directories are listed for the user and not for the agent: while other threads want a processor,
 * a grep of the agent's say, listing waits. At full speed beside it, the listing of a tree of 500
 * made a grep of 120 ms 15 ms longer. It does not wait for ever: a process that makes changes all
 * the time must not hide changes of protected names. New directories with such names are listed at
 * once.
 */

#define START_US   50000   /* after the agent began: it has more to do at first */
#define BUSY_US	   50000   /* after a change of the agent's no directory is looked at, once */
#define DRAIN_US   5000	   /* after the first event of several */
#define LIST_TURN  2000	   /* at most in one turn: the agent's calls wait for it */
#define LIST_LOOK  64	   /* entries between two looks at the clock */
#define LIST_BATCH 4	   /* directories listed in one turn while nothing else runs */
#define LIST_PART  100	   /* while something does: one part of so many of the time, */
#define LIST_US	   1000000 /* but never so long apart */
#define LIST_DIRS  64	   /* directories listed at once in one that came from outside */
#define READY	   (EPOLLIN | EPOLLONESHOT)
#define EVENT_MAX  (sizeof(struct inotify_event) + NAME_MAX + 1)

struct watcher {
	struct watched_tree tree;
	struct source *source;
	int64_t drain_at;	    /* monotonic, 0: the source tells when there is something */
	int64_t list_at;	    /* 0: nothing to do */
	int64_t list_by;	    /* list_at is not put off beyond it */
	struct watched_dir *moving; /* left its place, and has not come to another */
	int made;		    /* the watch of watch_made() till its event is judged, or 0 */
	const struct folder *made_in;
	struct buf made_path; /* below it */
	uint32_t cookie;
	DIR *dir; /* being listed, the one of this watch; or NULL */
	int dir_wd;
	int load; /* /proc/loadavg, or -1 */
	char events[4096]
		__attribute__((aligned(8))); /* on the stack it would be cleared each time */
};

/* ---- looking ----------------------------------------------------------------------------------
 */

static int open_beneath(const struct folder *f, const char *path)
{
	struct open_how how = {.flags =
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					  RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
	int fd = (int)syscall(SYS_openat2, f->fd, *path ? path : ".", &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

static void expect_nothing(struct keeper *k)
{
	for (size_t i = 0; i < k->n_folders; i++)
		journal_expect_nothing(k->folders[i]->journal);
}

/* The undo stores, and the whole folder in which cordon keeps its state. */
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

/* r: what watch_tree_add() returned. */
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

static void watch_dir(struct keeper *k, struct watched_dir *parent, const char *name)
{
	struct watch *w = k->watch;
	struct folder *f = parent->folder;
	AUTO_CLOSE int fd = -1;

	watch_dir_path(parent, name, &w->path);
	fd = open_beneath(f, w->path.data);
	if (fd < 0 || is_ours(k, f, w->path.data, fd))
		return;
	expect_nothing(k); /* what is told of it begins in the middle */
	note_full(k, watch_tree_add(&w->by->tree, parent, f, name, fd));
}

/* After an overflow: was this file changed meanwhile? */
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
		watch_dir(k, d, e->d_name);
	if (e->d_type == DT_DIR)
		return;
	/* It may have come before the directory was watched. */
	watch_dir_path(d, e->d_name, &w->path);
	watch_note_filled(w, f, w->path.data, false);
	if (!d->whole)
		journal_watched(f->journal, w->path.data);
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

/* Lists what is left of it until then. Returns false if something is left. */
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

/* Goes on with a directory that was not done in the last turn, or begins another. Returns false if
 * there is none. */
static bool list_next(struct keeper *k, int64_t end)
{
	struct watcher *by = k->watch->by;
	struct watched_dir *d = by->dir ? watch_tree_find(&by->tree, by->dir_wd) : NULL;

	if (!d && by->dir)
		closedir(take_ptr(&by->dir)); /* it is gone */
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

/* At that time, or when it was to be done at the latest. */
static void list_soon(struct watch *w, int64_t at)
{
	if (!w->by->list_at)
		w->by->list_by = at + BUSY_US;
	w->by->list_at = MIN(MAX(w->by->list_at, at), w->by->list_by);
}

static uint64_t count_shut(const struct watch *w)
{
	uint64_t n = 0;

	for (size_t i = 0; i < w->n_edits; i++)
		n += journal_count_shut(w->edits[i].folder->journal);
	return n;
}

static void list_some(struct keeper *k)
{
	struct watch *w = k->watch;
	bool alone = running_now(w->by->load) == 1, more = true;
	int64_t began = clock_mono_us();
	uint64_t shut = count_shut(w);

	for (int i = 0; more && i < (alone ? LIST_BATCH : 1); i++) {
		more = list_next(k, began + LIST_TURN);
		if (w->by->dir)
			break;
	}
	if (more) {
		w->by->list_at = k->now;
		if (!alone)
			w->by->list_at += MIN((clock_mono_us() - began) * LIST_PART, LIST_US);
		w->by->list_by = w->by->list_at + BUSY_US;
	} else {
		w->by->list_at = w->lost_ns = 0;
	}
	/* What the steps have closed is queued or was missed: the next close is another's. */
	if (count_shut(w) != shut)
		watch_drain(k);
}

/* ---- events -----------------------------------------------------------------------------------
 */

static void on_overflow(struct keeper *k)
{
	struct watch *w = k->watch;
	struct watched_dir *d, *next;

	log_warn("keeper", "edits from outside came too fast: looking at everything again");
	expect_nothing(k);
	if (!w->lost_ns)
		w->lost_ns = w->looked_ns - WATCH_SLACK_NS;
	HASH_ITER (hh, w->by->tree.dirs, d, next) {
		d->whole = false;
		watch_tree_queue(&w->by->tree, d);
	}
	watch_rescan(k);
	list_soon(w, k->now + BUSY_US);
}

static void end_move(struct watch *w)
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

/*
 * A directory takes the name of one that is watched. Whether that one is gone or has changed places
 * with it (RENAME_EXCHANGE) the events do not tell: both are looked for anew.
 */
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
	list_soon(w, k->now + BUSY_US);
}

static void list_now(struct keeper *k, struct watched_dir *d, const char *name)
{
	AUTO_DIR DIR *dir = NULL;

	watch_dir(k, d, name);
	d = watch_dir_child(d, name);
	dir = d ? open_dir(k, d) : NULL;
	if (dir && !list_until(k, d, dir, clock_mono_us() + LIST_TURN))
		watch_tree_queue(&k->watch->by->tree, d);
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

/* The agent's rename has replaced that one, whose end the kernel may report later. */
static bool is_replaced(struct watch *w, struct watched_dir *d, struct watched_dir *child)
{
	const struct watched_dir *moving = w->by->moving;

	return take_made(w, d, child->name) == moving->wd && !lies_in(moving, child);
}

static void on_moved_dir(struct keeper *k, struct watched_dir *d, const char *name)
{
	struct watch *w = k->watch;
	struct watched_dir *child = watch_dir_child(d, name), *moving = w->by->moving;

	if (child && child != moving && !is_replaced(w, d, child)) {
		on_collision(k, d, child);
	} else {
		if (child && child != moving)
			watch_tree_drop(&w->by->tree, child, true);
		watch_tree_move(moving, d, name);
	}
	w->by->moving = NULL;
}

static void on_new_dir(struct keeper *k, struct watched_dir *d, const char *name, bool empty)
{
	struct watch *w = k->watch;
	int wd = take_made(w, d, name);
	struct watched_dir *made = wd ? watch_tree_put(&w->by->tree, wd, d, d->folder, name) : NULL;

	if (made)
		made->whole |= empty;
	if (watch_dir_is_run(d, name))
		list_now(k, d, name);
	if (!made)
		watch_tree_queue(&w->by->tree, d); /* its other new directories come along */
	list_soon(w, k->now + BUSY_US);
}

static void on_dir_event(struct keeper *k, struct watched_dir *d, const struct inotify_event *ev)
{
	struct watch *w = k->watch;

	if (!(ev->mask & (IN_CREATE | IN_ATTRIB)))
		expect_nothing(k); /* paths below it lead elsewhere */
	if (ev->mask & IN_MOVED_FROM) {
		w->by->moving = watch_dir_child(d, ev->name);
		w->by->cookie = ev->cookie;
	} else if ((ev->mask & IN_MOVED_TO) && w->by->moving && w->by->cookie == ev->cookie) {
		on_moved_dir(k, d, ev->name);
	} else if (ev->mask & (IN_CREATE | IN_MOVED_TO)) {
		on_new_dir(k, d, ev->name, ev->mask & IN_CREATE);
	}
}

/* A directory from outside may come with secrets and with files that rules close. They do not wait
 * until there is time: the directory is listed at once, and LIST_DIRS below it. */
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

static void on_foreign_dir(struct keeper *k, struct watched_dir *d, const char *name)
{
	unsigned left = LIST_DIRS;
	struct watched_dir *child;

	watch_dir(k, d, name);
	child = watch_dir_child(d, name);
	if (child)
		list_foreign(k, child, &left);
}

static void on_event(struct keeper *k, const struct inotify_event *ev)
{
	struct watch *w = k->watch;
	struct watched_dir *d;
	bool foreign;

	if (w->by->moving && !((ev->mask & IN_MOVED_TO) && ev->cookie == w->by->cookie))
		end_move(w);
	if (ev->mask & IN_Q_OVERFLOW)
		on_overflow(k);
	d = watch_tree_find(&w->by->tree,
			    ev->wd); /* not before: a move that has ended may have dropped it */
	if (!d)
		return;
	if (ev->mask & IN_IGNORED) {
		watch_tree_drop(&w->by->tree, d, false);
		return;
	}
	if (!ev->len || (!d->parent && str_eq(ev->name, ".cordon")))
		return;
	if (ev->mask & IN_ISDIR)
		on_dir_event(k, d, ev);
	if ((ev->mask & IN_ISDIR) && (ev->mask & IN_ATTRIB))
		return;
	watch_dir_path(d, ev->name, &w->path);
	if (ev->mask & IN_MOVED_TO || (ev->mask & (IN_CREATE | IN_ISDIR)) == IN_CREATE)
		watch_note_filled(w, d->folder, w->path.data, ev->mask & IN_ISDIR);
	foreign = watch_judge(k, d->folder, w->path.data,
			      ev->mask & IN_CLOSE_WRITE		       ? SEEN_CLOSED
			      : ev->mask & IN_ATTRIB		       ? SEEN_META
			      : ev->mask & IN_CREATE		       ? SEEN_MADE
			      : ev->mask & IN_MOVED_TO		       ? SEEN_NAMED
			      : ev->mask & (IN_DELETE | IN_MOVED_FROM) ? SEEN_GONE
								       : SEEN_MOVED,
			      ev->mask & (IN_CREATE | IN_MOVED_TO));
	if (foreign && (ev->mask & IN_ISDIR) && (ev->mask & (IN_CREATE | IN_MOVED_TO)))
		on_foreign_dir(k, d, ev->name);
}

static size_t queued(const struct watch *w)
{
	int n = 0;

	return ioctl(w->by->tree.fd, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

/*
 * Where something came, more will: the queue is then looked at by the clock, and before what needs
 * it, which is one call where waiting for it takes three. Empty at its time, it is waited for.
 */
static void again(struct keeper *k, bool some)
{
	struct watch *w = k->watch;

	if (some) {
		w->by->drain_at = k->now + DRAIN_US;
	} else if (w->by->drain_at <= k->now) {
		w->by->drain_at = 0;
		source_again(k, w->by->source, READY);
	}
}

static void on_events(struct keeper *k, size_t n)
{
	const char *events = k->watch->by->events;

	for (size_t at = 0; at < n;) {
		const struct inotify_event *ev = (const void *)(events + at);

		on_event(k, ev);
		at += sizeof(*ev) + ev->len;
	}
}

/* Its directory's parent is not watched yet, which will list it. */
static void end_made(struct watch *w)
{
	if (w->by->made && !watch_tree_find(&w->by->tree, w->by->made))
		inotify_rm_watch(w->by->tree.fd, w->by->made);
	w->by->made = 0;
}

/*
 * What is queued now, and not what comes meanwhile: programs outside may be quicker than this for
 * as long as they run. But a file that was found closed may have been closed again before that:
 * then it is what was queued when it was found. A step's file is found so once, until all are
 * forgotten.
 */
void watch_drain(struct keeper *k)
{
	struct watch *w = k->watch;
	int64_t now = watch_wall_ns();
	bool some = false;
	size_t left = SIZE_MAX; /* bytes; not known before it is clear that one read is not all */
	ssize_t n;

	if (!w) {
		watch_all_seen(k);
		return;
	}
	while (left > 0 && (n = read(w->by->tree.fd, w->by->events, sizeof(w->by->events))) > 0) {
		uint64_t shut = count_shut(w);

		/* Is there room left, another would have been there too. */
		if (left == SIZE_MAX)
			left = (size_t)n + EVENT_MAX <= sizeof(w->by->events) ? 0 : queued(w);
		else
			left -= MIN(left, (size_t)n);
		on_events(k, (size_t)n);
		if (count_shut(w) != shut)
			left = queued(w);
		some = true;
	}
	watch_all_seen(k);
	end_move(w);
	end_made(w);
	w->looked_ns = now;
	if (w->by->drain_at)
		again(k, some);
}

void watch_before(struct keeper *k)
{
	if (k->watch && k->watch->by->drain_at)
		watch_drain(k);
}

/* The event is judged before the next call of the agent's that opens a file. */
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
		by->drain_at = k->now + DRAIN_US;
}

static void on_ready(void *data)
{
	struct keeper *k = data;

	k->watch->by->drain_at = k->now + DRAIN_US;
}

/* ---- life -------------------------------------------------------------------------------------
 */

void watch_busy(struct keeper *k)
{
	if (k->watch && k->watch->by->list_at)
		list_soon(k->watch, k->now + BUSY_US);
}

int64_t watch_next(const struct keeper *k)
{
	const struct watch *w = k->watch;

	if (w && watch_has_filled(w))
		return k->now;
	return w ? sooner(w->by->drain_at, sooner(w->by->list_at, w->settle_at)) : 0;
}

void watch_tick(struct keeper *k)
{
	struct watch *w = k->watch;

	if (!w)
		return;
	if (w->by->drain_at && w->by->drain_at <= k->now)
		watch_drain(k);
	watch_settle_filled(k);
	if (w->by->list_at && w->by->list_at <= k->now)
		list_some(k);
	if (!w->settle_at || w->settle_at > k->now)
		return;
	watch_settle(k);
}

static void watcher_free(struct watcher *by)
{
	if (by->dir)
		closedir(by->dir);
	watch_tree_done(&by->tree);
	buf_done(&by->made_path);
	util_close_fd(&by->load);
	free(by);
}

/* Returns at least 1, for the folder itself. */
static size_t watched_most(const struct keeper *k)
{
	int64_t n = k->spec->config ? config_int(k->spec->config, "undo.watched-directories") : 0;

	return (size_t)MAX(n, (int64_t)1);
}

void watch_start(struct keeper *k)
{
	struct watcher *by = xcalloc(1, sizeof(*by));
	struct watch *w;
	int r = 0;

	by->made_path = (struct buf)BUF_INIT;
	by->tree.fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	by->tree.most = watched_most(k);
	by->load = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	if (by->tree.fd < 0 ||
	    source_add(k, by->tree.fd, READY, RANK_OTHER, on_ready, k, &by->source) < 0) {
		watch_note_none(k, errno);
		watcher_free(by);
		return;
	}
	keeper_close_late(k, by->tree.fd);
	w = k->watch = watch_new(k, by);
	for (size_t i = 0; i < w->n_edits && r == 0; i++) {
		journal_expect_events(k->folders[i]->journal);
		r = watch_tree_add(&by->tree, NULL, k->folders[i], "", k->folders[i]->fd);
	}
	if (r < 0)
		watch_note_none(k, -r);
	w->by->list_at = k->now + START_US;
	w->by->list_by = w->by->list_at + BUSY_US;
}

void watch_stop(struct keeper *k)
{
	struct watch *w = take_ptr(&k->watch);

	if (!w)
		return;
	source_remove(k, w->by->source);
	watcher_free(w->by);
	watch_free(w);
}
