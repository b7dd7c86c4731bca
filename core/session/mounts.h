/* mounts - file systems with a server behind them (FUSE, NFS): do they answer? */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * Who looks at one whose server is stopped waits for ever. -ETIMEDOUT and words when one does not
 * answer that one of the paths lies on, or that lies in one of the trees (lists with NULL at their
 * end, absolute). Asks by a child: before any thread exists.
 */
int mounts_answer(const char *const *trees, const char *const *paths, struct err *err) MUST_USE;
