/* p9_change - 9P messages that open or change something: each change is a question to the keeper.
 */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "backends/vm/fs/p9_priv.h"

/* The same numbers on the wire as on this host, on every architecture. */
#define OPEN_FLAGS (O_ACCMODE | O_APPEND | O_TRUNC | O_EXCL)

struct change {
	struct fs_note *note;
	struct fs_note_parts part;
	struct fs_where where[2];
};

static struct change *begin(struct p9_req *r, enum fs_what what, const struct p9_fid *f)
{
	static struct change c; /* of the server's one thread */

	memset(&c.part, 0, sizeof(c.part));
	c.note = fs_note_begin(r->tree->view->channel);
	c.note->what = what;
	c.note->share = r->tree->share;
	c.note->uid = f->uid;
	c.note->gid = (uint32_t)-1;
	return &c;
}

static int name_place(struct p9_req *r, struct change *c, int i, struct fs_node *dir,
		      const char *name)
{
	c->part.dir[i] = c->where[i].dir;
	c->part.name[i] = c->where[i].name;
	return fs_spot_name(r->tree, dir, name, &c->note->spot[i], &c->where[i]);
}

static int object_place(struct p9_req *r, struct change *c, int i, struct fs_node *n)
{
	c->part.dir[i] = c->where[i].dir;
	c->part.name[i] = c->where[i].name;
	return fs_spot_object(r->tree, n, &c->note->spot[i], &c->where[i]);
}

/* The same for its attributes: it needs no name. */
static int itself_place(struct p9_req *r, struct change *c, struct fs_node *n)
{
	c->part.dir[0] = c->where[0].dir;
	c->part.name[0] = c->where[0].name;
	return fs_spot_itself(r->tree, n, &c->note->spot[0], &c->where[0]);
}

static void send_change(struct p9_req *r, struct change *c, int got, const struct p9_fid *f)
{
	if (got < 0)
		p9_reply_err(r, got);
	else
		p9_ask(r, f, f->node, &c->part, c->note->flags);
}

/* A fid of the message. */
static struct p9_fid *fid(struct p9_req *r)
{
	return p9_fid_get(r->s, p9_u32(&r->in));
}

