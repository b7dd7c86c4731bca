/* content - an object's content and metadata before or after a step, and where they are stored. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/content.h"
#include "core/journal/history/list.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/path_index_lookup.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/journal/history/inode_history.h"
#include "core/journal/store/compressed.h"
#include "core/journal/store/reach.h"
#include "core/os/file.h"

void content_origin_done(struct content_origin *o)
{
	util_close_fd(&o->fd);
	util_close_fd(&o->slots);
	buf_done(&o->meta);
	free(o->present);
	*o = (struct content_origin)CONTENT_ORIGIN_NONE;
}

/* ---- opening ----------------------------------------------------------------------------------
 */

static int open_memory(const char *data, size_t len)
{
	AUTO_CLOSE int mem = os_memory_file("cordon-content");
	int r;

	if (mem < 0)
		return take_fd(&mem);
	r = io_pwrite_all(mem, data, len, 0);
	return r < 0 ? r : take_fd(&mem);
}

/* Opens a file for reading, or puts a link's target into memory. */
static int open_bytes(struct journal *j, int dirfd, const char *name)
{
	char target[PATH_MAX];
	struct object o;
	ssize_t n;
	int r = object_stat(dirfd, name, &o);

	if (r < 0)
		return r;
	if (!o.mode)
		return -ENOENT;
	if (!S_ISLNK(o.mode))
		return borrow_open_file(j, dirfd, name);
	n = readlinkat(dirfd, name, target, sizeof(target));
	return n < 0 ? -errno : open_memory(target, (size_t)n);
}

static bool has_bytes(const struct change_side *s)
{
	return S_ISREG(s->mode) || S_ISLNK(s->mode);
}

static char *slot_path(const struct path_record *m, const char *inside)
{
	char slot[24];

	store_slot_name(slot, m->slot);
	return xasprintf("%s%s", slot, inside);
}

/* Opens the bytes that the record of mark i captured. */
static int open_mark(const struct inode_history *s, size_t i, const char *inside)
{
	const struct path_record *m = &s->t->list[i];
	AUTO_BUF struct buf mem = BUF_INIT;
	AUTO_FREE char *name = NULL;
	struct span meta, bytes;
	struct rec rec;
	int r;

	if (m->flags & REC_INLINE) {
		r = path_index_fetch(s->t, i, &mem, &rec);
		if (r < 0)
			return r;
		undo_log_content(&rec, &meta, &bytes);
		return open_memory(bytes.data, bytes.len);
	}
	if (m->type == REC_CONTENT) {
		char slot[24];

		store_slot_name(slot, m->slot);
		return compressed_open(s->t->logs[m->log].obj, slot);
	}
	name = slot_path(m, inside);
	return open_bytes(s->j, s->t->logs[m->log].obj, name);
}

/* Returns the inode number of the object that the search by path found; 0: the summary has it. */
static uint64_t find_other(const struct inode_history *s, size_t i, int root, const char *path,
			   const char *inside)
{
	struct object o = {0};

	if (i < s->t->n)
		o.ino = *inside ? 0 : s->t->list[i].ino;
	else if (reach_see(s->j, root, path, &o) < 0)
		return 0;
	return o.ino == s->want->ino ? 0 : o.ino;
}

/* Looks for the bytes in the folder, because no record captured them. Returns -ESTALE if the file
 * was edited from outside. */
static int find_present(const struct inode_history *s, struct reach *reach, int root,
			const char *path, struct spot *at)
{
	struct change_side now;
	struct object o;
	int r = reach_look(s->j, reach, root, path, at, &o);

	if (r < 0 || o.mode == OBJECT_UNSEEN)
		return r < 0 ? r : -EACCES;
	change_side_set(&now, &o);
	return now.exists && (now.mode & S_IFMT) == (s->want->mode & S_IFMT) &&
			       inode_history_is_same(s, s->t->n, now.ino, now.size, now.mtime_ns)
		       ? 0
		       : -ESTALE;
}

/* ---- bytes ------------------------------------------------------------------------------------
 */

/* Reads the time and inode of mark i's bytes, which are open as fd. Returns false on an error. */
static bool look_at(const struct inode_history *s, size_t i, int fd, struct object *ret)
{
	AUTO_BUF struct buf mem = BUF_INIT;
	struct span meta, bytes;
	struct rec rec;

	if (object_stat(fd, "", ret) < 0)
		return false;
	if (s->t->list[i].type != REC_CONTENT)
		return true;
	if (path_index_fetch(s->t, i, &mem, &rec) < 0)
		return false;
	undo_log_content(&rec, &meta, &bytes);
	ret->ino = rec.ino;
	ret->mtime_ns = attributes_mtime(meta);
	return true;
}

