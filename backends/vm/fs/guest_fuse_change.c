/* guest_fuse_change - FUSE messages that change something: each asks the keeper. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "backends/vm/fs/guest_fuse_priv.h"

/* A message under construction. */
struct change {
	struct fs_note *note;
	struct fs_note_parts part;
	struct fs_where where[2];
};

static struct change *begin(struct fuse_req *r, enum fs_what what)
{
	static struct change c; /* of the server's one thread */

	memset(&c.part, 0, sizeof(c.part));
	c.note = fs_note_begin(r->tree->view->channel);
	c.note->what = what;
	c.note->share = r->tree->share;
	c.note->uid = r->h.uid;
	c.note->gid = r->h.gid;
	c.note->tid = r->h.pid;
	return &c;
}

static int name_place(struct fuse_req *r, struct change *c, int i, struct fs_node *dir,
		      const char *name)
{
	c->part.dir[i] = c->where[i].dir;
	c->part.name[i] = c->where[i].name;
	return fs_spot_name(r->tree, dir, name, &c->note->spot[i], &c->where[i]);
}

static int object_place(struct fuse_req *r, struct change *c, int i, struct fs_node *n)
{
	c->part.dir[i] = c->where[i].dir;
	c->part.name[i] = c->where[i].name;
	return fs_spot_object(r->tree, n, &c->note->spot[i], &c->where[i]);
}

/* Fills in the node's place for a change of attributes, which needs no name. */
static int itself_place(struct fuse_req *r, struct change *c, struct fs_node *n)
{
	c->part.dir[0] = c->where[0].dir;
	c->part.name[0] = c->where[0].name;
	return fs_spot_itself(r->tree, n, &c->note->spot[0], &c->where[0]);
}

static void send(struct fuse_req *r, struct change *c, int got, struct fs_node *node)
{
	if (got < 0)
		guest_fuse_reply_err(r, got);
	else
		guest_fuse_ask(r, node, &c->part, c->note->flags);
}

/* ---- new names ------------------------------------------------------------------------------- */

void guest_fuse_create(struct fuse_req *r)
{
	const struct fuse_create_in *in = r->arg;
	struct change *c = begin(r, FS_CREATE);
	int got = name_place(r, c, 0, r->node, r->name[0]);

	c->note->flags = in->flags;
	c->note->mode = in->mode;
	c->note->umask = in->umask;
	c->note->set = in->open_flags & FUSE_OPEN_KILL_SUIDGID ? FS_SET_PLAIN : 0;
	send(r, c, got, r->node);
}

void guest_fuse_mknod(struct fuse_req *r)
{
	const struct fuse_mknod_in *in = r->arg;
	struct change *c = begin(r, FS_MKNOD);
	int got = name_place(r, c, 0, r->node, r->name[0]);

	c->note->mode = in->mode;
	c->note->umask = in->umask;
	send(r, c, got, r->node);
}

void guest_fuse_mkdir(struct fuse_req *r)
{
	const struct fuse_mkdir_in *in = r->arg;
	struct change *c = begin(r, FS_MKDIR);
	int got = name_place(r, c, 0, r->node, r->name[0]);

	c->note->mode = in->mode;
	c->note->umask = in->umask;
	send(r, c, got, r->node);
}

void guest_fuse_symlink(struct fuse_req *r)
{
	struct change *c = begin(r, FS_SYMLINK);
	int got = name_place(r, c, 0, r->node, r->name[0]);

	c->part.text = r->name[1];
	if (got == 0 && strlen(r->name[1]) >= PATH_MAX)
		got = -ENAMETOOLONG;
	send(r, c, got, r->node);
}

void guest_fuse_link(struct fuse_req *r)
{
	const struct fuse_link_in *in = r->arg;
	struct fs_node *from = fs_node_get(&r->tree->nodes, in->oldnodeid);
	struct change *c = begin(r, FS_LINK);
	int got = from ? name_place(r, c, 0, r->node, r->name[0]) : -ESTALE;

	if (got == 0)
		got = object_place(r, c, 1, from);
	send(r, c, got, r->node);
}

/* ---- removed and renamed names --------------------------------------------------------------- */

void guest_fuse_unlink(struct fuse_req *r)
{
	struct change *c = begin(r, FS_UNLINK);

	send(r, c, name_place(r, c, 0, r->node, r->name[0]), r->node);
}

void guest_fuse_rmdir(struct fuse_req *r)
{
	struct change *c = begin(r, FS_RMDIR);

	send(r, c, name_place(r, c, 0, r->node, r->name[0]), r->node);
}

static void rename_to(struct fuse_req *r, uint64_t newdir, uint32_t flags)
{
	struct fs_node *to = fs_node_get(&r->tree->nodes, newdir);
	struct change *c = begin(r, FS_RENAME);
	int got = to ? name_place(r, c, 0, r->node, r->name[0]) : -ESTALE;

	if (got == 0)
		got = name_place(r, c, 1, to, r->name[1]);
	c->note->flags = flags;
	send(r, c, got, r->node);
}

void guest_fuse_rename(struct fuse_req *r)
{
	rename_to(r, ((const struct fuse_rename_in *)r->arg)->newdir, 0);
}

