/* read_check - if every open is trapped: finds out whether the floor allows this read, by one look
 * of the kernel. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/read_check.h"

#include <errno.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "backends/linux/door/dirs.h"
#include "backends/linux/door/lookup.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/state.h"
#include "backends/linux/native_priv.h"
#include "core/base/clock.h"
#include "core/keeper/keeper.h"

/*
 * Landlock's rules are trees, so most opened files are below a directory that is readable as a
 * whole: the first one of an absolute path, or the directory in which a relative path begins. Those
 * few are cached as descriptors in the caller's mounts, for a few milliseconds, because the user
 * may change the tree too. If the kernel resolves a path from there without leaving the directory,
 * by links and ".." or not, the floor allows the read. The look asks for a directory: for a file
 * the kernel returns ENOTDIR after the whole way, so there is no descriptor to inspect and close.
 *
 * If the directory is not readable as a whole (it has a closed path), or the path leads out of it,
 * the path of the object is looked up. None of this decides anything: see calls_read.c.
 */

/* A directory in which paths of reads begin, in the caller's mounts. Found by name or by
 * identity. */
#define BASES 8
struct base {
	int fd; /* O_PATH; free ones have -1 */
	char name[32];
	uint64_t mnt, ino;
	dev_t dev;
	bool open; /* the floor allows to read all of it */
	char *text;
	int64_t at_us;
	uint64_t renames;
};

#define STAYS (RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)

/* Returns whether the path depends on the process. "/proc/self" is the caller there, but the keeper
 * or nothing here. */
static bool speaks_of_self(const char *path)
{
	return str_starts(path, "/proc/") || str_starts(path, "/dev/fd") ||
	       str_starts(path, "/dev/std");
}

bool look_may_read(const struct ldoor *d, const char *text)
{
	struct known_rule *k = d->known_rule;
	const struct landlock_tree *was;
	unsigned rights;

	if (k->renames != d->renames || clock_mono_us() - k->at_us > TEXT_US)
		k->rule = NULL;
	was = k->rule;
	rights = trees_rights(d->floor.trees, text, d->root, &k->rule);
	if (k->rule != was) {
		k->at_us = clock_mono_us();
		k->renames = d->renames;
	}
	return rights & LANDLOCK_READ;
}

/* ---- directories in which paths begin ------------------------------------------- */

static void base_drop(struct base *b)
{
	util_close_fd(&b->fd);
	free(take_ptr(&b->text));
}

/* Closes unused directories: an open one keeps its file system busy. */
void read_check_tick(struct ldoor *d)
{
	int64_t now = clock_mono_us();

	for (size_t i = 0; i < BASES; i++) {
		struct base *b = &d->bases[i];

		if (b->fd < 0)
			continue;
		if (now - b->at_us >= TEXT_US)
			base_drop(b);
		else
			keeper_wake_at(d->k, b->at_us + TEXT_US);
	}
}

void read_check_begin(struct ldoor *d)
{
	d->bases = xcalloc(BASES, sizeof(*d->bases));
	d->known_rule = xcalloc(1, sizeof(*d->known_rule));
	for (size_t i = 0; i < BASES; i++)
		d->bases[i].fd = -1;
}

void read_check_close(struct ldoor *d)
{
	for (size_t i = 0; i < BASES; i++)
		base_drop(&d->bases[i]);
	free(take_ptr(&d->bases));
	free(take_ptr(&d->known_rule));
}

static bool is_same(const struct base *a, const struct base *b)
{
	return a->mnt == b->mnt && a->dev == b->dev && a->ino == b->ino && str_eq(a->name, b->name);
}

static struct base *base_find(struct ldoor *d, const struct base *like)
{
	for (size_t i = 0; i < BASES; i++) {
		struct base *b = &d->bases[i];

		if (b->fd < 0 || !is_same(b, like))
			continue;
		if (b->renames == d->renames && clock_mono_us() - b->at_us < TEXT_US)
			return b;
		base_drop(b);
	}
	return NULL;
}

/* Caches the directory like `like`. Takes fd. */
static struct base *base_keep(struct ldoor *d, const struct base *like, int fd)
{
	struct base *b = &d->bases[0];
	char text[PATH_MAX];

	if (fd_text(d, fd, text, sizeof(text)) < 0 || text[0] != '/') {
		close(fd);
		return NULL;
	}
	for (size_t i = 1; i < BASES && b->fd >= 0; i++)
		if (d->bases[i].fd < 0 || d->bases[i].at_us < b->at_us)
			b = &d->bases[i];
	base_drop(b);
	*b = *like;
	b->fd = fd;
	b->text = xstrdup(text);
	b->open = look_may_read(d, text);
	b->renames = d->renames;
	b->at_us = clock_mono_us();
	keeper_wake_at(d->k, b->at_us + TEXT_US);
	return b;
}

/* Returns the base for an absolute path: "/lib" for "/lib/x". It is often a link, always to the
 * same directory. */
