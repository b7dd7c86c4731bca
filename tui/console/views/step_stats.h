/* step_stats - counts the changed files and lines of the project for each step, in a worker. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/hash.h"
#include "core/diff/edited.h"
#include "core/diff/git_words.h"
#include "core/journal/journal.h"
#include "tui/console/views/review.h"

/*
 * Life:    stats_new() -> stats_get() while drawing -> stats_free(), also while a worker runs.
 * Threads: main loop; the worker has a journal handle of its own.
 * Counts:  files of the working folders, without directories and git's own files, like git. Lines
 *          of a step with more than STATS_FILES files are not counted.
 */
#define STATS_FILES 400

struct stat_file {
	char *name;	    /* review_name() */
	char sign;	    /* A, M, D, R */
	int added, deleted; /* -1: binary */
};

struct step_stat {
	int64_t id;
	bool read; /* false: not read yet */
	size_t files, dirs;
	struct git_files own;
	size_t added, deleted;
	bool many;		/* lines are not counted */
	bool whole;		/* all files that it changed are in the list, as named */
	struct stat_file *list; /* at most STATS_FILES */
	size_t n;
	struct git_words git; /* summary of `own`; raw */
	UT_hash_handle hh;
};

struct stats_spec {
	const char *const *folders; /* borrowed, like all members */
	const char *state_dir;
	review_submit submit;
	void *data;		  /* for submit */
	void (*news)(void *view); /* statistics were read */
	void *view;
};

struct step_stats;
struct step_stats *stats_new(const struct stats_spec *spec) MUST_USE;
void stats_free(struct step_stats *s); /* NULL is a no-op */
/* Returns the statistics; if NULL, the worker reads them. Not for a running step. */
const struct step_stat *stats_get(struct step_stats *s, int64_t id);
