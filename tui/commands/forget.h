/* forget - `cordon log --discard`, `--prune`, `--adopt`: removes history, or takes it over. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tui/commands/here.h"

struct prune_options { /* as given; NULL: not given */
	const char *keep, *older_than, *size;
};

/* `cordon log --adopt`: takes over the history and audit log of this folder's old name. */
int adopt_history(const struct here *p, struct err *err) MUST_USE;
/* Discards the history. yes: does not ask. */
int forget_all(const struct here *p, bool yes, struct err *err) MUST_USE;
int forget_oldest(const struct here *p, const struct prune_options *o, bool yes, struct err *err)
	MUST_USE;
