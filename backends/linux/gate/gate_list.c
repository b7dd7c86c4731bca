/* gate_list - lists directories to the kernel, without the hidden names. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/gate/gate_fuse.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/policy/policy.h"

struct listing {
	DIR *dir;
	off_t at;	     /* position after the last entry that the kernel has */
	struct dirent *kept; /* the next entry, if it has been read; of the stream */
	char path[];	     /* as long as needed: the agent can hold one for each open file */
};

static struct listing *listing_of(const struct fuse_file_info *file)
{
	union {
		uint64_t number;
		struct listing *listing;
	} u = {.number = file->fh};

	return u.listing;
}

void gate_list_open(const struct gate_open *o, const char *path)
{
	union {
		struct listing *listing;
		uint64_t number;
	} u = {.listing = xcalloc(1, sizeof(struct listing) + strlen(path) + 1)};
	struct fuse_file_info file = o->file;

	memcpy(u.listing->path, path, strlen(path));
	u.listing->dir = fdopendir(o->fd);
	file.fh = u.number;
	if (!u.listing->dir) {
		close(o->fd);
		free(u.listing);
		fuse_reply_err(o->req, ENOMEM);
	} else if (fuse_reply_open(o->req, &file) < 0) {
		closedir(u.listing->dir);
		free(u.listing);
	}
}

/* The part of a listing that one answer to the kernel holds. */
struct page {
	fuse_req_t req;
	struct gate_fs *fs;
	struct gate_node *dir;
	char *room;
	size_t size, used;
	struct gate_node **known; /* nodes that the kernel learns by it; NULL: lists names */
	size_t n_known;
};

/* Adds an entry with its attributes, as a lookup would give them: this saves a turn for each file
 * that is read. An open walks the path anew, so a later change does no harm. Returns false if there
 * is no room. */
static bool add_known(struct page *p, int dir, const struct dirent *e, off_t next)
{
	struct fuse_entry_param entry = {.entry_timeout = GATE_BELIEVED_S};
	size_t n = fuse_add_direntry_plus(p->req, NULL, 0, e->d_name, NULL, 0);
	struct gate_node *node = NULL;

	if (n > p->size - p->used)
		return false;
	if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, "..") &&
	    fstatat(dir, e->d_name, &entry.attr, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0)
		node = gate_node_enter(&p->fs->tree, p->dir, e->d_name, &entry.attr);
	if (node) {
		entry.attr_timeout = gate_node_tell(&p->fs->tree, node, &entry.attr);
		entry.ino = gate_fs_number(node);
		p->known[p->n_known++] = node;
	} else {
		entry.attr = (struct stat){.st_ino = e->d_ino, .st_mode = DTTOIF(e->d_type)};
	}
	gate_fs_show(&entry.attr);
	p->used += fuse_add_direntry_plus(p->req, p->room + p->used, n, e->d_name, &entry, next);
	return true;
}

static bool add_name(struct page *p, const struct dirent *e, off_t next)
{
	const struct stat st = {.st_ino = e->d_ino, .st_mode = gate_fs_mode(DTTOIF(e->d_type))};
	size_t n = fuse_add_direntry(p->req, p->room + p->used, p->size - p->used, e->d_name, &st,
				     next);

	if (n > p->size - p->used)
		return false;
	p->used += n;
	return true;
}

static bool add(struct page *p, const struct listing *l, const struct dirent *e)
{
	return p->known ? add_known(p, dirfd(l->dir), e, telldir(l->dir))
			: add_name(p, e, telldir(l->dir));
}

static void fill(struct page *p, struct listing *l)
{
	char path[PATH_MAX + NAME_MAX + 2];
	struct dirent *e;

	while ((e = l->kept ? l->kept : readdir(l->dir))) {
		l->kept = NULL;
		snprintf(path, sizeof(path), "%s/%s", l->path, e->d_name);
		if (gate_fs_hides(p->fs->server, path))
			continue;
		if (!add(p, l, e)) {
			l->kept = e;
			return;
		}
		l->at = telldir(l->dir);
	}
}

static void list(struct page *p, off_t at, const struct fuse_file_info *file)
{
	struct listing *l = listing_of(file);

	p->room = xmalloc(p->size);
	if (at != l->at) {
		seekdir(l->dir, at);
		l->kept = NULL;
		l->at = at;
	}
	fill(p, l);
	if (fuse_reply_buf(p->req, p->room, p->used) < 0)
		while (p->n_known)
			gate_node_forget(&p->fs->tree, p->known[--p->n_known], 1);
	free(p->room);
	free(p->known);
}

void gate_list_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		    struct fuse_file_info *file)
{
	struct page p = {.req = req, .fs = gate_fs_of(req), .size = MIN(size, (size_t)READ_MAX)};

	(void)ino;
	list(&p, at, file);
}

void gate_list_read_plus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
			 struct fuse_file_info *file)
{
	struct page p = {.req = req, .fs = gate_fs_of(req), .size = MIN(size, (size_t)READ_MAX)};
	size_t least = fuse_add_direntry_plus(req, NULL, 0, "x", NULL, 0);

	p.dir = gate_fs_node(p.fs, ino);
	p.known = xcalloc(p.size / least + 1, sizeof(struct gate_node *));
	list(&p, at, file);
}

void gate_list_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
	struct listing *l = listing_of(file);

	(void)ino;
	closedir(l->dir);
	free(l);
	fuse_reply_err(req, 0);
}
