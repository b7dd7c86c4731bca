/* move - moves objects, across mounts, too. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/os/file.h"

int move_noreplace(int fromfd, const char *from, int tofd, const char *to)
{
	struct object o;
	int r;

	if (renameat2(fromfd, from, tofd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL)
		return -errno;
	/* A file system without the flag. */
	r = object_stat(tofd, to, &o);
	if (r < 0)
		return r;
	if (o.mode)
		return -EEXIST;
	return renameat(fromfd, from, tofd, to) < 0 ? -errno : 0;
}

int move_exchange(int afd, const char *a, int bfd, const char *b)
{
	return renameat2(afd, a, bfd, b, RENAME_EXCHANGE) < 0 ? -errno : 0;
}

static int copy_regular(struct journal *j, int path, int tofd, const char *to)
{
	AUTO_CLOSE int src = borrow_open_file(j, path, "");
	AUTO_CLOSE int dst = -1;
	int r;

	if (src < 0)
		return take_fd(&src);
	dst = openat(tofd, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (dst < 0)
		return -errno;
	r = object_copy_data(src, dst);
	return MIN(r, 0);
}

static int copy_special(int path, const struct object *o, int tofd, const char *to)
{
	struct stat st;

	if (S_ISLNK(o->mode)) {
		char target[PATH_MAX];
		ssize_t n = readlinkat(path, "", target, sizeof(target) - 1);

		if (n < 0)
			return -errno;
		target[n] = '\0';
		return symlinkat(target, tofd, to) < 0 ? -errno : 0;
	}
	if (S_ISDIR(o->mode))
		return -EXDEV;
	if (fstatat(path, "", &st, AT_EMPTY_PATH) < 0 ||
	    mknodat(tofd, to, o->mode & (S_IFMT | 0700), st.st_rdev) < 0)
		return -errno;
	return 0;
}

int object_copy(struct journal *j, int fromfd, const char *from, int tofd, const char *to)
{
	AUTO_CLOSE int src = object_open(fromfd, from);
	AUTO_CLOSE int dst = -1;
	AUTO_BUF struct buf meta = BUF_INIT;
	struct object o;
	int r;

	if (src < 0)
		return take_fd(&src);
	r = object_stat(src, "", &o);
	if (r == 0)
		r = attributes_read(j, src, &meta);
	if (r == 0 && S_ISREG(o.mode))
		r = copy_regular(j, src, tofd, to);
	else if (r == 0)
		r = copy_special(src, &o, tofd, to);
	if (r == -EEXIST)
		return r;
	if (r == 0) {
		dst = object_open(tofd, to);
		r = dst < 0 ? dst : attributes_apply(dst, (struct span){meta.data, meta.len});
	}
	if (r < 0)
		unlinkat(tofd, to, 0);
	return r;
}

int object_move(struct journal *j, int fromfd, const char *from, int tofd, const char *to,
		struct object *ret_copy)
{
	AUTO_FREE char *tmp = NULL;
	struct object copy = {0};
	int r = move_noreplace(fromfd, from, tofd, to);

	if (ret_copy)
		*ret_copy = copy;
	if (r != -EXDEV)
		return r;
	/* Another mount: the copy appears whole at its name, then the original is removed. */
	tmp = xasprintf(".cordon-%d-%s", (int)getpid(), from);
	if (strlen(tmp) > NAME_MAX)
		tmp[NAME_MAX] = '\0';
	unlinkat(tofd, tmp, 0);
	r = object_copy(j, fromfd, from, tofd, tmp);
	if (r == 0)
		r = object_stat(tofd, tmp, &copy);
	if (r == 0)
		r = move_noreplace(tofd, tmp, tofd, to);
	if (ret_copy)
		*ret_copy = copy;
	if (r == 0 && unlinkat(fromfd, from, 0) < 0) {
		r = -errno;
		unlinkat(tofd, to, 0);
	}
	if (r < 0)
		unlinkat(tofd, tmp, 0);
	return r;
}
