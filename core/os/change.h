/* change - waits until a file is written to. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Closed on exec; negative errno. */
int os_change_open(const char *path);
/* Blocks until something was written since the last time, or a signal came. 0 or negative errno. */
int os_change_wait(int fd);
