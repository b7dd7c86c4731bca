/* expected_events - predicts the watcher's events for changes that this process made itself. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/edits.h"

struct open_file;

/*
 * To find out who made the change that an event reports, the journal looks at the path. That takes
 * some system calls, and the caller of the next operation waits for them. Two sorts of events,
 * nearly all there are, are recognised without a look:
 *   - The close of a file that was opened for writing once, by this process. That open file is
 *     closed once. If a second close event comes, one of the two is of another process: then the
 *     file counts as edited, whichever of them it was.
 *   - The new name of the last rename. Events come in order, so this event is of that rename. Or
 *     another process gave the name just before, to a file that the rename then replaced: there a
 *     look would come too late as well.
 *
 * Each expectation is for one event about one path. It is dropped if the path may lead to another
 * object, or if the event may not come: events were lost, or a directory is watched that was not.
 * Then the path is looked at as usual.
 *
 * An expected close does not show whether the file still has a writer. Such a file stays on the
 * list of writers until a step begins or ends, which asks the kernel.
 */

/* Expects one close event of w, which was opened once, by this name, since it was added to the list
 * or last reported closed. */
void event_expect_close(struct journal *j, struct open_file *w, const char *key);
void event_expect_no_close(struct journal *j, struct open_file *w);
/* Drops an expected close at this name: the name leads to another object now, or soon. */
void event_expect_no_close_at(struct journal *j, int root, const char *path);
/* Expects the event of a rename to this name, until journal_all_seen(). */
void event_expect_name(struct journal *j, int root, const char *path);
/* Returns whether this is an expected event; true once. */
bool event_is_expected(struct journal *j, const char *key, enum seen_what what);
