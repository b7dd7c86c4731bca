/* kept_priv - shared by kept.c, which follows the steps, and kept_text.c, which merges texts. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

typedef bool (*kept_pick)(const void *data, unsigned number);

/* Returns how many hunks the diff of two texts has, as core/diff counts them, or an errno. */
int kept_hunks(const struct buf *before, const struct buf *after, struct err *err) MUST_USE;
/* Appends `before` with the hunks for which `pick` returns true (by number, from 1). */
int kept_compose(const struct buf *before, const struct buf *after, kept_pick pick,
		 const void *data, struct buf *out, struct err *err) MUST_USE;
/* Appends the merge of three sides. Returns -ESTALE, and appends nothing, if both changed the same
 * lines. */
int kept_merge(const struct buf *base, const struct buf *ours, const struct buf *theirs,
	       struct buf *out, struct err *err) MUST_USE;
