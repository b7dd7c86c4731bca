/* places - our own directories, and what the caller means in terms of them. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "backends/linux/door/door_priv.h"
#include "core/base/clock.h"
#include "core/base/path.h"

/*
 * A descriptor of the caller's leads through its read-only mounts, so every directory is found
 * again on our side: by inode in a small cache, else by the path that /proc gives, opened beneath
 * the folder and compared by (dev, ino).
 */
#define BENEATH (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)

int open_beneath(int dirfd, const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = BENEATH};
	int fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int fd_text(const struct ldoor *d, int fd, char *out, size_t size)
{
	char link[16];
	ssize_t n;

	snprintf(link, sizeof(link), "%d", fd);
	n = readlinkat(d->self_fd, link, out, size - 1);
	if (n < 0)
		return -errno;
	out[n] = '\0';
	return (int)n;
}

/* What of text lies below the folder, without the slash; NULL when it is elsewhere. */
static const char *below_folder(const struct folder *f, const char *text)
{
	return path_below(text, folder_path(f));
}

/* ---- our directories ------------------------------------------------------------ */

struct dir_entry *dir_find(struct ldoor *d, dev_t dev, ino_t ino)
{
	/* The one of the call before is likely to be this one's. */
	for (size_t i = 0, at = d->last_dir; i < DIR_CACHE; i++, at = (at + 1) % DIR_CACHE) {
		struct dir_entry *e = &d->dirs[at];

		if (e->ino == ino && e->dev == dev && e->fd >= 0) {
			e->used = ++d->clock;
			d->last_dir = at;
			return e;
		}
	}
	return NULL;
}

static void dir_keep(struct ldoor *d, const struct stat *st, struct folder *f, int fd)
{
	struct dir_entry *oldest = &d->dirs[0];

	for (size_t i = 1; i < DIR_CACHE && oldest->fd >= 0; i++)
		if (d->dirs[i].fd < 0 || d->dirs[i].used < oldest->used)
			oldest = &d->dirs[i];
	if (oldest->fd >= 0 && !oldest->borrowed)
		close(oldest->fd);
	free(oldest->text);
	*oldest = (struct dir_entry){.dev = st->st_dev,
				     .ino = st->st_ino,
				     .folder = f,
				     .fd = fd,
				     .borrowed = fd == folder_fd(f),
				     .serial = d->clock + 1,
				     .used = d->clock + 1};
	d->clock++;
}

/*
 * Two things inside stand for a directory of the host without being it, where `text` leads: the
 * read gate shows it by its inode number, on a device of its own; and one that has something hidden
 * in it is put together on a tmpfs, which nobody inside can write to or make.
 */
static bool is_view(const struct ldoor *d, const struct stat *st, const char *text,
		    const struct stat *own)
{
	AUTO_CLOSE int fd = open_in_sandbox(d, text);
	struct statfs fs;
	struct stat seen;

	if (fd < 0 || fstat(fd, &seen) < 0 || seen.st_dev != st->st_dev ||
	    seen.st_ino != st->st_ino || fstatfs(fd, &fs) < 0)
		return false;
	if (fs.f_type == FUSE_SUPER_MAGIC)
		return own->st_ino == st->st_ino;
	return fs.f_type == TMPFS_MAGIC && fs.f_flags & ST_RDONLY && !d->spec.nesting;
}

int place_dir(struct ldoor *d, const struct stat *st, const char *text, struct folder **ret_folder,
	      int *ret_fd)
{
	struct dir_entry *e = dir_find(d, st->st_dev, st->st_ino);
	AUTO_CLOSE int fd = -1;
	struct folder *f;
	const char *below;
	struct stat own;

	if (e != NULL) {
		*ret_folder = e->folder;
		*ret_fd = e->fd;
		return 0;
	}
	f = text[0] == '/' ? folders_find(d->k, text, &below) : NULL;
	if (f == NULL)
		return -ENOENT;
	if (*below != '\0') {
		fd = open_beneath(folder_fd(f), below, O_PATH | O_DIRECTORY);
		if (fd < 0)
			return -ENOENT;
	}
	*ret_folder = f;
	*ret_fd = fd >= 0 ? fd : folder_fd(f);
	/* Another inode at that path: covered inside, or moved meanwhile. Not ours to change. */
	if (fstat(*ret_fd, &own) < 0)
		return -ENOENT;
	if ((own.st_dev != st->st_dev || own.st_ino != st->st_ino) && !is_view(d, st, text, &own))
		return -ENOENT;
	dir_keep(d, st, f, *ret_fd);
	(void)take_fd(&fd);
	return 0;
}

