/* folders - which working folder is meant, and where cordon keeps what belongs to it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* $XDG_STATE_HOME/cordon, or the usual place below home; links on the way resolved. Heap string. */
char *folders_state_dir(const char *home) MUST_USE;

/* $HOME, links resolved; heap string. -EINVAL: there is none. -ETIMEDOUT: a file system that holds
 * it, the current directory, what lies below that, or what cordon keeps, does not answer; nothing
 * has looked at them before (mounts.h). Both with words. */
int folders_home(char **ret, struct err *err) MUST_USE;

/* The nearest directory from the current one upwards that has an undo store, else the current
 * one, as git looks for its repository. Heap string. */
int folders_of_cwd(char **ret, const char *state_dir, struct err *err) MUST_USE;

/* Keeps programs outside the sandbox (core/base/external.h) away from directories of PATH that
 * agents write: those in a folder that has an undo store, those that a rule of c lets them write,
 * and the current folder. c may be NULL. */
struct config;
void folders_keep_out(const char *state_dir, const char *home, const struct config *c);

/* The audit log of this folder, always in the state directory. Heap string. */
char *folders_audit_path(const char *state_dir, const char *folder) MUST_USE;

/* Of a linked worktree or a submodule's checkout: the git directory that its settings, objects and
 * branches are in. Heap string; NULL: `.git` is no file, or leads nowhere. */
char *folders_repository(const char *folder) MUST_USE;
