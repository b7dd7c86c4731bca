/* p9_read - 9P messages that read, and those about open files. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "backends/vm/fs/p9_priv.h"

#define GETATTR_BASIC 0x7ff /* what Rgetattr has but for the time of birth */
#define READ_HEAD     (P9_HEAD + 4)

/* The fid in front of a message; else answers. */
static struct p9_fid *fid(struct p9_req *r)
{
	struct p9_fid *f = p9_fid_get(r->s, p9_u32(&r->in));

	if (f)
		return f;
	p9_reply_err(r, -EBADF);
	return NULL;
}

static bool whole(struct p9_req *r)
{
	if (r->in.bad)
		p9_reply_err(r, -EINVAL);
	return !r->in.bad;
}

void p9_statfs(struct p9_req *r)
{
	const struct p9_fid *f = fid(r);
	struct statfs fs;
	struct buf *out;

	if (!f)
		return;
	if (fstatfs(fs_node_fd(&r->tree->nodes, f->node), &fs) < 0) {
		p9_reply_err(r, -errno);
		return;
	}
	out = p9_begin(r->s, r->type, r->tag);
	p9_put_u32(out, (uint32_t)fs.f_type);
	p9_put_u32(out, (uint32_t)fs.f_bsize);
	p9_put_u64(out, fs.f_blocks);
	p9_put_u64(out, fs.f_bfree);
	p9_put_u64(out, fs.f_bavail);
	p9_put_u64(out, fs.f_files);
	p9_put_u64(out, fs.f_ffree);
	p9_put_u64(out, 0);
	p9_put_u32(out, (uint32_t)fs.f_namelen);
	p9_end(r->s);
}

void p9_readlink(struct p9_req *r)
{
	const struct p9_fid *f = fid(r);
	char target[PATH_MAX + 1];
	ssize_t len;

	if (!f)
		return;
	len = fs_readlink(r->tree, f->node, target, PATH_MAX);
	if (len < 0) {
		p9_reply_err(r, (int)len);
		return;
	}
	target[len] = '\0';
	p9_put_str(p9_begin(r->s, r->type, r->tag), target);
	p9_end(r->s);
}

static void put_time(struct buf *out, const struct timespec *t)
{
	p9_put_u64(out, (uint64_t)t->tv_sec);
	p9_put_u64(out, (uint64_t)t->tv_nsec);
}

void p9_getattr(struct p9_req *r)
{
	const struct p9_fid *f = fid(r);
	struct stat st;
	struct buf *out;
	int got;

	if (!f)
		return;
	got = fs_getattr(r->tree, f->node, &st);
	if (got < 0) {
		p9_reply_err(r, got);
		return;
	}
	out = p9_begin(r->s, r->type, r->tag);
	p9_put_u64(out, GETATTR_BASIC);
	p9_put_qid(r->tree, out, &st);
	p9_put_u32(out, st.st_mode);
	p9_put_u32(out, st.st_uid);
	p9_put_u32(out, st.st_gid);
	p9_put_u64(out, st.st_nlink);
	/* The kernel's encoding of a device (new_encode_dev). */
	p9_put_u64(out, (minor(st.st_rdev) & 0xff) | major(st.st_rdev) << 8 |
				(minor(st.st_rdev) & 0xfff00) << 12);
	p9_put_u64(out, (uint64_t)st.st_size);
	p9_put_u64(out, (uint64_t)st.st_blksize);
	p9_put_u64(out, (uint64_t)st.st_blocks);
	put_time(out, &st.st_atim);
	put_time(out, &st.st_mtim);
	put_time(out, &st.st_ctim);
	put_time(out, &(struct timespec){0});
	p9_put_u64(out, 0);
	p9_put_u64(out, 0);
	p9_end(r->s);
}

/* ---- content --------------------------------------------------------------------------------- */

