/* folders - finds the working folder and the files that cordon keeps for it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* Returns $XDG_STATE_HOME/cordon, or the default directory below home, with links resolved. Heap
 * string. */
char *folders_state_dir(const char *home) MUST_USE;

/* Gets $HOME, or the home of the user database if it is not set, with links resolved; heap string.
 * Returns -EINVAL if there is none, or -ETIMEDOUT if a file system does not answer that holds the
 * home, the current directory, a directory below it, or cordon's state. No earlier call has touched
 * them (mounts.h). Returns -EPERM if another user may change cordon's state. All set words. */
int folders_home(char **ret, struct err *err) MUST_USE;
/* Returns the directory above a home that is a private one inside, so that the home would not
 * exist; else NULL. The backend landlock has none. */
const char *folders_private(const char *home) MUST_USE;

/* Gets the nearest directory from the current one upwards with an undo store, else the current one,
 * as git finds its repository. Heap string. */
int folders_of_cwd(char **ret, const char *state_dir, struct err *err) MUST_USE;

/* Keeps programs outside the sandbox (core/base/external.h) from running files that agents can
 * write: in a folder with an undo store, in the current folder, and where core/policy/written.h
 * says so; adds the rules of c (may be NULL), in these working folders (may be NULL). */
struct config;
void folders_keep_out(const char *state_dir, const char *home, const char *const *folders,
		      const struct config *c);

/* Returns the path of the audit log of this folder, always in the state directory. Heap string. */
char *folders_audit_path(const char *state_dir, const char *folder) MUST_USE;