static struct base *base_of_absolute(struct ldoor *d, const char *path, const char **rest)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	struct base like = {.fd = -1}, *b;
	size_t n = 1 + strcspn(path + 1, "/");
	int fd;

	for (*rest = path + n; **rest == '/';)
		(*rest)++;
	if (n == 1 || n >= sizeof(like.name) || **rest == '\0' || is_dots(path + 1, n - 1))
		return NULL;
	memcpy(like.name, path, n);
	b = base_find(d, &like);
	if (b != NULL)
		return b;
	fd = (int)syscall(SYS_openat2, d->root, like.name, &how, sizeof(how));
	return fd < 0 ? NULL : base_keep(d, &like, fd);
}

/* Identifies a directory, and its mount: through another mount the same directory may be closed. */
static bool identify(int dir, const char *name, int flags, struct base *ret)
{
	struct statx sx;

	if (statx(dir, name, flags, STATX_INO | STATX_MNT_ID, &sx) < 0)
		return false;
	ret->fd = -1;
	ret->mnt = sx.stx_mnt_id;
	ret->dev = makedev(sx.stx_dev_major, sx.stx_dev_minor);
	ret->ino = sx.stx_ino;
	return true;
}

static struct base *base_of_relative(struct ldoor *d, const struct request *r, int dirfd)
{
	struct base like = {.fd = -1}, found = {.fd = -1}, *b;
	int proc = proc_dir(d, r->tid, false), fd;
	char name[16] = "cwd";

	if (dirfd != AT_FDCWD)
		snprintf(name, sizeof(name), "fd/%d", dirfd);
	if (!identify(proc, name, 0, &like))
		return NULL;
	b = base_find(d, &like);
	if (b != NULL)
		return b;
	fd = openat(proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || !identify(fd, "", AT_EMPTY_PATH, &found) || !is_same(&like, &found)) {
		util_close_fd(&fd);
		return NULL;
	}
	return base_keep(d, &like, fd);
}

/* ---- the look ------------------------------------------------------------------- */

int read_check_open(struct ldoor *d, const struct request *r, int dirfd, const char *path,
		    int flags)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW)};
	char text[PATH_MAX + 32];
	int fd;

	if (path[0] == '/') {
		how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
		fd = (int)syscall(SYS_openat2, d->root, path, &how, sizeof(how));
		return fd < 0 ? -errno : fd;
	}
	if (dirfd == AT_FDCWD)
		snprintf(text, sizeof(text), "cwd/%s", path);
	else
		snprintf(text, sizeof(text), "fd/%d/%s", dirfd, path);
	fd = (int)syscall(SYS_openat2, proc_dir(d, r->tid, false), text, &how, sizeof(how));
	if (fd < 0 && (errno == ENOENT || errno == ESRCH || errno == EBADF)) {
		/* The path does not exist, or the cached directory was of an earlier thread of this
		 * id. */
		struct stat st;

		if (fstatat(proc_dir(d, r->tid, false), "cwd", &st, 0) == 0)
			return -ENOENT;
		fd = (int)syscall(SYS_openat2, proc_dir(d, r->tid, true), text, &how, sizeof(how));
	}
	return fd < 0 ? -errno : fd;
}

/* This and the next function handle rare cases, with large buffers that are cleared at each
 * call. */
static int may_read_beneath(const struct ldoor *d, const struct base *b, const char *rest)
{
	char text[PATH_MAX];

	if (snprintf(text, sizeof(text), "%s/%s", b->text[1] ? b->text : "", rest) >=
	    (int)sizeof(text))
		return -ENAMETOOLONG;
	return look_may_read(d, text);
}

static bool may_read_whole(struct ldoor *d, const struct request *r, const char *path)
{
	char text[PATH_MAX];
	int fd = read_check_open(d, r, r->dirfd[0], path, r->flags), n;

	if (fd < 0)
		return !speaks_of_self(path);
	n = fd_text(d, fd, text, sizeof(text));
	close(fd);
	return n > 0 && (text[0] != '/' || look_may_read(d, text));
}

/* Resolves a path from a known directory. Returns 1 if the floor's answer is right, 0 if not, or
 * negative errno if the whole path has to be resolved. */
static int look_from(const struct ldoor *d, const struct base *b, const char *path,
		     const char *rest, int flags)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC | (flags & O_NOFOLLOW),
			       .resolve = b->open ? STAYS : STAYS | RESOLVE_NO_SYMLINKS};
	int fd;

	if (!b->open && !is_plain(rest))
		return -EXDEV;
	fd = (int)syscall(SYS_openat2, b->fd, rest, &how, sizeof(how));
	if (fd >= 0)
		close(fd);
	else if (errno == ELOOP || errno == EXDEV || errno == EAGAIN)
		return -errno;	   /* the path leads, or may lead, out of it */
	else if (errno != ENOTDIR) /* not found: the floor says the same */
		return speaks_of_self(path) ? -errno : 1;
	return b->open ? 1 : may_read_beneath(d, b, rest);
}

bool read_check_floor_answers(struct ldoor *d, const struct request *r)
{
	const char *path = r->slot[SLOT_PATH].data, *rest = path;
	struct base *b;
	int got;

	if (r->resolve != 0 && (r->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)))
		return false;
	b = path[0] == '/' ? base_of_absolute(d, path, &rest) : base_of_relative(d, r, r->dirfd[0]);
	got = b != NULL ? look_from(d, b, path, rest, r->flags) : -EXDEV;
	return got >= 0 ? got : may_read_whole(d, r, path);
}
