/* net_effect - the net effect of several steps on each path. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "core/journal/util/path_set.h"

struct fate {
	struct change_side before, after;
	bool seen;
	bool tangled; /* steps overlapped, a file had several names: it may not be the whole */
	char *renamed_from;
};

struct fates {
	struct names keys; /* number i: that of list[i] */
	struct fate *list;
	size_t cap;
};

/* Steps are added newest first, change by change. tangled: others were at its path, or its old one,
 * at the same time. */
void fates_tangle(struct fates *f); /* all that are there */
void fates_add(struct fates *f, const struct change *c, bool tangled, bool old_tangled);
const struct fate *fates_find(const struct fates *f, const char *key); /* or NULL */
void fates_done(struct fates *f);
bool sides_equal(const struct change_side *a, const struct change_side *b);
