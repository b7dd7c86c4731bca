/* after_image - writes the after-image of a step: the state of each path at its end. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/io.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/after_image_format.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/step/hard_links.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/store/placed.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/chunked_io.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/path_set.h"
#include "core/os/file.h"

/* A hash tells a touched file from a changed one. After so many paths only times are compared:
 * hashes would cost more than the rest of the commit. */
#define HASHES_MAX 1000

/* ---- post-images ------------------------------------------------------------------------------
 */

/* Opens the file so that reads do not change its atime, unless it is another user's. */
int after_image_open(const struct spot *at)
{
	int flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at->fd, at->name, flags | O_NOATIME);

	return fd < 0 && errno == EPERM ? openat(at->fd, at->name, flags) : fd;
}

/* Combines the hashes of bytes and attributes. Without attributes the result is the hash of the
 * bytes, as in images of older versions. */
static uint64_t with_attrs(uint64_t bytes, uint64_t attrs)
{
	return attrs ? XXH3_64bits_withSeed(&attrs, sizeof(attrs), bytes) | 1 : bytes;
}

/* Returns whether a file of this path may be a git index. */
static bool is_index_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return str_eq(slash ? slash + 1 : path, "index");
}

/* Returns a hash of a git index's entries and attributes; 0 if the file is no git index. */
static uint64_t index_hash(int fd, uint64_t size, uint64_t attrs)
{
	uint64_t sum = git_index_hash(fd, size);

	return sum ? with_attrs(sum, attrs) : 0;
}

/* Returns the hash of a file's bytes and attributes, or 0 if it is unknown. */
static uint64_t file_hash(const char *path, int fd, uint64_t size, uint64_t attrs)
{
	uint64_t bytes = is_index_name(path) ? index_hash(fd, size, attrs) : 0;

	if (bytes)
		return bytes;
	bytes = content_hash(fd, size);
	return bytes ? with_attrs(bytes, attrs) : 0;
}

/* Does the same for an object that is no file. */
static uint64_t other_hash(const struct spot *at, mode_t mode, uint64_t attrs)
{
	char target[4096];
	uint64_t bytes = 0;

	if (S_ISLNK(mode)) {
		ssize_t n = readlinkat(at->fd, at->name, target, sizeof(target));

		bytes = n < 0 ? 0 : XXH3_64bits(target, (size_t)n) | 1;
	} else if (S_ISDIR(mode)) {
		bytes = 1; /* each entry has an image of its own */
	}
	return bytes ? with_attrs(bytes, attrs) : 0;
}

/* Returns the hash of the object's bytes and attributes, or 0 if it is unknown. An object of the
 * store does not lie at its path. */
static uint64_t hash_at(const char *path, const struct spot *at, const struct object *o)
{
	if (S_ISREG(o->mode)) {
		AUTO_CLOSE int fd = after_image_open(at);

		return fd < 0 ? 0 : file_hash(path, fd, o->size, attributes_hash_xattrs(fd));
	}
	return other_hash(at, o->mode, attributes_hash_xattrs_at(at->fd, at->name));
}

static void put_obj(struct buf *b, const struct object *o)
{
	codec_put_u32(b, o->mode);
	if (!o->mode)
		return;
	codec_put_u32(b, o->uid);
	codec_put_u32(b, o->gid);
	codec_put_u64(b, o->dev);
	codec_put_u64(b, o->ino);
	codec_put_u64(b, o->size);
	codec_put_u64(b, (uint64_t)o->mtime_ns);
	codec_put_u64(b, (uint64_t)o->ctime_ns);
	codec_put_u64(b, (uint64_t)o->btime_ns);
}

struct images {
	struct buf bytes;
	size_t hashes; /* how many may still be computed */
};

/* Appends the whole of a text file and sets its hash, if the file is unchanged since the look.
 * Returns false if nothing was appended. */
