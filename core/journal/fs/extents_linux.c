/* extents_linux - counts the bytes of a file that it shares with no other file. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>

#include "core/journal/fs/object.h"

#define BATCH 64u

uint64_t extents_unshared(int dirfd, const char *name)
{
	AUTO_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO_FREE struct fiemap *map =
		xcalloc(1, sizeof(*map) + BATCH * sizeof(map->fm_extents[0]));
	uint64_t sum = 0, at = 0;
	bool last = false;

	while (fd >= 0 && !last) {
		memset(map, 0, sizeof(*map));
		map->fm_start = at;
		map->fm_length = FIEMAP_MAX_OFFSET - at;
		map->fm_extent_count = BATCH;
		if (ioctl(fd, FS_IOC_FIEMAP, map) < 0 || !map->fm_mapped_extents)
			break;
		for (unsigned i = 0; i < map->fm_mapped_extents; i++) {
			const struct fiemap_extent *e = &map->fm_extents[i];

			if (!(e->fe_flags & FIEMAP_EXTENT_SHARED))
				sum += e->fe_length;
			at = e->fe_logical + e->fe_length;
			last = e->fe_flags & FIEMAP_EXTENT_LAST;
		}
	}
	return sum;
}