/* Opens the bytes that mark i captured. The step's own capture is right; a file in a slot may have
 * been changed later, through another hard link: -ESTALE. */
static int open_taken(const struct inode_history *s, size_t i, const char *inside)
{
	bool own = s->own && s->t->logs[s->t->list[i].log].id == s->own->id;
	AUTO_CLOSE int fd = open_mark(s, i, inside);
	size_t end = i, other;
	struct object o;

	if (fd < 0)
		return take_fd(&fd);
	if (!look_at(s, i, fd, &o))
		return -ESTALE;
	if (s->t->list[i].type == REC_GONE && o.nlink > 1) {
		end = s->t->n;
		other = inode_history_bytes(s, end, o.ino);
		if (other < end)
			return open_mark(s, other, "");
	} else if (own) {
		return take_fd(&fd);
	}
	return inode_history_is_same(s, end, o.ino, o.size, o.mtime_ns) ? take_fd(&fd) : -ESTALE;
}

static int is_lost(const struct inode_history *s, size_t i, struct content_origin *ret)
{
	const struct path_record *m = &s->t->list[i];

	if (path_record_is_blind(m))
		ret->damaged = s->t->logs[m->log].id;
	return -ESTALE;
}

static int find_bytes(const struct inode_history *s, struct content_origin *ret)
{
	AUTO_FREE char *path = xstrdup(s->start);
	AUTO_FREE char *inside = NULL;
	int root = s->root, r = 0;
	size_t i = path_index_follow(s->t, s->at, PATH_INDEX_BYTES, &root, &path, &inside);
	size_t alias = inode_history_bytes(s, i, s->want->ino);
	struct reach reach = {0};
	struct spot at;

	if (alias == i)
		alias = inode_history_bytes(s, i, find_other(s, i, root, path, inside));
	if (alias < i) {
		ret->fd = open_mark(s, alias, "");
	} else if (i < s->t->n && s->t->list[i].type == REC_MARK) {
		return is_lost(s, i, ret);
	} else if (i < s->t->n) {
		ret->fd = open_taken(s, i, inside);
	} else {
		r = find_present(s, &reach, root, path, &at);
		if (r == 0)
			ret->fd = open_bytes(s->j, at.fd, at.name);
		reach_close(s->j, &reach);
		if (ret->fd == -ENOENT) /* removed at this moment */
			r = -ESTALE;
		ret->present = root == s->root ? take_ptr(&path) : NULL;
	}
	return r < 0 ? r : MIN(ret->fd, 0);
}

/* ---- metadata ---------------------------------------------------------------------------------
 */

static int read_meta(struct journal *j, int dirfd, const char *name, struct buf *ret)
{
	AUTO_CLOSE int fd = object_open(dirfd, name);

	return fd < 0 ? fd : attributes_read(j, fd, ret);
}

static int meta_of_mark(const struct inode_history *s, size_t i, const char *inside,
			struct content_origin *ret)
{
	const struct path_record *m = &s->t->list[i];
	AUTO_BUF struct buf mem = BUF_INIT;
	AUTO_FREE char *name = NULL;
	struct span meta, bytes;
	struct rec rec;
	int r;

	if (m->type == REC_GONE || m->type == REC_XINODE) {
		name = slot_path(m, inside);
		return read_meta(s->j, s->t->logs[m->log].obj, name, &ret->meta);
	}
	r = path_index_fetch(s->t, i, &mem, &rec);
	if (r < 0)
		return r;
	undo_log_content(&rec, &meta, &bytes);
	buf_add(&ret->meta, meta.data, meta.len);
	return 0;
}