/* All of it was there, and the fids are known; else answers. */
static bool ready(struct p9_req *r, const struct p9_fid *a, const struct p9_fid *b)
{
	if (a && b && !r->in.bad)
		return true;
	p9_reply_err(r, r->in.bad ? -EINVAL : -EBADF);
	return false;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void open_to_read(struct p9_req *r, struct p9_fid *f)
{
	struct fs_note_parts p = {0};
	char path[PATH_MAX];
	struct buf *out;
	struct stat st;
	int got = fs_may_read(r->tree, f->node, path);

	if (got == 1) {
		struct change *c = begin(r, FS_READ, f);

		p.text = path;
		p9_ask(r, f, f->node, &p, c->note->flags);
		return;
	}
	if (got == 0)
		got = fs_getattr(r->tree, f->node, &st);
	if (got == 0)
		got = fs_open_native(r->tree, f->node);
	if (got < 0) {
		p9_reply_err(r, got);
		return;
	}
	f->fd = got;
	f->use = S_ISDIR(f->node->type) ? P9_DIR : P9_FILE;
	out = p9_begin(r->s, r->type, r->tag);
	p9_put_qid(r->tree, out, &st);
	p9_put_u32(out, r->s->msize - 24);
	p9_end(r->s);
}

void p9_lopen(struct p9_req *r)
{
	struct p9_fid *f = fid(r);
	uint32_t flags = p9_u32(&r->in);
	struct change *c;
	int got;

	if (!ready(r, f, f))
		return;
	if (f->use != P9_NAME) {
		p9_reply_err(r, -EBADF);
		return;
	}
	if (S_ISDIR(f->node->type) || (flags & (O_ACCMODE | O_TRUNC)) == O_RDONLY) {
		if (S_ISDIR(f->node->type) && (flags & O_ACCMODE) != O_RDONLY)
			p9_reply_err(r, -EISDIR);
		else
			open_to_read(r, f);
		return;
	}
	c = begin(r, FS_OPEN, f);
	c->note->flags = flags & OPEN_FLAGS & ~(uint32_t)O_EXCL;
	got = S_ISREG(f->node->type) ? object_place(r, c, 0, f->node) : -ENXIO;
	send_change(r, c, got, f);
}

void p9_lcreate(struct p9_req *r)
{
	struct p9_fid *f = fid(r);
	char name[NAME_MAX + 1];
	uint32_t flags, mode, gid;
	struct change *c;

	p9_str(&r->in, name, sizeof(name));
	flags = p9_u32(&r->in);
	mode = p9_u32(&r->in);
	gid = p9_u32(&r->in);
	if (!ready(r, f, f))
		return;
	if (f->use != P9_NAME) {
		p9_reply_err(r, -EBADF);
		return;
	}
	c = begin(r, FS_CREATE, f);
	c->note->flags = flags & OPEN_FLAGS;
	c->note->mode = mode;
	c->note->gid = gid;
	send_change(r, c, name_place(r, c, 0, f->node, name), f);
}

/* ---- names ----------------------------------------------------------------------------------- */

void p9_symlink(struct p9_req *r)
{
	struct p9_fid *f = fid(r);
	char name[NAME_MAX + 1], target[PATH_MAX];
	struct change *c;
	uint32_t gid;

	p9_str(&r->in, name, sizeof(name));
	p9_str(&r->in, target, sizeof(target));
	gid = p9_u32(&r->in);
	if (!ready(r, f, f))
		return;
	c = begin(r, FS_SYMLINK, f);
	c->note->gid = gid;
	c->part.text = target;
	send_change(r, c, name_place(r, c, 0, f->node, name), f);
}

void p9_mknod(struct p9_req *r)
{
	struct p9_fid *f = fid(r);
	char name[NAME_MAX + 1];
	struct change *c;
	uint32_t mode, gid;

	p9_str(&r->in, name, sizeof(name));
	mode = p9_u32(&r->in);
	p9_u64(&r->in); /* major and minor: devices are not made */
	gid = p9_u32(&r->in);
	if (!ready(r, f, f))
		return;
	c = begin(r, FS_MKNOD, f);
	c->note->mode = mode;
	c->note->gid = gid;
	send_change(r, c, name_place(r, c, 0, f->node, name), f);
}

void p9_mkdir(struct p9_req *r)
{
	struct p9_fid *f = fid(r);
	char name[NAME_MAX + 1];
	struct change *c;
	uint32_t mode, gid;

	p9_str(&r->in, name, sizeof(name));
	mode = p9_u32(&r->in);
	gid = p9_u32(&r->in);
	if (!ready(r, f, f))
		return;
	c = begin(r, FS_MKDIR, f);
	c->note->mode = mode;
	c->note->gid = gid;
	send_change(r, c, name_place(r, c, 0, f->node, name), f);
}

void p9_link(struct p9_req *r)
{
	struct p9_fid *dir = fid(r), *f = fid(r);
	char name[NAME_MAX + 1];
	struct change *c;
	int got;

	p9_str(&r->in, name, sizeof(name));
	if (!ready(r, dir, f))
		return;
	c = begin(r, FS_LINK, dir);
	got = name_place(r, c, 0, dir->node, name);
	if (got == 0)
		got = object_place(r, c, 1, f->node);
	send_change(r, c, got, dir);
}

void p9_renameat(struct p9_req *r)
{
	struct p9_fid *from = fid(r), *to;
	char old[NAME_MAX + 1], new[NAME_MAX + 1];
	struct change *c;
	int got;

	p9_str(&r->in, old, sizeof(old));
	to = fid(r);
	p9_str(&r->in, new, sizeof(new));
	if (!ready(r, from, to))
		return;
	c = begin(r, FS_RENAME, from);
	got = name_place(r, c, 0, from->node, old);
	if (got == 0)
		got = name_place(r, c, 1, to->node, new);
	send_change(r, c, got, from);
}

void p9_rename(struct p9_req *r)
{
	struct p9_fid *f = fid(r), *to = fid(r);
	char name[NAME_MAX + 1];
	struct change *c;
	int got;

	p9_str(&r->in, name, sizeof(name));
	if (!ready(r, f, to))
		return;
	c = begin(r, FS_RENAME, f);
	got = f->node->id == FS_ROOT_ID ? -EBUSY : object_place(r, c, 0, f->node);
	if (got == 0)
		got = name_place(r, c, 1, to->node, name);
	send_change(r, c, got, f);
}

void p9_unlinkat(struct p9_req *r)
{
	struct p9_fid *f = fid(r);
	char name[NAME_MAX + 1];
	struct change *c;
	uint32_t flags;

	p9_str(&r->in, name, sizeof(name));
	flags = p9_u32(&r->in);
	if (!ready(r, f, f))
		return;
	if (flags & ~(uint32_t)AT_REMOVEDIR) {
		p9_reply_err(r, -EINVAL);
		return;
	}
	c = begin(r, flags ? FS_RMDIR : FS_UNLINK, f);
	send_change(r, c, name_place(r, c, 0, f->node, name), f);
}

/* The fid is gone whatever comes of it. */
void p9_remove(struct p9_req *r)
{
	struct p9_fid *f = fid(r);
	struct change *c;
	int got;

	if (!ready(r, f, f))
		return;
	c = begin(r, S_ISDIR(f->node->type) ? FS_RMDIR : FS_UNLINK, f);
	got = f->node->id == FS_ROOT_ID ? -EBUSY : object_place(r, c, 0, f->node);
	send_change(r, c, got, f);
	p9_fid_free(r->s, f);
}

/* ---- objects --------------------------------------------------------------------------------- */

enum { /* of Tsetattr */
	SET_MODE = 1 << 0,
	SET_UID = 1 << 1,
	SET_GID = 1 << 2,
	SET_SIZE = 1 << 3,
	SET_ATIME = 1 << 4,
	SET_MTIME = 1 << 5,
	SET_ATIME_VALUE = 1 << 7, /* else now */
	SET_MTIME_VALUE = 1 << 8,
};

static struct fs_time to_time(struct p9_req *r, bool set, bool value)
{
	struct fs_time t = {.sec = (int64_t)p9_u64(&r->in), .nsec = p9_u64(&r->in)};

	if (!set)
		return (struct fs_time){.nsec = UTIME_OMIT};
	return value ? t : (struct fs_time){.nsec = UTIME_NOW};
}

void p9_setattr(struct p9_req *r)
{
	struct p9_fid *f = fid(r);
	const uint32_t valid = p9_u32(&r->in), mode = p9_u32(&r->in), uid = p9_u32(&r->in),
		       gid = p9_u32(&r->in);
	const uint64_t size = p9_u64(&r->in);
	const struct fs_time atime = to_time(r, valid & SET_ATIME, valid & SET_ATIME_VALUE),
			     mtime = to_time(r, valid & SET_MTIME, valid & SET_MTIME_VALUE);
	struct change *c;

	if (!ready(r, f, f))
		return;
	c = begin(r, FS_SETATTR, f);
	c->note->mode = mode;
	c->note->uid = valid & SET_UID ? uid : (uint32_t)-1;
	c->note->gid = valid & SET_GID ? gid : (uint32_t)-1;
	c->note->size = size;
	c->note->times[0] = atime;
	c->note->times[1] = mtime;
	c->note->set = (valid & SET_MODE ? FS_SET_MODE : 0) |
		       (valid & (SET_UID | SET_GID) ? FS_SET_OWNER : 0) |
		       (valid & SET_SIZE ? FS_SET_SIZE : 0) |
		       (valid & (SET_ATIME | SET_MTIME) ? FS_SET_TIMES : 0);
	if (!c->note->set)
		p9_reply_err(r, 0);
	else
		send_change(r, c, itself_place(r, c, f->node), f);
}

void p9_xattrwalk(struct p9_req *r)
{
	static char value[FS_VALUE_MAX];
	struct p9_fid *f = fid(r), *to;
	uint32_t number = p9_u32(&r->in);
	char name[NAME_MAX + 1], link[32];
	ssize_t n = 0;

	p9_str(&r->in, name, sizeof(name));
	if (!ready(r, f, f))
		return;
	if (f->node->closed || S_ISLNK(f->node->type)) {
		n = *name ? -ENODATA : 0;
	} else {
		n = fs_node_link(r->tree, f->node, link);
		if (n == 0) {
			n = *name ? getxattr(link, name, value, sizeof(value))
				  : listxattr(link, value, sizeof(value));
			n = n < 0 ? -errno : n;
		}
	}
	to = n < 0 ? NULL : p9_fid_new(r->s, number, f->node, f->uid);
	if (!to) {
		p9_reply_err(r, n < 0 ? (int)n : -EBADF);
		return;
	}
	if (!p9_fid_set_value(r->s, to, P9_XATTR)) {
		p9_fid_free(r->s, to);
		p9_reply_err(r, -EMFILE);
		return;
	}
	buf_add(&to->value, value, (size_t)n);
	p9_put_u64(p9_begin(r->s, r->type, r->tag), (uint64_t)n);
	p9_end(r->s);
}

void p9_xattrcreate(struct p9_req *r)
{
	struct p9_fid *f = fid(r);
	char name[NAME_MAX + 1];
	uint64_t size;
	uint32_t flags;

	p9_str(&r->in, name, sizeof(name));
	size = p9_u64(&r->in);
	flags = p9_u32(&r->in);
	if (!ready(r, f, f))
		return;
	if (f->use != P9_NAME || !*name || size > FS_VALUE_MAX ||
	    flags & ~(uint32_t)(XATTR_CREATE | XATTR_REPLACE)) {
		p9_reply_err(r, f->use != P9_NAME     ? -EBADF
				: size > FS_VALUE_MAX ? -E2BIG
						      : -EINVAL);
		return;
	}
	if (!p9_fid_set_value(r->s, f, P9_XATTR_WRITE)) {
		p9_reply_err(r, -EMFILE);
		return;
	}
	f->size = size;
	f->flags = flags;
	snprintf(f->name, sizeof(f->name), "%s", name);
	p9_reply_err(r, 0);
}

/* Linux says with an empty value that it is to go, if it must be there. */
bool p9_xattr_set(struct p9_req *r, struct p9_fid *f)
{
	bool removes = f->size == 0 && f->flags == XATTR_REPLACE;
	struct change *c;
	int got;

	if (f->value.len != f->size) {
		p9_reply_err(r, -EINVAL);
		return true;
	}
	c = begin(r, removes ? FS_REMOVEXATTR : FS_SETXATTR, f);
	c->note->flags = f->flags;
	c->note->value_len = (uint32_t)f->value.len;
	c->part.text = f->name;
	c->part.value = f->value.data;
	got = itself_place(r, c, f->node);
	send_change(r, c, got, f);
	return true;
}
