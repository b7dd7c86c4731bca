/* git_objects - keeps a git repository's objects if the repository was used from outside later. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/rollback/restore.h"
#include "core/journal/rollback/undo.h"

/* Adds to *left, the paths that stay, the objects that the logs' steps created in such a
 * repository, by their present names. keep_mine: also all that the steps did in a repository that
 * they created, if it was used from outside. */
void git_objects_leave(struct journal *j, const struct emptied *e, bool keep_mine,
		       struct path_set *left);
/* Unselects such objects among the changes of a restore. */
void git_objects_unchoose(struct restore *r);