static void read_value(struct p9_req *r, const struct p9_fid *f, uint64_t offset, size_t count)
{
	size_t at = MIN(offset, (uint64_t)f->value.len), len = MIN(count, f->value.len - at);
	struct buf *out = p9_begin(r->s, r->type, r->tag);

	p9_put_u32(out, (uint32_t)len);
	buf_add(out, f->value.data + at, len);
	p9_end(r->s);
}

void p9_read(struct p9_req *r)
{
	const struct p9_fid *f = fid(r);
	uint64_t offset = p9_u64(&r->in);
	size_t count = p9_u32(&r->in);
	struct buf *out;
	ssize_t n;

	if (!f || !whole(r))
		return;
	count = MIN(count, (size_t)r->s->msize - READ_HEAD);
	if (f->use == P9_XATTR) {
		read_value(r, f, offset, count);
		return;
	}
	if (f->use != P9_FILE) {
		p9_reply_err(r, -EBADF);
		return;
	}
	out = p9_begin(r->s, r->type, r->tag);
	p9_put_u32(out, 0);
	buf_reserve(out, count);
	n = pread(f->fd, out->data + READ_HEAD, count, (off_t)offset);
	if (n < 0) {
		p9_reply_err(r, -errno);
		return;
	}
	out->len = READ_HEAD + (size_t)n;
	out->data[out->len] = '\0';
	for (int i = 0; i < 4; i++)
		out->data[P9_HEAD + i] = (char)((size_t)n >> (8 * i));
	p9_end(r->s);
}

static void write_value(struct p9_req *r, struct p9_fid *f, const void *data, size_t len)
{
	buf_add(&f->value, data, len);
	p9_put_u32(p9_begin(r->s, r->type, r->tag), (uint32_t)len);
	p9_end(r->s);
}

void p9_write(struct p9_req *r)
{
	struct p9_fid *f = fid(r);
	uint64_t offset = p9_u64(&r->in);
	size_t count = p9_u32(&r->in);
	const void *data = p9_bytes(&r->in, count);
	struct stat st;
	ssize_t n;

	if (!f || !whole(r))
		return;
	if (f->use == P9_XATTR_WRITE && offset == f->value.len && count <= f->size - offset) {
		write_value(r, f, data, count);
		return;
	}
	if (f->use != P9_FILE || !f->writes) {
		p9_reply_err(r, f->use == P9_XATTR_WRITE ? -ENOSPC : -EBADF);
		return;
	}
	n = pwrite(f->fd, data, count, (off_t)offset);
	if (n < 0) {
		p9_reply_err(r, -errno);
		return;
	}
	if (fstat(f->fd, &st) == 0)
		fs_node_tell(f->node, &st);
	p9_put_u32(p9_begin(r->s, r->type, r->tag), (uint32_t)n);
	p9_end(r->s);
}

void p9_fsync(struct p9_req *r)
{
	const struct p9_fid *f = fid(r);
	bool data_only = p9_u32(&r->in) != 0 && !r->in.bad; /* some clients leave it out */

	if (!f)
		return;
	if (f->fd < 0)
		p9_reply_err(r, -EBADF);
	else
		p9_reply_err(r, (data_only ? fdatasync(f->fd) : fsync(f->fd)) < 0 ? -errno : 0);
}

/* ---- directories ----------------------------------------------------------------------------- */

struct listing {
	struct p9_req *r;
	struct buf *out;
	size_t room;
};

static bool add_entry(void *data, const struct fs_dirent *e)
{
	struct listing *l = data;

	if (l->out->len + 13 + 8 + 1 + 2 + strlen(e->name) > l->room)
		return false;
	p9_put_u8(l->out, e->type == 4 ? 0x80 : e->type == 10 ? 0x02 : 0); /* DT_DIR, DT_LNK */
	p9_put_u32(l->out, 0);
	p9_put_u64(l->out, e->ino);
	p9_put_u64(l->out, e->next);
	p9_put_u8(l->out, e->type);
	p9_put_str(l->out, e->name);
	return true;
}

