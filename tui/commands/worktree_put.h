/* worktree_put - writes files below one directory, from another one, without following links. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "core/base/err.h"

/*
 * Paths are relative, and may be of an agent's making. -EINVAL: a path is absolute, or has an empty
 * component, "..", "." or ".git". All return 0 or a negative errno.
 * Owner: the caller opens and closes both directories.
 */
struct put {
	int from, to;
	/* Returns whether a file with several names must not be copied; or NULL. */
	bool (*withholds)(void *data, const struct stat *st);
	void *data;
};

/* Returns whether the path is accepted, i.e. not -EINVAL. */
bool put_takes(const char *path);
/* Opens the directory of a path below dir. Returns a descriptor; for a link in it -ELOOP or
 * -ENOTDIR. */
int put_open_dir(int dir, const char *path) MUST_USE;
/* Writes the bytes of fd there, in place of a file, a link or an empty directory; with
 * S_ISLNK(mode) makes a link to that target. Makes directories above it. -ENOTEMPTY: a directory
 * with entries is there. */
int put_bytes(const struct put *p, const char *path, int fd, mode_t mode) MUST_USE;
int put_dir(const struct put *p, const char *path) MUST_USE;
/* Removes a file, a link or an empty directory; a missing one is no error. */
int put_nothing(const struct put *p, const char *path) MUST_USE;
/* Renames a path; -ENOENT: it is missing. */
int put_rename(const struct put *p, const char *path, const char *to) MUST_USE;
/* Copies a file or link from the same path of the source, or removes it if the source lacks it.
 * Returns 1, and changes nothing, if the source has a directory there; -EOPNOTSUPP: a socket, a
 * pipe or a device. */
int put_copy(const struct put *p, const char *path) MUST_USE;
