/* calls_names - creates, removes and renames: mkdir, mknod, unlink, rename, link, symlink. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/call.h"

HANDLER(perform_mkdir);
HANDLER(prepare_mknod);
HANDLER(perform_mknod);
HANDLER(prepare_unlinkat);
HANDLER(perform_unlink);
HANDLER(perform_rmdir);
HANDLER(prepare_rename);
HANDLER(perform_rename);
HANDLER(prepare_link);
HANDLER(perform_link);
HANDLER(prepare_symlink);
HANDLER(perform_symlink);
