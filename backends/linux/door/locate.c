/* locate - translates a descriptor of the caller's view to a place in a folder, or outside. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "backends/linux/door/dirs.h"
#include "backends/linux/door/lookup.h"
#include "backends/linux/door/place.h"
#include "backends/linux/door/state.h"
#include "core/base/path.h"

/* Returns whether the sandbox shows another object there, or none. */
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

int locate_name(struct ldoor *d, struct place *p, int parent, const char *name)
{
	struct stat st;
	int r;

	if (fstat(parent, &st) < 0)
		return -errno;
	if (fd_text(d, parent, p->text, sizeof(p->text)) < 0)
		return -EACCES;
	if (dir_open(d, &st, p->text, &p->folder, &p->at.dirfd) < 0) {
		p->gone = st.st_nlink == 0; /* a removed directory is empty */
		return p->gone ? -ENOENT : outside(d, p, parent, name);
	}
	p->at.name = name;
	p->at.leaf = NULL;
	p->at.root = folder_root(p->folder);
	r = set_dir_text(d, p, NULL);
	return r == -EROFS ? outside(d, p, parent, name) : r;
}

/* Fills in a directory of a folder as an object. Its name in its parent is for the journal. */
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
		p->at.dir = ""; /* the parent is the folder */
	else
		*slash = '\0';
	return 0;
}

/* Fills in an open file by its current name, if that name still leads to it. */
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
	 * The file has no name, or another mount covers it. The descriptor's own mount decides what
	 * may be done: a descriptor from the keeper is writable, and the file was captured when it
	 * was opened.
	 */
	p->orphan = true;
	p->at = (struct at){.root = p->at.root, .dirfd = fd, .dir = "", .name = "", .leaf = NULL};
	return 0;
}

int locate_object(struct ldoor *d, struct place *p, int fd)
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
	if (dir_open(d, &p->st, p->text, &p->folder, &p->at.dirfd) < 0) {
		p->folder = p->st.st_nlink == 0 ? folders_find(d->k, p->text, &below) : NULL;
		if (p->folder == NULL)
			return outside(d, p, fd, NULL);
		p->at.dirfd = fd;
		r = -ENOENT;
	} else {
		r = object_dir(d, p);
	}
	if (r == -ENOENT) { /* removed, but still a current directory */
		p->orphan = true;
		p->at.dir = p->at.name = "";
		p->at.leaf = NULL;
		return 0;
	}
	return r == -EROFS ? outside(d, p, fd, NULL) : r;
}

int locate_fd(struct ldoor *d, struct place *p, int fd, bool opath_ok)
{
	int flags = fcntl(fd, F_GETFL);

	if (!opath_ok && flags >= 0 && (flags & O_PATH)) {
		close(fd);
		return -EBADF;
	}
	return locate_object(d, p, fd);
}
