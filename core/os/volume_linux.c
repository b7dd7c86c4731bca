/* volume_linux - the kind of a file system by its magic number. */
/* SPDX-License-Identifier: MIT */
#include "core/os/volume.h"

#include <errno.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

void os_no_cow(int fd)
{
	int flags;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return;
	flags |= FS_NOCOW_FL;
	ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

int os_volume(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return -errno;
	switch (fs.f_type) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
		return VOLUME_IN_PLACE;
	case TMPFS_MAGIC:
		return VOLUME_MEMORY;
	case OVERLAYFS_SUPER_MAGIC:
		return VOLUME_OVERLAY;
	case AUTOFS_SUPER_MAGIC:
		return VOLUME_AUTO;
	default:
		return VOLUME_OTHER;
	}
}

bool os_ctime_tells(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       (fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC ||
		fs.f_type == BTRFS_SUPER_MAGIC || fs.f_type == TMPFS_MAGIC);
}
