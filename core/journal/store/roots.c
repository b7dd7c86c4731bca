/* roots - folders and granted places by number; resolves paths beneath them, following no link. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/fs/object.h"
#include "core/journal/journal.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/os/beneath.h"
#include "core/os/text.h"

#define ROOTS_MAX 4096

/* In the file, before the path of a root that belongs to the folder (struct root, own). */
#define ROOT_OWN '+'

/* Stands for a lost path. Log records have its number: if another directory got that number, an
 * undo would apply the records there. */
#define ROOT_LOST "?"

void root_add(struct journal *j, const char *path)
{
	j->roots = xrealloc(j->roots, (size_t)(j->n_roots + 1) * sizeof(*j->roots));
	j->roots[j->n_roots++] = (struct root){.path = xstrdup(path), .fd = -1};
}

static void add_text(struct journal *j, const char *text, bool whole)
{
	const bool own = *text == ROOT_OWN;
	const char *path = text + own;

	root_add(j, *path == '/' && whole ? path : ROOT_LOST);
	j->roots[j->n_roots - 1].own = own;
}

/* Loads the file "roots": NUL-terminated paths, from number 1 on. Skips known ones. */
int roots_load(struct journal *j)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int number = 0;
	int r = io_read_file(j->store, "roots", (size_t)8 << 20, &text, &len);

	if (r == -ENOENT)
		return 0;
	for (char *p = text; r == 0 && p < text + len; p += strlen(p) + 1)
		if (++number >= j->n_roots)
			add_text(j, p, p + strlen(p) < text + len);
	return r;
}

void roots_level(struct journal *j)
{
	while ((uint64_t)j->n_roots <= MIN(j->state->roots, ROOTS_MAX))
		root_add(j, ROOT_LOST);
	j->state->roots = (uint64_t)j->n_roots - 1;
}

const char *root_path(struct journal *j, int root)
{
	/* The session that writes the store may have added a root after this process opened it. */
	if (j->read_only && root >= j->n_roots && roots_load(j) < 0)
		return NULL;
	return root >= 0 && root < j->n_roots ? j->roots[root].path : NULL;
}

bool root_is_known(struct journal *j, int root)
{
	const char *path = root_path(j, root);

	return path && *path == '/';
}

bool root_is_own(const struct journal *j, int root)
{
	return root <= 0 || (root < j->n_roots && j->roots[root].own);
}

static int find_root(const struct journal *j, const char *path)
{
	int i = 0;

	while (i < j->n_roots && !str_eq(j->roots[i].path, path))
		i++;
	return i;
}

static int roots_save(struct journal *j)
{
	AUTO_BUF struct buf text = BUF_INIT;

	for (int i = 1; i < j->n_roots; i++) {
		if (j->roots[i].own)
			buf_ch(&text, ROOT_OWN);
		buf_add(&text, j->roots[i].path, strlen(j->roots[i].path) + 1);
	}
	return io_write_file(j->store, "roots", 0600, text.data, text.len, false);
}

int journal_add_root(struct journal *j, const char *path, bool own, struct err *err)
{
	const int root = find_root(j, path);
	const bool is_new = root == j->n_roots, was = is_new ? own : j->roots[root].own;
	int r;

	if (!root || (!is_new && was == own))
		return root;
	if (root >= ROOTS_MAX)
		return err_set(err, -EMFILE, "add '%s' to the undo store", path);
	if (is_new)
		root_add(j, path);
	j->roots[root].own = own;
	r = roots_save(j);
	j->state->roots = (uint64_t)j->n_roots - 1;
	if (r == 0)
		r = state_save(j);
	if (r == 0)
		return root;
	j->roots[root].own = was;
	if (is_new) /* if the file has it, its number is used up */
		free(j->roots[--j->n_roots].path);
	return err_set(err, r, "add '%s' to the undo store", path);
}

int store_root_fd(struct journal *j, int root)
{
	if (!root_is_known(j, root))
		return -EBADMSG;
	if (j->roots[root].fd < 0)
		j->roots[root].fd = os_open_beneath(AT_FDCWD, j->roots[root].path,
						    O_PATH | O_DIRECTORY | O_CLOEXEC,
						    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	return j->roots[root].fd < 0 ? -errno : j->roots[root].fd;
}

void store_forget_near(struct journal *j)
{
	util_close_fd(&j->near_fd);
	j->near_fd = -1;
	free(take_ptr(&j->near_path));
	free(take_ptr(&j->near_gone));
}

static int open_below(int top, const char *path)
{
	int fd, tries = 0;

	do { /* EAGAIN: a rename somewhere in the system raced with the walk */
		fd = os_open_beneath(top, path, O_PATH | O_DIRECTORY | O_CLOEXEC,
				     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	} while (fd < 0 && errno == EAGAIN && ++tries < 100);
	return fd < 0 ? -errno : fd;
}

/* Opens a directory whose path may be longer than PATH_MAX, because a directory above was renamed.
 * Cuts the path at slashes, and restores it. */
static int open_in_pieces(int top, char *path)
{
	AUTO_CLOSE int at = -1;
	int fd;

	while (strlen(path) >= PATH_MAX) {
		char *slash = memrchr(path, '/', PATH_MAX);

		if (!slash)
			return -ENAMETOOLONG;
		*slash = '\0';
		fd = open_below(at < 0 ? top : at, path);
		*slash = '/';
		if (fd < 0)
			return fd;
		util_close_fd(&at);
		at = fd;
		path = slash + 1;
	}
	return open_below(at < 0 ? top : at, path);
}

int root_find(struct journal *j, int root, const char *path, struct spot *ret)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	int top, fd;

	if (j->near_fd >= 0 && len && j->near_root == root && strlen(j->near_path) == len &&
	    memcmp(j->near_path, path, len) == 0) {
		*ret = (struct spot){.fd = j->near_fd, .name = slash + 1};
		return 0;
	}
	top = store_root_fd(j, root);
	if (top < 0)
		return top;
	*ret = (struct spot){.fd = top, .name = path};
	if (!slash)
		return 0;
	store_forget_near(j);
	j->near_path = xstrndup(path, len);
	fd = open_in_pieces(top, j->near_path);
	if (fd < 0) {
		free(take_ptr(&j->near_path));
		return fd;
	}
	j->near_fd = fd;
	j->near_root = root;
	*ret = (struct spot){.fd = fd, .name = slash + 1};
	return 0;
}

int root_look(struct journal *j, int root, const char *path, struct spot *at, struct object *o)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	int r;

	*o = (struct object){0};
	if (len && j->near_gone && atoi(j->near_gone) == root &&
	    strlen(strchr(j->near_gone, '/') + 1) == len &&
	    strncmp(strchr(j->near_gone, '/') + 1, path, len) == 0)
		return 0;
	r = root_find(j, root, path, at);
	if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP) {
		AUTO_FREE char *dir = xstrndup(path, len);

		free(j->near_gone);
		j->near_gone = xasprintf("%d/%s", root, dir);
		return 0;
	}
	if (r == 0)
		r = object_stat(at->fd, at->name, o);
	if (r == -EACCES) {
		*o = (struct object){.mode = OBJECT_UNSEEN};
		r = 0;
	}
	return r;
}

bool root_guards(struct journal *j, int root, const char *path, mode_t type)
{
	const char *base;
	AUTO_FREE char *whole = NULL;

	if (!j->guards)
		return false;
	base = root_path(j, root);
	if (!base)
		return true;
	whole = xasprintf("%s/%s", str_eq(base, "/") ? "" : base, path);
	return j->guards(j->guards_data, whole, type);
}
