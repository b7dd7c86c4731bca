/* post - what paths looked like when a step ended: the way to notice that somebody else was there.
 */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/io.h"
#include "core/journal/priv.h"

#define POST_MAGIC 0x32545350u /* "PST2" */
#define FILE_MAX   ((size_t)1 << 30)
#define HEAD_LEN   24 /* magic, number, count, length of the list */
/* A hash tells a touched file from a changed one. Of a step that made thousands it would cost more
 * than the rest of the commit: there the times have to do. */
#define HASHES_MAX 1000
/* Of text files that were there before, the bytes: the base of a three-way merge when somebody
 * edits one. At most as much as is read and written in a few milliseconds. */
#define IMAGE_MAX  ((size_t)256 << 10)
#define IMAGES_MAX ((size_t)4 << 20)

/* ---- post-images ------------------------------------------------------------------------------
 */

static uint64_t hash_at(const struct spot *at, const struct obj *o)
{
	AUTO_CLOSE int fd = -1;

	if (S_ISLNK(o->mode)) {
		char target[4096];
		ssize_t n = readlinkat(at->fd, at->name, target, sizeof(target));

		return n < 0 ? 0 : XXH3_64bits(target, (size_t)n) | 1;
	}
	if (!S_ISREG(o->mode))
		return 0;
	fd = openat(at->fd, at->name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOATIME);
	return fd < 0 ? 0 : data_hash(fd, o->size);
}

int spot_look(struct journal *j, int root, const char *path, struct spot *at, struct obj *o)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	int r;

	*o = (struct obj){0};
	if (len && j->near_gone && atoi(j->near_gone) == root &&
	    strlen(strchr(j->near_gone, '/') + 1) == len &&
	    strncmp(strchr(j->near_gone, '/') + 1, path, len) == 0)
		return 0;
	r = spot_find(j, root, path, at);
	if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP) {
		AUTO_FREE char *dir = xstrndup(path, len);

		free(j->near_gone);
		j->near_gone = xasprintf("%d/%s", root, dir);
		return 0;
	}
	if (r == 0)
		r = obj_stat(at->fd, at->name, o);
	if (r == -EACCES) {
		*o = (struct obj){.mode = OBJ_UNSEEN};
		r = 0;
	}
	return r;
}

static void put_obj(struct buf *b, const struct obj *o)
{
	put_u32(b, o->mode);
	if (!o->mode)
		return;
	put_u32(b, o->uid);
	put_u32(b, o->gid);
	put_u64(b, o->dev);
	put_u64(b, o->ino);
	put_u64(b, o->size);
	put_u64(b, (uint64_t)o->mtime_ns);
	put_u64(b, (uint64_t)o->ctime_ns);
	put_u64(b, (uint64_t)o->btime_ns);
}

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

/* 0 and *o, and *at when its bytes may be read. */
static int look_again(struct journal *j, const char *key, const struct step *step, struct spot *at,
		      struct obj *o)
{
	const char *path;
	int root = key_root(key, &path), r;
	const struct touch *t = NULL;

	if (step)
		HASH_FIND_STR(step->touches, key, t);
	if (!t)
		return spot_look(j, root, path, at, o);
	*o = t->after;
	r = o->mode && o->mode != OBJ_UNSEEN ? spot_find(j, root, path, at) : 0;
	return r;
}

struct images {
	struct buf bytes;
	size_t hashes; /* that may still be taken */
};

/* The whole of a text file as it was looked at, appended. False: nothing was. */
static bool take_image(struct images *im, const struct spot *at, const struct obj *o)
{
	AUTO_CLOSE int fd = -1;
	size_t mark = im->bytes.len;
	struct obj now;
	ssize_t n;

	if (!S_ISREG(o->mode) || o->size == 0 || o->size > IMAGE_MAX ||
	    im->bytes.len + o->size > IMAGES_MAX)
		return false;
	fd = openat(at->fd, at->name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOATIME);
	if (fd < 0)
		return false;
	buf_reserve(&im->bytes, o->size);
	n = io_pread_full(fd, im->bytes.data + mark, o->size, 0);
	if (n != (ssize_t)o->size || memchr(im->bytes.data + mark, '\0', (size_t)n) ||
	    obj_stat(fd, "", &now) < 0 || !obj_same(&now, o) || now.ctime_ns != o->ctime_ns)
		return false;
	im->bytes.len += (size_t)n;
	im->bytes.data[im->bytes.len] = '\0';
	return true;
}

