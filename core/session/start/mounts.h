/* mounts - checks that file systems with a server (FUSE, NFS) answer. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * An access to such a file system blocks for ever if its server is stopped. Returns -ETIMEDOUT, and
 * words, if a file system does not answer that holds one of the paths, or is mounted in one of the
 * trees (NULL-terminated lists of absolute paths). Forks a child: call it before any thread exists.
 */
int mounts_answer(const char *const *trees, const char *const *paths, struct err *err) MUST_USE;
