/* mark - is a process under the profile of a session? */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* profile_mark() (profile/profile.h), asked of the kernel. Threads: any. macOS alone. */
bool mac_is_marked(pid_t pid, const char *session);
