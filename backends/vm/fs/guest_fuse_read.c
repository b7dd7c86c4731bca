/* guest_fuse_read - FUSE messages that read, and messages about open files. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "backends/vm/fs/guest_fuse_priv.h"

/* ---- names and attributes -------------------------------------------------------------------- */

void guest_fuse_lookup(struct fuse_req *r)
{
	struct fs_node *n;
	struct stat st;
	int got = fs_lookup(r->tree, r->node, r->name[0], &n, &st);

	if (got == 0) {
		guest_fuse_reply_entry(r, n, &st);
	} else if (got == -ENOENT) { /* node 0: the guest caches that the name does not exist */
		const struct fuse_entry_out none = {.entry_valid = FUSE_VALID_S};

		guest_fuse_reply(r, &none, sizeof(none));
	} else {
		guest_fuse_reply_err(r, got);
	}
}

void guest_fuse_getattr(struct fuse_req *r)
{
	struct stat st;
	int got = fs_getattr(r->tree, r->node, &st);

	if (got < 0)
		guest_fuse_reply_err(r, got);
	else
		guest_fuse_reply_attr(r, &st);
}

void guest_fuse_readlink(struct fuse_req *r)
{
	char target[PATH_MAX];
	ssize_t len = fs_readlink(r->tree, r->node, target, sizeof(target));

	if (len < 0)
		guest_fuse_reply_err(r, (int)len);
	else
		guest_fuse_reply(r, target, (size_t)len);
}

void guest_fuse_statfs(struct fuse_req *r)
{
	struct fuse_statfs_out out = {0};
	struct statfs fs;

	if (fstatfs(fs_node_fd(&r->tree->nodes, r->node), &fs) < 0) {
		guest_fuse_reply_err(r, -errno);
		return;
	}
	out.st = (struct fuse_kstatfs){.blocks = fs.f_blocks,
				       .bfree = fs.f_bfree,
				       .bavail = fs.f_bavail,
				       .files = fs.f_files,
				       .ffree = fs.f_ffree,
				       .bsize = (uint32_t)fs.f_bsize,
				       .namelen = (uint32_t)fs.f_namelen,
				       .frsize = (uint32_t)fs.f_frsize};
	guest_fuse_reply(r, &out, sizeof(out));
}

/* ---- directories ----------------------------------------------------------------------------- */

/* Opens the node for reading here, or asks the keeper whether it may be read. */
void guest_fuse_open_native(struct fuse_req *r)
{
	struct fs_note_parts p = {0};
	struct fuse_open_out out = {0};
	struct fs_handle *h;
	char path[PATH_MAX];
	int got = fs_may_read(r->tree, r->node, path);

	if (got == 1) {
		struct fs_note *n = fs_note_begin(r->tree->view->channel);

		n->what = FS_READ;
		n->share = r->tree->share;
		p.text = path;
		guest_fuse_ask(r, r->node, &p, 0);
		return;
	}
	if (got == 0)
		got = fs_open_native(r->tree, r->node);
	if (got < 0) {
		guest_fuse_reply_err(r, got);
		return;
	}
	h = fs_handle_new(&r->tree->handles, r->node->id, got);
	if (!h) {
		guest_fuse_reply_err(r, -ENFILE);
		return;
	}
	h->dir = S_ISDIR(r->node->type);
	out.fh = h->id;
	out.open_flags = h->dir ? 0 : guest_fuse_open_flags(r->node);
	guest_fuse_reply(r, &out, sizeof(out));
}

void guest_fuse_opendir(struct fuse_req *r)
{
	if (S_ISDIR(r->node->type))
		guest_fuse_open_native(r);
	else
		guest_fuse_reply_err(r, -ENOTDIR);
}

struct listing {
	struct fuse_req *r;
	bool plus;
	size_t len, room;
	char data[FS_VALUE_MAX];
};

/* Fills in an entry's attributes. "." and "..", and files that have been removed, have none. */
static void fill_plus(struct fuse_req *r, const char *name, struct fuse_entry_out *e)
{
	struct fs_node *n;
	struct stat st;

	memset(e, 0, sizeof(*e));
	if (str_eq(name, ".") || str_eq(name, ".."))
		return;
	if (fs_lookup(r->tree, r->node, name, &n, &st) == 0)
		guest_fuse_fill_entry(r->tree, e, n, &st);
}

static bool add_entry(void *data, const struct fs_dirent *d)
{
	struct listing *l = data;
	size_t name_len = strlen(d->name), head = FUSE_NAME_OFFSET, size;
	const struct fuse_dirent e = {
		.ino = d->ino, .off = d->next, .namelen = (uint32_t)name_len, .type = d->type};
	char *at = l->data + l->len;

	if (l->plus)
		head = FUSE_NAME_OFFSET_DIRENTPLUS;
	size = FUSE_DIRENT_ALIGN(head + name_len);
	if (size > l->room - l->len)
		return false;
	memset(at, 0, size);
	if (l->plus) {
		struct fuse_direntplus plus;

		fill_plus(l->r, d->name, &plus.entry_out);
		plus.dirent = e;
		memcpy(at, &plus, FUSE_NAME_OFFSET_DIRENTPLUS);
	} else {
		memcpy(at, &e, FUSE_NAME_OFFSET);
	}
	memcpy(at + head, d->name, name_len);
	l->len += size;
	return true;
}

