/* overlays - where what is changed in copy-on-write directories is kept, and whether it is. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/* Of the i-th overlay of a session, the directory `path`: upper/ and work/ are in it. Heap. */
char *overlay_dir(const char *state_dir, const char *session, size_t i, const char *path) MUST_USE;
/* After the session: what holds no change (nothing was changed, or it did not start) is removed,
 * and of the others "PATH: changes are kept in DIR\n" is added to kept; NULL: nobody asks. */
void overlays_settle(const char *state_dir, const char *session, char *const *paths,
		     struct buf *kept);
