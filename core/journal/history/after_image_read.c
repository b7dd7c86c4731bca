/* after_image_read - reads after-images: path by path, their bytes, the newest of each path. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/after_image_format.h"
#include "core/journal/journal.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/store.h"
#include "core/journal/util/chunked_io.h"
#include "core/journal/util/path_set.h"

/* ---- one file ---------------------------------------------------------------------------------
 */

static void get_obj(struct get *g, struct obj *o)
{
	*o = (struct obj){.mode = get_u32(g)};
	if (!o->mode)
		return;
	o->uid = get_u32(g);
	o->gid = get_u32(g);
	o->dev = get_u64(g);
	o->ino = get_u64(g);
	o->size = get_u64(g);
	o->mtime_ns = (int64_t)get_u64(g);
	o->ctime_ns = (int64_t)get_u64(g);
	o->btime_ns = (int64_t)get_u64(g);
}

int post_begin(struct post_reader *r, int dir, const char *name)
{
	struct get g;
	int e;

	*r = (struct post_reader){.in = IN_NONE};
	e = in_open(&r->in, dir, name);
	if (e == 0)
		e = in_more(&r->in);
	if (e < 0)
		return e;
	g = in_get(&r->in);
	if (get_u32(&g) != POST_MAGIC)
		return -EBADMSG;
	r->seq = get_u64(&g);
	r->left = get_u32(&g);
	r->images = POST_HEAD_LEN + get_u64(&g);
	r->at = POST_HEAD_LEN;
	in_took(&r->in, &g);
	return g.bad ? -EBADMSG : 0;
}

int post_next(struct post_reader *r, struct post *ret)
{
	int e = 0;

	while (e == 0 && r->left) {
		struct get g = in_get(&r->in);
		struct span key = get_str(&g);

		*ret = (struct post){.seq = r->seq};
		get_obj(&g, &ret->obj);
		ret->hash = get_u64(&g);
		ret->flags = get_u32(&g);
		ret->earlier = ret->flags & POST_EARLIER;
		ret->flags &= ~POST_EARLIER;
		ret->image = get_u64(&g);
		if (g.bad) {
			e = in_more(&r->in);
			continue;
		}
		r->at += (size_t)(g.p - r->in.win.data) - r->in.at;
		in_took(&r->in, &g);
		if (!strchr(key.data, '/'))
			return -EBADMSG;
		ret->key = key.data;
		ret->root = key_root(key.data, &ret->path);
		r->left--;
		return 1;
	}
	return e == 0 && r->at != r->images ? -EBADMSG : e;
}

void post_end(struct post_reader *r)
{
	in_done(&r->in);
}

uint64_t post_peek_seq(int dirfd, const char *name)
{
	AUTO_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char head[12] = "";
	struct get g = {.p = head, .end = head + sizeof(head)};

	if (fd < 0 || io_pread_full(fd, head, sizeof(head), 0) != sizeof(head) ||
	    get_u32(&g) != POST_MAGIC)
		return 0;
	return get_u64(&g);
}

static int read_image(const struct post_reader *r, const struct post *p, struct buf *ret)
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

int post_image(int stepdir, int root, const char *path, const struct change_side *want,
	       struct buf *ret)
{
	AUTO_POST_READER struct post_reader r;
	struct post p;
	int e = post_begin(&r, stepdir, "post");

	if (e < 0)
		return e;
	while ((e = post_next(&r, &p)) > 0)
		if (p.image && p.root == root && str_eq(p.path, path) && p.obj.size == want->size &&
		    p.obj.mtime_ns == want->mtime_ns && p.obj.size <= POST_IMAGE_MAX)
			return read_image(&r, &p, ret);
	return e < 0 ? e : -ENOENT;
}

/* ---- the newest of each path ------------------------------------------------------------------
 */

struct post_kept {
	struct look look;
	uint64_t hash, seq;
	int64_t id;
	uint32_t image;
	uint8_t flags;
	bool kept;
};

void posts_take(struct posts *t, const struct post *p)
{
	struct post_kept *one;
	bool fresh;
	size_t i = names_put(&t->keys, p->key, &fresh);

	if (!fresh && t->list[i].seq >= p->seq)
		return;
	if (fresh && i == t->cap) {
		t->cap = t->cap ? t->cap + t->cap / 2 : 8;
		t->list = xrealloc(t->list, t->cap * sizeof(*t->list));
	}
	one = &t->list[i];
	*one = (struct post_kept){.hash = p->hash,
				  .seq = p->seq,
				  .id = p->id,
				  .image = p->image <= UINT32_MAX ? (uint32_t)p->image : 0,
				  .flags = (uint8_t)p->flags,
				  .kept = p->kept};
	look_set(&one->look, &p->obj);
}

