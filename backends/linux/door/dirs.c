/* dirs - a cache of the keeper's own directory descriptors, by inode, with their current paths. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "backends/linux/door/lookup.h"
#include "backends/linux/door/state.h"
#include "core/base/clock.h"
#include "core/base/path.h"

/*
 * A descriptor of the caller's leads through its read-only mounts. So the keeper finds each
 * directory again in its own mounts: by inode in a small cache, else by its path in /proc, opened
 * beneath the folder and compared by (dev, ino).
 */

#define DIR_CACHE 64

struct dirs {
	struct dir_entry entry[DIR_CACHE];
	uint64_t clock; /* counts uses; also the source of serials */
	size_t last;	/* index of the last hit, where dir_find() begins */
};

void dirs_open(struct ldoor *d)
{
	d->dirs = xcalloc(1, sizeof(*d->dirs));
	for (size_t i = 0; i < DIR_CACHE; i++)
		d->dirs->entry[i].fd = -1;
}

void dirs_close(struct ldoor *d)
{
	for (size_t i = 0; i < DIR_CACHE; i++) {
		struct dir_entry *e = &d->dirs->entry[i];

		if (e->fd >= 0 && !e->borrowed)
			close(e->fd);
		free(e->text);
	}
	free(take_ptr(&d->dirs));
}

struct dir_entry *dir_find(struct ldoor *d, dev_t dev, ino_t ino)
{
	/* The last call's directory is likely to be this one's. */
	for (size_t i = 0, at = d->dirs->last; i < DIR_CACHE; i++, at = (at + 1) % DIR_CACHE) {
		struct dir_entry *e = &d->dirs->entry[at];

		if (e->ino == ino && e->dev == dev && e->fd >= 0) {
			e->used = ++d->dirs->clock;
			d->dirs->last = at;
			return e;
		}
	}
	return NULL;
}

static void dir_keep(struct ldoor *d, const struct stat *st, struct folder *f, int fd)
{
	struct dirs *all = d->dirs;
	struct dir_entry *oldest = &all->entry[0];

	for (size_t i = 1; i < DIR_CACHE && oldest->fd >= 0; i++)
		if (all->entry[i].fd < 0 || all->entry[i].used < oldest->used)
			oldest = &all->entry[i];
	if (oldest->fd >= 0 && !oldest->borrowed)
		close(oldest->fd);
	free(oldest->text);
	*oldest = (struct dir_entry){.dev = st->st_dev,
				     .ino = st->st_ino,
				     .folder = f,
				     .fd = fd,
				     .borrowed = fd == folder_fd(f),
				     .serial = all->clock + 1,
				     .used = all->clock + 1};
	all->clock++;
}

/*
 * Returns whether st, at `text`, is a view of the host's directory own. There are two kinds: the
 * read gate shows a directory with its inode number on a device of the gate's; a directory with
 * hidden entries is rebuilt on a tmpfs, which no process inside can write to or make.
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

int dir_open(struct ldoor *d, const struct stat *st, const char *text, struct folder **ret_folder,
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
	/* Another inode at that path is covered inside, or was moved: it must not be changed. */
	if (fstat(*ret_fd, &own) < 0)
		return -ENOENT;
	if ((own.st_dev != st->st_dev || own.st_ino != st->st_ino) && !is_view(d, st, text, &own))
		return -ENOENT;
	dir_keep(d, st, f, *ret_fd);
	(void)take_fd(&fd);
	return 0;
}

/* Returns the path below the folder, or NULL if text is elsewhere. */
static const char *below_folder(const struct folder *f, const char *text)
{
	return path_below(text, folder_path(f));
}

/*
 * Returns whether the cached path is current. It is read from /proc again after a rename through
 * the door, and every few milliseconds, because the user may move directories too. The path is only
 * a name for journal and policy; the descriptor decides which directory is changed.
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
		memcpy(p->dir, e->text, strlen(e->text) + 1); /* same size as its source */
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

/* Fills p->dir: the directory p->at.dirfd relative to its folder. */
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
	if (below == NULL) /* the user moved it out of the folder */
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
