/* gate_nodes - names of a gated tree that the kernel has cached, each with its last object. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/gate/gate_nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xxhash.h>

/* Before uthash.h: its own hash falls through cases, of which clang warns at every use. */
#define HASH_FUNCTION(key, len, hash) ((hash) = (unsigned)XXH3_64bits(key, len))
#include <uthash.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/os/process.h"

#define GIVE_BACK_MIN 4096

struct gate_node {
	uint64_t lookups; /* look-ups that the kernel has not forgotten */
	size_t children;
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
	int64_t told_us; /* when the kernel last got attributes; 0: in no list */
	struct gate_node *older, *newer;
	mode_t type;
	bool stale; /* its name now leads to another node */
	UT_hash_handle hh;
	struct gate_node *parent; /* with name the key; NULL: the tree's root */
	char name[];
};

struct key {
	struct gate_node *parent;
	char name[NAME_MAX + 1];
};

static size_t key_len(const char *name)
{
	return sizeof(struct gate_node *) + strlen(name);
}

static void remember(struct gate_node *n, const struct stat *st)
{
	n->size = st->st_size;
	n->mtime = st->st_mtim;
}

/* ---- cached attributes ----------------------------------------------------------------------- */

static void leave_list(struct gate_tree *t, struct gate_node *n)
{
	if (!n->told_us)
		return;
	*(n->older ? &n->older->newer : &t->first) = n->newer;
	*(n->newer ? &n->newer->older : &t->last) = n->older;
	n->older = n->newer = NULL;
	n->told_us = 0;
}

static void join_list(struct gate_tree *t, struct gate_node *n)
{
	const int64_t now = clock_mono_us();

	leave_list(t, n);
	/* The kernel gets the attributes after this time was noted, so wait twice as long. */
	while (t->first && t->first->told_us + (int64_t)(2e6 * GATE_BELIEVED_S) < now)
		leave_list(t, t->first);
	n->told_us = now;
	n->older = t->last;
	*(t->last ? &t->last->newer : &t->first) = n;
	t->last = n;
}

static bool is_changing(const struct gate_tree *t, const struct gate_node *n)
{
	return inode_set_has(t->changing, &(struct inode_id){n->dev, n->ino});
}

double gate_node_tell(struct gate_tree *t, struct gate_node *n, const struct stat *st)
{
	remember(n, st);
	if (is_changing(t, n) || (n->parent && is_changing(t, n->parent)))
		return 0;
	join_list(t, n);
	return GATE_BELIEVED_S;
}

struct gate_node *gate_tree_disbelieve(struct gate_tree *t)
{
	struct gate_node *n = t->first;

