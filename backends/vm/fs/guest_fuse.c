/* guest_fuse - serves the guest's FUSE messages from a share. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/guest_fuse.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "backends/vm/fs/guest_fuse_priv.h"

#define INIT_IN_MIN  16 /* the part of fuse_init_in that every version has */
#define MINOR_NEEDED 31 /* Linux 5.4, the first with virtio-fs */

/* ---- pieces of scattered memory -------------------------------------------------------------- */

size_t iov_slice(const struct iovec *v, size_t n, size_t at, size_t len, struct iovec *ret,
		 size_t max)
{
	size_t got = 0;

	for (size_t i = 0; i < n && len > 0 && got < max; i++) {
		size_t part;

		if (at >= v[i].iov_len) {
			at -= v[i].iov_len;
			continue;
		}
		part = MIN(v[i].iov_len - at, len);
		ret[got++] = (struct iovec){(char *)v[i].iov_base + at, part};
		len -= part;
		at = 0;
	}
	return got;
}

static size_t copy(const struct iovec *v, size_t n, size_t at, char *to, const char *from,
		   size_t len)
{
	size_t done = 0;

	for (size_t i = 0; i < n && done < len; i++) {
		size_t part;

		if (at >= v[i].iov_len) {
			at -= v[i].iov_len;
			continue;
		}
		part = MIN(v[i].iov_len - at, len - done);
		if (to)
			memcpy(to + done, (const char *)v[i].iov_base + at, part);
		else
			memcpy((char *)v[i].iov_base + at, from + done, part);
		done += part;
		at = 0;
	}
	return done;
}

size_t iov_read(const struct iovec *v, size_t n, size_t at, void *to, size_t len)
{
	return copy(v, n, at, to, NULL, len);
}

size_t iov_write(const struct iovec *v, size_t n, size_t at, const void *from, size_t len)
{
	return copy(v, n, at, NULL, from, len);
}

/* ---- answers --------------------------------------------------------------------------------- */

void guest_fuse_answer(struct fuse_io *io, uint64_t unique, int error, const void *data, size_t len)
{
	static struct {
		struct fuse_out_header h;
		char data[FS_VALUE_MAX];
	} out; /* of the server's one thread */

	if (error)
		len = 0;
	out.h = (struct fuse_out_header){
		.len = (uint32_t)(sizeof(out.h) + len), .error = error, .unique = unique};
	if (len)
		memcpy(out.data, data, len);
	io->reply(io, &out, sizeof(out.h) + len, 0);
}

void guest_fuse_reply_err(struct fuse_req *r, int error)
{
	guest_fuse_answer(take_ptr(&r->io), r->h.unique, error, NULL, 0);
}

void guest_fuse_reply(struct fuse_req *r, const void *data, size_t len)
{
	if (len > r->io->out_len - sizeof(struct fuse_out_header) || len > FS_VALUE_MAX)
		guest_fuse_reply_err(r, -EINVAL);
	else
		guest_fuse_answer(take_ptr(&r->io), r->h.unique, 0, data, len);
}

void guest_fuse_fill_attr(struct fs_tree *t, struct fuse_attr *a, const struct stat *st)
{
	*a = (struct fuse_attr){
		.ino = fs_ino(t, st),
		.size = (uint64_t)st->st_size,
		.blocks = (uint64_t)st->st_blocks,
		.atime = (uint64_t)st->st_atim.tv_sec,
		.mtime = (uint64_t)st->st_mtim.tv_sec,
		.ctime = (uint64_t)st->st_ctim.tv_sec,
		.atimensec = (uint32_t)st->st_atim.tv_nsec,
		.mtimensec = (uint32_t)st->st_mtim.tv_nsec,
		.ctimensec = (uint32_t)st->st_ctim.tv_nsec,
		.mode = st->st_mode,
		.nlink = (uint32_t)st->st_nlink,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.rdev = major(st->st_rdev) << 8 | (minor(st->st_rdev) & 0xff) |
			(minor(st->st_rdev) & 0xfff00) << 12, /* new_encode_dev() */
		.blksize = (uint32_t)st->st_blksize,
	};
}

