/* beneath_darwin - openat2(2) by a walk that follows no link and leaves no directory upwards. */
/* SPDX-License-Identifier: MIT */
#include "core/os/beneath.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define STEP (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct walk {
	int fd;	 /* present directory */
	int own; /* fd must be closed */
	dev_t dev;
};

static int fail(int code)
{
	errno = code;
	return -1;
}

static void leave(struct walk *w, int next)
{
	int e = errno;

	if (w->own)
		close(w->fd);
	errno = e;
	w->fd = next;
	w->own = 1;
}

static int is_here(const struct walk *w, int fd, unsigned resolve)
{
	struct stat st;

	return !(resolve & RESOLVE_NO_XDEV) || (fstat(fd, &st) == 0 && st.st_dev == w->dev);
}

/* Opens one component: the last one as the caller wants it, others as directories. */
static int step(struct walk *w, const char *path, size_t len, int flags, unsigned resolve)
{
	char name[NAME_MAX + 1];
	int fd;

	if (len > NAME_MAX)
		return fail(ENAMETOOLONG);
	memcpy(name, path, len);
	name[len] = '\0';
	if (strcmp(name, "..") == 0)
		return fail(EXDEV);
	fd = openat(w->fd, name, flags & O_SYMLINK ? flags & ~O_NOFOLLOW : flags | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	if (is_here(w, fd, resolve))
		return fd;
	close(fd);
	return fail(EXDEV);
}

static int walk(struct walk *w, const char *path, int flags, unsigned resolve)
{
	while (*path) {
		size_t len = strcspn(path, "/"), gap = strspn(path + len, "/");
		int last = !path[len + gap], fd;

		fd = step(w, path, len, last ? flags | (gap ? O_DIRECTORY : 0) : STEP, resolve);
		if (fd < 0 || last)
			return fd;
		leave(w, fd);
		path += len + gap;
	}
	return fail(ENOENT);
}

int os_open_beneath(int dirfd, const char *path, int flags, unsigned resolve)
{
	struct walk w = {.fd = dirfd};
	struct stat st;
	int fd;

	if (!(resolve & (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)))
		return openat(dirfd, path, flags);
	if (*path == '/') {
		if (resolve & RESOLVE_BENEATH)
			return fail(EXDEV);
		w.fd = open("/", STEP);
		w.own = 1;
		path += strspn(path, "/");
		if (!*path)
			path = ".";
	}
	if ((resolve & RESOLVE_NO_XDEV) && fstat(w.fd, &st) == 0)
		w.dev = st.st_dev;
	fd = w.fd < 0 ? -1 : walk(&w, path, flags, resolve);
	leave(&w, -1);
	return fd;
}
