/* io - complete reads and writes, and small files. */
/* SPDX-License-Identifier: MIT */
#include "core/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/path.h"

int io_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int io_pwrite_all(int fd, const void *data, size_t len, off_t at)
{
	const char *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Reads at the file's own position if `at` is negative. */
static ssize_t read_full(int fd, char *p, size_t len, off_t at)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = at < 0 ? read(fd, p + got, len - got)
				   : pread(fd, p + got, len - got, at + (off_t)got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

ssize_t io_read_full(int fd, void *data, size_t len)
{
	return read_full(fd, data, len, -1);
}

ssize_t io_pread_full(int fd, void *data, size_t len, off_t at)
{
	return at < 0 ? -EINVAL : read_full(fd, data, len, at);
}

int io_read_all(int fd, size_t max, char **ret, size_t *ret_len)
{
	AUTO_BUF struct buf b = BUF_INIT;

	for (;;) {
		size_t piece = MAX(b.len, (size_t)8192);
		ssize_t n;

		buf_reserve(&b, piece);
		n = io_read_full(fd, b.data + b.len, piece);
		if (n < 0)
			return (int)n;
		b.len += (size_t)n;
		b.data[b.len] = '\0';
		if (b.len > max)
			return -EFBIG;
		if ((size_t)n < piece)
			break;
	}
	if (ret_len)
		*ret_len = b.len;
	*ret = buf_take(&b);
	return 0;
}

int io_read_file(int dirfd, const char *name, size_t max, char **ret, size_t *ret_len)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;

	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return io_read_all(fd, max, ret, ret_len);
}

int io_write_file(int dirfd, const char *name, mode_t mode, const void *data, size_t len,
		  bool durable)
{
	AUTO_FREE char *tmp = xasprintf("%s.tmp", name);
	AUTO_CLOSE int fd = -1;
	int r;

	fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return -errno;
	/* The mode is set explicitly, because the keeper's umask is that of its caller. */
	r = fchmod(fd, mode) < 0 ? -errno : io_write_all(fd, data, len);
	if (r == 0 && durable && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && renameat(dirfd, tmp, dirfd, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dirfd, tmp, 0);
	return r;
}

bool io_is_at(const char *path, const struct stat *st)
{
	struct stat there;

	return lstat(path, &there) == 0 && there.st_ino == st->st_ino && there.st_dev == st->st_dev;
}

bool io_has(const char *dir, const char *name)
{
	AUTO_FREE char *path = path_join(dir, name);

	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}
