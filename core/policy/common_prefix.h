/* common_prefix - what many lines of rules begin with: those that follow each other mostly begin
 * alike. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/policy/policy_priv.h"
#include "core/policy/lazy_rules.h"

/*
 * Of a line that begins like the two before, nothing up to there is looked at again: which kinds,
 * what a variable stands for, whether there is a link on the way. And where nothing of the rest is
 * there, it waits (lazy_rules.h).
 *
 * Life: STEM_INIT; stem_done(). What lines say must stay until then.
 */
struct stem {
	const char *value; /* "read ~/src", a `/` behind it; so many bytes of a line, 0: none */
	size_t len;
	unsigned kinds;
	size_t pattern; /* where that begins */
	struct shelf_stem of;
	bool folds;
	bool is_open;		/* a shelf */
	const struct rules *to; /* which rules they are */
	const struct link_dir *at;
	const char *before; /* the line before */
};
#define STEM_INIT                                                                                  \
	{                                                                                          \
		.of.dir = BUF_INIT                                                                 \
	}

/* A line that has been read: the pattern in it, what that was expanded to, how much of that stands
 * for so much of what was written. */
struct stem_line {
	const char *value, *pattern, *expanded;
	size_t head, skip;
	unsigned kinds;
};

void stem_done(struct stem *s);
/* Where the lines go on from what they have in common. */
void stem_learn(struct stem *s, const struct rules *to, struct links *l,
		const struct stem_line *line);
void stem_forget(struct stem *s);
/* The rule, with its frame, line and verdict, is as this line says, and waits. False: not so. */
bool stem_take(struct stem *s, struct rules *to, const char *value, struct rule *rule) MUST_USE;
