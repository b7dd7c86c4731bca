/* volume - what kind of file system a descriptor is on, as far as core cares. */
/* SPDX-License-Identifier: MIT */
#pragma once

enum os_volume {
	VOLUME_OTHER,
	VOLUME_IN_PLACE, /* writes over blocks where they are: ext4, xfs */
	VOLUME_MEMORY,	 /* tmpfs: no time tells of a store through a mapping */
	VOLUME_OVERLAY,	 /* overlayfs: births are those of a layer */
	VOLUME_AUTO,	 /* autofs: to look is to mount */
};

/* enum os_volume, or negative errno. On macOS APFS is none of these, as it copies on write. */
int os_volume(int fd);
/* Ask that this file, which is empty, be written in place. Nothing on macOS. */
void os_no_cow(int fd);