static bool take_image(struct images *im, const struct spot *at, const struct object *o,
		       uint64_t *hash)
{
	AUTO_CLOSE int fd = -1;
	size_t mark = im->bytes.len;
	uint64_t attrs;
	struct object now;
	ssize_t n;

	if (!S_ISREG(o->mode) || o->size == 0 || o->size > IMAGE_BYTES_MAX ||
	    im->bytes.len + o->size > IMAGES_BYTES_MAX)
		return false;
	fd = after_image_open(at);
	if (fd < 0)
		return false;
	buf_reserve(&im->bytes, o->size);
	n = io_pread_full(fd, im->bytes.data + mark, o->size, 0);
	attrs = attributes_hash_xattrs(fd);
	if (n != (ssize_t)o->size || memchr(im->bytes.data + mark, '\0', (size_t)n) ||
	    object_stat(fd, "", &now) < 0 || !object_same(&now, o) || now.ctime_ns != o->ctime_ns)
		return false;
	*hash = with_attrs(content_hash_bytes(im->bytes.data + mark, o->size), attrs);
	im->bytes.len += (size_t)n;
	im->bytes.data[im->bytes.len] = '\0';
	return true;
}

/* Returns whether to store the file's bytes. Only a file that existed before the step can be
 * merged: an undo removes a created one. */
static bool wants_image(const struct after_image_how *how, const char *key,
			const struct touched_path *t, const struct object *o)
{
	const struct touched_inode *k;

	if (!how->step) /* after a rollback: the way back removes absent paths */
		return !how->absent || !path_set_has_key(how->absent, key);
	if (!t || t->foreign)
		return false;
	k = step_known(how->step, o);
	return t->before || !k || !(k->flags & TOUCHED_CREATED);
}

static unsigned flags_of(const struct after_image_how *how, const char *key,
			 const struct touched_path *t)
{
	unsigned flags = how->shared && path_set_has_key(how->shared, key) ? IMAGE_SHARED : 0;

	flags |= how->passing && path_set_has_key(how->passing, key) ? IMAGE_PASSING : 0;
	flags |= !t && how->carried && path_set_has_key(how->carried, key) ? IMAGE_CARRIED : 0;
	flags |= how->returns && path_set_has_key(how->returns, key) ? IMAGE_RETURNS : 0;
	if ((t && t->foreign) || (how->foreign && path_set_has_key(how->foreign, key)) ||
	    (how->edited && path_set_has_key(how->edited, key)))
		flags |= IMAGE_FOREIGN;
	return flags;
}

static void put_one(struct buf *b, const char *key, const struct object *o, uint64_t hash,
		    unsigned flags, uint64_t image)
{
	codec_put_str(b, key, strlen(key));
	put_obj(b, o);
	codec_put_u64(b, hash);
	codec_put_u32(b, flags);
	codec_put_u64(b, image);
}

/* Writes the old image of a path with an external edit: its bytes are still the base of a merge. */
static bool put_old(struct buf *b, struct images *im, int stepdir,
		    const struct after_image_how *how, const char *key)
{
	struct after_image old;
	size_t mark = im->bytes.len;
	struct change_side want;

	if (!how->old || !after_images_find(how->old, key, &old) || !old.image)
		return false;
	change_side_set(&want, &old.obj);
	if (after_image_bytes(stepdir, old.root, old.path, &want, &im->bytes) < 0) {
		buf_truncate(&im->bytes, mark);
		return false;
	}
	put_one(b, key, &old.obj, old.hash, flags_of(how, key, NULL), mark + 1);
	return true;
}

/* Returns the object's hash, or 0 if the object has changed since the look. */
static uint64_t hash_as_seen(const struct spot *at, const struct object *o)
{
	uint64_t hash = hash_at(at->name, at, o);
	struct object now;

	if (S_ISDIR(o->mode) || !hash)
		return hash;
	if (object_stat(at->fd, at->name, &now) < 0 || !object_same(&now, o) ||
	    now.size != o->size || now.mtime_ns != o->mtime_ns || now.ctime_ns != o->ctime_ns)
		return 0;
	return hash;
}

