/* guarded - finds names in a commit that a session asks about before a write. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/* Appends a line for each guarded name among the names (relative to the folder, each with its NUL;
 * len bytes). With git's plumbing an agent can commit a hook without a file of that name in its
 * folder: no session asks before the user's git checks the commit out. */
int guarded_names(struct buf *out, const char *folder, const char *names, size_t len,
		  struct err *err) MUST_USE;
