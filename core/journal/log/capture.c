/* capture - appends records to a log. */
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
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/path_set.h"
#include "core/os/clock.h"
#include "core/os/clone.h"
#include "core/os/file.h"

#define SIGN_NS 1000000000

/* Enlarges the reserve with the log: a long log needs much space for its commit or rollback. */
static int cover(struct capture *s)
{
	int e = s->back || s->covered == s->log.cap ? 0 : reserve_follow(s->j);

	if (e == 0)
		s->covered = s->log.cap;
	return e;
}

/* Sets the log's mtime, a sign of life: a store through the mapping may not change it. */
static void sign(struct capture *s)
{
	struct timespec now;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	ns = now.tv_sec * 1000000000 + now.tv_nsec;
	if (ns - s->signed_ns < SIGN_NS && ns >= s->signed_ns)
		return;
	/* The first record creates the log. */
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

void capture_forget_dirs(struct capture *s)
{
	s->j->dirs_turn++;
}

void capture_done(struct capture *s)
{
	path_set_done(&s->seen);
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
	struct stat st;
	int r;

	if (s->seen_turn != s->j->dirs_turn)
		path_set_done(&s->seen);
	s->seen_turn = s->j->dirs_turn;
	if (path_set_has_key(&s->seen, key))
		return 0;
	if (fstatat(dirfd, "", &st, AT_EMPTY_PATH) < 0)
		return -errno;
	codec_put_u64(&meta, (uint64_t)OS_MTIME(&st).tv_sec);
	codec_put_u32(&meta, (uint32_t)OS_MTIME(&st).tv_nsec);
	rec.meta = (struct span){meta.data, meta.len};
	rec.ino = st.st_ino;
	r = capture_push(s, &rec);
	if (r == 0)
		path_set_add_key(&s->seen, key);
	return r;
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

int capture_drop_link(const struct capture *s, const struct rec *r)
{
	char slot[24];

	if (r->type != REC_GONE || !(r->flags & REC_LINKED))
		return 0;
	store_slot_name(slot, r->slot);
	return unlinkat(s->obj, slot, 0) < 0 && errno != ENOENT ? -errno : 0;
}
