/* git_text - puts single hunks into a text, and merges texts. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

bool git_text_same(const struct buf *a, const struct buf *b);
/* Returns how many hunks the diff of two texts has, as in core/diff, or a negative errno. */
int git_text_hunks(const struct buf *before, const struct buf *after, struct err *err) MUST_USE;
/* Appends `before` with the hunks for which `pick` returns true (by number, from 1). */
typedef bool (*git_text_pick)(const void *data, unsigned number);
int git_text_compose(const struct buf *before, const struct buf *after, git_text_pick pick,
		     const void *data, struct buf *out, struct err *err) MUST_USE;

struct git_text_sides {
	const struct buf *base, *ours, *theirs;
	/* Conflicts are written with these labels; NULL: nothing is written then. */
	const char *our_label, *their_label;
};
/* Appends the merge of three sides. Returns -ESTALE if both changed the same lines. */
int git_text_merge(const struct git_text_sides *sides, struct buf *out, struct err *err) MUST_USE;
