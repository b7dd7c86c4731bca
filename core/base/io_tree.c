/* io_tree - makes directories, and removes any tree. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/os/file.h"

static int make_all(int dirfd, char *path, mode_t mode)
{
	for (char *slash = path + (*path == '/'); (slash = strchr(slash, '/')); slash++) {
		int r;

		*slash = '\0';
		r = mkdirat(dirfd, path, mode) < 0 ? -errno : 0;
		*slash = '/';
		if (r < 0 && r != -EEXIST && r != -EROFS)
			return r;
	}
	return mkdirat(dirfd, path, mode) < 0 && errno != EEXIST ? -errno : 0;
}

int io_mkdir_p(int dirfd, const char *path, mode_t mode)
{
	AUTO_FREE char *p = xstrdup(path);
	int r = mkdirat(dirfd, path, mode) < 0 && errno != EEXIST ? -errno : 0;

	if (r == -ENOENT)
		r = make_all(dirfd, p, mode);

	/* Another process may have removed an empty directory on the way. */
	for (int tries = 0; r == -ENOENT && tries < 100; tries++)
		r = make_all(dirfd, p, mode);
	return r;
}

/* Removes any tree, even one that an adversary made: makes closed directories accessible, and moves
 * parts below DEPTH to the top, where they are removed later. Another process may remove the tree
 * at the same time. */
struct removal {
	int top;
	unsigned moved;
};
#define DEPTH 64

static int open_to_empty(int dirfd, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
	struct stat st;
	int fd = openat(dirfd, name, flags);

	if (fd < 0 && errno == EACCES && fchmodat(dirfd, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
		fd = openat(dirfd, name, flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
		fchmod(fd, 0700);
	return fd;
}

static int move_to_top(struct removal *rm, int dirfd, const char *name)
{
	char to[32];

	do {
		snprintf(to, sizeof(to), ".deep-%u", ++rm->moved);
	} while (renameat2(dirfd, name, rm->top, to, RENAME_NOREPLACE) < 0 && errno == EEXIST);
	return faccessat(rm->top, to, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int empty_dir(struct removal *rm, int dirfd, int depth);

static int remove_one(struct removal *rm, int dirfd, const char *name, int depth)
{
	AUTO_CLOSE int sub = -1;
	int r;

	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	sub = open_to_empty(dirfd, name);
	if (sub < 0)
		return sub == -ENOENT ? 0 : sub;
	if (depth == DEPTH)
		return move_to_top(rm, dirfd, name);
	r = empty_dir(rm, sub, depth + 1);
	if (r < 0)
		return r;
	return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

/* Unlink everything in the open directory; subdirectories are pushed by reopening, depth first. */
static int empty_dir(struct removal *rm, int dirfd, int depth)
{
	AUTO_DIR DIR *dir = NULL;
	AUTO_CLOSE int own = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *e;

	if (own < 0)
		return errno == ENOENT ? 0 : -errno;
	dir = fdopendir(own);
	if (!dir)
		return -errno;
	own = -1;
	while ((errno = 0, e = readdir(dir))) {
		int r;

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		r = remove_one(rm, dirfd, e->d_name, depth);
		if (r < 0)
			return r;
	}
	return -errno;
}

int io_remove_tree(int dirfd, const char *name)
{
	AUTO_CLOSE int fd = -1;
	struct removal rm = {0};
	unsigned moved;
	int r;

	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	fd = open_to_empty(dirfd, name);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	rm.top = fd;
	do {
		moved = rm.moved;
		r = empty_dir(&rm, fd, 0);
	} while (r == 0 && rm.moved != moved);
	if (r < 0)
		return r;
	return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}