static void list(struct fuse_req *r, bool plus)
{
	static struct listing l; /* of the server's one thread */
	const struct fuse_read_in *in = r->arg;
	const struct fs_handle *h = guest_fuse_handle(r, in->fh, true);
	int got;

	if (!h)
		return;
	l.r = r;
	l.plus = plus;
	l.len = 0;
	l.room = MIN(r->io->out_len - sizeof(struct fuse_out_header), sizeof(l.data));
	l.room = MIN(l.room, (size_t)in->size);
	got = fs_readdir(r->tree, h, in->offset, add_entry, &l);
	if (got < 0 && l.len == 0)
		guest_fuse_reply_err(r, got);
	else
		guest_fuse_reply(r, l.data, l.len);
}

void guest_fuse_readdir(struct fuse_req *r)
{
	list(r, false);
}

void guest_fuse_readdirplus(struct fuse_req *r)
{
	list(r, true);
}

static void release(struct fuse_req *r, bool dir)
{
	const struct fuse_release_in *in = r->arg;
	const struct fs_handle *h = guest_fuse_handle(r, in->fh, dir);
	bool unnamed = h && h->unnamed;

	if (!h)
		return;
	fs_handle_free(&r->tree->handles, in->fh);
	if (unnamed)
		fs_closed_unnamed(r->tree, r->node);
	guest_fuse_reply_err(r, 0);
}

void guest_fuse_release(struct fuse_req *r)
{
	release(r, false);
}

void guest_fuse_releasedir(struct fuse_req *r)
{
	release(r, true);
}

/* ---- content --------------------------------------------------------------------------------- */

void guest_fuse_read(struct fuse_req *r)
{
	static struct iovec piece[FUSE_PIECES];
	const struct fuse_read_in *in = r->arg;
	const struct fs_handle *h = guest_fuse_handle(r, in->fh, false);
	struct fuse_out_header out = {.unique = r->h.unique};
	struct fuse_io *io = r->io;
	size_t n;
	ssize_t got;

	if (!h)
		return;
	n = iov_slice(io->out, io->n_out, sizeof(out), in->size, piece, FUSE_PIECES);
	got = n ? preadv(h->fd, piece, (int)n, (off_t)in->offset) : 0;
	if (got < 0) {
		guest_fuse_reply_err(r, -errno);
		return;
	}
	out.len = (uint32_t)(sizeof(out) + (size_t)got);
	r->io = NULL;
	io->reply(io, &out, sizeof(out), (size_t)got);
}

/* Records the attributes after the guest's own write, so that they do not count as an external
 * edit. */
static void tell_own(struct fuse_req *r)
{
	struct stat st;

	fs_getattr(r->tree, r->node, &st);
}

/* Returns the handle if the keeper opened it for writing. Else answers and returns NULL. */
static const struct fs_handle *writable(struct fuse_req *r, uint64_t fh)
{
	const struct fs_handle *h = guest_fuse_handle(r, fh, false);

	if (!h || h->writes)
		return h;
	guest_fuse_reply_err(r, -EBADF);
	return NULL;
}

void guest_fuse_write(struct fuse_req *r)
{
	static struct iovec piece[FUSE_PIECES];
	const struct fuse_write_in *in = r->arg;
	const struct fs_handle *h = writable(r, in->fh);
	const size_t head = sizeof(r->h) + sizeof(*in);
	struct fuse_write_out out = {0};
	size_t n;
	ssize_t got;

	if (!h)
		return;
	if (in->size > r->h.len - head || in->size > FUSE_WRITE_MAX) {
		guest_fuse_reply_err(r, -EINVAL);
		return;
	}
	n = iov_slice(r->io->in, r->io->n_in, head, in->size, piece, FUSE_PIECES);
	got = n ? pwritev(h->fd, piece, (int)n, (off_t)in->offset) : 0;
	if (got < 0) {
		guest_fuse_reply_err(r, -errno);
		return;
	}
	tell_own(r);
	out.size = (uint32_t)got;
	guest_fuse_reply(r, &out, sizeof(out));
}

static void sync_handle(struct fuse_req *r, bool dir)
{
	const struct fuse_fsync_in *in = r->arg;
	const struct fs_handle *h = guest_fuse_handle(r, in->fh, dir);

	if (!h)
		return;
	guest_fuse_reply_err(r, (in->fsync_flags & 1 ? fdatasync(h->fd) : fsync(h->fd)) < 0 ? -errno
											    : 0);
}

