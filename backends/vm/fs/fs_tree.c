/* fs_tree - one share as the fs server sees it: names, attributes and content, read natively. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/fs_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/policy/policy.h"

#define LISTING_ROOM 32768
#define SETTLED_S    2 /* longer than the clock tick of any file system */

/* Directories that the guest does not take from the host's root: it has its own. */
static const char *const own_of_guest[] = {"/proc", "/sys",	"/dev", "/run",
					   "/tmp",  "/var/tmp", "/boot"};

struct raw_dirent { /* of getdents64(2) */
	uint64_t ino, next;
	uint16_t len;
	uint8_t type;
	char name[];
};

/* ---- visibility ------------------------------------------------------------------------------ */

static enum policy_verdict check_read(const struct fs_tree *t, const char *path)
{
	const char *why;

	if (path_is_in(path, t->view->hidden))
		return POLICY_HIDE;
	return t->view->policy ? policy_check_read(t->view->policy, RULE_READ, path, &why)
			       : POLICY_ALLOW;
}

static bool is_guests_own(const struct fs_tree *t, const char *path)
{
	for (size_t i = 0; t->kind == FS_ROOT && i < ARRAY_LEN(own_of_guest); i++)
		if (str_eq(path, own_of_guest[i]))
			return true;
	return false;
}

/* Writes the node's absolute path. -ESTALE: it has none in this share. */
static int fs_node_path(struct fs_tree *t, struct fs_node *n, char out[PATH_MAX])
{
	char link[32];
	size_t top = strlen(t->path);
	int r = fs_node_link(t, n, link);
	ssize_t len;

	if (r < 0)
		return r;
	len = readlink(link, out, PATH_MAX);
	if (len < 0 || len >= PATH_MAX)
		return len < 0 ? -errno : -ENAMETOOLONG;
	out[len] = '\0';
	if (strncmp(out, t->path, top) != 0 || (out[top] != '/' && out[top] != '\0'))
		return -ESTALE;
	return 0;
}

/* Returns whether the file has no name. The kernel reports such a path as "PATH (deleted)", but a
 * real name may end so, too. */