void posts_mark(struct posts *t, const char *key, unsigned flags)
{
	size_t i = names_find(&t->keys, key);

	if (i != NAMES_NONE)
		t->list[i].flags |= (uint8_t)flags;
}

void posts_get(const struct posts *t, size_t i, struct post *ret)
{
	const struct post_kept *one = &t->list[i];

	*ret = (struct post){.key = names_key(&t->keys, i),
			     .hash = one->hash,
			     .seq = one->seq,
			     .id = one->id,
			     .image = one->image,
			     .flags = one->flags,
			     .kept = one->kept};
	ret->root = key_root(ret->key, &ret->path);
	look_get(&one->look, &ret->obj);
}

bool posts_find(const struct posts *t, const char *key, struct post *ret)
{
	size_t i = names_find(&t->keys, key);

	if (i == NAMES_NONE)
		return false;
	posts_get(t, i, ret);
	return true;
}

void posts_done(struct posts *t)
{
	names_done(&t->keys);
	free(t->list);
	*t = (struct posts){0};
}

/* ---- all files --------------------------------------------------------------------------------
 */

struct each {
	const struct group *group;
	const uint64_t *files;
	int (*fn)(void *data, const struct post *p);
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
		if (str_eq(e->group->dirs[i], dir))
			return true;
	return false;
}

static int each_of(int dir, const char *name, int64_t id, bool kept, const struct each *e)
{
	AUTO_POST_READER struct post_reader reader;
	struct post p;
	int r = post_begin(&reader, dir, name);

	if (r == -ENOENT) /* moved by the writer meanwhile */
		return 0;
	if (r == 0 && e->files && !is_one_of(e->files, reader.seq))
		return 0;
	while (r >= 0 && (r = post_next(&reader, &p)) > 0) {
		p.id = id;
		p.kept = kept;
		r = e->fn(e->data, &p);
	}
	return r;
}

static int each_below(struct journal *j, const char *where, const struct each *e)
{
	AUTO_CLOSE int dir = store_open_dir(j, where);
	char **names = NULL;
	size_t n = 0;
	int r = dir < 0 ? dir : store_names(j, where, &names, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		bool orphan = str_eq(where, "posts");
		AUTO_FREE char *name = xasprintf("%s%s", names[i], orphan ? "" : "/post");

		r = each_of(dir, name, orphan ? 0 : atoll(names[i]), str_eq(where, "steps"), e);
		if (r == -EBADMSG && !is_needed(e, where, names[i]))
			r = 0;
	}
	store_names_free(names, n);
	return r;
}

int post_each(struct journal *j, const struct group *group, const uint64_t *files,
	      int (*fn)(void *data, const struct post *p), void *data)
{
	const struct each e = {.group = group, .files = files, .fn = fn, .data = data};
	static const char *const where[] = {"steps", "redo", "posts"};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(where); i++)
		r = each_below(j, where[i], &e);
	return r;
}

int post_undone(struct journal *j, uint64_t *ret)
{
	static const char *const where[] = {"redo", "posts"};
	int r = 0;

	*ret = 0;
	for (size_t k = 0; r == 0 && k < ARRAY_LEN(where); k++) {
		AUTO_CLOSE int dir = store_open_dir(j, where[k]);
		char **names = NULL;
		size_t n = 0;

		r = dir < 0 ? dir : store_names(j, where[k], &names, &n);
		for (size_t i = 0; r == 0 && i < n; i++) {
			AUTO_FREE char *name = xasprintf("%s%s", names[i], k ? "" : "/post");

			*ret = MAX(*ret, post_peek_seq(dir, name));
		}
		store_names_free(names, n);
	}
	return r;
}

static int take(void *data, const struct post *p)
{
	posts_take(data, p);
	return 0;
}

int post_load_all(struct journal *j, struct posts *ret)
{
	int r;

	*ret = (struct posts){0};
	r = post_each(j, NULL, NULL, take, ret);
	if (r < 0)
		posts_done(ret);
	return r;
}
