/* file_darwin - Linux's calls on files, implemented by those of macOS. */
/* SPDX-License-Identifier: MIT */
#include "core/os/file.h"

#include <errno.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#undef fstatat
#undef fchownat
#undef utimensat
#undef readlinkat
#undef linkat

/* volfs: /.vol/DEVICE/INODE is the object itself, and a path may follow it. */
void os_fd_path(char out[OS_FD_PATH], int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		snprintf(out, OS_FD_PATH, "/dev/fd/%d", fd); /* fails as well */
	else
		snprintf(out, OS_FD_PATH, "/.vol/%u/%llu", (unsigned)st.st_dev,
			 (unsigned long long)st.st_ino);
}

ssize_t os_fd_name(int fd, char *out, size_t size)
{
	char name[MAXPATHLEN];
	size_t n;

	out[0] = '\0';
	if (fcntl(fd, F_GETPATH, name) < 0)
		return -errno;
	n = strnlen(name, sizeof(name));
	if (n >= size)
		return -ENAMETOOLONG;
	memcpy(out, name, n);
	out[n] = '\0';
	return (ssize_t)n;
}

ssize_t os_self_path(char *out, size_t size)
{
	char name[PATH_MAX], real[PATH_MAX];
	uint32_t room = sizeof(name);
	size_t n;

	out[0] = '\0';
	if (_NSGetExecutablePath(name, &room) != 0 || !realpath(name, real))
		return -ENOENT;
	n = strlen(real);
	if (n >= size)
		return -ENAMETOOLONG;
	memcpy(out, real, n + 1);
	return (ssize_t)n;
}

bool os_self_is(const char *path)
{
	char self[PATH_MAX];

	return os_self_path(self, sizeof(self)) >= 0 && strcmp(path, self) == 0;
}

char *os_self_copy(void)
{
	char path[PATH_MAX];

	return os_self_path(path, sizeof(path)) < 0 ? NULL : strdup(path);
}

/* write(2) cannot write to POSIX's shared memory, so this is a file whose name was removed. */
int os_memory_file(const char *name)
{
	char path[] = "/tmp/cordon-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	(void)name;
	if (fd < 0)
		return -errno;
	if (unlink(path) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

int os_chmod_nofollow(int dirfd, const char *name, mode_t mode)
{
	return fchmodat(dirfd, name, mode, AT_SYMLINK_NOFOLLOW);
}

ssize_t os_copy_range(int in, off_t *in_at, int out, off_t *out_at, size_t n)
{
	(void)in, (void)in_at, (void)out, (void)out_at, (void)n;
	errno = ENOSYS;
	return -1;
}

/* ---- renames --------------------------------------------------------------------------------- */

int renameat2(int fromfd, const char *from, int tofd, const char *to, unsigned flags)
{
	unsigned own = 0;

	if (flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE)) {
		errno = EINVAL;
		return -1;
	}
	if (flags & RENAME_NOREPLACE)
		own |= RENAME_EXCL;
	if (flags & RENAME_EXCHANGE)
		own |= RENAME_SWAP;
	if (renameatx_np(fromfd, from, tofd, to, own) == 0)
		return 0;
	if (errno == ENOTSUP) /* as Linux says of a file system without it */
		errno = EINVAL;
	return -1;
}

/* ---- what a descriptor is open on ------------------------------------------------------------ */

static int plain_flags(int flags)
{
	return flags & ~AT_EMPTY_PATH;
}

static int is_fd_itself(const char *path, int flags)
{
	return (flags & AT_EMPTY_PATH) && !*path;
}

int os_fstatat(int fd, const char *path, struct stat *st, int flags)
{
	return is_fd_itself(path, flags) ? fstat(fd, st)
					 : fstatat(fd, path, st, plain_flags(flags));
}

int os_fchownat(int fd, const char *path, uid_t uid, gid_t gid, int flags)
{
	return is_fd_itself(path, flags) ? fchown(fd, uid, gid)
					 : fchownat(fd, path, uid, gid, plain_flags(flags));
}

int os_utimensat(int fd, const char *path, const struct timespec times[2], int flags)
{
	return is_fd_itself(path, flags) ? futimens(fd, times)
					 : utimensat(fd, path, times, plain_flags(flags));
}

ssize_t os_readlinkat(int fd, const char *path, char *out, size_t size)
{
	return *path ? readlinkat(fd, path, out, size) : freadlink(fd, out, size);
}

/* Links only by a path that leads to the inode itself. */
int os_linkat(int fromfd, const char *from, int tofd, const char *to, int flags)
{
	char path[OS_FD_PATH];

	if (!is_fd_itself(from, flags))
		return linkat(fromfd, from, tofd, to, plain_flags(flags));
	os_fd_path(path, fromfd);
	return linkat(AT_FDCWD, path, tofd, to, 0);
}

bool os_reserve(int fd, off_t end, off_t n)
{
	fstore_t want = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = n};

	(void)end;
	return fcntl(fd, F_PREALLOCATE, &want) == 0;
}

/* Returns an error number, as POSIX says. The file keeps the allocated space until it is
 * truncated. */
int posix_fallocate(int fd, off_t at, off_t len)
{
	fstore_t want = {.fst_flags = F_ALLOCATECONTIG | F_ALLOCATEALL,
			 .fst_posmode = F_PEOFPOSMODE};
	struct stat st;

	if (fstat(fd, &st) < 0)
		return errno;
	if (st.st_size >= at + len)
		return 0;
	want.fst_length = at + len - st.st_size;
	if (fcntl(fd, F_PREALLOCATE, &want) < 0) {
		want.fst_flags = F_ALLOCATEALL;
		if (fcntl(fd, F_PREALLOCATE, &want) < 0)
			return errno;
	}
	return ftruncate(fd, at + len) < 0 ? errno : 0;
}
