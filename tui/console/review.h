/* review - files and their diff, of a step, of several as one, of edits from outside or of a merge
 * that is to be made: read by a worker, file after file. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/diff/diff.h"
#include "core/journal/journal.h"

/*
 * Life:     review_new() -> review_more() as the reader comes near the end -> review_free(), also
 *           while a worker is at it: the worker is told to stop and its end frees the rest.
 * Threads:  the worker owns the journal handle and the file it reads while `busy`; everything that
 *           is declared here belongs to the loop.
 * Bounds:   REVIEW_LINES lines of a file are kept, REVIEW_RANGE of several steps; then one line
 *           says how it goes on.
 */
#define REVIEW_LINES 50000
#define REVIEW_RANGE 200000
#define REVIEW_COLS  4096 /* of a line: nobody scrolls further right */

struct review_line {
	enum diff_line_kind kind;
	int old_line, new_line;
	uint32_t len;
	uint32_t file; /* index */
	uint32_t mate; /* the line that this one replaces, or is replaced by: index + 1; 0: none */
	uint8_t state; /* of syntax_line(), before it */
	bool folded;   /* a heading whose lines are not shown; the view's */
	size_t at;     /* of text */
};

struct review_file {
	const struct change *change; /* borrowed from the review */
	bool loaded;
	int added, deleted;
	size_t first_line, n_lines;
	const struct syntax *lang; /* NULL: none */
};

typedef void (*review_submit)(void *data, void (*work)(void *job), void (*done)(void *job),
			      void *job);

/* What is read: a step, or what `from` to the newest changed together, or edits, or what this plan
 * merges. All of it is copied. */
struct review_spec {
	const char *const *folders;
	const char *state_dir;
	int64_t step;
	int64_t from, to;	     /* or 0; to 0: the newest */
	bool places;		     /* what lies outside the folders, and git's own files, too */
	const struct barrier *edits; /* or NULL */
	const struct undo_plan *merges; /* or NULL */
	const char *filter;		/* files by name, as list_match(); "": all */
	review_submit submit;
	void *data;		  /* of submit */
	void (*news)(void *view); /* something arrived */
	void *view;
};

struct review {
	bool listed, busy, whole; /* whole: every file is here */
	int result;		  /* of listing: 0 or negative errno */
	char why[256];
	struct review_file *files;
	size_t n_files, left_out; /* left_out: changes elsewhere, and git's own */
	struct review_line *lines;
	size_t n_lines, cap_lines;
	struct buf text;
	struct review_worker *worker;
	review_submit submit;
	void *data;
	void (*news)(void *view); /* something arrived */
	void *view;
};

/* Heap: absolute where it lies in another folder than the first. */
char *review_name(const struct change *c) MUST_USE;
struct review *review_new(const struct review_spec *spec) MUST_USE;
void review_free(struct review *r); /* NULL is a no-op */
void review_more(struct review *r); /* read the next file unless one is being read */
