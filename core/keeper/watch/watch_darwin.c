/* watch_darwin - watches the working folders for external edits with FSEvents. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/path.h"
#include "core/keeper/state.h"
#include "core/keeper/watch/fs_stream.h"
#include "core/keeper/watch/watch.h"
#include "core/keeper/watch/watch_shared.h"
#include "core/os/beneath.h"

/* fs_stream.h says what events mean. One stream reports on the whole trees of all folders, so no
 * directory is ever added. Directories to be read, because all their entries are new or events were
 * merged, wait in a queue; each turn lists one. */
#define SCANS_MAX 65536 /* queued directories; beyond, everything is scanned again */
#define EVENTS	  256

struct scan {
	struct folder *folder;
	char *path; /* below it */
	bool made;
	struct scan *next;
};

struct watcher {
	struct os_fs_stream *stream;
	struct scan *scans, **end;
	size_t n_scans;
	bool said_moved;
};

/* Returns the path below the folder, or NULL: in no folder, or in the undo store. */
static const char *below(const struct folder *f, const char *path)
{
	const char *at;

	if (!path_is_beneath(path, f->path))
		return NULL;
	at = path + (f->path_len > 1 ? f->path_len : 0);
	at += *at == '/';
	if (str_starts(at, ".cordon") && (!at[7] || at[7] == '/'))
		return NULL;
	return at;
}

static struct folder *folder_of(const struct keeper *k, const char *path, const char **ret)
{
	struct folder *found = NULL;

	for (size_t i = 0; i < k->watch->n_edits; i++) {
		struct folder *f = k->watch->edits[i].folder;
		const char *at = below(f, path);

		if (at && (!found || f->path_len > found->path_len)) {
			found = f;
			*ret = at;
		}
	}
	return found;
}

static int open_beneath(const struct folder *f, const char *path)
{
	return os_open_beneath(f->fd, *path ? path : ".",
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
			       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

/* ---- what fs_stream.c calls ------------------------------------------------------------------ */

static mode_t look(void *data, const char *path)
{
	const struct keeper *k = data;
	const char *at, *slash;
	struct folder *f = folder_of(k, path, &at);
	AUTO_FREE char *dir = NULL;
	AUTO_CLOSE int fd = -1;
	struct stat st;

	if (!f || !*at)
		return S_IFDIR;
	slash = strrchr(at, '/');
	dir = xstrndup(at, slash ? (size_t)(slash - at) : 0);
	fd = open_beneath(f, dir);
	if (fd < 0 || fstatat(fd, slash ? slash + 1 : at, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return st.st_mode & S_IFMT;
}

static void changed(void *data, const char *path, enum seen_what what, bool made, mode_t type)
{
	struct keeper *k = data;
	const char *at;
	struct folder *f = folder_of(k, path, &at);

	if (!f || !*at)
		return;
	if (made)
		watch_note_filled(k->watch, f, at, S_ISDIR(type));
	watch_judge(k, f, at, what, made);
}

static void push_scan(struct keeper *k, struct folder *f, const char *path, bool made);

static void lost(void *data)
{
	struct keeper *k = data;
	struct watch *w = k->watch;

	log_warn("keeper", "edits from outside came too fast: looking at everything again");
	if (!w->lost_ns)
		w->lost_ns = w->looked_ns - WATCH_SLACK_NS;
	watch_rescan(k);
	for (size_t i = 0; i < w->n_edits; i++)
		push_scan(k, w->edits[i].folder, "", false);
}

static void push_scan(struct keeper *k, struct folder *f, const char *path, bool made)
{
	struct watcher *by = k->watch->by;
	struct scan *s;

	if (by->n_scans >= SCANS_MAX)
		return;
	s = xcalloc(1, sizeof(*s));
	*s = (struct scan){.folder = f, .path = xstrdup(path), .made = made};
	*by->end = s;
	by->end = &s->next;
	if (++by->n_scans == SCANS_MAX)
		watch_rescan(k); /* finds what differs from the state after the steps */
}

static void scan(void *data, const char *dir, bool made)
{
	struct keeper *k = data;
	const char *at;
	struct folder *f = folder_of(k, dir, &at);

	if (!f) { /* above all folders */
		if (!made)
			lost(k);
		return;
	}
	/* The event does not say which files below changed: their times do. */
	if (!made && !k->watch->lost_ns)
		k->watch->lost_ns = k->watch->looked_ns - WATCH_SLACK_NS;
	push_scan(k, f, at, made);
}

static void root_changed(void *data, const char *path)
{
	struct keeper *k = data;

	(void)path;
	if (!k->watch->by->said_moved)
		keeper_warn(k,
			    "a working folder, or one above it, has been moved or removed: edits "
			    "from outside are not told any more");
	k->watch->by->said_moved = true;
}

/* ---- directories ----------------------------------------------------------------------------- */

static void look_at(struct keeper *k, const struct scan *s, int dirfd, const char *name,
		    const char *path)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISDIR(st.st_mode)) {
		push_scan(k, s->folder, path, s->made);
		return;
	}
	if (s->made)
		watch_note_filled(k->watch, s->folder, path, false);
	if (s->made ||
	    (int64_t)OS_CTIME(&st).tv_sec * 1000000000 + OS_CTIME(&st).tv_nsec >= k->watch->lost_ns)
		watch_judge(k, s->folder, path, SEEN_MOVED, s->made);
}

static void list_dir(struct keeper *k, const struct scan *s)
{
	int fd = open_beneath(s->folder, s->path);
	AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir) {
		util_close_fd(&fd);
		return;
	}
	while ((e = readdir(dir))) {
		AUTO_FREE char *path = NULL;

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, "..") ||
		    (!*s->path && str_eq(e->d_name, ".cordon")))
			continue;
		path = *s->path ? path_join(s->path, e->d_name) : xstrdup(e->d_name);
		look_at(k, s, dirfd(dir), e->d_name, path);
	}
}