void guest_fuse_rename2(struct fuse_req *r)
{
	const struct fuse_rename2_in *in = r->arg;

	rename_to(r, in->newdir, in->flags);
}

/* ---- objects --------------------------------------------------------------------------------- */

void guest_fuse_open(struct fuse_req *r)
{
	const struct fuse_open_in *in = r->arg;
	struct change *c;
	int got;

	if (!S_ISREG(r->node->type)) {
		guest_fuse_reply_err(r, S_ISDIR(r->node->type) ? -EISDIR : -ENXIO);
		return;
	}
	/* Without -ESTALE the guest would read new bytes only up to the old size. It now looks the
	 * name up and opens again. */
	if (fs_was_edited(r->tree, r->node)) {
		guest_fuse_reply_err(r, -ESTALE);
		return;
	}
	if ((in->flags & O_ACCMODE) == O_RDONLY && !(in->flags & O_TRUNC)) {
		guest_fuse_open_native(r);
		return;
	}
	c = begin(r, FS_OPEN);
	got = object_place(r, c, 0, r->node);
	c->note->flags = in->flags;
	c->note->set = in->open_flags & FUSE_OPEN_KILL_SUIDGID ? FS_SET_PLAIN : 0;
	send(r, c, got, r->node);
}

static struct fs_time to_time(uint64_t sec, uint32_t nsec, bool set, bool now)
{
	if (!set)
		return (struct fs_time){.nsec = UTIME_OMIT};
	if (now)
		return (struct fs_time){.nsec = UTIME_NOW};
	return (struct fs_time){.sec = (int64_t)sec, .nsec = nsec};
}

/*
 * Truncates a file that has no name, because it was removed while open or gets its name later. The
 * caller has it open for writing, by the keeper's descriptor. As for a write, no capture is needed.
 */
static bool change_removed(struct fuse_req *r, const struct fuse_setattr_in *in)
{
	const struct fs_handle *h = fs_handle_get(&r->tree->handles, in->fh);
	struct stat st;

	if (!(in->valid & FATTR_SIZE) || (in->valid & (FATTR_MODE | FATTR_UID | FATTR_GID)) ||
	    !(in->valid & FATTR_FH) || !h || h->node != r->h.nodeid || !h->writes ||
	    in->size > INT64_MAX)
		return false;
	if (ftruncate(h->fd, (off_t)in->size) < 0 || fs_getattr(r->tree, r->node, &st) < 0)
		guest_fuse_reply_err(r, -errno);
	else
		guest_fuse_reply_attr(r, &st);
	return true;
}

void guest_fuse_setattr(struct fuse_req *r)
{
	const struct fuse_setattr_in *in = r->arg;
	struct change *c = begin(r, FS_SETATTR);
	struct fs_note *n = c->note;
	struct stat st;
	int got = object_place(r, c, 0, r->node);

	if (got == -ESTALE && change_removed(r, in))
		return;
	if (got == -ESTALE)
		got = itself_place(r, c, r->node);
	n->uid = in->valid & FATTR_UID ? in->uid : (uint32_t)-1;
	n->gid = in->valid & FATTR_GID ? in->gid : (uint32_t)-1;
	n->mode = in->mode;
	n->size = in->size;
	n->times[0] = to_time(in->atime, in->atimensec, in->valid & FATTR_ATIME,
			      in->valid & FATTR_ATIME_NOW);
	n->times[1] = to_time(in->mtime, in->mtimensec, in->valid & FATTR_MTIME,
			      in->valid & FATTR_MTIME_NOW);
	n->set = (in->valid & FATTR_MODE ? FS_SET_MODE : 0) |
		 (in->valid & (FATTR_UID | FATTR_GID) ? FS_SET_OWNER : 0) |
		 (in->valid & FATTR_SIZE ? FS_SET_SIZE : 0) |
		 (in->valid & (FATTR_ATIME | FATTR_MTIME) ? FS_SET_TIMES : 0) |
		 (in->valid & FATTR_KILL_SUIDGID ? FS_SET_PLAIN : 0);
	if (n->set) {
		send(r, c, got, r->node);
		return;
	}
	got = fs_getattr(r->tree, r->node, &st);
	if (got < 0)
		guest_fuse_reply_err(r, got);
	else
		guest_fuse_reply_attr(r, &st);
}

void guest_fuse_setxattr(struct fuse_req *r)
{
	const struct fuse_setxattr_in *in = r->arg;
	struct change *c = begin(r, FS_SETXATTR);
	int got = itself_place(r, c, r->node);

	if (in->size > r->rest_len || in->size > FS_VALUE_MAX) {
		guest_fuse_reply_err(r, -EINVAL);
		return;
	}
	if (got == 0 && strlen(r->name[0]) > NAME_MAX)
		got = -ERANGE;
	c->note->flags = in->flags;
	c->note->value_len = in->size;
	c->part.text = r->name[0];
	c->part.value = r->rest;
	send(r, c, got, r->node);
}

void guest_fuse_removexattr(struct fuse_req *r)
{
	struct change *c = begin(r, FS_REMOVEXATTR);
	int got = itself_place(r, c, r->node);

	if (got == 0 && strlen(r->name[0]) > NAME_MAX)
		got = -ERANGE;
	c->part.text = r->name[0];
	send(r, c, got, r->node);
}
