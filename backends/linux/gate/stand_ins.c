/* stand_ins - empty files and directories over hidden ones of working folders, to report opens. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backends/linux/gate/gate_fuse.h"

/*
 * A directory with one file or directory for each hidden path, named by its number in the plan. The
 * builder has covered each path by an empty, unreadable file or directory, and binds the stand-in
 * over that; then it unmounts this directory. Stand-ins look the same, but no open succeeds, a
 * directory has no entries, and no file of the host is opened.
 */
#define FIRST	 (FUSE_ROOT_ID + 1)
#define BELIEVED 3600.0
#define EMPTY	 40 /* the size of an empty directory of a tmpfs */

static const struct plan *plan_of(fuse_req_t req)
{
	const struct gate_fs *fs = fuse_req_userdata(req);

	return fs->server->plan;
}

/* Returns NULL for the root, and for unknown numbers. */
static const struct plan_stand_in *stand_in_of(fuse_req_t req, fuse_ino_t ino)
{
	const struct plan *p = plan_of(req);

	return ino >= FIRST && ino - FIRST < p->n_stand_ins ? &p->stand_ins[ino - FIRST] : NULL;
}

static struct stat look_of(fuse_req_t req, fuse_ino_t ino)
{
	const struct plan_stand_in *s = stand_in_of(req, ino);
	bool dir = !s || s->dir;

	return (struct stat){.st_ino = ino,
			     .st_mode = (dir ? S_IFDIR : S_IFREG) | (s ? 0 : 0555),
			     .st_nlink = dir ? 2 : 1,
			     .st_size = dir ? EMPTY : 0,
			     .st_uid = geteuid(),
			     .st_gid = getegid()};
}

/* Refuses the open, and reports it to the keeper, whatever the keeper answers. */
static void refuse(fuse_req_t req, fuse_ino_t ino, const struct fuse_file_info *file)
{
	const struct plan_stand_in *s = stand_in_of(req, ino);
	const struct gate_open o = {.fs = fuse_req_userdata(req),
				    .req = req,
				    .ino = ino,
				    .file = file ? *file : (struct fuse_file_info){0},
				    .fd = -1,
				    .withheld = true};

	if (s)
		gate_hold(&o, s->path);
	else
		fuse_reply_err(req, EACCES);
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = {.attr_timeout = BELIEVED, .entry_timeout = BELIEVED};
	size_t len = strspn(name, "0123456789");
	unsigned long n = len && len < 10 && !name[len] ? strtoul(name, NULL, 10) : SIZE_MAX;

	if (parent != FUSE_ROOT_ID) {
		refuse(req, parent, NULL);
		return;
	}
	if (n >= plan_of(req)->n_stand_ins) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	e.ino = FIRST + n;
	e.attr = look_of(req, e.ino);
	fuse_reply_entry(req, &e);
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
	const struct stat st = look_of(req, ino);

	(void)file;
	fuse_reply_attr(req, &st, BELIEVED);
}

static void on_access(fuse_req_t req, fuse_ino_t ino, int mask)
{
	(void)mask;
	fuse_reply_err(req, ino == FUSE_ROOT_ID ? 0 : EACCES);
}

static void on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
	refuse(req, ino, file);
}

const struct fuse_lowlevel_ops stand_in_ops = {
	.init = gate_fs_on_init,
	.lookup = on_lookup,
	.getattr = on_getattr,
	.access = on_access,
	.open = on_open,
	.opendir = on_open,
};
