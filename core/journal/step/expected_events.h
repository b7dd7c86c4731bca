/* expected_events - what a watcher will be told of that this process did itself. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

struct writer;

/*
 * Whose a change is that an event tells of is found by looking at the path: some system calls, and
 * whoever calls next waits for them. Two sorts of events, nearly all there are, need none:
 *
 *   - the close of a file that was opened for writing once, by this process. That is one open file,
 *     and it is closed once. Does a second event come, one of them is of somebody else's: then that
 *     is an edit, whichever it was.
 *   - the name that the last rename gave. Events come in order, so this one is that rename's; or
 *     that of somebody who gave the name right before, to a file that the rename then replaced,
 *     where a look would come too late as well.
 *
 * What is expected is one event about one path. It is given up when the path may lead elsewhere, or
 * the event may not come: some were lost, or a directory is watched that was not. Then the path is
 * looked at as ever.
 *
 * Whether anybody still writes does not follow from it. Such a file stays on the list of writers
 * until a step begins or ends, which asks the kernel.
 */

/* w was opened once, by this name, since it came to the list or was told of. */
void expect_close(struct journal *j, struct writer *w, const char *key);
void expect_no_close(struct journal *j, struct writer *w);
/* That name does not lead to what it did, or is about to. */
void expect_no_close_at(struct journal *j, int root, const char *path);
/* A rename has given this name; until journal_all_seen(). */
void expect_name(struct journal *j, int root, const char *path);
/* Is this the event? True once. */
bool is_expected(struct journal *j, const char *key, enum seen_what what);
