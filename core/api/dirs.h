/* dirs - the directories of a session as front ends name them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/fault.h"

struct session_spec;

struct dir {
	char *path; /* absolute, resolved */
	char *label;
	bool read_only;
};

/* Life: zero-initialised -> dirs_add() ... -> dirs_done(). Order counts: the first is meant
 * where none is named. */
struct dirs {
	struct dir *list;
	size_t n;
};

void dirs_done(struct dirs *p);
/* -1: the label is taken, with f set. label NULL: the path's last name, with a number if need be.
 */
int dirs_add(struct dirs *p, const char *path, const char *label, bool read_only, struct fault *f)
	MUST_USE;
/* All that a session has: working folders, then what is read only. */
void dirs_of_spec(struct dirs *p, const struct session_spec *spec);
/* By label, path, or number; NULL: the first. NULL and f set: there is none such. */
const struct dir *dirs_find(const struct dirs *p, const struct cJSON *name, struct fault *f);
/* `path` in it, absolute; heap. */
char *dir_path(const struct dir *p, const char *path) MUST_USE;
struct cJSON *dirs_json(const struct dirs *p);
