/* worktree_put - writes files below one directory, from another one, without following links. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/worktree_put.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/os/beneath.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* ---- paths ----------------------------------------------------------------------------------- */

static bool is_component(const char *c, size_t n)
{
	static const char *const never[] = {".", "..", ".git"};

	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		if (n == strlen(never[i]) && strncasecmp(c, never[i], n) == 0)
			return false;
	return n > 0;
}

bool put_takes(const char *path)
{
	for (;; path++) {
		size_t n = strcspn(path, "/");

		if (!is_component(path, n))
			return false;
		path += n;
		if (!*path)
			return true;
	}
}

/* Returns "a/b" for "a/b/c", "" for "a". Heap. */
static char *above(const char *path)
{
	const char *base = path_base(path);

	return xstrndup(path, base > path ? (size_t)(base - path - 1) : 0);
}

int put_open_dir(int dir, const char *path)
{
	int fd = os_open_beneath(dir, *path ? path : ".", OPEN_DIR,
				 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

	return fd < 0 ? -errno : fd;
}

/* Makes a directory and opens it. A file or link in its place is removed: the source has a
 * directory. */
static int step_into(int dir, const char *name)
{
	int fd = openat(dir, name, OPEN_DIR);

	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP) && unlinkat(dir, name, 0) < 0)
		return -errno;
	if (fd < 0 && mkdirat(dir, name, 0777) < 0 && errno != EEXIST)
		return -errno;
	if (fd < 0)
		fd = openat(dir, name, OPEN_DIR);
	return fd < 0 ? -errno : fd;
}

static int make_dir(int to, const char *path)
{
	AUTO_CLOSE int fd = put_open_dir(to, "");

	while (fd >= 0 && *path) {
		size_t n = strcspn(path, "/");
		AUTO_FREE char *name = xstrndup(path, n);
		int next = step_into(fd, name);

		close(fd);
		fd = next;
		path += n + (path[n] == '/');
	}
	return take_fd(&fd);
}

/* Opens the directory of this path in the target. */
static int open_above(const struct put *p, const char *path, bool make)
{
	AUTO_FREE char *dir = above(path);
	int fd;

	if (!put_takes(path))
		return -EINVAL;
	fd = put_open_dir(p->to, dir);
	return fd < 0 && make ? make_dir(p->to, dir) : fd;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Removes what has the name. */
static int clear(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT ||
	    unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return 0;
	return errno == EEXIST ? -ENOTEMPTY : -errno;
}

static int put_link(int dir, const char *name, int fd)
{
	char target[PATH_MAX];
	ssize_t n = io_pread_full(fd, target, sizeof(target) - 1, 0);

	if (n <= 0)
		return n < 0 ? (int)n : -EINVAL;
	target[n] = '\0';
	return symlinkat(target, dir, name) < 0 ? -errno : 0;
}

static int put_file(int dir, const char *name, int fd, mode_t mode)
{
	AUTO_CLOSE int out =
		openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = out < 0 ? -errno : object_copy_data(fd, out);
	struct stat st;

	if (r >= 0 && fchmod(out, mode & 0777) < 0)
		r = -errno;
	if (r >= 0 && fstat(fd, &st) == 0) /* a file built from it stays newer */
		futimens(out, (const struct timespec[]){OS_ATIME(&st), OS_MTIME(&st)});
	return MIN(r, 0);
}

int put_bytes(const struct put *p, const char *path, int fd, mode_t mode)
{
	AUTO_CLOSE int dir = open_above(p, path, true);
	int r = dir < 0 ? dir : clear(dir, path_base(path));

	if (r < 0)
		return r;
	return S_ISLNK(mode) ? put_link(dir, path_base(path), fd)
			     : put_file(dir, path_base(path), fd, mode);
}

int put_dir(const struct put *p, const char *path)
{
	AUTO_CLOSE int fd = put_takes(path) ? make_dir(p->to, path) : -EINVAL;

	return MIN(fd, 0);
}

int put_nothing(const struct put *p, const char *path)
{
	AUTO_CLOSE int dir = open_above(p, path, false);

	if (dir == -ENOENT || dir == -ENOTDIR || dir == -ELOOP) /* the source lacks it, too */
		return 0;
	if (dir < 0)
		return dir;
	return clear(dir, path_base(path));
}

int put_rename(const struct put *p, const char *path, const char *to)
{
	AUTO_CLOSE int dir = open_above(p, path, false);
	AUTO_CLOSE int other = dir < 0 ? dir : open_above(p, to, true);

	if (dir < 0 || other < 0)
		return dir < 0 ? dir : other;
	return renameat(dir, path_base(path), other, path_base(to)) < 0 ? -errno : 0;
}

/* ---- copying --------------------------------------------------------------------------------- */

static int copy_link(const struct put *p, const char *path, int dir)
{
	AUTO_CLOSE int to = open_above(p, path, true);
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, path_base(path), target, sizeof(target) - 1);
	int r = to < 0 ? to : n < 0 ? -errno : clear(to, path_base(path));

	if (r < 0)
		return r;
	target[n] = '\0';
	return symlinkat(target, to, path_base(path)) < 0 ? -errno : 0;
}

/* Copies a file; fstat() of the open descriptor decides, because the path may have changed. */
static int copy_file(const struct put *p, const char *path, int dir)
{
	AUTO_CLOSE int fd = openat(dir, path_base(path),
				   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EOPNOTSUPP;
	if (st.st_nlink > 1 && p->withholds && p->withholds(p->data, &st))
		return -EACCES;
	return put_bytes(p, path, fd, st.st_mode);
}

/* Removes a path that the source lacks, and empty directories above it that the source lacks,
 * too. */
static int put_gone(const struct put *p, const char *path)
{
	AUTO_FREE char *dir = above(path);
	int r = put_nothing(p, path);

	while (r == 0 && *dir) {
		AUTO_CLOSE int there = put_open_dir(p->from, dir);
		AUTO_CLOSE int up = there >= 0 ? -1 : open_above(p, dir, false);
		char *slash = strrchr(dir, '/');

		if (up < 0 || unlinkat(up, path_base(dir), AT_REMOVEDIR) < 0)
			break;
		*(slash ? slash : dir) = '\0';
	}
	return r;
}

int put_copy(const struct put *p, const char *path)
{
	AUTO_FREE char *above_it = above(path);
	AUTO_CLOSE int dir = put_takes(path) ? put_open_dir(p->from, above_it) : -EINVAL;
	struct stat st;

	if (dir == -ENOENT || dir == -ENOTDIR || dir == -ELOOP)
		return put_gone(p, path);
	if (dir < 0)
		return dir;
	if (fstatat(dir, path_base(path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? put_gone(p, path) : -errno;
	if (S_ISDIR(st.st_mode))
		return 1;
	if (S_ISLNK(st.st_mode))
		return copy_link(p, path, dir);
	return S_ISREG(st.st_mode) ? copy_file(p, path, dir) : -EOPNOTSUPP;
}
