/* worktree_put - writes files below one directory, from another one, without following links. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "core/base/err.h"

/*
 * Paths are relative, of an agent's making. -EINVAL: a path is absolute, or has an empty component,
 * "..", "." or ".git". All return 0 or a negative errno. Owner: the caller opens and closes both
 * directories.
 */
struct put {
	int from, to;
	/* Returns whether a file that has several names is not to be copied; or NULL. */
	bool (*withholds)(void *data, const struct stat *st);
	void *data;
};

/* Returns whether the path is none of those that are -EINVAL. */
bool put_takes(const char *path);
/* Opens the directory of a path below dir: a descriptor. A link in it is -ELOOP or -ENOTDIR. */
int put_open_dir(int dir, const char *path) MUST_USE;
/* Puts the bytes of fd there, replacing a file, a link or an empty directory; with S_ISLNK(mode) a
 * link to that target. Makes the directories above it. -ENOTEMPTY: a directory stands there. */
int put_bytes(const struct put *p, const char *path, int fd, mode_t mode) MUST_USE;
int put_dir(const struct put *p, const char *path) MUST_USE;
/* Removes a file, a link or an empty directory; what does not exist is no error. */
int put_nothing(const struct put *p, const char *path) MUST_USE;
/* Moves one; -ENOENT where there is none. */
int put_rename(const struct put *p, const char *path, const char *to) MUST_USE;
/* Copies a file or a link from the same path of the source, or removes it where the source has
 * none. Returns 1, and changes nothing, if the source has a directory there; -EOPNOTSUPP: a socket,
 * a pipe or a device. */
int put_copy(const struct put *p, const char *path) MUST_USE;