static void put_after_image(struct buf *b, struct images *im, const struct after_image_how *how,
			    const char *key, const struct touched_path *t, const struct spot *at,
			    const struct object *o)
{
	bool there = o->mode && o->mode != OBJECT_UNSEEN;
	size_t mark = im->bytes.len;
	uint64_t hash = 0;
	bool image = there && wants_image(how, key, t, o) && take_image(im, at, o, &hash);

	if (!image && there && im->hashes)
		hash = hash_as_seen(at, o);
	im->hashes -= im->hashes && o->mode;
	put_one(b, key, o, hash, flags_of(how, key, t), image ? mark + 1 : 0);
}

/* Returns whether the file is read: most images need only the state, which was read before. */
static bool will_read(const struct images *im, const struct after_image_how *how, const char *key,
		      const struct touched_path *t, const struct object *o)
{
	return o->mode && o->mode != OBJECT_UNSEEN && (im->hashes || wants_image(how, key, t, o));
}

/* Returns whether the object is not as the step or rollback placed it. own: the path is its own. At
 * other paths a step knows the files that it noted, a rollback the older files. */
static bool is_edited(struct journal *j, const struct after_image_how *how,
		      const struct touched_path *t, bool own, const struct object *o)
{
	struct object before;
	bool known;

	if (!how->edited)
		return false;
	if (!t)
		return placed_is_edited(j, o, !own || !placed_is_young(j, o));
	touched_path_before(&how->step->touches, t, &before);
	known = step_known(how->step, o) || hard_link_has(how->step, o) || object_same(&before, o);
	return placed_is_edited(j, o, known);
}

/* Writes the image of one path. t: the step's touch of it, or NULL. */
static int write_one(struct journal *j, int stepdir, struct chunked_out *out, struct images *im,
		     const char *key, const struct touched_path *t,
		     const struct after_image_how *how, bool own)
{
	struct spot at = {.fd = -1, .name = ""};
	struct object o = {0}, again;
	struct reach reach = {0};
	const char *path;
	bool edited;
	int root, r = 0;

	if (!how->step && flags_of(how, key, NULL) & IMAGE_FOREIGN &&
	    put_old(&out->buf, im, stepdir, how, key))
		return 0;
	root = path_key_root(key, &path);
	if (t)
		touched_path_after(&how->step->touches, t, &o);
	if (!t)
		r = reach_look(j, &reach, root, path, &at, &o);
	else if (will_read(im, how, key, t, &o))
		r = how->locked ? reach_look(j, &reach, root, path, &at, &again)
				: root_find(j, root, path, &at);
	edited = r == 0 && is_edited(j, how, t, own, &o);
	if (edited)
		path_set_add_key(how->edited, key);
	if (r == 0 && (!edited || !put_old(&out->buf, im, stepdir, how, key)))
		put_after_image(&out->buf, im, how, key, t, &at, &o);
	if (r == 0)
		chunked_out_spill(out);
	reach_close(j, &reach);
	return r;
}

static void put_head(struct buf *b, uint64_t seq, size_t n, uint64_t len)
{
	codec_put_u32(b, IMAGE_MAGIC);
	codec_put_u64(b, seq);
	codec_put_u32(b, (uint32_t)n);
	codec_put_u64(b, len);
}

int after_image_write(struct journal *j, int stepdir, const struct path_set *keys,
		      const struct after_image_how *how)
{
	struct touched_paths *touches = how->step ? &how->step->touches : NULL;
	size_t n_touches = touches ? touched_paths_count(touches) : 0, n = n_touches;
	AUTO_BUF struct buf head = BUF_INIT;
	struct images im = {.bytes = BUF_INIT, .hashes = HASHES_MAX};
	struct chunked_out out = CHUNKED_OUT_NONE;
	int r = 0;

	store_forget_near(j);
	chunked_out_begin(&out, stepdir, "post");
	put_head(&out.buf, 0, 0, 0);
	for (size_t i = 0; r == 0 && i < n_touches; i++)
		r = write_one(j, stepdir, &out, &im, touched_paths_key(touches, i),
			      &touches->list[i], how, true);
	for (size_t i = 0; r == 0 && i < path_set_count(keys); i++) {
		const char *key = path_set_key(keys, i);

		if (touches && touched_paths_find(touches, key))
			continue;
		r = write_one(j, stepdir, &out, &im, key, NULL, how, i < how->n_own);
		n++;
	}
	store_forget_near(j);
	put_head(&head, r < 0 ? 0 : store_seq(j), n, chunked_out_len(&out) - IMAGE_HEAD_LEN);
	chunked_out_add(&out, (struct span){im.bytes.data, im.bytes.len});
	buf_done(&im.bytes);
	/* A recovery reads the file, even before it is part of a commit. */
	return chunked_out_end(&out, r, (struct span){head.data, head.len});
}

