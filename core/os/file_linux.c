/* file_linux - names of descriptors and of this program, through /proc; files in memory. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "core/os/file.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* Linux 6.6, the same number everywhere */
#endif

static ssize_t read_name(const char *link, char *out, size_t size)
{
	ssize_t n = readlink(link, out, size - 1);

	out[n < 0 ? 0 : n] = '\0';
	return n < 0 ? -errno : n;
}

ssize_t os_fd_name(int fd, char *out, size_t size)
{
	char link[OS_FD_PATH];

	os_fd_path(link, fd);
	return read_name(link, out, size);
}

ssize_t os_self_path(char *out, size_t size)
{
	return read_name("/proc/self/exe", out, size);
}

bool os_self_is(const char *path)
{
	struct stat self, there;

	return stat("/proc/self/exe", &self) == 0 && stat(path, &there) == 0 &&
	       self.st_dev == there.st_dev && self.st_ino == there.st_ino;
}

char *os_self_copy(void)
{
	char path[PATH_MAX];

	return os_self_path(path, sizeof(path)) < 0 ? NULL : strdup(path);
}

int os_memory_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int os_chmod_nofollow(int dirfd, const char *name, mode_t mode)
{
	return (int)syscall(SYS_fchmodat2, dirfd, name, mode, AT_SYMLINK_NOFOLLOW);
}