/* Only what was there before can be merged: undoing what was made takes it away. */
static bool wants_image(const struct post_how *how, const char *key, const struct obj *o)
{
	const struct touch *t = NULL;
	const struct known *k;

	if (!how->step) /* and what the way back takes away */
		return !how->absent || !names_has_key(how->absent, key);
	HASH_FIND_STR(how->step->touches, key, t);
	if (!t || t->foreign)
		return false;
	k = step_known(how->step, o);
	return t->before.mode || !k || !(k->flags & KNOWN_CREATED);
}

static unsigned flags_of(const struct post_how *how, const char *key)
{
	const struct touch *t = NULL;
	unsigned flags = how->shared && names_has_key(how->shared, key) ? POST_SHARED : 0;

	if (how->step)
		HASH_FIND_STR(how->step->touches, key, t);
	if ((t && t->foreign) || (how->foreign && names_has_key(how->foreign, key)))
		return flags | POST_FOREIGN;
	return flags | (how->returns && names_has_key(how->returns, key) ? POST_RETURNS : 0);
}

static void put_one(struct buf *b, const char *key, const struct obj *o, uint64_t hash,
		    unsigned flags, uint64_t image)
{
	put_str(b, key, strlen(key));
	put_obj(b, o);
	put_u64(b, hash);
	put_u32(b, flags);
	put_u64(b, image);
}

/* Of somebody else's file what the step left there is still the base of a merge. */
static bool put_old(struct buf *b, struct images *im, int stepdir, const struct post_how *how,
		    const char *key)
{
	const struct post *old = NULL;
	size_t mark = im->bytes.len;
	struct change_side want;

	for (size_t i = 0; i < how->n_old && !old; i++)
		if (str_eq(how->old[i].key, key))
			old = &how->old[i];
	if (!old || !old->image)
		return false;
	change_side_set(&want, &old->obj);
	if (post_image(stepdir, old->root, old->path, &want, &im->bytes) < 0) {
		buf_truncate(&im->bytes, mark);
		return false;
	}
	put_one(b, key, &old->obj, old->hash, POST_FOREIGN, mark + 1);
	return true;
}

static void put_post(struct buf *b, struct images *im, const struct post_how *how, const char *key,
		     const struct spot *at, const struct obj *o)
{
	bool there = o->mode && o->mode != OBJ_UNSEEN;
	size_t mark = im->bytes.len;
	uint64_t hash = 0;
	bool image = there && wants_image(how, key, o) && take_image(im, at, o);

	if (image && o->size <= DATA_HASH_MAX)
		hash = XXH3_64bits(im->bytes.data + mark, o->size) | 1;
	else if (there && im->hashes)
		hash = hash_at(at, o);
	im->hashes -= im->hashes && o->mode;
	put_one(b, key, o, hash, flags_of(how, key), image ? mark + 1 : 0);
}

int post_write(struct journal *j, int stepdir, const char *const *keys, size_t n,
	       const struct post_how *how)
{
	AUTO_BUF struct buf b = BUF_INIT, head = BUF_INIT;
	struct images im = {.bytes = BUF_INIT, .hashes = HASHES_MAX};
	int r = 0;

	store_forget_near(j);
	for (size_t i = 0; r == 0 && i < n; i++) {
		struct spot at = {.fd = -1, .name = ""};
		struct obj o = {0};

		if (!how->step && flags_of(how, keys[i]) & POST_FOREIGN &&
		    put_old(&b, &im, stepdir, how, keys[i]))
			continue;
		r = look_again(j, keys[i], how->step, &at, &o);
		if (r == 0)
			put_post(&b, &im, how, keys[i], &at, &o);
	}
	store_forget_near(j);
	if (r == 0) {
		put_u32(&head, POST_MAGIC);
		put_u64(&head, store_seq(j));
		put_u32(&head, (uint32_t)n);
		put_u64(&head, b.len);
		buf_add(&head, b.data, b.len);
		buf_add(&head, im.bytes.data, im.bytes.len);
		/* A recovery reads it, also before it was part of anything that was committed. */
		r = io_write_file(stepdir, "post", 0600, head.data, head.len, j->options.durable);
	}
	buf_done(&im.bytes);
	return r;
}

