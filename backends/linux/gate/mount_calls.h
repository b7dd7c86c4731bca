/* mount_calls - the mount system calls that the C library does not declare everywhere. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <fcntl.h>
#include <stdint.h>

/* <linux/mount.h> and <sys/mount.h> cannot both be included everywhere; these are stable. */
enum {
	FSOPEN_CLOSE = 1,
	FSCONFIG_FLAG = 0,
	FSCONFIG_STRING = 1,
	FSCONFIG_CREATE = 6,
	FSMOUNT_CLOSE = 1,
	TREE_CLONE = 1,
	TREE_CLOSE = O_CLOEXEC,
	MOVE_EMPTY_PATH = 4,	  /* the mount is the descriptor */
	MOVE_EMPTY_TARGET = 0x40, /* so is the target */
	ATTR_RDONLY = 1,
	ATTR_NOSUID = 2,
	ATTR_NODEV = 4,
	SETATTR_RECURSIVE = 0x8000,
};

struct mount_attrs {
	uint64_t set, clear, propagation, userns;
};