/* Returns whether git has only refreshed an index, as `git status` does: that is no edit. */
static bool is_same_index(const struct after_image *p, const struct spot *at,
			  const struct object *o)
{
	AUTO_CLOSE int fd = -1;

	if (!p->hash || !S_ISREG(o->mode) || !is_index_name(p->path))
		return false;
	fd = after_image_open(at);
	return fd >= 0 && index_hash(fd, o->size, attributes_hash_xattrs(fd)) == p->hash;
}

bool after_image_fits(const struct after_image *p, const struct spot *at, const struct object *o)
{
	const struct object *was = &p->obj;

	/* A locked directory hides whether the path exists, and has an image of its own. */
	if (was->mode == OBJECT_UNSEEN || o->mode == OBJECT_UNSEEN)
		return true;
	if (!was->mode || !o->mode)
		return was->mode == o->mode;
	if (o->mode != was->mode || o->uid != was->uid || o->gid != was->gid)
		return false;
	if (S_ISDIR(o->mode))
		return !p->hash || hash_at(p->path, at, o) == p->hash;
	if (o->size != was->size || o->ino != was->ino || o->mtime_ns != was->mtime_ns)
		if (is_same_index(p, at, o))
			return true;
	if (o->size != was->size)
		return false;
	if (o->ino == was->ino && o->mtime_ns == was->mtime_ns &&
	    (o->ctime_ns == was->ctime_ns || (o->nlink > 1 && !p->hash)))
		return true;
	if (p->hash && S_ISREG(o->mode) && o->size > CONTENT_HASH_MAX &&
	    (o->ino != was->ino || o->mtime_ns != was->mtime_ns))
		return false;
	if (p->hash)
		return hash_at(p->path, at, o) == p->hash;
	/* A file without the owner's read bit has no hash: reading it changes its ctime. */
	return o->ino == was->ino &&
	       (!S_ISREG(o->mode) || (!(o->mode & S_IRUSR) && o->mtime_ns == was->mtime_ns));
}

bool after_image_fits_capture(const struct after_image *p, const struct change_side *is,
			      const struct captured_object *as)
{
	const struct object *was = &p->obj;
	const bool file = S_ISREG(is->mode);
	uint64_t attrs;
	struct stat st;

	if (is->mode != was->mode || is->uid != was->uid || is->gid != was->gid)
		return false;
	if (as->meta.len)
		attrs = attributes_hash_kept(as->meta);
	else
		attrs = file ? attributes_hash_xattrs(as->fd)
			     : attributes_hash_xattrs_at(as->at.fd, as->at.name);
	if (!file)
		return other_hash(&as->at, is->mode, attrs) == p->hash;
	if (fstat(as->fd, &st) < 0)
		return false;
	if (is_index_name(p->path) && index_hash(as->fd, (uint64_t)st.st_size, attrs) == p->hash)
		return true;
	if ((uint64_t)st.st_size != was->size ||
	    (was->size > CONTENT_HASH_MAX && is->mtime_ns != was->mtime_ns))
		return false;
	return file_hash(p->path, as->fd, was->size, attrs) == p->hash;
}

bool after_image_differs(struct journal *j, const struct after_image *p)
{
	struct spot at = {.fd = -1, .name = ""};
	struct reach reach = {0};
	struct object o;
	bool differs;

	if (p->flags & IMAGE_FOREIGN)
		return true;
	if (p->obj.mode == OBJECT_UNSEEN)
		return false;
	differs = reach_look(j, &reach, p->root, p->path, &at, &o) < 0 ||
		  !after_image_fits(p, &at, &o);
	reach_close(j, &reach);
	return differs;
}
