/* volume - the kind of file system of a descriptor, as far as core needs it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

enum os_volume {
	VOLUME_OTHER,
	VOLUME_IN_PLACE, /* writes over blocks where they are: ext4, xfs */
	VOLUME_MEMORY,	 /* tmpfs: a store through a mapping changes no time */
	VOLUME_OVERLAY,	 /* overlayfs: births are those of a layer */
	VOLUME_AUTO,	 /* autofs: an access mounts it */
};

/* Returns enum os_volume, or negative errno. On macOS APFS is VOLUME_OTHER, as it copies on
 * write. */
int os_volume(int fd);
/* Returns whether no name in a directory there comes or goes without a new ctime of that directory,
 * which no process can set: ext4, xfs, btrfs, tmpfs. Always false on macOS, where ctimes are set.
 */
bool os_ctime_tells(int fd);
/* Asks the file system to write this empty file in place. Does nothing on macOS. */
void os_no_cow(int fd);
