/* overlays - keeps or removes changes in copy-on-write directories. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/* Returns the directory of the i-th overlay of a session, for `path`; it contains upper/ and work/.
 * Heap. */
char *overlay_dir(const char *state_dir, const char *session, size_t i, const char *path) MUST_USE;
/* Removes work/, which the kernel leaves without permissions, so that `rm -r` would fail. After a
 * session with the option `volatile` no other mount can use it. */
void overlay_drop_work(const char *dir);
/* Removes a layer without changes. Returns false if it has changes. */
bool overlay_drop_empty(const char *dir);
/* After the session: removes layers without changes, also if the start failed. Adds "PATH: changes
 * are kept in DIR/upper\n" for each other layer to kept, unless that is NULL. */
void overlays_settle(const char *state_dir, const char *session, char *const *paths,
		     struct buf *kept);
