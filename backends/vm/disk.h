/* disk - images that keep guests' changes outside the working folders. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * state_dir/vm/disks/LABEL.img, for each working folder: sparse, with an ext4 file system; beside
 * it LABEL.folder, the folder's path. A guest that uses an image holds its lock. An image is never
 * mounted on the host.
 */

/* Opens and locks the folder's image, or makes one of at most size bytes. Returns a descriptor, or
 * -EBUSY if a guest of this folder runs. */
int disk_open(const char *state_dir, const char *folder, int64_t size, struct err *err) MUST_USE;
/* Removes the folder's image. Returns -ENOENT if there is none, -EBUSY if a guest uses it. */
int disk_remove(const char *state_dir, const char *folder, struct err *err) MUST_USE;

struct disk {
	const char *folder;
	int64_t used, size; /* bytes on the host's disk, and at most */
	bool busy;
};
/* Calls fn for each image. */
int disk_list(const char *state_dir, void (*fn)(void *data, const struct disk *d), void *data,
	      struct err *err) MUST_USE;
