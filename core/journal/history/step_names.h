/* step_names - when a step first named each path, and what a path was called when it began. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/history/rename_list.h"
#include "core/journal/util/path_set.h"

/*
 * A step's summary has each path as it was called when the step first touched it: directories above
 * it may have been renamed by then. The redo log of an undone step leads from the step's end to its
 * beginning: there it is the last record with the path that leads to the same moment.
 * Life: a zeroed struct is empty -> step_names_load() -> step_names_done(), even if that fails.
 */
struct step_names {
	bool undone;
	struct path_set paths;
	uint64_t *records; /* of each path: the number of that record */
	size_t cap;
	struct renames back; /* of directories, towards the beginning of the step */
};
int step_names_load(struct step_names *n, int stepdir, bool undone) MUST_USE;
void step_names_done(struct step_names *n);
/* Returns the number of the record, or 0: no record has the path. */
uint64_t step_names_record(const struct step_names *n, int root, const char *path);
/* Returns the name that an object had when the step began: the one that was at the path before the
 * record (undone: after it), or with record 0 at the step's end. Heap string. */
char *step_names_first(const struct step_names *n, uint64_t record, int *root, const char *path)
	MUST_USE;