	if (n)
		leave_list(t, n);
	return n;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

bool gate_node_is_as_told(const struct gate_node *n, const struct stat *st)
{
	return n->size == st->st_size && n->mtime.tv_sec == st->st_mtim.tv_sec &&
	       n->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

static struct gate_node *node_new(struct gate_node *parent, const char *name, const struct stat *st)
{
	size_t len = strlen(name);
	struct gate_node *n = xcalloc(1, sizeof(*n) + len + 1);

	memcpy(n->name, name, len);
	n->parent = parent;
	n->dev = st->st_dev;
	n->ino = st->st_ino;
	n->type = st->st_mode & S_IFMT;
	remember(n, st);
	return n;
}

int gate_tree_init(struct gate_tree *t, const char *path, const char *points)
{
	struct stat st;

	t->path = path;
	t->points = points ? open(points, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	t->root = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (t->root < 0 || fstat(t->root, &st) < 0)
		return -errno;
	t->top = node_new(NULL, "", &st);
	return 0;
}

void gate_tree_done(struct gate_tree *t)
{
	struct gate_node *n, *next;

	HASH_ITER (hh, t->nodes, n, next) {
		HASH_DEL(t->nodes, n);
		free(n);
	}
	free(t->top);
	util_close_fd(&t->root);
	util_close_fd(&t->points);
}

/* Writes the path from its end, because a node knows its parent. */
int gate_node_path(const struct gate_node *n, const char *name, char *out, size_t size)
{
	size_t at = size - 1, len = name ? strlen(name) : 0;

	out[at] = '\0';
	if (len > at)
		return -ENAMETOOLONG;
	at -= len;
	memcpy(out + at, name ? name : "", len);
	for (; n->parent; n = n->parent) {
		len = strlen(n->name);
		if (len + 1 > at)
			return -ENAMETOOLONG;
		if (out[at])
			out[--at] = '/';
		at -= len;
		memcpy(out + at, n->name, len);
	}
	len = size - 1 - at;
	if (len == 0)
		return snprintf(out, size, ".");
	memmove(out, out + at, len + 1);
	return (int)len;
}

static int open_beneath(int root, const char *below, int flags)
{
	struct open_how how = {.flags = (uint64_t)(flags | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC),
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					  RESOLVE_NO_MAGICLINKS};
	int fd;

	if (flags & O_PATH)
		how.flags &= ~(uint64_t)(O_NOCTTY | O_NONBLOCK);
	fd = (int)syscall(SYS_openat2, root, below, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

int gate_tree_open(const struct gate_tree *t, const char *below, int flags)
{
	int fd = open_beneath(t->root, below, flags);
	AUTO_FREE char *path = NULL, *name = NULL;

	if (fd != -ENOENT || t->points < 0)
		return fd;
	path = path_join(t->path, below);
	name = path_label(path);
	return open_beneath(t->points, name, flags);
}

int gate_node_open(const struct gate_tree *t, const struct gate_node *n, int flags, struct stat *st)
{
	AUTO_CLOSE int fd = -1;
	char path[PATH_MAX];
	struct stat own;
	int r = gate_node_path(n, NULL, path, sizeof(path));

	if (r < 0)
		return r;
	fd = gate_tree_open(t, path, flags);
	/* For example a link in place of a directory: the name leads elsewhere. */
	if (fd == -ELOOP || fd == -ENOTDIR)
		return -ESTALE;
	if (fd < 0)
		return fd;
	if (!st)
		st = &own;
	if (fstat(fd, st) < 0)
		return -errno;
	if (st->st_dev != n->dev || st->st_ino != n->ino || (st->st_mode & S_IFMT) != n->type)
		return -ESTALE;
	return take_fd(&fd);
}

struct gate_node *gate_node_enter(struct gate_tree *t, struct gate_node *parent, const char *name,
				  const struct stat *st)
{
	struct key key = {.parent = parent};
	struct gate_node *n;

	snprintf(key.name, sizeof(key.name), "%s", name);
	HASH_FIND(hh, t->nodes, &key, key_len(key.name), n);
	if (n && n->dev == st->st_dev && n->ino == st->st_ino &&
	    n->type == (st->st_mode & S_IFMT)) {
		n->lookups++;
		return n;
	}
	if (t->n >= NODES_MAX)
		return NULL;
	if (n) {
		HASH_DEL(t->nodes, n);
		n->stale = true;
	}
	n = node_new(parent, key.name, st);
	n->lookups = 1;
	HASH_ADD_KEYPTR(hh, t->nodes, &n->parent, key_len(n->name), n);
	parent->children++;
	t->n++;
	t->most = MAX(t->most, t->n);
	return n;
}

static void give_back(struct gate_tree *t)
{
	if (t->most < GIVE_BACK_MIN || t->n > t->most / 4)
		return;
	os_trim_heap();
	t->most = t->n;
}

void gate_node_forget(struct gate_tree *t, struct gate_node *n, uint64_t times)
{
	n->lookups -= MIN(times, n->lookups);
	/* A directory may be forgotten before its entries. */
	while (n->parent && n->lookups == 0 && n->children == 0) {
		struct gate_node *parent = n->parent;

		if (!n->stale && t->nodes)
			HASH_DEL(t->nodes, n);
		leave_list(t, n);
		free(n);
		t->n--;
		parent->children--;
		n = parent;
	}
	give_back(t);
}

mode_t gate_node_type(const struct gate_node *n)
{
	return n->type;
}
