/* change - waits until a file is written to. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Returns a descriptor, closed on exec, or negative errno. */
int os_change_open(const char *path);
/* Blocks until the file was written to since the last call, or a signal came. Returns 0 or negative
 * errno. */
int os_change_wait(int fd);
