/* fs_nodes - tables of the inodes and open files that a guest refers to by number. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/fs_nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

/* ---- slots ----------------------------------------------------------------------------------- */

static uint32_t index_of(uint64_t id)
{
	return (uint32_t)id - 1;
}

static bool grow(struct fs_slots *s)
{
	size_t n = s->n ? MIN(2 * s->n, s->max) : MIN((size_t)64, s->max);

	if (n == s->n)
		return false;
	s->slot = xrealloc(s->slot, n * sizeof(*s->slot));
	s->next = xrealloc(s->next, n * sizeof(*s->next));
	s->free = xrealloc(s->free, n * sizeof(*s->free));
	for (size_t i = n; i > s->n; i--) { /* the lowest ends up on top */
		s->slot[i - 1] = NULL;
		s->next[i - 1] = 0;
		s->free[s->n_free++] = (uint32_t)(i - 1);
	}
	s->n = n;
	return true;
}

/* Takes a slot and returns its id; 0: the table is full. */
static uint64_t slot_take(struct fs_slots *s, void *what)
{
	uint32_t i;

	if (s->n_free == 0 && !grow(s))
		return 0;
	i = s->free[--s->n_free];
	s->slot[i] = what;
	s->used++;
	return (uint64_t)s->next[i]++ << 32 | (i + 1);
}

static void slot_drop(struct fs_slots *s, uint64_t id)
{
	s->slot[index_of(id)] = NULL;
	s->free[s->n_free++] = index_of(id);
	s->used--;
}

/* Returns the content of the id's slot. The generation is not checked. */
static void *slot_at(const struct fs_slots *s, uint64_t id)
{
	return index_of(id) < s->n ? s->slot[index_of(id)] : NULL;
}

