/* diff_priv - between the files of core/diff. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/diff/diff.h"

/* One path before and after, and where its bytes are: a step's change for either side. */
struct pair {
	const char *old_path, *new_path; /* equal unless renamed */
	struct change_side before, after;
	int64_t before_step, after_step;
	const struct change *before_change, *after_change;
	/* Between two steps: from what the one left to what the other found, or where there is
	 * none, to what lies there now. */
	bool between;
};

struct sink {
	diff_on_line on;
	void *data;
};

/* -ECANCELED when the sink says so. */
int sink_line(const struct sink *to, enum diff_line_kind kind, const char *text, size_t len,
	      int old_line, int new_line);
int sink_fmt(const struct sink *to, enum diff_line_kind kind, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

/* As it stands behind a/ and b/: what lies in another folder has its whole name. */
static inline const char *diff_name(const char *path)
{
	return path + (*path == '/');
}

/* ---- header.c ---- */
int diff_write_first(const struct pair *p, const struct sink *to); /* the header's first line */
int diff_write_header(const struct pair *p, const struct sink *to);
/* The line "--- a/PATH" or "+++ b/PATH". */
int diff_write_name(const struct sink *to, const char *sign, const char *side, const char *path);
int diff_write_same(const struct pair *p, const struct sink *to); /* nothing more can be told */

/* ---- content.c: one side's bytes, or its size and hash ---- */
struct content {
	char *data; /* NULL when it is binary, too large or gone */
	size_t len;
	uint64_t size;
	bool exists, binary, gone;
	char hash[13]; /* the first digits of SHA-256, for what is not shown */
};
#define AUTO_CONTENT CLEANUP(content_done)
void content_done(struct content *c);
int content_load(struct content *ret, struct journal *j, const struct pair *p, bool after,
		 struct err *err) MUST_USE;

/* ---- diff.c ---- */
int diff_pair(struct journal *j, const struct pair *p, const struct sink *to, struct err *err)
	MUST_USE;