/*
 * A cached directory's path is asked from /proc again when a rename went through the door, and
 * every few milliseconds, for the human may move directories too. It is a name for the journal and
 * for policy; what is changed is decided by the descriptor alone.
 */
static bool text_is_fresh(struct ldoor *d, const struct dir_entry *e)
{
	return e->text != NULL && e->renames == d->renames &&
	       clock_mono_us() - e->text_us < TEXT_US;
}

static int read_text(struct ldoor *d, struct place *p, struct dir_entry *e)
{
	int n;

	if (e != NULL && text_is_fresh(d, e)) {
		memcpy(p->dir, e->text, strlen(e->text) + 1); /* where it was copied from */
		return 0;
	}
	n = fd_text(d, p->at.dirfd, p->dir, sizeof(p->dir));
	if (n < 0 || e == NULL)
		return n;
	free(e->text);
	e->text = xstrdup(p->dir);
	e->text_us = clock_mono_us();
	e->renames = d->renames;
	return 0;
}

/* p->at.dirfd is a directory of ours: where is it below its folder now? */
int set_dir_text(struct ldoor *d, struct place *p, struct dir_entry *e)
{
	const char *below;
	int n;

	p->at.dir = "";
	if (p->at.dirfd == folder_fd(p->folder))
		return 0;
	n = read_text(d, p, e);
	if (n < 0)
		return n;
	below = below_folder(p->folder, p->dir);
	if (below == NULL) /* the human moved it out of the folder */
		return -EROFS;
	if (str_ends(p->dir, " (deleted)")) {
		struct stat st;

		p->gone = fstat(p->at.dirfd, &st) == 0 && st.st_nlink == 0;
		if (p->gone)
			return -ENOENT;
	}
	p->at.dir = below;
	return 0;
}

/* ---- results of the walk -------------------------------------------------------- */

/* Does the sandbox show another object there, or none? */
static bool is_nested(const struct ldoor *d, int fd, const char *text)
{
	AUTO_CLOSE int own = open_in_sandbox(d, text);
	struct stat st, shown;

	return own < 0 || fstat(own, &shown) < 0 || fstat(fd, &st) < 0 ||
	       shown.st_dev != st.st_dev || shown.st_ino != st.st_ino;
}

static int outside(struct ldoor *d, struct place *p, int dir, const char *name)
{
	int n = fd_text(d, dir, p->text, sizeof(p->text));

	p->folder = NULL;
	if (n < 0)
		return n;
	p->special = p->text[0] != '/';
	p->nested = d->spec.nesting && !p->special && is_nested(d, dir, p->text);
	if (name != NULL)
		snprintf(p->text + n, sizeof(p->text) - (size_t)n, "%s%s", n > 1 ? "/" : "", name);
	return 0;
}

int place_from_name(struct ldoor *d, struct place *p, int parent, const char *name)
{
	struct stat st;
	int r;

	if (fstat(parent, &st) < 0)
		return -errno;
	if (fd_text(d, parent, p->text, sizeof(p->text)) < 0)
		return -EACCES;
	if (place_dir(d, &st, p->text, &p->folder, &p->at.dirfd) < 0) {
		p->gone = st.st_nlink == 0; /* nothing can be in a directory that was removed */
		return p->gone ? -ENOENT : outside(d, p, parent, name);
	}
	p->at.name = name;
	p->at.leaf = NULL;
	p->at.root = folder_root(p->folder);
	r = set_dir_text(d, p, NULL);
	return r == -EROFS ? outside(d, p, parent, name) : r;
}

/* A directory that is ours, as an object: the name it has in its own parent is for the journal. */
static int object_dir(struct ldoor *d, struct place *p)
{
	char *slash;
	int r;

	p->at.root = folder_root(p->folder);
	p->at.name = p->at.leaf = "";
	r = set_dir_text(d, p, NULL);
	if (r < 0 || p->at.dir[0] == '\0')
		return r;
	slash = strrchr(p->dir, '/');
	p->at.leaf = slash + 1;
	if (p->at.dir == p->at.leaf)
		p->at.dir = ""; /* directly below the folder */
	else
		*slash = '\0';
	return 0;
}

