/* fs_place - the keeper's side: finds the files that a message of the fs server names. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/fs_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/util.h"
#include "core/keeper/folders/folders.h"

/* Returns whether the name is one component: not "." or "..", no slash, 1 to NAME_MAX bytes. */
static bool fs_name_is_valid(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= NAME_MAX && !strchr(name, '/') && !str_eq(name, ".") &&
	       !str_eq(name, "..");
}

/* Returns whether dir has only names and single slashes. The policy compares text: "a/./b" would
 * not match "a/b". */
static bool is_clean(const char *dir)
{
	while (*dir) {
		char name[NAME_MAX + 1];
		size_t len = strcspn(dir, "/");

		if (len > NAME_MAX)
			return false;
		memcpy(name, dir, len);
		name[len] = '\0';
		if (!fs_name_is_valid(name) || (dir[len] == '/' && dir[len + 1] == '\0'))
			return false;
		dir += len + (dir[len] == '/');
	}
	return true;
}

static int open_dir(int folder, const char *dir)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					  RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
	int fd = (int)syscall(SYS_openat2, folder, *dir ? dir : ".", &how, sizeof(how));

	if (fd >= 0)
		return fd;
	if (errno == EXDEV) /* another mount: not part of the folder */
		return -EROFS;
	return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? -ESTALE : -errno;
}

static bool is_same(const struct stat *st, const struct fs_inode *i)
{
	return st->st_dev == i->dev && st->st_ino == i->ino;
}

/* Finds the folder itself, as an object without a name, which the journal expects. */
static int find_top(const struct fs_spot *spot, struct fs_place *p)
{
	struct stat st;

	if (fstat(p->fd, &st) < 0)
		return -errno;
	p->at.name = p->at.leaf = "";
	return is_same(&st, &spot->object) ? 0 : -ESTALE;
}

int fs_place_find(const struct folder *f, const struct fs_spot *spot, const char *dir,
		  const char *name, struct fs_place *ret)
{
	struct stat st;

	if (!is_clean(dir))
		return -EINVAL;
	ret->fd = open_dir(folder_fd(f), dir);
	if (ret->fd < 0)
		return ret->fd;
	ret->at = (struct at){
		.root = folder_root(f), .dirfd = ret->fd, .dir = dir, .name = name, .leaf = NULL};
	if (*name == '\0')
		return *dir ? -EINVAL : find_top(spot, ret);
	if (!fs_name_is_valid(name))
		return -EINVAL;
	if (spot->dir.ino && (fstat(ret->fd, &st) < 0 || !is_same(&st, &spot->dir)))
		return -ESTALE;
	if (!spot->object.ino)
		return 0;
	if (fstatat(ret->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? -ESTALE : -errno;
	return is_same(&st, &spot->object) ? 0 : -ESTALE;
}

void fs_place_done(struct fs_place *p)
{
	util_close_fd(&p->fd);
}
