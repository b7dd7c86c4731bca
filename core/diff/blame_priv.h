/* blame_priv - shared by blame.c, which follows a file, and blame_lines.c, which follows lines. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/diff/blame.h"
#include "core/diff/diff_priv.h"

#define NO_LINE SIZE_MAX

/* A state of the file and, for each of its lines, the equal line of the present file. */
struct state {
	struct content text;
	size_t *present; /* NO_LINE: the present file lacks it, or its writer is known */
	size_t n;
};

struct walk {
	struct journal *j;
	struct blame *blame;
	struct state at;
	struct change_side side; /* the side of a change that holds the content of the state */
	char *path;
	size_t open;	  /* lines of the state without a known writer */
	int64_t newer;	  /* the newest step so far that changed the file; 0: none */
	bool in_doubt;	  /* a step may have changed the file in an unknown way */
	int64_t doubtful; /* that step */
	int64_t doubt_us; /* when that step began */
};

/* The writer given to new lines. */
struct writer {
	enum blame_by by;
	int64_t step;
	bool unsure;
};

size_t blame_count_lines(const struct content *c);
void blame_state_done(struct state *s);
/* Assigns this writer to all lines without one. */
void blame_settle_all(struct walk *w, const struct writer *by);
/* Goes to an older state of the file: takes over its content, and gives `by` the lines that it
 * lacks. */
int blame_go_back(struct walk *w, struct content *older, const struct writer *by, struct err *err)
	MUST_USE;
/* Counts the lines of the walk's state that the text also has. */
int blame_count_common(const struct walk *w, const struct content *text, size_t *ret,
		       struct err *err) MUST_USE;
