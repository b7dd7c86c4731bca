/* calls_meta - changes mode, owner, times and extended attributes; access and statfs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/call.h"

HANDLER(prepare_chmod);
HANDLER(perform_chmod);
HANDLER(prepare_chown);
HANDLER(perform_chown);
HANDLER(prepare_times);
HANDLER(perform_times);
HANDLER(prepare_xattr);
HANDLER(perform_setxattr);
HANDLER(perform_removexattr);
HANDLER(prepare_access);
HANDLER(perform_access);
HANDLER(prepare_fstatfs);
HANDLER(perform_statfs);

/*
 * Handles a change of an object that is in no folder, or that needs no capture. Returns 1 if the
 * change has been made or refused (*ret is its result), 0 if the folder must handle it, or negative
 * errno if the place was not found.
 */
typedef int (*on_fd)(struct request *r, int fd);
int change_direct(struct ldoor *d, struct request *r, on_fd change, int *ret);
