/* map - a shared mapping of a file that grows. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/mman.h>

/* Returns the new mapping, or MAP_FAILED and errno: the old one is unchanged. */
#ifdef __linux__
static inline void *os_remap(void *map, size_t was, size_t size, int prot, int fd)
{
	(void)prot, (void)fd;
	return mremap(map, was, size, MREMAP_MAYMOVE);
}
#else
static inline void *os_remap(void *map, size_t was, size_t size, int prot, int fd)
{
	void *new = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

	if (new != MAP_FAILED)
		munmap(map, was);
	return new;
}
#endif
