/* capture_content - captures the content of a file before it is lost. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"
#include "core/os/clone.h"
#include "core/os/file.h"

/* Up to this size the bytes go into the log: creating a file costs more than copying them. */
#define INLINE_MAX    32768
#define SETTLE_ROUNDS 8
#define AGAIN	      "again" /* a copy that takes the place of the slot's file */

/* Creates a file of the store, mode 0600, whatever the umask. */
static int create(struct capture *s, const char *name)
{
	mode_t mask = umask(077);
	int fd, r;

	/* A file of that name was left by an operation that has no record. */
	unlinkat(s->obj, name, 0);
	fd = openat(s->obj, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	r = fd < 0 ? -errno : fd;
	umask(mask);
	return r;
}

int capture_open_last(const struct capture *s)
{
	char name[24];
	int fd;

	store_slot_name(name, s->last.slot);
	fd = openat(s->obj, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

static int slot_create(struct capture *s, uint64_t slot, char name[24])
{
	store_slot_name(name, slot);
	return create(s, name);
}

int capture_fill_slot(struct capture *s, uint64_t slot, struct span bytes)
{
	AUTO_CLOSE int fd = -1;
	char name[24];
	int r;

	fd = slot_create(s, slot, name);
	r = fd < 0 ? fd : io_write_all(fd, bytes.data, bytes.len);
	return r;
}

/* Puts the bytes of a small file without holes into the record, behind its metadata. Returns 0 if
 * the file is too large or has holes. */
static int keep_inline(int in, const struct stat *st, struct buf *meta, struct rec *rec)
{
	AUTO_BUF struct buf both = BUF_INIT;
	ssize_t n;

	if (st->st_size > INLINE_MAX || st->st_blocks * 512 < st->st_size)
		return 0;
	codec_put_str(&both, meta->data, meta->len);
	buf_reserve(&both, INLINE_MAX + 1);
	n = io_pread_full(in, both.data + both.len, INLINE_MAX + 1, 0);
	if (n < 0 || n > INLINE_MAX)
		return n < 0 ? (int)n : 0;
	both.len += (size_t)n;
	buf_done(meta);
	*meta = both;
	both = (struct buf)BUF_INIT;
	rec->flags |= REC_INLINE;
	return 1;
}

/* Puts the bytes of `in` into a slot. Returns 1 if they were cloned, or 0. */
static int keep_slot(struct capture *s, int in, struct kept *kept, char slot[24])
{
	AUTO_CLOSE int out = slot_create(s, kept->slot, slot);
	struct stat st;
	int r;

	if (out < 0)
		return take_fd(&out);
	r = kept->clone_only || OS_CLONES_ANEW ? object_clone_data(in, out) : -EOPNOTSUPP;
	if (r == -EOPNOTSUPP && !kept->clone_only)
		r = object_copy_data(in, out);
	if (r < 0)
		unlinkat(s->obj, slot, 0);
	else if (r == 0 && kept->hashed && fstat(out, &st) == 0)
		kept->hash = content_hash_whole(out, (uint64_t)st.st_size);
	return r;
}

static uint64_t inline_hash(const struct rec *r)
{
	struct span meta, bytes;

	undo_log_content(r, &meta, &bytes);
	return content_hash_all(bytes.data, bytes.len);
}

/* Captures the open file `in` as `rec` says, with its metadata unless the record has them. */
static int keep_open(struct capture *s, int in, const struct stat *st, struct rec *rec,
		     struct kept *kept)
{
	AUTO_BUF struct buf meta = BUF_INIT;
	char slot[24];
	int r = 0;

	if (rec->meta.len)
		buf_add(&meta, rec->meta.data, rec->meta.len);
	else
		r = attributes_read(s->j, in, &meta);
	if (r < 0)
		return r;
	s->last = (struct captured){.mark = undo_log_tail(&s->log), .src = rec->src, .st = *st};
	rec->slot = undo_log_slot(&s->log);
	r = kept->in_slot ? 0 : keep_inline(in, st, &meta, rec);
	rec->meta = (struct span){meta.data, meta.len};
	if (r > 0 && kept->hashed)
		kept->hash = inline_hash(rec);
	if (r != 0)
		return r < 0 ? r : capture_push(s, rec);
	kept->slot = s->last.slot = rec->slot;
	kept->bytes = (uint64_t)st->st_blocks * 512;
	do
		r = keep_slot(s, in, kept, slot);
	while (r < 0 && store_relieve(s->j, r, s->back));
	if (r < 0)
		return r;
	kept->cloned = r == 1;
	r = capture_push(s, rec);
	if (r < 0)
		unlinkat(s->obj, slot, 0);
	return r;
}

int capture_keep_content(struct capture *s, int root, const char *path, int dirfd, const char *name,
			 uint64_t ino, uint64_t src, struct kept *kept)
{
	AUTO_CLOSE int in = borrow_open_file(s->j, dirfd, name);
	struct rec rec = {.type = REC_CONTENT, .root = root, .path = path, .ino = ino, .src = src};
	struct stat st;
	int r;

	s->last.is = false;
	if (in < 0)
		return take_fd(&in);
	if (fstat(in, &st) < 0)
		return -errno;
	if (st.st_ino != ino)
		return -ESTALE; /* replaced from outside meanwhile */
	if (root_guards(s->j, root, path, S_IFREG))
		rec.flags |= REC_FRESH;
	r = keep_open(s, in, &st, &rec, kept);
	s->last.is = r >= 0;
	return r;
}

/* ---- a file to which another program writes ----------------------------------------------------
 */

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool capture_is_exact(const struct capture *s, int fd)
{
	const struct stat *was = &s->last.st;
	struct stat st;

	return !s->last.is || (fstat(fd, &st) == 0 && st.st_size == was->st_size &&
			       same_time(&OS_MTIME(&st), &OS_MTIME(was)) &&
			       same_time(&OS_CTIME(&st), &OS_CTIME(was)));
}

/* Copies only the new end of the file: most programs append. */
static int copy_tail(struct capture *s, int in, off_t end)
{
	AUTO_CLOSE int out = capture_open_last(s);
	char block[16384];
	off_t at = s->last.st.st_size;

	if (out < 0)
		return take_fd(&out);
	while (at < end) {
		ssize_t n =
			io_pread_full(in, block, (size_t)MIN(end - at, (off_t)sizeof(block)), at);
		int r = n <= 0 ? (int)n : io_pwrite_all(out, block, (size_t)n, at);

		if (r < 0)
			return r;
		if (n <= 0)
			break;
		at += n;
	}
	return 0;
}

/* Copies the whole file again. The old copy stays until the new one is complete. */
static int copy_again(struct capture *s, int in)
{
	AUTO_CLOSE int out = -1;
	char slot[24];
	int r;

	out = create(s, AGAIN);
	r = out < 0 ? out : object_copy_data(in, out);
	store_slot_name(slot, s->last.slot);
	if (r >= 0 && renameat(s->obj, AGAIN, s->obj, slot) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(s->obj, AGAIN, 0);
	return r;
}

/* Captures the file again and replaces the last record. Its metadata stay: the file's mode may have
 * been changed since, to write to it. */
static int record_again(struct capture *s, const struct rec *of, int in, struct kept *kept)
{
	AUTO_BUF struct buf meta = BUF_INIT;
	struct rec rec = *of, old;
	struct span was, bytes;
	size_t at = s->last.mark;
	struct stat st;
	int r;

	if (fstat(in, &st) < 0)
		return -errno;
	if (!undo_log_next(&s->log, &at, &old))
		return -EBADMSG;
	undo_log_content(&old, &was, &bytes);
	buf_add(&meta, was.data, was.len);
	rec.meta = (struct span){meta.data, meta.len};
	s->last.is = false;
	undo_log_take_back(&s->log, s->last.mark);
	r = keep_open(s, in, &st, &rec, kept);
	s->last.is = r >= 0;
	return r;
}

static int follow(struct capture *s, const struct rec *of, int in, struct kept *kept)
{
	struct stat st;
	int r;

	if (!s->last.slot)
		return record_again(s, of, in, kept);
	if (fstat(in, &st) < 0)
		return -errno;
	do
		r = st.st_size > s->last.st.st_size ? copy_tail(s, in, st.st_size)
						    : copy_again(s, in);
	while (r < 0 && store_relieve(s->j, r, s->back));
	if (r >= 0)
		s->last.st = st;
	return r;
}

int capture_settle(struct capture *s, int root, const char *path, int fd, struct kept *kept)
{
	struct rec of = {.type = REC_CONTENT, .root = root, .path = path, .src = s->last.src};
	struct stat st;
	int r = 0;

	if (!s->last.is)
		return 0;
	if (fstat(fd, &st) < 0)
		return -errno;
	of.ino = st.st_ino;
	if (st.st_ino != s->last.st.st_ino || st.st_dev != s->last.st.st_dev)
		return -ESTALE;
	if (root_guards(s->j, root, path, S_IFREG))
		of.flags |= REC_FRESH;
	if (kept->in_slot && !s->last.slot)
		r = record_again(s, &of, fd, kept);
	for (int i = 0; r >= 0 && !capture_is_exact(s, fd); i++) {
		if (i == SETTLE_ROUNDS)
			return -CAPTURE_MOVING;
		r = follow(s, &of, fd, kept);
	}
	return MIN(r, 0);
}

int capture_in_memory(struct span bytes)
{
	AUTO_CLOSE int mem = os_memory_file("cordon-content");
	int r = mem < 0 ? mem : io_pwrite_all(mem, bytes.data, bytes.len, 0);

	return r < 0 ? r : take_fd(&mem);
}