void guest_fuse_fill_entry(struct fs_tree *t, struct fuse_entry_out *e, const struct fs_node *n,
			   const struct stat *st)
{
	*e = (struct fuse_entry_out){.nodeid = n->id,
				     .generation = n->id >> 32,
				     .entry_valid = FUSE_VALID_S,
				     .attr_valid = FUSE_VALID_S};
	guest_fuse_fill_attr(t, &e->attr, st);
}

void guest_fuse_reply_entry(struct fuse_req *r, struct fs_node *n, const struct stat *st)
{
	struct fuse_entry_out e;

	guest_fuse_fill_entry(r->tree, &e, n, st);
	if (sizeof(e) > r->io->out_len - sizeof(struct fuse_out_header))
		fs_node_forget(&r->tree->nodes, n->id, 1); /* the reply does not fit */
	guest_fuse_reply(r, &e, sizeof(e));
}

void guest_fuse_reply_attr(struct fuse_req *r, const struct stat *st)
{
	struct fuse_attr_out a = {.attr_valid = FUSE_VALID_S};

	guest_fuse_fill_attr(r->tree, &a.attr, st);
	guest_fuse_reply(r, &a, sizeof(a));
}

struct fs_handle *guest_fuse_handle(struct fuse_req *r, uint64_t fh, bool dir)
{
	struct fs_handle *h = fs_handle_get(&r->tree->handles, fh);

	if (h && h->dir == dir && h->node == r->h.nodeid)
		return h;
	guest_fuse_reply_err(r, -EBADF);
	return NULL;
}

/* ---- the session ----------------------------------------------------------------------------- */

/*
 * Answers INIT with flags that save round trips. FUSE_READDIRPLUS_AUTO would list a large directory
 * without attributes and then request them one by one. With FUSE_HANDLE_KILLPRIV_V2 the guest
 * requests no mode or capabilities before a write or chown; it says when to clear set-id bits. A
 * write clears them anyway, because this process has no capability.
 */
static void on_init(struct fuse_req *r)
{
	const uint32_t flags = FUSE_ASYNC_READ | FUSE_ATOMIC_O_TRUNC | FUSE_BIG_WRITES |
			       FUSE_DONT_MASK | FUSE_AUTO_INVAL_DATA | FUSE_DO_READDIRPLUS |
			       FUSE_ASYNC_DIO | FUSE_PARALLEL_DIROPS | FUSE_MAX_PAGES |
			       FUSE_HANDLE_KILLPRIV_V2;
	const struct fuse_init_in *in = r->arg;
	struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
				    .minor = FUSE_KERNEL_MINOR_VERSION,
				    .max_readahead = in->max_readahead,
				    .flags = in->flags & flags,
				    .max_background = 64,
				    .congestion_threshold = 48,
				    .max_write = FUSE_WRITE_MAX,
				    .time_gran = 1,
				    .max_pages = FUSE_WRITE_MAX / 4096};

	guest_fuse_reset(r->s);
	if (in->major == FUSE_KERNEL_VERSION && in->minor < MINOR_NEEDED) {
		guest_fuse_reply_err(r, -EPROTO);
		return;
	}
	r->s->ready = in->major == FUSE_KERNEL_VERSION; /* else INIT comes again */
	guest_fuse_reply(r, &out, sizeof(out));
}

static void on_destroy(struct fuse_req *r)
{
	guest_fuse_reset(r->s);
	r->s->ready = false;
	guest_fuse_reply_err(r, 0);
}

static void no_reply(struct fuse_req *r)
{
	struct fuse_io *io = take_ptr(&r->io);

	io->reply(io, NULL, 0, 0);
}

static void on_forget(struct fuse_req *r)
{
	const struct fuse_forget_in *in = r->arg;

	fs_node_forget(&r->tree->nodes, r->h.nodeid, in->nlookup);
	no_reply(r);
}