void guest_fuse_fsync(struct fuse_req *r)
{
	sync_handle(r, false);
}

void guest_fuse_fsyncdir(struct fuse_req *r)
{
	sync_handle(r, true);
}

void guest_fuse_lseek(struct fuse_req *r)
{
	const struct fuse_lseek_in *in = r->arg;
	const struct fs_handle *h = guest_fuse_handle(r, in->fh, false);
	struct fuse_lseek_out out;
	off_t at;

	if (!h)
		return;
	if (in->whence != SEEK_DATA && in->whence != SEEK_HOLE) {
		guest_fuse_reply_err(r, -EINVAL);
		return;
	}
	at = lseek(h->fd, (off_t)in->offset, (int)in->whence);
	if (at < 0) {
		guest_fuse_reply_err(r, -errno);
		return;
	}
	out.offset = (uint64_t)at;
	guest_fuse_reply(r, &out, sizeof(out));
}

void guest_fuse_fallocate(struct fuse_req *r)
{
	const struct fuse_fallocate_in *in = r->arg;
	const struct fs_handle *h = writable(r, in->fh);
	int got;

	if (!h)
		return;
	got = fallocate(h->fd, (int)in->mode, (off_t)in->offset, (off_t)in->length) < 0 ? -errno
											: 0;
	if (got == 0)
		tell_own(r);
	guest_fuse_reply_err(r, got);
}

void guest_fuse_copy_range(struct fuse_req *r)
{
	const struct fuse_copy_file_range_in *in = r->arg;
	const struct fs_handle *from = guest_fuse_handle(r, in->fh_in, false), *to;
	off_t at = (off_t)in->off_in, to_at = (off_t)in->off_out;
	struct fuse_write_out out = {0};
	struct fs_node *node;
	struct stat st;
	ssize_t got;

	if (!from)
		return;
	to = fs_handle_get(&r->tree->handles, in->fh_out);
	node = fs_node_get(&r->tree->nodes, in->nodeid_out);
	if (!to || !node || to->node != in->nodeid_out || to->dir || !to->writes) {
		guest_fuse_reply_err(r, -EBADF);
		return;
	}
	if (in->flags) {
		guest_fuse_reply_err(r, -EINVAL);
		return;
	}
	/* Copy a bounded piece: the guest asks again for the rest. */
	got = copy_file_range(from->fd, &at, to->fd, &to_at,
			      MIN(in->len, (uint64_t)16 * FUSE_WRITE_MAX), 0);
	if (got < 0) {
		guest_fuse_reply_err(r, -errno);
		return;
	}
	fs_getattr(r->tree, node, &st);
	out.size = (uint32_t)got;
	guest_fuse_reply(r, &out, sizeof(out));
}

/* ---- extended attributes --------------------------------------------------------------------- */

static void reply_xattr(struct fuse_req *r, uint32_t size, const void *value, ssize_t got)
{
	const struct fuse_getxattr_out out = {.size = (uint32_t)MAX(got, 0)};

	if (got < 0)
		guest_fuse_reply_err(r, (int)got);
	else if (size == 0)
		guest_fuse_reply(r, &out, sizeof(out));
	else if ((size_t)got > size)
		guest_fuse_reply_err(r, -ERANGE);
	else
		guest_fuse_reply(r, value, (size_t)got);
}

/* The buffer fits any value: the guest's kernel has the same limit. Attributes of a symbolic link
 * cannot be read by descriptor. */
void guest_fuse_getxattr(struct fuse_req *r)
{
	static char value[FS_VALUE_MAX];
	const struct fuse_getxattr_in *in = r->arg;
	char link[32];
	ssize_t got = 0;

	if (strlen(r->name[0]) > XATTR_NAME_MAX || r->name[0][0] == '\0') {
		guest_fuse_reply_err(r, -ERANGE);
		return;
	}
	if (r->node->closed || S_ISLNK(r->node->type)) {
		guest_fuse_reply_err(r, -ENODATA);
		return;
	}
	got = fs_node_link(r->tree, r->node, link);
	if (got == 0) {
		got = getxattr(link, r->name[0], value, sizeof(value));
		got = got < 0 ? -errno : got;
	}
	reply_xattr(r, in->size, value, got);
}

void guest_fuse_listxattr(struct fuse_req *r)
{
	static char value[FS_VALUE_MAX];
	const struct fuse_getxattr_in *in = r->arg;
	char link[32];
	ssize_t got = 0;

	if (!r->node->closed && !S_ISLNK(r->node->type)) {
		got = fs_node_link(r->tree, r->node, link);
		if (got == 0) {
			got = listxattr(link, value, sizeof(value));
			got = got < 0 ? -errno : got;
		}
	}
	reply_xattr(r, in->size, value, got);
}
