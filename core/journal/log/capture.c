/* capture - appends records to a log, and captures content before it is lost. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/durability.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/path_set.h"
#include "core/os/clock.h"
#include "core/os/clone.h"
#include "core/os/file.h"

/* Up to this size the bytes go into the log: creating a file costs more than copying them. */
#define INLINE_MAX 32768
#define SIGN_NS	   1000000000

/* A long log needs much to end it, one way or the other. */
static int cover(struct capture *s)
{
	int e = s->back || s->covered == s->log.cap ? 0 : reserve_follow(s->j);

	if (e == 0)
		s->covered = s->log.cap;
	return e;
}

/* A store through the mapping need not show in the log's times. */
static void sign(struct capture *s)
{
	struct timespec now;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	ns = now.tv_sec * 1000000000 + now.tv_nsec;
	if (ns - s->signed_ns < SIGN_NS && ns >= s->signed_ns)
		return;
	/* The log is made with its first record. */
	if (s->signed_ns && futimens(s->log.fd, NULL) < 0)
		log_warn("journal", "a sign of life: %s", strerror(errno));
	s->signed_ns = ns;
}

int capture_push(struct capture *s, struct rec *r)
{
	int e;

	r->flags |= s->flags;
	do
		e = store_seq_keep(s->j);
	while (e < 0 && store_relieve(s->j, e, s->back));
	if (e < 0)
		return e;
	r->seq = store_seq(s->j);
	do {
		e = cover(s);
		if (e == 0)
			e = undo_log_append(&s->log, r);
	} while (e < 0 && store_relieve(s->j, e, s->back));
	if (e == 0 && !s->back)
		sign(s);
	s->unsynced = true;
	return e;
}

void capture_note(struct rec *r, struct buf *buf, const struct object *o)
{
	if (S_ISDIR(o->mode) || o->nlink < 2)
		return;
	codec_put_u32(buf, o->mode);
	codec_put_u32(buf, o->uid);
	codec_put_u32(buf, o->gid);
	codec_put_u64(buf, o->size);
	codec_put_u64(buf, (uint64_t)o->mtime_ns);
	r->meta = (struct span){buf->data, buf->len};
}

void capture_noted(const struct rec *r, struct change_side *ret)
{
	struct codec_reader g = {.p = r->meta.data, .end = r->meta.data + r->meta.len};

	*ret = (struct change_side){.exists = r->meta.len, .ino = r->ino};
	ret->mode = codec_get_u32(&g);
	ret->uid = codec_get_u32(&g);
	ret->gid = codec_get_u32(&g);
	ret->size = codec_get_u64(&g);
	ret->mtime_ns = (int64_t)codec_get_u64(&g);
	ret->exists &= !g.bad;
}

static void forget_seen(struct capture *s)
{
	struct seen *d, *next;

	HASH_ITER (hh, s->seen, d, next) {
		HASH_DEL(s->seen, d);
		free(d->path);
		free(d);
	}
}

void capture_forget_dirs(struct capture *s)
{
	s->j->dirs_turn++;
}

void capture_done(struct capture *s)
{
	forget_seen(s);
	undo_log_close(&s->log);
	util_close_fd(&s->obj);
	util_close_fd(&s->dir);
	*s = (struct capture)CAPTURE_NONE;
}

int capture_touch_dir(struct capture *s, int root, int dirfd, const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);
	AUTO_BUF struct buf meta = BUF_INIT;
	struct rec rec = {.type = REC_DTIME, .root = root, .path = path};
	struct seen *d;
	struct stat st;
	int r;

	if (s->seen_turn != s->j->dirs_turn)
		forget_seen(s);
	s->seen_turn = s->j->dirs_turn;
	HASH_FIND_STR(s->seen, key, d);
	if (d)
		return 0;
	if (fstatat(dirfd, "", &st, AT_EMPTY_PATH) < 0)
		return -errno;
	codec_put_u64(&meta, (uint64_t)OS_MTIME(&st).tv_sec);
	codec_put_u32(&meta, (uint32_t)OS_MTIME(&st).tv_nsec);
	rec.meta = (struct span){meta.data, meta.len};
	rec.ino = st.st_ino;
	r = capture_push(s, &rec);
	if (r < 0)
		return r;
	d = xcalloc(1, sizeof(*d));
	d->path = take_ptr(&key);
	HASH_ADD_KEYPTR(hh, s->seen, d->path, strlen(d->path), d);
	return 0;
}