static int find_meta(const struct inode_history *s, struct content_origin *ret)
{
	AUTO_FREE char *path = xstrdup(s->start);
	AUTO_FREE char *inside = NULL;
	unsigned inode = 1u << REC_CONTENT | 1u << REC_META;
	int root = s->root, r;
	size_t n = s->t->n,
	       i = path_index_follow(s->t, s->at, PATH_INDEX_META, &root, &path, &inside), alias;
	struct reach reach = {0};
	struct spot at;

	alias = S_ISDIR(s->want->mode) ? i : inode_history_record(s, s->at, i, inode, s->want->ino);
	if (alias == i && !S_ISDIR(s->want->mode))
		alias = inode_history_record(s, s->at, i, inode,
					     find_other(s, i, root, path, inside));
	if (alias < i)
		return meta_of_mark(s, alias, "", ret);
	if (i == n) {
		r = find_present(s, &reach, root, path, &at);
		if (!ret->present && !has_bytes(s->want))
			ret->present = take_ptr(&path);
		if (r == 0)
			r = read_meta(s->j, at.fd, at.name, &ret->meta);
		reach_close(s->j, &reach);
		return r;
	}
	if (s->t->list[i].type == REC_MARK)
		return is_lost(s, i, ret);
	if (s->t->list[i].type == REC_GONE && !S_ISDIR(s->want->mode))
		alias = inode_history_record(s, i + 1, n, inode, s->want->ino);
	else
		alias = n;
	return alias < n ? meta_of_mark(s, alias, "", ret) : meta_of_mark(s, i, inside, ret);
}

