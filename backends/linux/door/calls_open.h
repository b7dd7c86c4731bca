/* calls_open - open, openat, openat2, creat and truncate. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/call.h"

HANDLER(prepare_open);
HANDLER(prepare_openat2);
HANDLER(perform_open);
HANDLER(prepare_truncate);
HANDLER(perform_truncate);
/* Returns DOOR_CONTINUE if the kernel may perform this open by itself, else a negative errno. */
int open_may_continue(const struct ldoor *d, const struct request *r);
