/* calls_exec - execve and umask: the kernel performs them, the keeper only reports them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/door/call.h"

HANDLER(prepare_exec);
HANDLER(prepare_umask);
