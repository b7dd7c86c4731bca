/* dirs - the directories of a session and the names that front ends use for them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/fault.h"

struct session_spec;

struct dir {
	char *path; /* absolute, resolved */
	char *label;
	bool read_only;
};

/* Life: zero-initialised -> dirs_add() ... -> dirs_done(). A request that names no directory uses
 * the first one. */
struct dirs {
	struct dir *list;
	size_t n;
};

void dirs_done(struct dirs *p);
/* Adds a directory. Returns -1, with f set, if the label is taken. label NULL: the last name of the
 * path, with a number if needed. */
int dirs_add(struct dirs *p, const char *path, const char *label, bool read_only, struct fault *f)
	MUST_USE;
/* Adds the directories of a session: working folders, then read-only ones. */
void dirs_of_spec(struct dirs *p, const struct session_spec *spec);
/* Finds a directory by label, path, or number; name NULL: the first one. Returns NULL, with f set,
 * if there is no such directory. */
const struct dir *dirs_find(const struct dirs *p, const struct cJSON *name, struct fault *f);
/* Returns the absolute path of `path` in the directory; heap. */
char *dir_path(const struct dir *p, const char *path) MUST_USE;
struct cJSON *dirs_json(const struct dirs *p);
