/* forget - `cordon log --discard` and `--prune`: history that goes for good. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/commands/reading.h"

struct prune_options { /* as given; NULL: not */
	const char *keep, *older_than, *size;
};

/* yes: do not ask. */
int forget_all(const struct here *p, bool yes, struct err *err) MUST_USE;
int forget_oldest(const struct here *p, const struct prune_options *o, bool yes, struct err *err)
	MUST_USE;
