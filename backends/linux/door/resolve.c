/* resolve - resolves a path argument of the caller to a place: the fast path. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/resolve.h"

#include <errno.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "backends/linux/door/dirs.h"
#include "backends/linux/door/locate.h"
#include "backends/linux/door/lookup.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/state.h"
#include "backends/linux/door/walk.h"
#include "core/base/clock.h"
#include "core/journal/fs/object.h"

/*
 * A path without symbolic links takes one openat2() of its parent, from a directory of the keeper's
 * (dirs.c). Other paths (links, "..", /proc, places outside) go to walk.c.
 */

/* The parent directory that was opened last, by the base directory and path from which it was
 * opened. */
struct recent {
	int fd; /* -1: none */
	struct folder *folder;
	uint64_t base, renames;
	int64_t at_us;
	char parent[PATH_MAX], dir[PATH_MAX];
};

void resolve_open(struct ldoor *d)
{
	d->recent = xcalloc(1, sizeof(*d->recent));
	d->recent->fd = -1;
}

void resolve_close(struct ldoor *d)
{
	util_close_fd(&d->recent->fd);
	free(take_ptr(&d->recent));
}

/* ---- the fast path -------------------------------------------------------------- */

/* Returns the folder that an absolute path names literally; *rest is the rest of the path. */
static struct folder *literal_folder(struct ldoor *d, const char *path, const char **rest)
{
	struct folder *best = NULL;
	size_t best_len = 0;

	for (size_t i = 0;; i++) {
		struct folder *f = folders_at(d->k, i);
		const char *p;
		size_t n;

		if (f == NULL)
			break;
		p = folder_path(f);
		n = strlen(p);
		if (n <= best_len || strncmp(path, p, n) != 0 ||
		    (path[n] != '/' && path[n] != '\0'))
			continue;
		best = f;
		best_len = n;
	}
	if (best != NULL)
		for (*rest = path + best_len; **rest == '/';)
			(*rest)++;
	return best;
}

/* Looks up the caller's current directory, once per request. */
static int stat_cwd(struct ldoor *d, struct request *r, struct stat *st)
{
	if (!r->cwd_known) {
		int got = stat_caller_link(d, r, "cwd", &r->cwd);

		if (got < 0)
			return got == -EACCES ? DOOR_CONTINUE : DOOR_DEAD;
		r->cwd_known = true;
	}
	*st = r->cwd;
	return 0;
}

/* Finds a known directory by the caller's descriptor, without a duplicate of it. */
static struct dir_entry *known_dir(struct ldoor *d, struct request *r, int dirfd)
{
	char link[16];
	struct stat st;

	if (dirfd < 0)
		return NULL;
	snprintf(link, sizeof(link), "fd/%d", dirfd);
	if (stat_caller_link(d, r, link, &st) < 0 || !S_ISDIR(st.st_mode))
		return NULL;
	return dir_find(d, st.st_dev, st.st_ino);
}

/* Finds the keeper's directory in which the caller's relative path begins. Returns -ENOENT if it is
 * in no folder. */
static int relative_base(struct ldoor *d, struct request *r, int dirfd, struct place *p,
			 struct dir_entry **ret)
{
	AUTO_CLOSE int fd = -1;
	struct dir_entry *e = NULL;
	struct stat st;
	int got;