static void on_batch_forget(struct fuse_req *r)
{
	const struct fuse_batch_forget_in *in = r->arg;
	const size_t n = MIN((size_t)in->count, r->rest_len / sizeof(struct fuse_forget_one));

	for (size_t i = 0; i < n; i++) {
		struct fuse_forget_one one;

		memcpy(&one, r->rest + i * sizeof(one), sizeof(one));
		fs_node_forget(&r->tree->nodes, one.nodeid, one.nlookup);
	}
	no_reply(r);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum {
	NODE = 1 << 0,	/* h.nodeid must be known */
	EARLY = 1 << 1, /* may come before INIT */
	QUIET = 1 << 2, /* has no answer */
	BULK = 1 << 3,	/* data after the fixed part is not copied */
};

/* The parts of a message that load() checks before the handler runs. */
static const struct {
	uint16_t fixed; /* bytes of the fixed structure */
	uint8_t names;	/* strings after it */
	uint8_t flags;
	guest_fuse_handler handle;
} table[] = {
	[FUSE_LOOKUP] = {0, 1, NODE, guest_fuse_lookup},
	[FUSE_FORGET] = {sizeof(struct fuse_forget_in), 0, QUIET, on_forget},
	[FUSE_GETATTR] = {sizeof(struct fuse_getattr_in), 0, NODE, guest_fuse_getattr},
	[FUSE_SETATTR] = {sizeof(struct fuse_setattr_in), 0, NODE, guest_fuse_setattr},
	[FUSE_READLINK] = {0, 0, NODE, guest_fuse_readlink},
	[FUSE_SYMLINK] = {0, 2, NODE, guest_fuse_symlink},
	[FUSE_MKNOD] = {sizeof(struct fuse_mknod_in), 1, NODE, guest_fuse_mknod},
	[FUSE_MKDIR] = {sizeof(struct fuse_mkdir_in), 1, NODE, guest_fuse_mkdir},
	[FUSE_UNLINK] = {0, 1, NODE, guest_fuse_unlink},
	[FUSE_RMDIR] = {0, 1, NODE, guest_fuse_rmdir},
	[FUSE_RENAME] = {sizeof(struct fuse_rename_in), 2, NODE, guest_fuse_rename},
	[FUSE_LINK] = {sizeof(struct fuse_link_in), 1, NODE, guest_fuse_link},
	[FUSE_OPEN] = {sizeof(struct fuse_open_in), 0, NODE, guest_fuse_open},
	[FUSE_READ] = {sizeof(struct fuse_read_in), 0, NODE, guest_fuse_read},
	[FUSE_WRITE] = {sizeof(struct fuse_write_in), 0, NODE | BULK, guest_fuse_write},
	[FUSE_STATFS] = {0, 0, NODE, guest_fuse_statfs},
	[FUSE_RELEASE] = {sizeof(struct fuse_release_in), 0, NODE, guest_fuse_release},
	[FUSE_FSYNC] = {sizeof(struct fuse_fsync_in), 0, NODE, guest_fuse_fsync},
	[FUSE_SETXATTR] = {FUSE_COMPAT_SETXATTR_IN_SIZE, 1, NODE, guest_fuse_setxattr},
	[FUSE_GETXATTR] = {sizeof(struct fuse_getxattr_in), 1, NODE, guest_fuse_getxattr},
	[FUSE_LISTXATTR] = {sizeof(struct fuse_getxattr_in), 0, NODE, guest_fuse_listxattr},
	[FUSE_REMOVEXATTR] = {0, 1, NODE, guest_fuse_removexattr},
	[FUSE_INIT] = {INIT_IN_MIN, 0, EARLY, on_init},
	[FUSE_OPENDIR] = {sizeof(struct fuse_open_in), 0, NODE, guest_fuse_opendir},
	[FUSE_READDIR] = {sizeof(struct fuse_read_in), 0, NODE, guest_fuse_readdir},
	[FUSE_RELEASEDIR] = {sizeof(struct fuse_release_in), 0, NODE, guest_fuse_releasedir},
	[FUSE_FSYNCDIR] = {sizeof(struct fuse_fsync_in), 0, NODE, guest_fuse_fsyncdir},
	[FUSE_CREATE] = {sizeof(struct fuse_create_in), 1, NODE, guest_fuse_create},
	[FUSE_INTERRUPT] = {sizeof(struct fuse_interrupt_in), 0, QUIET, no_reply},
	[FUSE_DESTROY] = {0, 0, EARLY, on_destroy},
	[FUSE_BATCH_FORGET] = {sizeof(struct fuse_batch_forget_in), 0, QUIET, on_batch_forget},
	[FUSE_FALLOCATE] = {sizeof(struct fuse_fallocate_in), 0, NODE, guest_fuse_fallocate},
	[FUSE_READDIRPLUS] = {sizeof(struct fuse_read_in), 0, NODE, guest_fuse_readdirplus},
	[FUSE_RENAME2] = {sizeof(struct fuse_rename2_in), 2, NODE, guest_fuse_rename2},
	[FUSE_LSEEK] = {sizeof(struct fuse_lseek_in), 0, NODE, guest_fuse_lseek},
	[FUSE_COPY_FILE_RANGE] = {sizeof(struct fuse_copy_file_range_in), 0, NODE,
				  guest_fuse_copy_range},
};

/* Takes n strings after the fixed part. Returns false if one does not end within the message. */
static bool take_names(struct fuse_req *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *end = memchr(r->rest, '\0', r->rest_len);

		if (!end)
			return false;
		r->name[i] = r->rest;
		r->rest_len -= (size_t)(end + 1 - r->rest);
		r->rest = end + 1;
	}
	return true;
}