void p9_readdir(struct p9_req *r)
{
	const struct p9_fid *f = fid(r);
	uint64_t offset = p9_u64(&r->in);
	size_t count = p9_u32(&r->in), n;
	struct listing l = {.r = r};
	struct fs_handle h;
	int got;

	if (!f || !whole(r))
		return;
	if (f->use != P9_DIR) {
		p9_reply_err(r, -EBADF);
		return;
	}
	h = (struct fs_handle){.node = f->node->id, .fd = f->fd, .dir = true};
	l.out = p9_begin(r->s, r->type, r->tag);
	p9_put_u32(l.out, 0);
	l.room = READ_HEAD + MIN(count, (size_t)r->s->msize - READ_HEAD);
	got = fs_readdir(r->tree, &h, offset, add_entry, &l);
	n = l.out->len - READ_HEAD;
	if (got < 0 && n == 0) {
		p9_reply_err(r, got);
		return;
	}
	for (int i = 0; i < 4; i++)
		l.out->data[P9_HEAD + i] = (char)(n >> (8 * i));
	p9_end(r->s);
}

/* ---- locks: of the open file, so that programs of the host and other fids see them ----------- */

enum { /* types and states on the wire */
	P9_LOCK_READ,
	P9_LOCK_WRITE,
	P9_LOCK_NONE,
};
enum {
	P9_LOCK_OK,
	P9_LOCK_BLOCKED,
	P9_LOCK_FAILED,
};

static bool to_flock(uint8_t type, uint64_t start, uint64_t len, struct flock *ret)
{
	static const short types[] = {F_RDLCK, F_WRLCK, F_UNLCK};

	if (type > P9_LOCK_NONE || start > INT64_MAX || len > INT64_MAX)
		return false;
	*ret = (struct flock){.l_type = types[type],
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)start,
			      .l_len = (off_t)len};
	return true;
}

void p9_lock(struct p9_req *r)
{
	const struct p9_fid *f = fid(r);
	uint8_t type = p9_u8(&r->in), state = P9_LOCK_OK;
	uint64_t start, len;
	struct flock lock;

	p9_u32(&r->in); /* flags: the client comes again by itself when it is blocked */
	start = p9_u64(&r->in);
	len = p9_u64(&r->in);
	if (!f || !whole(r))
		return;
	if (f->use != P9_FILE || !to_flock(type, start, len, &lock)) {
		p9_reply_err(r, f->use != P9_FILE ? -EBADF : -EINVAL);
		return;
	}
	if (fcntl(f->fd, F_OFD_SETLK, &lock) < 0)
		state = errno == EAGAIN || errno == EACCES ? P9_LOCK_BLOCKED : P9_LOCK_FAILED;
	p9_put_u8(p9_begin(r->s, r->type, r->tag), state);
	p9_end(r->s);
}

void p9_getlock(struct p9_req *r)
{
	const struct p9_fid *f = fid(r);
	uint8_t type = p9_u8(&r->in);
	uint64_t start = p9_u64(&r->in), len = p9_u64(&r->in);
	uint32_t process = p9_u32(&r->in);
	char client[256];
	struct flock lock;
	struct buf *out;

	p9_str(&r->in, client, sizeof(client));
	if (!f || !whole(r))
		return;
	if (f->use != P9_FILE || !to_flock(type, start, len, &lock) || type == P9_LOCK_NONE) {
		p9_reply_err(r, f->use != P9_FILE ? -EBADF : -EINVAL);
		return;
	}
	if (fcntl(f->fd, F_OFD_GETLK, &lock) < 0) {
		p9_reply_err(r, -errno);
		return;
	}
	out = p9_begin(r->s, r->type, r->tag);
	p9_put_u8(out, lock.l_type == F_UNLCK	? P9_LOCK_NONE
		       : lock.l_type == F_WRLCK ? P9_LOCK_WRITE
						: P9_LOCK_READ);
	p9_put_u64(out, (uint64_t)lock.l_start);
	p9_put_u64(out, (uint64_t)lock.l_len);
	p9_put_u32(out, process);
	p9_put_str(out, client);
	p9_end(r->s);
}