	if (dirfd == AT_FDCWD) {
		got = stat_cwd(d, r, &st);
		if (got < 0)
			return got;
	} else {
		e = known_dir(d, r, dirfd);
	}
	if (dirfd != AT_FDCWD && e == NULL) {
		fd = request_fd(d, r, dirfd);
		if (fd < 0)
			return fd;
		if (fstat(fd, &st) < 0)
			return -errno;
	}
	if (e == NULL && !S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (e == NULL)
		e = dir_find(d, st.st_dev, st.st_ino);
	if (e == NULL) {
		char text[PATH_MAX]; /* declared here because it is cleared on entry */
		ssize_t n;

		if (fd >= 0)
			n = fd_text(d, fd, text, sizeof(text));
		else
			n = readlinkat(proc_dir(d, r->tid, false), "cwd", text, sizeof(text) - 1);
		if (n < 0)
			return -ENOENT;
		text[n] = '\0';
		got = dir_open(d, &st, text, &p->folder, &p->at.dirfd);
		if (got < 0)
			return got;
		e = dir_find(d, st.st_dev, st.st_ino);
		if (e == NULL)
			return -ENOENT;
	}
	p->folder = e->folder;
	p->at.dirfd = e->fd;
	*ret = e;
	return 0;
}

static bool append_text(struct place *p, const char *below)
{
	size_t used = strlen(p->at.dir), more = strlen(below);

	if (used == 0) {
		memcpy(p->dir, below, more + 1);
		p->at.dir = p->dir;
		return true;
	}
	if ((size_t)(p->at.dir - p->dir) + used + more + 2 > sizeof(p->dir))
		return false;
	p->dir[(size_t)(p->at.dir - p->dir) + used] = '/';
	memcpy(p->dir + (p->at.dir - p->dir) + used + 1, below, more + 1);
	return true;
}

/* Returns a number that identifies the base. Unlike descriptors it is never reused. 0: the folder
 * of an absolute path. */
static uint64_t base_serial(const struct dir_entry *base)
{
	return base != NULL ? base->serial : 0;
}

/*
 * Uses the directory that was opened last, which is likely to be needed again. It is valid until a
 * rename or rmdir goes through the door, and for a few milliseconds, because the user's changes are
 * not seen here. A call that does not find its file there is resolved once more (dispatch.c).
 */
static bool recent_parent(struct ldoor *d, struct place *p, const struct dir_entry *base,
			  const char *parent)
{
	struct recent *e = d->recent;

	if (e->fd < 0 || e->folder != p->folder || e->base != base_serial(base) ||
	    e->renames != d->renames || strcmp(e->parent, parent) != 0 ||
	    clock_mono_us() - e->at_us > TEXT_US)
		return false;
	memcpy(p->dir, e->dir, strlen(e->dir) + 1); /* both have this size */
	p->at.dir = p->dir;
	p->at.dirfd = e->fd;
	p->recent = true;
	return true;
}

/* Takes the descriptor from the place, which then borrows it. Does nothing if a path is too
 * long. */
static void keep_parent(struct ldoor *d, struct place *p, const struct dir_entry *base,
			const char *parent)
{
	struct recent *e = d->recent;
	size_t n = strlen(parent) + 1, len = strlen(p->at.dir) + 1;

	if (n > sizeof(e->parent) || len > sizeof(e->dir))
		return;
	util_close_fd(&e->fd);
	e->fd = take_fd(&p->fd);
	e->folder = p->folder;
	e->base = base_serial(base);
	e->renames = d->renames;
	e->at_us = clock_mono_us();
	memcpy(e->parent, parent, n);
	memcpy(e->dir, p->at.dir, len);
}

/* Opens the parent directory of the last component. On entry p->at.dirfd is the base. */
static int quick_parent(struct ldoor *d, struct place *p, struct dir_entry *base, const char *rest,
			const char *last)
{
	char *parent = p->walk[1]; /* the stack would be cleared at each call */
	size_t n = (size_t)(last - rest);
	int fd, got;

	if (n == 0)
		return set_dir_text(d, p, base);
	while (n > 0 && rest[n - 1] == '/')
		n--;
	memcpy(parent, rest, n);
	parent[n] = '\0';
	if (recent_parent(d, p, base, parent))
		return 0;
	fd = open_beneath(p->at.dirfd, parent, O_PATH | O_DIRECTORY);
	if (fd < 0)
		return fd;
	p->fd = fd;
	if (!is_plain(parent)) {
		p->at.dirfd = fd;
		return set_dir_text(d, p, NULL);
	}
	/* Without links and "..", the path is the base's path plus the given one. */
	got = set_dir_text(d, p, base);
	p->at.dirfd = fd;
	if (got < 0)
		return got;
	if (!append_text(p, parent))
		return set_dir_text(d, p, NULL);
	if (p == &d->scratch->places[0]) /* not for a rename's second place */
		keep_parent(d, p, base, parent);
	return 0;
}

/* Looks up the last component, and sets p->known and p->st. Returns -ELOOP for a symbolic link that
 * must be followed. */
static int quick_last(struct request *r, int i, struct place *p, char *end, bool slash)
{
	*end = '\0';
	if (fstatat(p->at.dirfd, p->at.name, &p->st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			return -errno;
		p->at.absent_us = clock_mono_us();
		return 0;
	}
	p->known = true;
	if (!S_ISLNK(p->st.st_mode))
		return slash && !S_ISDIR(p->st.st_mode) ? -ENOTDIR : 0;
	return slash || r->how[i] == HOW_OBJECT ? -ELOOP : 0;
}

/* Resolves the path. -ELOOP, -EXDEV or -EAGAIN: walk.c has to do it. */
static int quick(struct ldoor *d, struct request *r, int i, char *path)
{
	struct place *p = r->place[i];
	struct dir_entry *base = NULL;
	const char *rest = path;
	char *end, *last;
	int got;

	if (path[0] == '/') {
		/* In a mount namespace of the caller's own the name may lead elsewhere. */
		p->folder = d->spec.nesting ? NULL : literal_folder(d, path, &rest);
		if (p->folder == NULL)
			return -EXDEV;
		p->at.dirfd = folder_fd(p->folder);
	} else {
		got = relative_base(d, r, r->dirfd[i], p, &base);
		if (got < 0)
			return got == -ENOENT ? -EXDEV : got;
	}
	p->at.root = folder_root(p->folder);
	for (end = path + strlen(path); end > rest && end[-1] == '/';)
		end--;
	for (last = end; last > rest && last[-1] != '/';)
		last--;
	if (end == rest || is_dots(last, (size_t)(end - last)))
		return -EXDEV;
	if (end - last > NAME_MAX && r->how[i] != HOW_NAME)
		return -ENAMETOOLONG;
	got = quick_parent(d, p, base, rest, last);
	if (got < 0)
		return got;
	p->at.name = last;
	p->at.leaf = NULL;
	if (r->how[i] != HOW_NAME)
		return quick_last(r, i, p, end, *end == '/');
	if (*end == '/')
		end[1] = '\0';
	return 0;
}

/*
 * Returns whether a file that the caller names by descriptor was made or captured in this step: its
 * change then needs no name. This holds for every fchmod() and futimens() of tar, git and cp. Not
 * after a question: the user was shown the name, which must still be the same.
 */
static bool kept(struct ldoor *d, struct request *r, struct place *p, int fd)
{
	struct object o;

	if (!r->call->anywhere || r->resumed || object_stat(fd, "", &o) < 0 || !S_ISREG(o.mode))
		return false;
	p->st = (struct stat){.st_mode = o.mode, .st_nlink = o.nlink, .st_size = (off_t)o.size};
	p->st.st_dev = makedev((unsigned)(o.dev >> 32), (unsigned)o.dev);
	p->st.st_ino = o.ino;
	for (size_t i = 0;; i++) {
		struct folder *f = folders_at(d->k, i);

		if (f == NULL)
			return false;
		if (!folder_has_inode(f, &r->caller, &o))
			continue;
		p->folder = f;
		p->seen = fd;
		p->known = p->kept = true;
		return true;
	}
}

static int resolve_fd(struct ldoor *d, struct request *r, int i)
{
	struct place *p = r->place[i];
	int fd = request_fd(d, r, r->dirfd[i]);

	if (fd < 0)
		return fd;
	if (r->how[i] == HOW_FD && kept(d, r, p, fd))
		return 0;
	return locate_fd(d, p, fd, r->opath_ok);
}

/*
 * Resolves "/proc/self/fd/7", as the C library writes it for missing system calls. It means the
 * process's table, which a thread need not share.
 */
static int own_fd(struct ldoor *d, struct request *r, const char *path)
{
	static const char head[] = "/proc/self/fd/";
	const char *number = path + sizeof(head) - 1;
	size_t n;

	if (r->tid != r->caller.pid || d->proc_dev == 0 || d->spec.nesting ||
	    strncmp(path, head, sizeof(head) - 1) != 0)
		return -1;
	n = strspn(number, "0123456789");
	if (n == 0 || n > 6 || number[n] != '\0' || (number[0] == '0' && n > 1))
		return -1;
	return request_fd(d, r, atoi(number));
}

static void place_begin(struct place *p)
{
	place_done(p);
	p->folder = NULL;
	p->known = p->recent = p->kept = p->object = p->orphan = false;
	p->special = p->nested = false;
	p->gone = false;
	p->at.absent_us = 0;
	p->text[0] = '\0';
}

int place_resolve(struct ldoor *d, struct request *r, int i)
{
	struct place *p = r->place[i];
	struct copy *c = &r->slot[i == 0 ? SLOT_PATH : SLOT_PATH2];
	char *path = p->walk[0];
	int got;

	place_begin(p);
	if (r->how[i] == HOW_FD)
		return resolve_fd(d, r, i);
	if (c->len == 0) {
		if (!r->empty_ok[i])
			return -ENOENT;
		if (r->dirfd[i] != AT_FDCWD)
			return resolve_fd(d, r, i);
		got = open_caller_dir(r, AT_FDCWD);
		return got < 0 ? got : locate_object(d, p, got);
	}
	got = r->how[i] == HOW_OBJECT && r->resolve == 0 ? own_fd(d, r, c->data) : -1;
	if (got >= 0) {
		r->opath_ok = true;
		if (kept(d, r, p, got))
			return 0;
		got = locate_fd(d, p, got, r->opath_ok);
		return got == -EBADF ? -ENOENT : got;
	}
	memcpy(path, c->data, c->len + 1);
	if (r->resolve == 0) {
		got = quick(d, r, i, path);
		if (got != -ELOOP && got != -EXDEV && got != -EAGAIN && got != -EROFS)
			return got;
		place_begin(p);
	}
	if (c->data[0] == '/' && (r->resolve & RESOLVE_BENEATH))
		return -EXDEV;
	if (c->data[0] == '/' && !(r->resolve & RESOLVE_IN_ROOT))
		got = open_caller_root(d, r);
	else
		got = open_caller_dir(r, r->dirfd[i]);
	return got < 0 ? got : walk_path(d, r, i, got, c->data);
}
