/* review - files and diffs of steps, external edits or a planned merge, read by a worker. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/diff/diff.h"
#include "core/diff/git_words.h"
#include "core/journal/journal.h"

/*
 * Life:     review_new() -> review_more() as the reader comes near the end -> review_free(), also
 *           while a worker runs: the worker is told to stop, and its end frees the rest.
 * Threads:  the worker owns the journal handle and the file it reads while `busy`; all members of
 *           these structs belong to the loop.
 * Bounds:   REVIEW_LINES lines of a file are kept, REVIEW_RANGE of several steps; after them one
 *           line says how much is missing.
 */
#define REVIEW_LINES 50000
#define REVIEW_RANGE 200000
#define REVIEW_MANY  20000 /* files or lines whose memory is returned at once */
#define REVIEW_COLS  4096  /* kept bytes of a line */

struct review_line {
	size_t at; /* offset in text */
	int old_line, new_line;
	uint32_t len;
	uint32_t file; /* index */
	uint32_t mate; /* the line that replaces this one, or vice versa: index + 1; 0: none */
	uint8_t kind;  /* enum diff_line_kind; a byte, because there are many lines */
	uint8_t state; /* of syntax_line(), before this line */
	bool folded;   /* a heading with hidden lines; set by the view */
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

/* The source: a step, the steps `from` .. `to` as one, external edits, or the merges of a plan. All
 * members are copied. */
struct review_spec {
	const char *const *folders;
	const char *state_dir;
	int64_t step;
	int64_t from, to;		/* a range, or 0; to 0: the newest */
	bool places;			/* files outside the folders, and git's own files, too */
	const struct barrier *edits;	/* or NULL */
	const struct undo_plan *merges; /* or NULL */
	const char *filter;		/* file names, for list_match(); "": all */
	review_submit submit;
	void *data;		  /* for submit */
	void (*news)(void *view); /* files or lines were read */
	void *view;
};

struct review {
	bool listed, busy, whole; /* whole: all files are read */
	int result;		  /* of the list: 0 or negative errno */
	char why[256];
	struct review_file *files;
	size_t n_files, left_out; /* left_out: changes elsewhere and of git's own files */
	struct git_words git;	  /* summary of git's own files; raw */
	struct review_line *lines;
	size_t n_lines, cap_lines;
	struct buf text;
	struct review_worker *worker;
	review_submit submit;
	void *data;
	void (*news)(void *view); /* files or lines were read */
	void *view;
};

/* Returns the path relative to the first folder; absolute in another folder. Heap. */
char *review_name(const struct change *c) MUST_USE;
struct review *review_new(const struct review_spec *spec) MUST_USE;
void review_free(struct review *r); /* NULL is a no-op */
void review_more(struct review *r); /* reads the next file, unless the worker is busy */
