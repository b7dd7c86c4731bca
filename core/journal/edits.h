/* edits - edits from outside: which changes they are, and the barriers that they leave. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

struct journal;
struct object;

enum seen_what { /* what an event says of a directory entry */
	SEEN_MADE,
	SEEN_GONE,
	SEEN_NAMED, /* a rename gave an object this name */
	SEEN_MOVED, /* the kind of change is unknown: look at the path */
	SEEN_META,
	SEEN_CLOSED, /* by a process that had it open for writing */
};

/*
 * Returns whether a process outside the steps made this change. If a running step has changed the
 * path, too, the path is in conflict from then on. since_ns (wall clock): older bytes were judged
 * before.
 */
bool journal_is_foreign(struct journal *j, const char *path, enum seen_what what, int64_t since_ns);
/* Notes that the directory of this file is watched from now on: the watcher may have missed the
 * close of the step's writer. If the file has no writer now, closes that are not queued yet are
 * other processes': journal_count_shut() grows. */
void journal_watched(struct journal *j, const char *path);
/* Notes that this file lies in a directory that came from outside during the session: there were no
 * events of it. A step that has touched the path, or created a directory above, has the file
 * saved before it loses it. */
void journal_found(struct journal *j, const char *path);
/* Counts the files whose last writer was found to have closed them. More close events of the steps'
 * own for these files may be queued. Once all events queued at that time are judged, the caller
 * calls journal_all_seen(): it forgets these files, and any later close of them is an external
 * edit. */
uint64_t journal_count_shut(const struct journal *j);
void journal_all_seen(struct journal *j);
/* Says that from now on the watcher reports each event separately and in order (not on systems that
 * merge events). Then the journal can predict the events of the steps' own changes. */
void journal_expect_events(struct journal *j);
/* Forgets the predicted events: events were lost, or other ones are reported than before. */
void journal_expect_nothing(struct journal *j);
/* Sets whether changes by rollbacks and restores count as the steps' own from now on. */
void journal_own(struct journal *j, bool on);

/*
 * A program outside has put a file or a directory at this guarded name (journal_spec.guards) of the
 * folder. Replaces files there, and at guarded names below it, by copies, in a step of its own:
 * files that a process inside has open for writing, and files that have another name and that an
 * open step has changed or created. Returns the number of files to replace, or a negative errno.
 *
 * is_theirs() names files that are there with the user's leave: they stay. remember() is called for
 * every other file that has several names.
 */
struct journal_filled {
	bool (*is_theirs)(void *data, const char *path, const struct object *o);
	void (*remember)(void *data, const char *path, int dirfd, const char *name);
	/* called before that step begins, to record the external edit */
	void (*before)(void *data);
	void *data;
};
int journal_renew_guarded(struct journal *j, const char *path, const struct journal_filled *by,
			  struct err *err) MUST_USE;
/* Returns a counter that grows with each rename of a directory, even a failed one. */
uint64_t journal_dir_moves(const struct journal *j);
/* Calls on() for every path of the folder whose state differs from its newest after-image. */
int journal_rescan(struct journal *j, void (*on)(void *data, const char *path), void *data)
	MUST_USE;

/*
 * A barrier marks an external edit of the folder. A rollback of the step before it stops there
 * unless flags say otherwise, because the edit may build on changes that the rollback would remove.
 */
struct barrier {
	int64_t first_us, last_us; /* wall clock */
	size_t count;		   /* of paths, at least */
	char **paths;		   /* the first ones, relative to the folder, raw bytes */
	size_t n_paths;
	int64_t after; /* the step before it, kept, undone or running */
	bool own;      /* no edit: the step itself is the user's own (step_is_yours()) */
};

/* Records external edits that were just seen; joins them to the newest barrier if no step has ended
 * after that. Returns 1, or 0 if nothing was recorded because there is no step to roll back. */
int journal_add_barrier(struct journal *j, const char *const *paths, size_t n, struct err *err)
	MUST_USE;
int journal_barriers(struct journal *j, struct barrier **ret, size_t *ret_n, struct err *err)
	MUST_USE; /* newest first */
/* Lists the barriers of all folders of the session; paths in the other folders are absolute. */
int journal_barriers_all(struct journal *j, struct barrier **ret, size_t *ret_n, struct err *err)
	MUST_USE;
struct barrier barrier_copy(const struct barrier *b) MUST_USE;
void barrier_done(struct barrier *b);
void barrier_free(struct barrier *list, size_t n);
