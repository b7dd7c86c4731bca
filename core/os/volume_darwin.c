/* volume_darwin - the kind of a file system by its name. */
/* SPDX-License-Identifier: MIT */
#include "core/os/volume.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/param.h>

int os_volume(int fd)
{
	static const struct {
		const char *name;
		enum os_volume kind;
	} known[] = {
		{"hfs", VOLUME_IN_PLACE},
		{"tmpfs", VOLUME_MEMORY},
		{"autofs", VOLUME_AUTO},
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(fs.f_fstypename, known[i].name) == 0)
			return (int)known[i].kind;
	return VOLUME_OTHER;
}

void os_no_cow(int fd)
{
	(void)fd;
}

bool os_ctime_tells(int fd)
{
	(void)fd;
	return false;
}
