/* watch_shared - judges, collects and reports external edits, for every kind of watcher. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/journal/journal.h"
#include "core/keeper/watch/watch_edits.h"
#include "core/keeper/watch/watch_filled.h"

/*
 * The keeper calls watch.h. watch_linux.c implements it with inotify, watch_darwin.c with FSEvents:
 * each has its own struct watcher, drains it, and passes the paths to watch_judge().
 */
struct folder;
struct keeper;
struct watcher; /* of watch_linux.c or watch_darwin.c */

#define WATCH_SLACK_NS ((int64_t)1000000000) /* a file's time may be earlier than the clock's */

struct watch {
	struct watcher *by;
	struct edits *edits;
	struct filled *filled; /* one for each folder of the session */
	size_t n_edits;
	int64_t settle_at; /* monotonic; 0: nothing is collected */
	int64_t looked_ns; /* wall clock: all events up to then have been judged */
	int64_t lost_ns;   /* events were lost: later changes count as edits; 0: none */
	bool settling;
	bool owning;	 /* the keeper itself changes the folders: see journal_own() */
	struct buf path; /* scratch */
};

/* Returns a watch for those folders; the caller owns `by`. */
struct watch *watch_new(struct keeper *k, struct watcher *by);
void watch_free(struct watch *w);
void watch_note_none(struct keeper *k, int code); /* code: why nothing is watched (errno) */

int64_t watch_wall_ns(void);
/* Judges a change of path, below the folder. If it is an external edit, collects it and returns
 * true. */
bool watch_judge(struct keeper *k, struct folder *f, const char *path, enum seen_what what,
		 bool made);
/* Hides the file from processes inside, if the policy denies reading it. */
void watch_cover(struct keeper *k, const struct folder *f, const char *path);
void watch_note_filled(const struct watch *w, const struct folder *f, const char *path,
		       bool is_dir);
/* After a loss of events: collects every path that differs from its state after the steps. */
void watch_rescan(struct keeper *k);
void watch_all_seen(struct keeper *k); /* all queued events have been judged */
bool watch_has_filled(const struct watch *w);
void watch_settle_filled(struct keeper *k);
