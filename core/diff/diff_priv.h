/* diff_priv - types and functions shared by the files of core/diff. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/diff/diff.h"

/* One path before and after. For each side, a change of a step is the source of its bytes. */
struct pair {
	const char *old_path, *new_path; /* equal unless renamed */
	struct change_side before, after;
	int64_t before_step, after_step;
	const struct change *before_change, *after_change;
	/* Between two steps: from the after-state of the first to the before-state of the second,
	 * or to the present file if there is no second step. */
	bool between;
};

struct sink {
	diff_on_line on;
	void *data;
};

/* Writes a line. Returns -ECANCELED when the sink stops. */
int sink_line(const struct sink *to, enum diff_line_kind kind, const char *text, size_t len,
	      int old_line, int new_line);
int sink_fmt(const struct sink *to, enum diff_line_kind kind, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

/* Returns the path for the text after a/ or b/: a path in another folder is absolute. */
static inline const char *diff_name(const char *path)
{
	return path + (*path == '/');
}

/* ---- header.c ---- */
int diff_write_first(const struct pair *p, const struct sink *to); /* the header's first line */
int diff_write_header(const struct pair *p, const struct sink *to);
/* Writes the line "--- a/PATH" or "+++ b/PATH". */
int diff_write_name(const struct sink *to, const char *sign, const char *side, const char *path);
int diff_write_same(const struct pair *p, const struct sink *to); /* nothing else differs */

/* ---- content.c: one side's bytes, or its size and hash ---- */
struct content {
	char *data; /* NULL if it is binary, too large, or not there */
	size_t len;
	uint64_t size;
	bool exists, binary, gone;
	char hash[13]; /* beginning of the SHA-256, if the content is not shown; "": too large */
};
#define AUTO_CONTENT CLEANUP(content_done)
void content_done(struct content *c);
int content_load(struct content *ret, struct journal *j, const struct pair *p, bool after,
		 struct err *err) MUST_USE;

/* ---- diff.c ---- */
struct pair pair_of(int64_t step, const struct change *c); /* the change of one path by a step */
/* Ranges of different lines, from 0, without context. */
struct hunk {
	size_t old_at, old_n, new_at, new_n;
};
typedef void (*diff_on_hunk)(void *data, const struct hunk *h);
/* Calls on() for each hunk of two texts; not at all if they are equal. */
int diff_hunks(const struct content *a, const struct content *b, diff_on_hunk on, void *data,
	       struct err *err) MUST_USE;
int diff_pair(struct journal *j, const struct pair *p, const struct sink *to, struct err *err)
	MUST_USE;
