/* mark - asks the kernel whether a process is under the profile of a session. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Returns whether the process may look up the session's profile_mark() (profile/services.h).
 * Threads: any. macOS alone. */
bool mac_is_marked(pid_t pid, const char *session);