static void list_one(struct keeper *k)
{
	struct watcher *by = k->watch->by;
	struct scan *s = by->scans;

	by->scans = s->next;
	if (!by->scans)
		by->end = &by->scans;
	by->n_scans--;
	list_dir(k, s);
	free(s->path);
	free(s);
	if (!by->scans)
		k->watch->lost_ns = 0;
}

/* ---- watch.h --------------------------------------------------------------------------------- */

static void take_events(struct keeper *k)
{
	const struct fs_stream_ops ops = {.data = k,
					  .look = look,
					  .changed = changed,
					  .scan = scan,
					  .lost = lost,
					  .root_changed = root_changed};
	struct os_fs_event list[EVENTS];
	size_t n;

	do {
		n = os_fs_stream_read(k->watch->by->stream, list, ARRAY_LEN(list));
		fs_stream_take(&ops, list, n);
		for (size_t i = 0; i < n; i++)
			free(list[i].path);
	} while (n == ARRAY_LEN(list));
}

void watch_drain(struct keeper *k)
{
	int64_t now = watch_wall_ns();

	if (k->watch) {
		os_fs_stream_flush(k->watch->by->stream);
		take_events(k);
		k->watch->looked_ns = now;
	}
	watch_all_seen(k);
}

/* Does nothing: the keeper performs no calls of the agent here, so no file changes its owner in the
 * journal. */
void watch_before(struct keeper *k)
{
	(void)k;
}

/* Does nothing: the folders are watched with all that is below them. */
void watch_made(struct keeper *k, const struct folder *f, int dirfd, const char *path)
{
	(void)k;
	(void)f;
	(void)dirfd;
	(void)path;
}

void watch_touched(struct keeper *k, const struct folder *f, const char *path)
{
	(void)k;
	(void)f;
	(void)path;
}

void watch_busy(struct keeper *k)
{
	(void)k;
}

static void on_ready(void *data)
{
	struct keeper *k = data;
	int64_t now = watch_wall_ns();

	take_events(k);
	k->watch->looked_ns = now;
}

int64_t watch_next(const struct keeper *k)
{
	const struct watch *w = k->watch;

	if (w && (w->by->scans || watch_has_filled(w)))
		return k->now;
	return w ? w->settle_at : 0;
}

void watch_tick(struct keeper *k)
{
	struct watch *w = k->watch;

	if (!w)
		return;
	watch_settle_filled(k);
	if (w->by->scans)
		list_one(k);
	if (w->settle_at && w->settle_at <= k->now)
		watch_settle(k);
}

static void watcher_free(struct watcher *by)
{
	struct scan *next;

	os_fs_stream_close(by->stream);
	for (struct scan *s = by->scans; s; s = next) {
		next = s->next;
		free(s->path);
		free(s);
	}
	free(by);
}

/* Watches only if there is a door. Without one the agent changes the folders itself, and all its
 * changes would look like external edits. */
void watch_start(struct keeper *k)
{
	struct watcher *by;
	AUTO_FREE const char **dirs = NULL;
	int r;

	if (!k->n_doors)
		return;
	by = xcalloc(1, sizeof(*by));
	by->end = &by->scans;
	dirs = xcalloc(k->n_folders + 1, sizeof(*dirs));
	k->watch = watch_new(k, by);
	for (size_t i = 0; i < k->watch->n_edits; i++)
		dirs[i] = k->folders[i]->path;
	r = os_fs_stream_open(&by->stream, dirs, k->watch->n_edits);
	if (r == 0)
		r = keeper_watch(k, os_fs_stream_fd(by->stream), on_ready, k);
	if (r == 0)
		return;
	watch_note_none(k, -r);
	watcher_free(by);
	watch_free(take_ptr(&k->watch));
}

void watch_stop(struct keeper *k)
{
	struct watch *w = take_ptr(&k->watch);

	if (!w)
		return;
	keeper_unwatch(k, os_fs_stream_fd(w->by->stream));
	watcher_free(w->by);
	watch_free(w);
}
