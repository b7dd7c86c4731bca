/* repository - git directories outside the working folders that belong to these. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "core/base/util.h"

struct policy_spec;

/*
 * In a linked worktree or a submodule's checkout `.git` is a file, "gitdir: PATH". That directory,
 * and the one that its file `commondir` names, hold files that git needs: a session takes them as
 * places that belong to the folder (keeper_spec). `.git` may be the agent's work, so the directory
 * has to name this folder, too: in its file `gitdir` (git-worktree(1),
 * gitrepository-layout(5)), or as core.worktree in its configuration. No file in a working folder
 * can make a directory outside do that.
 *
 * Threads: no state.
 */
enum repository_kind {
	REPOSITORY_INSIDE,  /* it names nothing outside the folder */
	REPOSITORY_OWN,	    /* a directory that also names the folder */
	REPOSITORY_STRANGE, /* any other directory */
	REPOSITORY_GONE,    /* there is none: git does not work outside either */
};

struct repository {
	char *git_dir; /* NULL: REPOSITORY_INSIDE, or `.git` cannot be read */
	char *common;  /* the same directory if nothing is shared */
};

/* Finds the repository of a folder. Both paths are resolved. Fills ret for each kind. */
enum repository_kind repository_find(struct repository *ret, const char *folder);
void repository_done(struct repository *r);

/* Returns the checkout that has this folder, itself without `.git`, somewhere below it; NULL: none,
 * or it is home or above that. Git inside does not find it: it is not a part of the session. */
char *repository_above(const char *folder, const char *home) MUST_USE;

/* The repositories of a session, as NULL-terminated heap lists. git_dirs has one for each folder
 * with an outside git directory; common has each of their common directories once. */
struct repositories {
	char **common, **git_dirs, **denied;
	size_t n_common, n_git_dirs, n_denied;
};

/*
 * Finds the repositories of about->folders that are REPOSITORY_OWN. A repository is left out if it
 * contains one of the folders, or is in one or in a place of `others` (lists with NULL at their
 * end, or NULL). `denied` gets repositories that a rule denies reading: a session could read all.
 */
void repositories_find(struct repositories *ret, const struct policy_spec *about,
		       const char *const *const *others, size_t n_others);
void repositories_done(struct repositories *r);
