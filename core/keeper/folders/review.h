/* review - reports changes of git's own files that hide other changes from git. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/policy/policy.h"

struct keeper;

/*
 * Users review the work of an agent with `git status` and `git diff`, too. Changes that make these
 * commands show less are allowed without a question, because people and tools make them, and are
 * reported: once for each file and kind of change, at the first one.
 */

/* Called before an allowed change of info/exclude, refs/replace or info/grafts. */
void review_change(struct keeper *k, enum policy_act act, const char *path);
/* Called for a configuration or index that has passed the check. old NULL: there was none. */
void review_config(struct keeper *k, const char *path);
void review_index(struct keeper *k, const char *path, struct span now, struct span old);
void review_done(struct keeper *k);
