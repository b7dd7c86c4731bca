/* clone - makes a file share the blocks of another one, until either is written to. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * os_share(): keeps the inode of dst, which other processes may have open (FICLONE). Not on macOS.
 * os_clone(): dst is new, empty and open only in this process. On macOS a clone (fclonefileat(2))
 *             takes its name, and dst is reopened on the clone. Else like os_share().
 * Return 0, or -1 and errno.
 */
#ifdef __linux__
#define OS_CLONES_ANEW false
int os_share(int src, int dst);
#define os_clone os_share
#else
#define OS_CLONES_ANEW true
int os_share(int src, int dst);
int os_clone(int src, int dst);
#endif
