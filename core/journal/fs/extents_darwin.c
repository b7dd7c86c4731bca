/* extents_darwin - counts the bytes of a file that it shares with no other file. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/attr.h>
#include <unistd.h>

#include "core/journal/fs/object.h"

uint64_t extents_unshared(int dirfd, const char *name)
{
	AUTO_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct attrlist want = {.bitmapcount = ATTR_BIT_MAP_COUNT,
				.forkattr = ATTR_CMNEXT_PRIVATESIZE};
	struct {
		uint32_t length;
		uint64_t bytes;
	} __attribute__((packed, aligned(4))) got = {0};

	if (fd < 0 || fgetattrlist(fd, &want, &got, sizeof(got), FSOPT_ATTR_CMN_EXTENDED) < 0 ||
	    got.length < sizeof(got))
		return 0;
	return got.bytes;
}
