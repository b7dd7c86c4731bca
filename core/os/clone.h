/* clone - one file with the blocks of another, until either is written to. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * os_share(): dst stays the inode that it is, whoever else has it open (FICLONE). Not on macOS.
 * os_clone(): dst was just made, is empty and open for us alone. On macOS a clone (fclonefileat(2))
 *             takes its name, and dst is open on that from then on. The rest as os_share().
 * 0, or -1 and errno.
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
