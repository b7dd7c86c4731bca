/* edited - shows external edits of a barrier, between the steps around it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/diff/diff.h"

/*
 * The diff of a path goes from the after-state of the last step before the barrier to the
 * before-state of the first step after it or, if there is none, to the present file. Several
 * barriers between two steps that touch a path are one change of it.
 *
 * Life:    edited_open() -> edited_diff() ... -> edited_free(), before the journal is closed.
 * Threads: a worker may run it on a journal handle of its own.
 */
struct edited;

int edited_open(struct edited **ret, struct journal *j, const struct barrier *b, struct err *err)
	MUST_USE;
void edited_free(struct edited *e); /* NULL is a no-op */
size_t edited_count(const struct edited *e);
const struct change *edited_change(const struct edited *e, size_t i); /* path, kind; belongs to e */
/* Shows a change like diff_change(). If no step had changed the content before, it is not kept:
 * then one line says so. */
int edited_diff(struct edited *e, size_t i, diff_on_line on, void *data, struct err *err) MUST_USE;

/* Git's own files among some paths. */
struct git_files {
	size_t n;
	bool message, branch; /* of a commit */
};
/* Counts the path if it is one. Returns whether it is. */
bool git_files_add(struct git_files *g, const char *path);
/* Returns whether a commit wrote them. */
bool git_files_commit(const struct git_files *g);

/* The kind of an external edit, by all paths of its barrier. */
enum edited_what {
	EDITED_FILES,
	EDITED_GIT,    /* internal data of git alone */
	EDITED_COMMIT, /* internal data of git, changed by a commit */
};
enum edited_what edited_what(const struct barrier *b);
/* Returns whether the path says nothing beside the others: the message file of a commit. */
bool edited_is_noise(enum edited_what what, const char *path);
/* Writes "git branch main" for `.git/refs/heads/main`. Returns false for paths without such words.
 */
bool edited_git_name(const char *path, char *ret, size_t size);
