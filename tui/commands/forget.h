/* forget - `cordon log --discard`, `--prune` and `--adopt`: history that goes for good, or comes
 * along. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/commands/reading.h"

struct prune_options { /* as given; NULL: not */
	const char *keep, *older_than, *size;
};

/* `cordon log --adopt`: the history of the same folder under its old name, and its audit log. */
int adopt_history(const struct here *p, struct err *err) MUST_USE;
/* yes: do not ask. */
int forget_all(const struct here *p, bool yes, struct err *err) MUST_USE;
int forget_oldest(const struct here *p, const struct prune_options *o, bool yes, struct err *err)
	MUST_USE;