/* Finds the slot that has the inode itself, if there is one. */
static int find_slot(const struct inode_history *s, struct content_origin *ret)
{
	AUTO_FREE char *path = xstrdup(s->start);
	AUTO_FREE char *inside = NULL;
	int root = s->root;
	size_t i = path_index_follow(s->t, s->at, PATH_INDEX_BYTES, &root, &path, &inside);
	const struct path_record *m = &s->t->list[i];

	if (i == s->t->n || m->type != REC_GONE || *inside)
		return 0;
	store_slot_name(ret->slot, m->slot);
	ret->slots = fcntl(s->t->logs[m->log].obj, F_DUPFD_CLOEXEC, 3);
	return ret->slots < 0 ? -errno : 0;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static int inode_history_init(struct inode_history *s, int64_t id, const struct change *c,
			      bool after, bool undone)
{
	const char *path = !after && c->old_path ? c->old_path : c->path;
	const struct path_log *log;
	bool far = after == undone;
	int r = path_index_get(s->j, id, undone, &s->t);

	if (r < 0)
		return r;
	log = path_index_log(s->t, id);
	s->own = log;
	s->want = after ? &c->after : &c->before;
	s->left = undone ? &c->before : &c->after;
	s->root = c->root;
	s->at = !log ? 0 : far ? MIN(log->first, s->t->n) : log->end;
	s->start = after || !log ? xstrdup(path) : path_index_back(s->t, log, &s->root, path);
	store_forget_near(s->j);
	return 0;
}

static int look(struct journal *j, int64_t id, const struct change *c, bool after, bool undone,
		bool whole, struct content_origin *ret)
{
	struct inode_history s = {.j = j};
	int r = inode_history_init(&s, id, c, after, undone);

	if (r == 0 && has_bytes(s.want))
		r = find_bytes(&s, ret);
	if (r == 0 && whole)
		r = find_meta(&s, ret);
	if (r == 0 && whole && !S_ISDIR(s.want->mode))
		r = find_slot(&s, ret);
	store_forget_near(j);
	free(s.start);
	return r;
}

/* Opens the bytes in the step's after-image, if it has them. */
static int open_image(int stepdir, int root, const char *path, const struct change_side *want,
		      struct content_origin *ret)
{
	AUTO_BUF struct buf bytes = BUF_INIT;

	if (after_image_bytes(stepdir, root, path, want, &bytes) < 0)
		return -ESTALE;
	ret->fd = open_memory(bytes.data, bytes.len);
	return MIN(ret->fd, 0);
}

bool content_unprotected(int stepdir)
{
	AUTO_SUMMARY struct summary s = {0};

	return summary_load(stepdir, false, &s) == 0 && s.info.unprotected;
}

bool journal_is_incomplete(struct journal *j, int64_t id)
{
	struct journal *k = j;
	bool lacks = false;

	do {
		bool undone = false;
		struct err ignored = {0};
		AUTO_CLOSE int step = history_find(k, id, &undone, &ignored);
		AUTO_SUMMARY struct summary s = {0};

		lacks |= step >= 0 && summary_load(step, false, &s) == 0 && s.info.incomplete;
	} while (!lacks && (k = k->sibling) != j);
	return lacks;
}

static int unread(struct journal *j, int64_t id, int r, const char *path, struct err *err)
{
	if (!history_step_is_damaged(r) || r == -EIO)
		return err_set(err, r, "read '%s'", path);
	if (!history_has(j, id, err))
		return -ESTALE;
	return err_say(err, -EBADMSG,
		       "read '%s': step %" PRId64 " or a later one is damaged: `cordon journal "
		       "verify` says where",
		       path, id);
}

/* Returns whether the writer has undone or redone the step meanwhile. */
static bool has_moved(const struct journal *j, int64_t id, bool undone)
{
	AUTO_FREE char *dir = xasprintf("%s/%" PRId64, undone ? "redo" : "steps", id);

	return history_step_is_gone(j, dir);
}

static int find(struct journal *j, int64_t id, const struct change *c, bool after, bool whole,
		struct content_origin *ret, struct err *err)
{
	const char *path = !after && c->old_path ? c->old_path : c->path;
	bool undone = false, old = j->trails;
	AUTO_CLOSE int step = -1;
	int64_t damaged;
	int r = 0;

	for (bool again = true, first = true; again; first = false) {
		util_close_fd(&step);
		step = history_find(j, id, &undone, err);
		if (step == -ENOENT) /* pruned by the writer meanwhile */
			return -ESTALE;
		if (step < 0)
			return take_fd(&step);
		if (!(after ? &c->after : &c->before)->exists)
			return err_say(err, -ENOENT, "'%s' was not there", path);
		r = look(j, id, c, after, undone, whole, ret);
		/* the index may be older than the store */
		again = r < 0 &&
			((first && (old || history_step_is_damaged(r)) && path_index_is_old(j)) ||
			 has_moved(j, id, undone));
		if (again) {
			path_index_drop(j);
			content_origin_done(ret);
		}
	}
	damaged = ret->damaged;
	if (r == -ESTALE && !whole && after != undone) {
		content_origin_done(ret);
		r = open_image(step, c->root, path, after ? &c->after : &c->before, ret);
	}
	if (r == -ESTALE && damaged)
		return err_say(err, r,
			       "what step %" PRId64 " did to '%s' is not known, it is damaged: "
			       "`cordon journal verify` says where",
			       damaged, path);
	if (r == -ESTALE && !after && content_unprotected(step))
		return err_say(
			err, r,
			"what was at '%s' before step %" PRId64
			" is not kept, because the step was beyond the limits of undo by then",
			path, id);
	if (r == -ESTALE)
		return err_say(err, r, "'%s' has been changed since", path);
	return r < 0 ? unread(j, id, r, path, err) : 0;
}

int content_origin_find(struct journal *j, int64_t id, const struct change *c, bool after,
			struct content_origin *ret, struct err *err)
{
	return find(j, id, c, after, true, ret, err);
}

int journal_content(struct journal *j, int64_t id, const struct change *c, bool after, int *ret_fd,
		    struct err *err)
{
	AUTO_CONTENT_ORIGIN struct content_origin o = CONTENT_ORIGIN_NONE;
	const struct change_side *want = after ? &c->after : &c->before;
	int r;

	if (want->exists && !has_bytes(want))
		return err_say(err, -EINVAL, "'%s' is not a file", c->path);
	r = find(c->in ? c->in : j, id, c, after, false, &o, err);
	if (r == 0)
		*ret_fd = take_fd(&o.fd);
	return r;
}

int journal_present(struct journal *j, const char *path, struct change_side *ret, int *ret_fd,
		    struct err *err)
{
	struct journal *k = j;
	const char *below = path;
	struct reach reach = {0};
	struct spot at;
	struct object o;
	int r;

	*ret_fd = -1;
	if (*path == '/')
		while (!(below = path_below(path, k->folder)) && (k = k->sibling) != j)
			continue;
	if (!below)
		return err_say(err, -EINVAL, "'%s': in no folder of this history", path);
	store_forget_near(k);
	r = reach_look(k, &reach, 0, below, &at, &o);
	change_side_set(ret, &o);
	if (r == 0 && has_bytes(ret))
		r = *ret_fd = open_bytes(k, at.fd, at.name);
	reach_close(k, &reach);
	store_forget_near(k);
	return r < 0 ? err_set(err, r, "read '%s'", path) : 0;
}

size_t content_slots_of(struct journal *j, uint64_t ino)
{
	const struct path_index *t = j->trails;
	size_t n = 0;

	for (size_t i = 0; t && (i = path_index_of_inode(t, i, t->n, 1u << REC_GONE, ino)) < t->n;
	     i++) {
		const struct path_record *m = &t->list[i];
		struct object o;
		char slot[24];

		store_slot_name(slot, m->slot);
		if (object_stat(t->logs[m->log].obj, slot, &o) == 0 && o.ino == ino)
			n++;
	}
	return n;
}
