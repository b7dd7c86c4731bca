/* stand_ins - empty files over hidden ones of working folders: their opens are heard of. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backends/linux/gate/gate_fuse.h"

/*
 * A directory with a file for each hidden path, by its number in the plan; the builder binds each
 * over an empty, unreadable file that covers the path anyway, and takes the directory away. They
 * look as those do. No open succeeds, and nothing of the host is opened.
 */
#define FIRST	 (FUSE_ROOT_ID + 1)
#define BELIEVED 3600.0

static const struct plan *plan_of(fuse_req_t req)
{
	const struct gate_fs *fs = fuse_req_userdata(req);

	return fs->server->plan;
}

static struct stat look_of(fuse_ino_t ino)
{
	return (struct stat){.st_ino = ino,
			     .st_mode = ino == FUSE_ROOT_ID ? S_IFDIR | 0555 : S_IFREG,
			     .st_nlink = 1,
			     .st_uid = geteuid(),
			     .st_gid = getegid()};
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = {.attr_timeout = BELIEVED, .entry_timeout = BELIEVED};
	size_t len = strspn(name, "0123456789");
	unsigned long n = len && len < 10 && !name[len] ? strtoul(name, NULL, 10) : SIZE_MAX;

	if (parent != FUSE_ROOT_ID || n >= plan_of(req)->n_stand_ins) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	e.ino = FIRST + n;
	e.attr = look_of(e.ino);
	fuse_reply_entry(req, &e);
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
	const struct stat st = look_of(ino);

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
	const struct gate_open o = {.fs = fuse_req_userdata(req),
				    .req = req,
				    .ino = ino,
				    .file = *file,
				    .fd = -1,
				    .withheld = true};

	if (ino < FIRST || ino - FIRST >= plan_of(req)->n_stand_ins)
		fuse_reply_err(req, EACCES);
	else
		gate_hold(&o, plan_of(req)->stand_ins[ino - FIRST]);
}

const struct fuse_lowlevel_ops stand_in_ops = {
	.init = gate_fs_on_init,
	.lookup = on_lookup,
	.getattr = on_getattr,
	.access = on_access,
	.open = on_open,
};