static void slots_done(struct fs_slots *s)
{
	free(s->slot);
	free(s->next);
	free(s->free);
	memset(s, 0, sizeof(*s));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

struct fs_node *fs_node_get(const struct fs_nodes *t, uint64_t id)
{
	struct fs_node *n = slot_at(&t->slots, id);

	return n && n->id == id ? n : NULL;
}

void fs_node_tell(struct fs_node *n, const struct stat *st)
{
	n->size = st->st_size;
	n->mtime = st->st_mtim;
}

bool fs_node_is_as_told(const struct fs_node *n, const struct stat *st)
{
	return n->size == st->st_size && n->mtime.tv_sec == st->st_mtim.tv_sec &&
	       n->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static bool path_of(int fd, char out[PATH_MAX])
{
	char link[32];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, out, PATH_MAX);
	if (len <= 0 || len >= PATH_MAX)
		return false;
	out[len] = '\0';
	return true;
}

/* Returns the part of path after the root's path, or NULL if path is not below the root. */
static const char *below_root(const struct fs_nodes *t, const char *path)
{
	size_t len = strlen(t->root_path);

	if (strncmp(path, t->root_path, len) != 0)
		return NULL;
	if (len > 1) { /* else the root is / */
		if (path[len] != '/')
			return NULL;
		len++;
	}
	return path + len;
}

/* Closes the node's descriptor if its path leads to it again. Returns false for the root, and for a
 * file that was removed while open. */
static bool give_up(struct fs_nodes *t, struct fs_node *n)
{
	char path[PATH_MAX];
	const char *below = path_of(n->fd, path) ? below_root(t, path) : NULL;
	struct stat st;

	if (!below || !*below || fstat(n->fd, &st) < 0 || st.st_nlink == 0)
		return false;
	n->path = xstrdup(below);
	t->n_paths++;
	DL_DELETE(t->open, n);
	t->n_open--;
	util_close_fd(&n->fd);
	return true;
}

static void make_room(struct fs_nodes *t)
{
	for (int tries = 0; t->open && t->n_open >= t->max_open && tries < 64; tries++) {
		struct fs_node *oldest = t->open;

		if (give_up(t, oldest))
			continue;
		DL_DELETE(t->open, oldest);
		DL_APPEND(t->open, oldest);
	}
}

static void forget_path(struct fs_nodes *t, struct fs_node *n)
{
	if (n->path)
		t->n_paths--;
	free(take_ptr(&n->path));
}

/* Sets the node's descriptor. Takes fd. */
static void set_fd(struct fs_nodes *t, struct fs_node *n, int fd)
{
	if (n->fd < 0) {
		make_room(t);
		DL_APPEND(t->open, n);
		t->n_open++;
	}
	util_close_fd(&n->fd);
	forget_path(t, n);
	n->fd = fd;
}

/* Opens path component by component, so that no link is followed. */
static int walk(int root, const char *path)
{
	AUTO_CLOSE int fd = -1;

	while (*path) {
		char name[NAME_MAX + 1];
		size_t len = strcspn(path, "/");
		int next;

		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path, len);
		name[len] = '\0';
		next = openat(fd < 0 ? root : fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			return -errno;
		util_close_fd(&fd);
		fd = next;
		path += len + (path[len] == '/');
	}
	return take_fd(&fd);
}

static int open_again(const struct fs_nodes *t, const struct fs_node *n)
{
	AUTO_CLOSE int fd = walk(t->root, n->path);
	struct stat st;

	if (fd < 0)
		return fd == -EMFILE ? -ENFILE : -ESTALE;
	if (fstat(fd, &st) < 0 || st.st_dev != n->key.dev || st.st_ino != n->key.ino ||
	    (st.st_mode & S_IFMT) != n->type)
		return -ESTALE;
	return take_fd(&fd);
}

int fs_node_fd(struct fs_nodes *t, struct fs_node *n)
{
	int fd;

	if (n->id == FS_ROOT_ID)
		return n->fd;
	if (n->fd >= 0) {
		DL_DELETE(t->open, n);
		DL_APPEND(t->open, n);
		return n->fd;
	}
	fd = open_again(t, n);
	if (fd >= 0)
		set_fd(t, n, fd);
	return fd;
}

/* Returns path with its prefix `from` replaced by `to`, or NULL if path is not at or below
 * `from`. */
static char *moved(const char *path, const char *from, const char *to)
{
	size_t len = strlen(from);

	if (strncmp(path, from, len) != 0 || (path[len] != '\0' && path[len] != '/'))
		return NULL;
	return xasprintf("%s%s", to, path + len);
}

void fs_nodes_renamed(struct fs_nodes *t, const char *from, const char *to, bool exchanged)
{
	struct fs_node *n, *next;

	if (t->n_paths == 0)
		return;
	HASH_ITER (hh, t->by_inode, n, next) {
		char *path = n->path ? moved(n->path, from, to) : NULL;

		if (n->path && !path && exchanged)
			path = moved(n->path, to, from);
		if (!path)
			continue;
		free(n->path);
		n->path = path;
	}
}

/* ---- entries --------------------------------------------------------------------------------- */

static struct fs_node *node_new(struct fs_nodes *t, int fd, const struct stat *st)
{
	struct fs_node *n = xcalloc(1, sizeof(*n));

	n->id = slot_take(&t->slots, n);
	if (!n->id) {
		free(n);
		return NULL;
	}
	n->key = (struct fs_key){.dev = st->st_dev, .ino = st->st_ino};
	n->fd = -1;
	if (n->id == FS_ROOT_ID)
		n->fd = fd;
	else
		set_fd(t, n, fd);
	n->type = st->st_mode & S_IFMT;
	fs_node_tell(n, st);
	HASH_ADD(hh, t->by_inode, key, sizeof(n->key), n);
	return n;
}

static void node_free(struct fs_nodes *t, struct fs_node *n)
{
	HASH_DEL(t->by_inode, n);
	slot_drop(&t->slots, n->id);
	if (n->fd >= 0 && n->id != FS_ROOT_ID) {
		DL_DELETE(t->open, n);
		t->n_open--;
	}
	forget_path(t, n);
	util_close_fd(&n->fd);
	free(n);
}

struct fs_node *fs_node_enter(struct fs_nodes *t, int fd, const struct stat *st)
{
	struct fs_key key = {.dev = st->st_dev, .ino = st->st_ino};
	struct fs_node *n;

	HASH_FIND(hh, t->by_inode, &key, sizeof(key), n);
	if (!n) {
		n = node_new(t, fd, st);
		if (!n) {
			util_close_fd(&fd);
			return NULL;
		}
	} else if (n->id == FS_ROOT_ID) {
		util_close_fd(&fd);
	} else { /* a file of several names: keep the one of the newest look-up */
		set_fd(t, n, fd);
	}
	n->lookups++;
	return n;
}

static void drop_if_unused(struct fs_nodes *t, struct fs_node *n)
{
	if (n->lookups == 0 && n->pins == 0 && n->id != FS_ROOT_ID)
		node_free(t, n);
}

void fs_node_forget(struct fs_nodes *t, uint64_t id, uint64_t times)
{
	struct fs_node *n = fs_node_get(t, id);

	if (!n || id == FS_ROOT_ID)
		return;
	n->lookups -= MIN(times, n->lookups);
	drop_if_unused(t, n);
}

void fs_node_pin(struct fs_node *n)
{
	n->pins++;
}

void fs_node_unpin(struct fs_nodes *t, struct fs_node *n)
{
	n->pins--;
	drop_if_unused(t, n);
}

int fs_nodes_init(struct fs_nodes *t, int root, size_t max, size_t max_open)
{
	char path[PATH_MAX];
	struct fs_node *n;
	struct stat st;

	memset(t, 0, sizeof(*t));
	t->slots.max = max;
	t->max_open = MAX(max_open, (size_t)8);
	if (fstat(root, &st) < 0 || !path_of(root, path))
		return -errno;
	t->root = root;
	t->root_path = xstrdup(path);
	n = node_new(t, root, &st);
	return n && n->id == FS_ROOT_ID ? 0 : -ENOMEM;
}

void fs_nodes_reset(struct fs_nodes *t)
{
	struct fs_node *n, *next;

	HASH_ITER (hh, t->by_inode, n, next) {
		n->lookups = 0;
		drop_if_unused(t, n);
	}
}

void fs_nodes_done(struct fs_nodes *t)
{
	struct fs_node *n, *next;

	HASH_ITER (hh, t->by_inode, n, next)
		node_free(t, n);
	slots_done(&t->slots);
	free(take_ptr(&t->root_path));
}

/* ---- handles --------------------------------------------------------------------------------- */

void fs_handles_init(struct fs_handles *t, size_t max)
{
	memset(t, 0, sizeof(*t));
	t->slots.max = max;
}

struct fs_handle *fs_handle_get(const struct fs_handles *t, uint64_t id)
{
	struct fs_handle *h = slot_at(&t->slots, id);

	return h && h->id == id ? h : NULL;
}

struct fs_handle *fs_handle_new(struct fs_handles *t, uint64_t node, int fd)
{
	struct fs_handle *h = xcalloc(1, sizeof(*h));

	h->id = slot_take(&t->slots, h);
	if (!h->id) {
		free(h);
		util_close_fd(&fd);
		return NULL;
	}
	h->node = node;
	h->fd = fd;
	return h;
}

void fs_handle_free(struct fs_handles *t, uint64_t id)
{
	struct fs_handle *h = fs_handle_get(t, id);

	if (!h)
		return;
	slot_drop(&t->slots, id);
	util_close_fd(&h->fd);
	free(h);
}

void fs_handles_reset(struct fs_handles *t)
{
	for (size_t i = 0; i < t->slots.n; i++) {
		const struct fs_handle *h = t->slots.slot[i];

		if (h)
			fs_handle_free(t, h->id);
	}
}

void fs_handles_done(struct fs_handles *t)
{
	fs_handles_reset(t);
	slots_done(&t->slots);
}
