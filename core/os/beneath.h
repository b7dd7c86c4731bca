/* beneath - opens paths that stay below a directory. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/os/file.h"

/*
 * openat2(2) on Linux. On macOS a walk, one component at a time, each opened without following a
 * link: for RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS alike, so a link that stays below, which Linux
 * would follow, is ELOOP there. ".." is EXDEV. RESOLVE_NO_XDEV compares devices.
 */
#ifdef __linux__
#include <linux/openat2.h>
#include <sys/syscall.h>

static inline int os_open_beneath(int dirfd, const char *path, int flags, unsigned resolve)
{
	const struct open_how how = {.flags = (uint64_t)(unsigned)flags, .resolve = resolve};

	return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
}
#else
#define RESOLVE_NO_XDEV	      0x01u
#define RESOLVE_NO_MAGICLINKS 0x02u
#define RESOLVE_NO_SYMLINKS   0x04u
#define RESOLVE_BENEATH	      0x08u

int os_open_beneath(int dirfd, const char *path, int flags, unsigned resolve);
#endif
