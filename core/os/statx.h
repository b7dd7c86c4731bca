/* statx - a file's times, birth and mount in one call, on Linux if it has it, and on macOS. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/os/file.h"

/* On macOS the birth is always known, and so is the device, which stands for the mount. */
#ifndef __linux__
#define AT_STATX_DONT_SYNC  0
#define AT_STATX_FORCE_SYNC 0
#define AT_NO_AUTOMOUNT	    0

#define STATX_TYPE	     0x001u
#define STATX_BASIC_STATS    0x7ffu
#define STATX_BTIME	     0x800u
#define STATX_MNT_ID	     0x1000u
#define STATX_ATTR_IMMUTABLE 0x10u
#define STATX_ATTR_APPEND    0x20u
#define STATX_ATTR_ENCRYPTED 0x800u

struct statx_timestamp {
	int64_t tv_sec;
	uint32_t tv_nsec;
};

struct statx {
	uint32_t stx_mask, stx_nlink, stx_uid, stx_gid;
	uint16_t stx_mode;
	uint64_t stx_attributes, stx_ino, stx_size, stx_blocks, stx_mnt_id;
	struct statx_timestamp stx_atime, stx_btime, stx_ctime, stx_mtime;
	uint32_t stx_dev_major, stx_dev_minor;
};

int statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *ret);
#endif
