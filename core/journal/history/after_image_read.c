/* after_image_read - reads after-images: path by path, their bytes, the newest of each path. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/hash.h"
#include "core/base/io.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/after_image_format.h"
#include "core/journal/store/store.h"
#include "core/journal/util/chunked_io.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/grow.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"

/* ---- one file ---------------------------------------------------------------------------------
 */

static void get_obj(struct codec_reader *g, struct object *o)
{
	*o = (struct object){.mode = codec_get_u32(g)};
	if (!o->mode)
		return;
	o->uid = codec_get_u32(g);
	o->gid = codec_get_u32(g);
	o->dev = codec_get_u64(g);
	o->ino = codec_get_u64(g);
	o->size = codec_get_u64(g);
	o->mtime_ns = (int64_t)codec_get_u64(g);
	o->ctime_ns = (int64_t)codec_get_u64(g);
	o->btime_ns = (int64_t)codec_get_u64(g);
}

int after_image_begin(struct after_image_reader *r, int dir, const char *name)
{
	struct codec_reader g;
	int e;

	*r = (struct after_image_reader){.in = CHUNKED_IN_NONE};
	e = chunked_in_open(&r->in, dir, name);
	if (e == 0)
		e = chunked_in_more(&r->in);
	if (e < 0)
		return e;
	g = chunked_in_get(&r->in);
	if (codec_get_u32(&g) != IMAGE_MAGIC)
		return -EBADMSG;
	r->seq = codec_get_u64(&g);
	r->left = codec_get_u32(&g);
	r->images = IMAGE_HEAD_LEN + codec_get_u64(&g);
	r->at = IMAGE_HEAD_LEN;
	chunked_in_took(&r->in, &g);
	return g.bad ? -EBADMSG : 0;
}

int after_image_next(struct after_image_reader *r, struct after_image *ret)
{
	int e = 0;

	while (e == 0 && r->left) {
		struct codec_reader g = chunked_in_get(&r->in);
		struct span key = codec_get_str(&g);

		*ret = (struct after_image){.seq = r->seq};
		get_obj(&g, &ret->obj);
		ret->hash = codec_get_u64(&g);
		ret->flags = codec_get_u32(&g);
		ret->earlier = ret->flags & IMAGE_EARLIER;
		ret->flags &= ~IMAGE_EARLIER;
		ret->image = codec_get_u64(&g);
		if (g.bad) {
			e = chunked_in_more(&r->in);
			continue;
		}
		r->at += (size_t)(g.p - r->in.win.data) - r->in.at;
		chunked_in_took(&r->in, &g);
		if (!strchr(key.data, '/'))
			return -EBADMSG;
		ret->key = key.data;
		ret->root = path_key_root(key.data, &ret->path);
		r->left--;
		return 1;
	}
	return e == 0 && r->at != r->images ? -EBADMSG : e;
}

void after_image_end(struct after_image_reader *r)
{
	chunked_in_done(&r->in);
}

uint64_t after_image_peek_seq(int dirfd, const char *name)
{
	AUTO_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char head[12] = "";
	struct codec_reader g = {.p = head, .end = head + sizeof(head)};

	if (fd < 0 || io_pread_full(fd, head, sizeof(head), 0) != sizeof(head) ||
	    codec_get_u32(&g) != IMAGE_MAGIC)
		return 0;
	return codec_get_u64(&g);
}

static int read_image(const struct after_image_reader *r, const struct after_image *p,
		      struct buf *ret)
{
	ssize_t n;

	buf_reserve(ret, p->obj.size);
	n = io_pread_full(r->in.fd, ret->data + ret->len, p->obj.size,
			  (off_t)(r->images + p->image - 1));
	if (n == (ssize_t)p->obj.size)
		ret->len += p->obj.size;
	ret->data[ret->len] = '\0';
	return n == (ssize_t)p->obj.size ? 0 : -EBADMSG;
}

int after_image_bytes(int stepdir, int root, const char *path, const struct change_side *want,
		      struct buf *ret)
{
	AUTO_IMAGE_READER struct after_image_reader r;
	struct after_image p;
	int e = after_image_begin(&r, stepdir, "post");

	if (e < 0)
		return e;
	while ((e = after_image_next(&r, &p)) > 0)
		if (p.image && p.root == root && str_eq(p.path, path) && p.obj.size == want->size &&
		    p.obj.mtime_ns == want->mtime_ns && p.obj.size <= IMAGE_BYTES_MAX)
			return read_image(&r, &p, ret);
	return e < 0 ? e : -ENOENT;
}

/* ---- the newest of each path ------------------------------------------------------------------
 */

struct after_image_kept {
	struct packed_object look;
	uint64_t hash, seq;
	int64_t id;
	uint32_t image;
	uint8_t flags;
	bool kept;
};

void after_images_take(struct after_images *t, const struct after_image *p)
{
	struct after_image_kept *one;
	bool fresh;
	size_t i = path_set_put(&t->keys, p->key, &fresh);

	if (!fresh && t->list[i].seq >= p->seq)
		return;
	GROW(t->list, t->cap, i);
	one = &t->list[i];
	*one = (struct after_image_kept){.hash = p->hash,
					 .seq = p->seq,
					 .id = p->id,
					 .image = p->image <= UINT32_MAX ? (uint32_t)p->image : 0,
					 .flags = (uint8_t)p->flags,
					 .kept = p->kept};
	object_pack(&one->look, &p->obj);
}

void after_images_mark(struct after_images *t, const char *key, unsigned flags)
{
	size_t i = path_set_find(&t->keys, key);

	if (i != PATH_SET_NONE)
		t->list[i].flags |= (uint8_t)flags;
}