/* Copies and checks a message. Returns 0, or the error for the reply. */
static int load(struct fuse_req *r, uint32_t op)
{
	struct fuse_session *s = r->s;
	size_t len = r->h.len - sizeof(r->h), fixed = table[op].fixed;

	if (len < fixed)
		return -EINVAL;
	if (table[op].flags & BULK)
		len = fixed;
	if (len > FUSE_BODY_MAX)
		return -E2BIG;
	iov_read(r->io->in, r->io->n_in, sizeof(r->h), s->body, len);
	s->body[len] = '\0';
	r->arg = s->body;
	r->rest = s->body + fixed;
	r->rest_len = len - fixed;
	if (!take_names(r, table[op].names))
		return -EINVAL;
	if (!s->ready && !(table[op].flags & EARLY))
		return -EIO;
	if (table[op].flags & NODE) {
		r->node = fs_node_get(&r->tree->nodes, r->h.nodeid);
		if (!r->node)
			return -ESTALE;
	}
	return 0;
}

void guest_fuse_serve(struct fuse_session *s, struct fuse_io *io)
{
	struct fuse_req r = {.s = s, .tree = s->tree, .io = io};
	bool known, quiet;
	int error;

	if (iov_read(io->in, io->n_in, 0, &r.h, sizeof(r.h)) < sizeof(r.h) ||
	    r.h.len < sizeof(r.h) || r.h.len > io->in_len) {
		no_reply(&r);
		return;
	}
	known = r.h.opcode < ARRAY_LEN(table) && table[r.h.opcode].handle;
	quiet = known && (table[r.h.opcode].flags & QUIET);
	if (!quiet && io->out_len < sizeof(struct fuse_out_header)) {
		no_reply(&r);
		return;
	}
	error = known ? load(&r, r.h.opcode) : -ENOSYS;
	if (error && quiet)
		no_reply(&r);
	else if (error)
		guest_fuse_reply_err(&r, error);
	else
		table[r.h.opcode].handle(&r);
}

struct fuse_session *guest_fuse_new(struct fs_tree *tree)
{
	struct fuse_session *s = xcalloc(1, sizeof(*s));

	s->tree = tree;
	return s;
}

void guest_fuse_reset(struct fuse_session *s)
{
	guest_fuse_cancel(s);
	fs_tree_reset(s->tree);
}

void guest_fuse_free(struct fuse_session *s)
{
	if (!s)
		return;
	guest_fuse_reset(s);
	free(s);
}

size_t guest_fuse_waiting(const struct fuse_session *s)
{
	return s->n_waits;
}
