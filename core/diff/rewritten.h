/* rewritten - branches and tags that no longer lead to where they were before a session. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"

/*
 * A rebase, an amend, a reset or a push by force may change what was committed and looked at long
 * ago: then `git diff` is clean. What a ref was before is in the steps; whether it is still reached
 * libgit2 tells, which reads objects alone, no configuration, in a process of its own that ends
 * after two seconds.
 */

/* Cheap: has anything been done to refs of the repository in this folder since then? */
bool rewritten_may_be(const char *folder, int64_t since_us);
/*
 * Calls say() for each such ref of the newest session in j's folder, with words that hold the
 * agent's names as they are. Returns a negative errno if there may be more: -EIO, the objects could
 * not be read in time; -E2BIG, too many refs have changed.
 */
int rewritten_each(struct journal *j, const char *folder,
		   void (*say)(void *data, const char *words), void *data, struct err *err)
	MUST_USE;