static bool has_no_name(struct fs_tree *t, struct fs_node *n, const char *path)
{
	static const char mark[] = " (deleted)";
	const size_t len = strlen(path), end = sizeof(mark) - 1;
	struct stat st, named;

	if (fstat(fs_node_fd(&t->nodes, n), &st) < 0 || st.st_nlink == 0)
		return true;
	if (len < end || !str_eq(path + len - end, mark))
		return false;
	return fstatat(AT_FDCWD, path, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
	       named.st_dev != st.st_dev || named.st_ino != st.st_ino;
}

/* ---- life ------------------------------------------------------------------------------------ */

int fs_tree_init(struct fs_tree *t, const struct fs_view *view, const struct fs_tree_spec *spec)
{
	int root = open(spec->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r;
	struct stat st;

	memset(t, 0, sizeof(*t));
	if (root < 0 || fstat(root, &st) < 0)
		return -errno;
	t->view = view;
	t->path = str_eq(spec->path, "/") ? "" : spec->path;
	t->kind = spec->kind;
	t->share = spec->share;
	t->store = spec->store;
	t->devs[t->n_devs++] = st.st_dev;
	fs_handles_init(&t->handles, spec->max_handles);
	r = fs_nodes_init(&t->nodes, root, spec->max_nodes, spec->max_open);
	if (r == 0)
		fs_node_get(&t->nodes, FS_ROOT_ID)->readable = true;
	return r;
}

void fs_tree_reset(struct fs_tree *t)
{
	fs_handles_reset(&t->handles);
	fs_nodes_reset(&t->nodes);
}

void fs_tree_done(struct fs_tree *t)
{
	fs_handles_done(&t->handles);
	fs_nodes_done(&t->nodes);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Returns 0, -EINVAL, or -ENAMETOOLONG. */
static int fs_check_name(const char *name)
{
	if (strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	return *name == '\0' || strchr(name, '/') || str_eq(name, ".") || str_eq(name, "..")
		       ? -EINVAL
		       : 0;
}

int fs_node_link(struct fs_tree *t, struct fs_node *n, char out[32])
{
	int fd = fs_node_fd(&t->nodes, n);

	snprintf(out, 32, "/proc/self/fd/%d", fd);
	return MIN(fd, 0);
}

uint64_t fs_ino(struct fs_tree *t, const struct stat *st)
{
	size_t i;

	for (i = 0; i < t->n_devs; i++)
		if (t->devs[i] == st->st_dev)
			break;
	if (i == t->n_devs && i < FS_DEVS_MAX)
		t->devs[t->n_devs++] = st->st_dev;
	return st->st_ino ^ (uint64_t)i << 56;
}

static struct fs_node *enter(struct fs_tree *t, int fd, const struct stat *st, const char *path)
{
	struct fs_node *n = fs_node_enter(&t->nodes, fd, st);

	if (!n)
		return NULL;
	fs_node_tell(n, st);
	n->closed = t->store.ino && st->st_ino == t->store.ino && st->st_dev == t->store.dev;
	n->empty = S_ISDIR(st->st_mode) && path && is_guests_own(t, path);
	return n;
}

int fs_lookup(struct fs_tree *t, struct fs_node *dir, const char *name, struct fs_node **ret,
	      struct stat *st)
{
	AUTO_CLOSE int fd = -1;
	enum policy_verdict v;
	char path[PATH_MAX];
	size_t len;
	int r = fs_check_name(name);

	if (r < 0)
		return r;
	if (!S_ISDIR(dir->type))
		return -ENOTDIR;
	if (dir->closed || dir->empty)
		return dir->closed ? -EACCES : -ENOENT;
	r = fs_node_path(t, dir, path);
	if (r < 0)
		return r;
	len = strlen(path);
	if ((size_t)snprintf(path + len, sizeof(path) - len, "%s%s", len > 1 ? "/" : "", name) >=
	    sizeof(path) - len)
		return -ENAMETOOLONG;
	v = check_read(t, path);
	if (v == POLICY_HIDE)
		return -ENOENT;
	fd = openat(fs_node_fd(&t->nodes, dir), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, st) < 0)
		return errno == EMFILE ? -ENFILE : -errno;
	*ret = enter(t, take_fd(&fd), st, path);
	if (!*ret)
		return -ENFILE;
	(*ret)->readable = v == POLICY_ALLOW;
	return 0;
}

int fs_enter_fd(struct fs_tree *t, int fd, struct fs_node **ret, struct stat *st)
{
	AUTO_CLOSE int own = -1;
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	own = open(link, O_PATH | O_CLOEXEC);
	if (own < 0 || fstat(own, st) < 0)
		return -errno;
	*ret = enter(t, take_fd(&own), st, NULL);
	if (!*ret)
		return -ENFILE;
	(*ret)->readable = true; /* else the keeper had not opened it */
	return 0;
}

int fs_getattr(struct fs_tree *t, struct fs_node *n, struct stat *st)
{
	int fd = fs_node_fd(&t->nodes, n);

	if (fd < 0 || fstat(fd, st) < 0)
		return fd < 0 ? fd : -errno;
	fs_node_tell(n, st);
	return 0;
}

ssize_t fs_readlink(struct fs_tree *t, struct fs_node *n, char *out, size_t size)
{
	ssize_t len;
	int fd;

	if (!S_ISLNK(n->type))
		return -EINVAL;
	fd = fs_node_fd(&t->nodes, n);
	if (fd < 0)
		return fd;
	len = readlinkat(fd, "", out, size);
	return len < 0 ? -errno : len;
}

/* ---- opening for reading --------------------------------------------------------------------- */

int fs_may_read(struct fs_tree *t, struct fs_node *n, char path[PATH_MAX])
{
	const char *why;
	int r;

	if (n->closed)
		return -EACCES;
	if (!t->view->policy || n->empty)
		return 0;
	r = fs_node_path(t, n, path);
	if (r < 0 && (r != -ESTALE || t->kind != FS_FOLDER))
		return r;
	if (r < 0 || has_no_name(t, n, path)) /* removed: judged by the name that it had */
		return n->readable ? 0 : -ESTALE;
	if (*path == '\0')
		return 0;
	if (atomic_load(&t->view->page->changes))
		return 1;
	switch (policy_check_read(t->view->policy, RULE_READ, path, &why)) {
	case POLICY_ALLOW:
		return 0;
	case POLICY_HIDE:
		return -ENOENT;
	case POLICY_DENY:
	case POLICY_ASK:
	case POLICY_VET:
		break;
	}
	return 1;
}

/*
 * A write changes ctime, except within the same clock tick, and except later writes through one
 * mapping. Because of these, ctime is not used in a working folder, which the user edits. Elsewhere
 * it spares reading programs and libraries again at each start.
 */
static void note_open(struct fs_node *n, const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	n->unchanged = n->settled && n->ctime.tv_sec == st->st_ctim.tv_sec &&
		       n->ctime.tv_nsec == st->st_ctim.tv_nsec;
	n->ctime = st->st_ctim;
	n->settled = now.tv_sec - st->st_ctim.tv_sec > SETTLED_S;
}

bool fs_was_edited(struct fs_tree *t, struct fs_node *n)
{
	struct stat st;

	n->unchanged = false;
	if (!S_ISREG(n->type) || fstat(fs_node_fd(&t->nodes, n), &st) < 0)
		return false;
	if (t->kind != FS_FOLDER)
		note_open(n, &st);
	n->outdated = !n->outdated && !fs_node_is_as_told(n, &st);
	fs_node_tell(n, &st);
	return n->outdated;
}

int fs_open_native(struct fs_tree *t, struct fs_node *n)
{
	char link[32];
	int fd;

	/* Pipes, devices and sockets are not served: the guest has its own. */
	if (!S_ISREG(n->type) && !S_ISDIR(n->type))
		return S_ISLNK(n->type) ? -ELOOP : -ENXIO;
	fd = fs_node_link(t, n, link);
	if (fd < 0)
		return fd;
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (S_ISDIR(n->type) ? O_DIRECTORY : 0));
	return fd < 0 ? -errno : fd;
}

static void nothing(void *data, int result, int fd)
{
	(void)data;
	(void)result;
	util_close_fd(&fd);
}

void fs_closed_unnamed(struct fs_tree *t, struct fs_node *n)
{
	const struct fs_note_parts none = {.text = NULL};
	struct fs_note *note = fs_note_begin(t->view->channel);

	note->what = FS_CLOSED;
	note->share = t->share;
	fs_ask(t->view->channel, &none, nothing, NULL);
	n->mtime = (struct timespec){0}; /* the name may now be another file's */
}

/* ---- listings -------------------------------------------------------------------------------- */

static bool is_shown(const struct fs_tree *t, char *path, size_t len, const char *name)
{
	if (str_eq(name, ".") || str_eq(name, ".."))
		return true;
	if ((size_t)snprintf(path + len, PATH_MAX - len, "%s%s", len > 1 ? "/" : "", name) >=
	    PATH_MAX - len)
		return false;
	return check_read(t, path) != POLICY_HIDE;
}

int fs_readdir(struct fs_tree *t, const struct fs_handle *h, uint64_t offset,
	       bool (*each)(void *data, const struct fs_dirent *e), void *data)
{
	_Alignas(8) char room[LISTING_ROOM];
	struct fs_node *dir = fs_node_get(&t->nodes, h->node);
	char path[PATH_MAX];
	size_t len;
	long n;

	if (!dir || dir->closed || fs_node_path(t, dir, path) < 0)
		return dir && dir->closed ? -EACCES : 0; /* a removed directory is empty */
	len = strlen(path);
	if (lseek(h->fd, (off_t)offset, SEEK_SET) < 0)
		return -EINVAL;
	while ((n = syscall(SYS_getdents64, h->fd, room, sizeof(room))) > 0) {
		for (long at = 0; at < n;) {
			const struct raw_dirent *d = (const struct raw_dirent *)(room + at);
			const struct fs_dirent e = {d->ino, d->next, d->type, d->name};

			at += d->len;
			if (dir->empty && !str_eq(d->name, ".") && !str_eq(d->name, ".."))
				continue;
			if (is_shown(t, path, len, d->name) && !each(data, &e))
				return 0;
		}
	}
	return n < 0 ? -errno : 0;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Returns a path of the share relative to the share's root. */
static const char *below(const struct fs_tree *t, const char *path)
{
	path += strlen(t->path);
	return *path == '/' ? path + 1 : path;
}

char *fs_where_path(const char *dir, const char *name)
{
	return xasprintf("%s%s%s", dir, *dir ? "/" : "", name);
}

int fs_spot_name(struct fs_tree *t, struct fs_node *dir, const char *name, struct fs_spot *spot,
		 struct fs_where *where)
{
	char path[PATH_MAX];
	int r = fs_check_name(name);

	if (r == 0 && !S_ISDIR(dir->type))
		r = -ENOTDIR;
	if (r == 0 && (t->kind != FS_FOLDER || dir->closed))
		r = t->kind != FS_FOLDER ? -EROFS : -EACCES;
	if (r == 0)
		r = fs_node_path(t, dir, path);
	if (r < 0)
		return r;
	spot->dir = (struct fs_inode){dir->key.dev, dir->key.ino};
	spot->object = (struct fs_inode){0};
	snprintf(where->dir, sizeof(where->dir), "%s", below(t, path));
	snprintf(where->name, sizeof(where->name), "%s", name);
	return 0;
}

int fs_spot_object(struct fs_tree *t, struct fs_node *n, struct fs_spot *spot,
		   struct fs_where *where)
{
	char path[PATH_MAX];
	const char *name;
	char *slash;
	int r = t->kind != FS_FOLDER ? -EROFS : fs_node_path(t, n, path);

	if (r == 0 && has_no_name(t, n, path))
		r = -ESTALE;
	if (r < 0)
		return r;
	if (n->closed)
		return -EACCES;
	snprintf(where->dir, sizeof(where->dir), "%s", below(t, path));
	slash = strrchr(where->dir, '/');
	name = slash ? slash + 1 : where->dir;
	if (strlen(name) > NAME_MAX)
		return -ESTALE; /* its other names are not known */
	snprintf(where->name, sizeof(where->name), "%.*s", NAME_MAX, name);
	where->dir[slash ? slash - where->dir : 0] = '\0';
	spot->dir = (struct fs_inode){0};
	spot->object = (struct fs_inode){n->key.dev, n->key.ino};
	return 0;
}

int fs_spot_itself(struct fs_tree *t, struct fs_node *n, struct fs_spot *spot,
		   struct fs_where *where)
{
	int r = fs_spot_object(t, n, spot, where), fd;

	if (r != -ESTALE || !S_ISREG(n->type))
		return r;
	fd = fs_node_fd(&t->nodes, n);
	if (fd < 0)
		return fd;
	*spot = (struct fs_spot){0};
	where->dir[0] = where->name[0] = '\0';
	fs_note_attach(t->view->channel, fd);
	return 0;
}