/* The head and the list, without the images behind them; *ret_fd stays open where those begin. */
static int read_list(int dir, const char *name, char **ret, size_t *ret_len, int *ret_fd)
{
	AUTO_CLOSE int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	AUTO_FREE char *text = NULL;
	char head[HEAD_LEN];
	struct get g = {.p = head, .end = head + HEAD_LEN};
	uint64_t len;

	if (fd < 0)
		return -errno;
	if (io_read_full(fd, head, HEAD_LEN) != HEAD_LEN || get_u32(&g) != POST_MAGIC)
		return -EBADMSG;
	get_u64(&g);
	get_u32(&g);
	len = get_u64(&g);
	if (len > FILE_MAX)
		return -EBADMSG;
	text = xmalloc(HEAD_LEN + len + 1);
	memcpy(text, head, HEAD_LEN);
	if (io_read_full(fd, text + HEAD_LEN, len) != (ssize_t)len)
		return -EBADMSG;
	text[HEAD_LEN + len] = '\0';
	*ret = take_ptr(&text);
	*ret_len = HEAD_LEN + len;
	if (ret_fd)
		*ret_fd = take_fd(&fd);
	return 0;
}

static int post_parse(const char *text, size_t len, struct post **ret, size_t *ret_n)
{
	struct get g = {.p = text, .end = text + len};
	struct post *list = NULL;
	uint64_t seq;
	uint32_t n;

	get_u32(&g); /* read_list() has seen the magic */
	seq = get_u64(&g);
	n = get_u32(&g);
	get_u64(&g);
	if (g.bad || n > len)
		return -EBADMSG;
	list = xcalloc((size_t)n + 1, sizeof(*list));
	for (uint32_t i = 0; i < n; i++) {
		struct span key = get_str(&g);
		const char *path;

		if (g.bad || !strchr(key.data, '/')) {
			post_free(list, i);
			return -EBADMSG;
		}
		list[i].key = xstrdup(key.data);
		list[i].root = key_root(list[i].key, &path);
		list[i].path = xstrdup(path);
		list[i].seq = seq;
		get_obj(&g, &list[i].obj);
		list[i].hash = get_u64(&g);
		list[i].flags = get_u32(&g);
		list[i].image = get_u64(&g);
	}
	if (g.bad) {
		post_free(list, n);
		return -EBADMSG;
	}
	*ret = list;
	*ret_n = n;
	return 0;
}

int post_load(int dir, const char *name, struct post **ret, size_t *ret_n)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = read_list(dir, name, &text, &len, NULL);

	return r < 0 ? r : post_parse(text, len, ret, ret_n);
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

int post_image(int stepdir, int root, const char *path, const struct change_side *want,
	       struct buf *ret)
{
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int fd = -1;
	struct post *list = NULL;
	size_t len = 0, n = 0;
	int r = read_list(stepdir, "post", &text, &len, &fd);

	if (r == 0)
		r = post_parse(text, len, &list, &n);
	if (r < 0)
		return r;
	r = -ENOENT;
	for (size_t i = 0; i < n; i++) {
		const struct post *p = &list[i];

		if (!p->image || p->root != root || !str_eq(p->path, path) ||
		    p->obj.size != want->size || p->obj.mtime_ns != want->mtime_ns ||
		    p->obj.size > IMAGE_MAX)
			continue;
		buf_reserve(ret, p->obj.size);
		r = io_pread_full(fd, ret->data + ret->len, p->obj.size,
				  (off_t)(len + p->image - 1)) == (ssize_t)p->obj.size
			    ? 0
			    : -EBADMSG;
		if (r == 0)
			ret->len += p->obj.size;
		ret->data[ret->len] = '\0';
		break;
	}
	post_free(list, n);
	return r;
}

void post_free(struct post *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++) {
		free(list[i].key);
		free(list[i].path);
	}
	free(list);
}