/* A file that somebody holds open: the name it has now, if that still leads to it. */
static int object_file(struct ldoor *d, struct place *p, int fd)
{
	AUTO_CLOSE int dir = -1;
	const char *below;
	char *slash;
	struct stat st;

	p->folder = folders_find(d->k, p->text, &below);
	if (p->folder == NULL)
		return outside(d, p, fd, NULL);
	p->at.root = folder_root(p->folder);
	snprintf(p->dir, sizeof(p->dir), "%s", below);
	slash = strrchr(p->dir, '/');
	if (slash != NULL)
		*slash = '\0';
	p->at.name = slash != NULL ? slash + 1 : p->dir;
	p->at.dir = slash != NULL ? p->dir : "";
	p->at.leaf = NULL;
	dir = open_beneath(folder_fd(p->folder), slash != NULL ? p->dir : ".",
			   O_PATH | O_DIRECTORY);
	if (dir >= 0 && fstatat(dir, p->at.name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == p->st.st_dev && st.st_ino == p->st.st_ino) {
		p->fd = p->at.dirfd = take_fd(&dir);
		return 0;
	}
	/*
	 * No name leads to it any more, or another mount lies there. The descriptor's own mount
	 * says what may be done: what the keeper gave out is writable and was captured when it was
	 * opened.
	 */
	p->orphan = true;
	p->at = (struct at){.root = p->at.root, .dirfd = fd, .dir = "", .name = "", .leaf = NULL};
	return 0;
}

int place_from_object(struct ldoor *d, struct place *p, int fd)
{
	const char *below;
	int r;

	p->seen = fd;
	p->known = p->object = true;
	if (fstat(fd, &p->st) < 0)
		return -errno;
	r = fd_text(d, fd, p->text, sizeof(p->text));
	if (r < 0)
		return r;
	if (p->text[0] != '/') {
		p->special = true;
		p->folder = NULL;
		return 0;
	}
	if (!S_ISDIR(p->st.st_mode))
		return object_file(d, p, fd);
	if (place_dir(d, &p->st, p->text, &p->folder, &p->at.dirfd) < 0) {
		p->folder = p->st.st_nlink == 0 ? folders_find(d->k, p->text, &below) : NULL;
		if (p->folder == NULL)
			return outside(d, p, fd, NULL);
		p->at.dirfd = fd;
		r = -ENOENT;
	} else {
		r = object_dir(d, p);
	}
	if (r == -ENOENT) { /* removed, but still somebody's current directory */
		p->orphan = true;
		p->at.dir = p->at.name = "";
		p->at.leaf = NULL;
		return 0;
	}
	return r == -EROFS ? outside(d, p, fd, NULL) : r;
}

void place_done(struct place *p)
{
	util_close_fd(&p->fd);
	util_close_fd(&p->seen);
	p->fd = p->seen = -1;
}

/* What the host has at a path is not what somebody mounted over it inside: there is nothing of it
 * to ask about, to grant or to report, and the mount alone says what may be done. */
int place_outside(struct ldoor *d, const struct request *r, const struct place *p)
{
	return p->nested ? 0 : folder_outside(d->k, &r->caller, p->text);
}

void place_text(const struct place *p, char *out, size_t size)
{
	const char *name;

	if (p->folder == NULL) {
		snprintf(out, size, "%s", p->text);
		return;
	}
	name = p->at.name[0] != '\0' || p->at.leaf == NULL ? p->at.name : p->at.leaf;
	snprintf(out, size, "%s%s%s%s%s", folder_path(p->folder), p->at.dir[0] != '\0' ? "/" : "",
		 p->at.dir, name[0] != '\0' ? "/" : "", name);
}

int place_stat(const struct place *p, struct stat *ret)
{
	const int flags = AT_SYMLINK_NOFOLLOW | (p->at.name[0] == '\0' ? AT_EMPTY_PATH : 0);

	return fstatat(p->at.dirfd, p->at.name, ret, flags) < 0 ? -errno : 0;
}

bool place_is_own(const struct ldoor *d, const struct place *p)
{
	for (const char *const *own = d->floor.own; own && *own; own++)
		if (p->folder == NULL && path_is_beneath(p->text, *own))
			return true;
	return false;
}

/*
 * No name leads to it, but it may be the undo store's: what is replaced is put there itself. And
 * without mounts the caller may have opened it for reading and then removed this one of its names.
 * So it may be changed if nothing of it is left to see, or if its old state is kept.
 */
bool place_orphan_is_kept(const struct request *r, const struct place *p)
{
	return p->st.st_nlink == 0 || folder_has_inode(p->folder, &r->caller, &p->st);
}