int capture_keep_meta(struct capture *s, int root, const char *path, int fd, uint64_t src)
{
	AUTO_BUF struct buf meta = BUF_INIT;
	struct rec rec = {.type = REC_META, .root = root, .path = path, .src = src};
	struct object o = {0};
	int r = attributes_read(s->j, fd, &meta);

	if (r == 0)
		r = object_stat(fd, "", &o);
	if (r < 0)
		return r;
	rec.ino = o.ino;
	rec.meta = (struct span){meta.data, meta.len};
	return capture_push(s, &rec);
}

/* The slot's file, whatever umask the caller of the operation has. */
static int slot_create(struct capture *s, uint64_t slot, char name[24])
{
	mode_t mask = umask(077);
	int fd, r;

	store_slot_name(name, slot);
	/* A name that is taken was left by an operation that never got its record. */
	unlinkat(s->obj, name, 0);
	fd = openat(s->obj, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	r = fd < 0 ? -errno : fd;
	umask(mask);
	return r;
}

int capture_drop_link(const struct capture *s, const struct rec *r)
{
	char slot[24];

	if (r->type != REC_GONE || !(r->flags & REC_LINKED))
		return 0;
	store_slot_name(slot, r->slot);
	return unlinkat(s->obj, slot, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int capture_fill_slot(struct capture *s, uint64_t slot, struct span bytes)
{
	AUTO_CLOSE int fd = -1;
	char name[24];
	int r;

	fd = slot_create(s, slot, name);
	r = fd < 0 ? fd : io_write_all(fd, bytes.data, bytes.len);
	return r < 0 ? r : durability_sync_fd(s->j, fd);
}

/* The bytes of a small file without holes, behind its metadata. 0: not one of those. */
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

/* The bytes of `in` in a file of their own. */
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
	if (r >= 0) {
		int e = durability_sync_fd(s->j, out);

		if (e == 0)
			e = durability_sync_fd(s->j, s->obj);
		r = e < 0 ? e : r;
	}
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

int capture_keep_content(struct capture *s, int root, const char *path, int dirfd, const char *name,
			 uint64_t ino, uint64_t src, struct kept *kept)
{
	AUTO_CLOSE int in = borrow_open_file(s->j, dirfd, name);
	AUTO_BUF struct buf meta = BUF_INIT;
	struct rec rec = {.type = REC_CONTENT, .root = root, .path = path, .ino = ino, .src = src};
	struct stat st;
	char slot[24];
	int r;

	if (in < 0)
		return take_fd(&in);
	if (fstat(in, &st) < 0)
		return -errno;
	if (st.st_ino != ino)
		return -ESTALE; /* replaced from outside meanwhile */
	r = attributes_read(s->j, in, &meta);
	if (r < 0)
		return r;
	if (root_guards(s->j, root, path, S_IFREG))
		rec.flags |= REC_FRESH;
	rec.slot = undo_log_slot(&s->log);
	r = keep_inline(in, &st, &meta, &rec);
	rec.meta = (struct span){meta.data, meta.len};
	if (r > 0 && kept->hashed)
		kept->hash = inline_hash(&rec);
	if (r != 0)
		return r < 0 ? r : capture_push(s, &rec);
	kept->slot = rec.slot;
	kept->bytes = (uint64_t)st.st_blocks * 512;
	do
		r = keep_slot(s, in, kept, slot);
	while (r < 0 && store_relieve(s->j, r, s->back));
	if (r < 0)
		return r;
	kept->cloned = r == 1;
	r = capture_push(s, &rec);
	if (r < 0)
		unlinkat(s->obj, slot, 0);
	return r;
}