static bool looks_like(const struct post *p, const struct spot *at, const struct obj *o)
{
	const struct obj *was = &p->obj;

	/* Was it there or not? Nobody knows; who locked the directory is known by its own image. */
	if (was->mode == OBJ_UNSEEN || o->mode == OBJ_UNSEEN)
		return true;
	if (!was->mode || !o->mode)
		return was->mode == o->mode;
	if (o->mode != was->mode || o->uid != was->uid || o->gid != was->gid)
		return false;
	/* Of a directory the entries speak for themselves. */
	if (S_ISDIR(o->mode))
		return true;
	if (o->size != was->size)
		return false;
	if (o->ino == was->ino && o->mtime_ns == was->mtime_ns &&
	    (o->ctime_ns == was->ctime_ns || o->nlink > 1))
		return true;
	if (p->hash && S_ISREG(o->mode) && o->size > DATA_HASH_MAX &&
	    (o->ino != was->ino || o->mtime_ns != was->mtime_ns))
		return false;
	if (p->hash)
		return hash_at(at, o) == p->hash;
	/* What even its owner may not read has no hash, and a look at its bytes changes its ctime.
	 */
	return o->ino == was->ino &&
	       (!S_ISREG(o->mode) || (!(o->mode & S_IRUSR) && o->mtime_ns == was->mtime_ns));
}

bool post_differs(struct journal *j, const struct post *p, const struct post *inodes)
{
	const struct post *other;
	struct spot at = {.fd = -1, .name = ""};
	struct obj o;

	if (spot_look(j, p->root, p->path, &at, &o) < 0)
		return true;
	if (p->flags & POST_FOREIGN)
		return true;
	if (looks_like(p, &at, &o))
		return false;
	if (!o.mode || S_ISDIR(o.mode))
		return true;
	/* Changed under another of its names, by a step that took a newer image there? */
	HASH_FIND(by_ino, inodes, &o.ino, sizeof(o.ino), other);
	return !other || other->seq <= p->seq || other->obj.dev != o.dev ||
	       !looks_like(other, &at, &o);
}

/* ---- all of them ------------------------------------------------------------------------------
 */

static void post_free_one(struct post *p)
{
	free(p->key);
	free(p->path);
	free(p);
}

void post_free_all(struct post *all)
{
	struct post *p, *next;

	HASH_ITER (hh, all, p, next) {
		HASH_DEL(all, p);
		post_free_one(p);
	}
}

static void merge(struct post **all, struct post *list, size_t n, int64_t id, bool kept)
{
	for (size_t i = 0; i < n; i++) {
		struct post *p;

		HASH_FIND_STR(*all, list[i].key, p);
		if (p && p->seq >= list[i].seq)
			continue;
		if (p) {
			HASH_DEL(*all, p);
			post_free_one(p);
		}
		p = xmalloc(sizeof(*p));
		*p = list[i];
		p->id = id;
		p->kept = kept;
		list[i].key = list[i].path = NULL;
		HASH_ADD_KEYPTR(hh, *all, p->key, strlen(p->key), p);
	}
}

static int load_below(struct journal *j, const char *where, struct post **all)
{
	AUTO_CLOSE int dir = store_open_dir(j, where);
	char **names = NULL;
	size_t n = 0;
	int r = dir < 0 ? dir : store_names(j, where, &names, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		bool orphan = str_eq(where, "posts");
		AUTO_FREE char *name = xasprintf("%s%s", names[i], orphan ? "" : "/post");
		struct post *list = NULL;
		size_t n_list = 0;

		r = post_load(dir, name, &list, &n_list);
		if (r == 0)
			merge(all, list, n_list, orphan ? 0 : atoll(names[i]),
			      str_eq(where, "steps"));
		if (r == -ENOENT)
			r = 0; /* moved by the writer meanwhile */
		post_free(list, n_list);
	}
	store_names_free(names, n);
	return r;
}

int post_load_all(struct journal *j, struct post **ret)
{
	static const char *const where[] = {"steps", "redo", "posts"};
	int r = 0;

	*ret = NULL;
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(where); i++)
		r = load_below(j, where[i], ret);
	if (r < 0)
		post_free_all(take_ptr(ret));
	return r;
}
