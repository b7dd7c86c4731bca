/* watch_linux - watches the working folders for external edits: reports and records them. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/config/config.h"
#include "core/keeper/loop.h"
#include "core/keeper/sources.h"
#include "core/keeper/state.h"
#include "core/keeper/watch/watch.h"
#include "core/keeper/watch/watch_priv.h"
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
 */

#define START_US  50000 /* after the agent's start, which keeps the processor busy */
#define READY	  (EPOLLIN | EPOLLONESHOT)
#define EVENT_MAX (sizeof(struct inotify_event) + NAME_MAX + 1)

/* ---- events -----------------------------------------------------------------------------------
 */

uint64_t watch_count_shut(const struct watch *w)
{
	uint64_t n = 0;

	for (size_t i = 0; i < w->n_edits; i++)
		n += journal_count_shut(w->edits[i].folder->journal);
	return n;
}

static void on_overflow(struct keeper *k)
{
	struct watch *w = k->watch;
	struct watched_dir *d, *next;

	log_warn("keeper", "edits from outside came too fast: looking at everything again");
	watch_expect_nothing(k);
	if (!w->lost_ns)
		w->lost_ns = w->looked_ns - WATCH_SLACK_NS;
	HASH_ITER (hh, w->by->tree.dirs, d, next) {
		d->whole = false;
		watch_tree_queue(&w->by->tree, d);
	}
	watch_rescan(k);
	watch_list_soon(w, k->now + WATCH_BUSY_US);
}

static void on_event(struct keeper *k, const struct inotify_event *ev)
{
	struct watch *w = k->watch;
	struct watched_dir *d;
	bool foreign = false;

	if (w->by->moving && !((ev->mask & IN_MOVED_TO) && ev->cookie == w->by->cookie))
		watch_end_move(w);
	if (ev->mask & IN_Q_OVERFLOW)
		on_overflow(k);
	d = watch_tree_find(&w->by->tree,
			    ev->wd); /* only here, as a move that has ended may have dropped it */
	if (!d)
		return;
	if (ev->mask & IN_IGNORED) {
		watch_tree_drop(&w->by->tree, d, false);
		return;
	}
	if (!ev->len || (!d->parent && str_eq(ev->name, ".cordon")))
		return;
	if (ev->mask & IN_ISDIR)
		foreign = watch_dir_event(k, d, ev) && !w->owning;
	if ((ev->mask & IN_ISDIR) && (ev->mask & IN_ATTRIB))
		return;
	watch_dir_path(d, ev->name, &w->path);
	if (ev->mask & IN_MOVED_TO || (ev->mask & (IN_CREATE | IN_ISDIR)) == IN_CREATE)
		watch_note_filled(w, d->folder, w->path.data, ev->mask & IN_ISDIR);
	foreign |= watch_judge(k, d->folder, w->path.data,
			       ev->mask & IN_CLOSE_WRITE		? SEEN_CLOSED
			       : ev->mask & IN_ATTRIB			? SEEN_META
			       : ev->mask & IN_CREATE			? SEEN_MADE
			       : ev->mask & IN_MOVED_TO			? SEEN_NAMED
			       : ev->mask & (IN_DELETE | IN_MOVED_FROM) ? SEEN_GONE
									: SEEN_MOVED,
			       ev->mask & (IN_CREATE | IN_MOVED_TO));
	if (foreign && (ev->mask & IN_ISDIR) && (ev->mask & (IN_CREATE | IN_MOVED_TO)))
		watch_list_foreign(k, d, ev->name);
}

static size_t queued(const struct watch *w)
{
	int n = 0;

	return ioctl(w->by->tree.fd, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

/* After an event more are likely: the queue is read by the clock, and before a call that needs it.
 * That is one system call, where waiting takes three. If the queue was empty at its time, the
 * watcher waits for events again. */
static void again(struct keeper *k, bool some)
{
	struct watch *w = k->watch;

	if (some) {
		w->by->drain_at = k->now + WATCH_DRAIN_US;
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

/* Reads the events that are queued at the start, but no later ones: external programs may be
 * quicker than this loop. But if a file was found closed, it may have been closed again before:
 * then the queue counts as of that moment. A step's file is found so once, until all are
 * forgotten. */
void watch_drain(struct keeper *k)
{
	struct watch *w = k->watch;
	int64_t now = watch_wall_ns();
	bool some = false;
	size_t left = SIZE_MAX; /* bytes; read only if one read may not be all */
	ssize_t n;

	if (!w) {
		watch_all_seen(k);
		return;
	}
	while (left > 0 && (n = read(w->by->tree.fd, w->by->events, sizeof(w->by->events))) > 0) {
		uint64_t shut = watch_count_shut(w);

		/* Room that is left in the buffer shows that the queue is empty. */
		if (left == SIZE_MAX)
			left = (size_t)n + EVENT_MAX <= sizeof(w->by->events) ? 0 : queued(w);
		else
			left -= MIN(left, (size_t)n);
		on_events(k, (size_t)n);
		if (watch_count_shut(w) != shut)
			left = queued(w);
		some = true;
	}
	watch_all_seen(k);
	watch_end_move(w);
	watch_end_made(w);
	w->looked_ns = now;
	if (w->by->drain_at)
		again(k, some);
}

void watch_before(struct keeper *k)
{
	if (k->watch && k->watch->by->drain_at)
		watch_drain(k);
}

static void on_ready(void *data)
{
	struct keeper *k = data;

	k->watch->by->drain_at = k->now + WATCH_DRAIN_US;
}

/* ---- life -------------------------------------------------------------------------------------
 */

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
		watch_list_some(k);
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
	buf_done(&by->touched);
	util_close_fd(&by->load);
	free(by);
}

/* Returns the maximum number of watches: at least 1, for the folder itself. */
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

	by->made_path = by->touched = (struct buf)BUF_INIT;
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
	w->by->list_by = w->by->list_at + WATCH_BUSY_US;
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
