/* in_place - tells whether a file system writes over the blocks of a file in place. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/in_place.h"

#include "core/os/file.h"
#include "core/os/volume.h"

bool in_place_writes(int fd)
{
	const int volume = os_volume(fd);

	return volume == VOLUME_IN_PLACE || volume == VOLUME_MEMORY;
}

void in_place_keep(int fd)
{
	if (!in_place_writes(fd))
		os_no_cow(fd);
}
