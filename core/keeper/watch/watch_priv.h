/* watch_priv - shared by the files of the watcher that uses inotify. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <dirent.h>

#include "core/keeper/watch/watch_shared.h"
#include "core/keeper/watch/watch_tree.h"

struct inotify_event;
struct source;

#define WATCH_BUSY_US  50000 /* after a change of the agent no directory is listed, once */
#define WATCH_DRAIN_US 5000  /* after the first event of several */

struct watcher {
	struct watched_tree tree;
	struct source *source;
	int64_t drain_at;	    /* monotonic; 0: wait for the descriptor */
	int64_t list_at;	    /* 0: none is queued */
	int64_t list_by;	    /* list_at is never later than this */
	struct watched_dir *moving; /* has left its name, without an event of a new one yet */
	int made;		    /* the watch of watch_made() until its event is judged, or 0 */
	const struct folder *made_in;
	struct buf made_path; /* below it */
	struct buf touched;   /* the directory of the last watch_touched() */
	uint32_t cookie;
	DIR *dir; /* being listed, of this watch; or NULL */
	int dir_wd;
	int load; /* /proc/loadavg, or -1 */
	char events[4096]
		__attribute__((aligned(8))); /* on the stack it would be cleared each time */
};

/* Counts the files of all folders as journal_count_shut() does. */
uint64_t watch_count_shut(const struct watch *w);

/* ---- watch_list_linux.c: listing ------------------------------------------------------------- */

/* Forgets the predicted events of all folders. */
void watch_expect_nothing(struct keeper *k);
/* Watches the directory of this name, unless it is of cordon's own; it will be listed. */
void watch_add_dir(struct keeper *k, struct watched_dir *parent, const char *name);
/* Lists at that time, or at the latest time of an earlier call. */
void watch_list_soon(struct watch *w, int64_t at);
void watch_list_some(struct keeper *k); /* one turn */
void watch_list_now(struct keeper *k, struct watched_dir *d, const char *name);
/* Watches an external directory. It may have secrets and files that rules close, so it is listed at
 * once, with some directories below it. */
void watch_list_foreign(struct keeper *k, struct watched_dir *d, const char *name);

/* ---- watch_moved_linux.c: directories that appear and move ----------------------------------- */

/* Returns whether the event is about a directory that the agent has not just made or moved. */
bool watch_dir_event(struct keeper *k, struct watched_dir *d, const struct inotify_event *ev);
void watch_end_move(struct watch *w); /* the directory that left its name got no other one */
void watch_end_made(struct watch *w); /* the event of watch_made() will not come */