void after_images_get(const struct after_images *t, size_t i, struct after_image *ret)
{
	const struct after_image_kept *one = &t->list[i];

	*ret = (struct after_image){.key = path_set_key(&t->keys, i),
				    .hash = one->hash,
				    .seq = one->seq,
				    .id = one->id,
				    .image = one->image,
				    .flags = one->flags,
				    .kept = one->kept};
	ret->root = path_key_root(ret->key, &ret->path);
	object_unpack(&one->look, &ret->obj);
}

bool after_images_find(const struct after_images *t, const char *key, struct after_image *ret)
{
	size_t i = path_set_find(&t->keys, key);

	if (i == PATH_SET_NONE)
		return false;
	after_images_get(t, i, ret);
	return true;
}

void after_images_done(struct after_images *t)
{
	path_set_done(&t->keys);
	free(t->list);
	*t = (struct after_images){0};
}

/* ---- all files --------------------------------------------------------------------------------
 */

struct each {
	const struct names *group;
	const uint64_t *files;
	int (*fn)(void *data, const struct after_image *p);
	void *data;
};

static bool is_one_of(const uint64_t *files, uint64_t seq)
{
	while (*files && *files != seq)
		files++;
	return *files != 0;
}

static bool is_needed(const struct each *e, const char *where, const char *name)
{
	AUTO_FREE char *dir = xasprintf("%s/%s", where, name);

	for (size_t i = 0; e->group && i < e->group->n; i++)
		if (str_eq(e->group->list[i], dir))
			return true;
	return false;
}

static int each_of(int dir, const char *name, int64_t id, bool kept, const struct each *e)
{
	AUTO_IMAGE_READER struct after_image_reader reader;
	struct after_image p;
	int r = after_image_begin(&reader, dir, name);

	if (r == -ENOENT) /* moved by the writer meanwhile */
		return 0;
	if (r == 0 && e->files && !is_one_of(e->files, reader.seq))
		return 0;
	while (r >= 0 && (r = after_image_next(&reader, &p)) > 0) {
		p.id = id;
		p.kept = kept;
		r = e->fn(e->data, &p);
	}
	return r;
}

static int each_below(struct journal *j, const char *where, const struct each *e)
{
	AUTO_CLOSE int dir = store_open_dir(j, where);
	AUTO_NAMES struct names names = {0};
	int r = dir < 0 ? dir : store_names(j, where, &names);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		bool orphan = str_eq(where, "posts");
		AUTO_FREE char *name = xasprintf("%s%s", names.list[i], orphan ? "" : "/post");

		r = each_of(dir, name, orphan ? 0 : atoll(names.list[i]), str_eq(where, "steps"),
			    e);
		if (r == -EBADMSG && !is_needed(e, where, names.list[i]))
			r = 0;
	}
	return r;
}

int after_image_each(struct journal *j, const struct names *group, const uint64_t *files,
		     int (*fn)(void *data, const struct after_image *p), void *data)
{
	const struct each e = {.group = group, .files = files, .fn = fn, .data = data};
	static const char *const where[] = {"steps", "redo", "posts"};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(where); i++)
		r = each_below(j, where[i], &e);
	return r;
}

static int take(void *data, const struct after_image *p)
{
	after_images_take(data, p);
	return 0;
}

int after_images_load(struct journal *j, struct after_images *ret)
{
	int r;

	*ret = (struct after_images){0};
	r = after_image_each(j, NULL, NULL, take, ret);
	if (r < 0)
		after_images_done(ret);
	return r;
}

/* ---- by inode ---------------------------------------------------------------------------------
 */

struct kept_stamp {
	uint64_t key[2]; /* inode, ctime */
	uint64_t size;
	int64_t mtime_ns;
	struct image_stamp stamp;
	UT_hash_handle hh;
};

static int add_stamp(void *data, const struct after_image *p)
{
	struct image_stamps *all = data;
	uint64_t key[2] = {p->obj.ino, (uint64_t)p->obj.ctime_ns};
	struct kept_stamp *one;

	if (!p->obj.mode || p->obj.mode == OBJECT_UNSEEN || p->earlier)
		return 0;
	HASH_FIND(hh, all->list, key, sizeof(key), one);
	if (!one) {
		one = xcalloc(1, sizeof(*one));
		memcpy(one->key, key, sizeof(key));
		HASH_ADD(hh, all->list, key, sizeof(one->key), one);
	}
	one->size = p->obj.size;
	one->mtime_ns = p->obj.mtime_ns;
	if (p->hash)
		one->stamp.hash = p->hash;
	if (p->kept && !(p->flags & (IMAGE_FOREIGN | IMAGE_PASSING)))
		one->stamp.seq = MAX(one->stamp.seq, p->seq);
	return 0;
}

int image_stamps_load(struct journal *j, struct image_stamps *ret)
{
	return after_image_each(j, NULL, NULL, add_stamp, ret);
}

const struct image_stamp *image_stamps_find(const struct image_stamps *all, const struct object *o)
{
	uint64_t key[2] = {o->ino, (uint64_t)o->ctime_ns};
	struct kept_stamp *one;

	HASH_FIND(hh, all->list, key, sizeof(key), one);
	return one && one->size == o->size && one->mtime_ns == o->mtime_ns ? &one->stamp : NULL;
}

void image_stamps_done(struct image_stamps *all)
{
	struct kept_stamp *one, *rest;

	HASH_ITER (hh, all->list, one, rest) {
		HASH_DEL(all->list, one);
		free(one);
	}
}
