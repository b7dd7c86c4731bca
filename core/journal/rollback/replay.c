/* replay - undoes one record: performs its inverse and logs that. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/replay.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/sync.h"
#include "core/journal/store/borrowed_dirs.h"
#include "core/journal/store/news.h"
#include "core/journal/store/placed.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"

/*
 * Theory of operation.
 *
 * A step has two logs, undo and redo, over one set of objects. Undoing takes the last record off
 * one log, performs its inverse through the same captures as a forward operation, and so appends a
 * record to the other log: a zipper. At every moment the two logs together have the way to the
 * state before the step and to the state after it. The direction of a rollback, and whether an
 * error, a cancel or a crash turns it round, make no difference to this file.
 *
 * The order for one record r of `from` is always:
 *   1. obstacles are moved away, missing parents made (each a record of its own in `to`, src 0);
 *   2. y, the way back, is put onto `to` with y.src = r.seq;
 *   3. the change is performed, by one system call where one name is concerned;
 *   4. r is taken off `from`.
 * A process that dies between these leaves y on top of `to` with y.src = r.seq on top of `from`,
 * and last_record_settle() finds out from slots and inode numbers whether 3 happened. Where 3 is
 * several calls (content in place, metadata), r is simply done again; the record that this adds to
 * `to` describes a state in between and is passed through on the way back.
 *
 * A missing object is no error for an inverse: if a step created and removed an object, the record
 * of the creation stays in the log, and the name does not exist.
 */

static bool is_gone(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP;
}

int replay_locate(struct record_replay *p, int root, const char *path, struct spot *at,
		  struct object *o)
{
	int r = root_find(p->j, root, path, at);

	*o = (struct object){0};
	if (is_gone(r))
		return 0;
	return r < 0 ? r : object_stat(at->fd, at->name, o);
}

int replay_touch_parent(struct record_replay *p, int root, const char *path, const struct spot *at)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *dir = xstrndup(path, slash ? (size_t)(slash - path) : 0);

	return capture_touch_dir(p->to, root, at->fd, dir);
}

int replay_push(struct record_replay *p, struct rec *y)
{
	int r;

	p->mark = undo_log_tail(&p->to->log);
	r = capture_push(p->to, y);
	p->pushed = r == 0 && y->src;
	return r < 0 ? r : capture_sync(p->to);
}

/* Move what is at path into a slot of `to`. */
int replay_stash(struct record_replay *p, int root, const char *path, const struct spot *at,
		 const struct object *o, uint64_t src)
{
	struct rec y = {.type = REC_GONE, .root = root, .path = path, .ino = o->ino, .src = src};
	AUTO_BUF struct buf note = BUF_INIT;
	char slot[24];
	size_t mark;
	int r = replay_mind_saves(p, root, path, o);

	if (r == 0)
		r = replay_touch_parent(p, root, path, at);
	if (r == 0)
		r = replay_keep_held(p, root, path, at, o);
	if (r < 0)
		return r;
	if (o->nlink > 1) /* its other names show a new ctime */
		placed_keep(p->j, o);
	y.slot = undo_log_slot(&p->to->log);
	store_slot_name(slot, y.slot);
	capture_note(&y, &note, o);
	mark = undo_log_tail(&p->to->log);
	r = replay_push(p, &y);
	if (r == 0)
		r = object_move(p->j, at->fd, at->name, p->to->obj, slot, NULL);
	if (r < 0) {
		undo_log_take_back(&p->to->log, mark);
		p->pushed = false;
	}
	if (S_ISDIR(o->mode)) {
		capture_forget_dirs(p->to);
		store_forget_near(p->j);
	}
	return r;
}

/* One directory on the way that is not there, or not a directory. */
static int make_parent(struct record_replay *p, int root, const char *path)
{
	struct rec y = {.type = REC_DIR_NEW, .root = root, .path = path};
	struct spot at;
	struct object o = {0};
	int r = root_find(p->j, root, path, &at);

	if (r == 0)
		r = object_stat(at.fd, at.name, &o);
	if (r < 0 || S_ISDIR(o.mode))
		return r;
	if (o.mode)
		r = replay_stash(p, root, path, &at, &o, 0);
	if (r == 0)
		r = root_find(p->j, root, path, &at);
	if (r == 0)
		r = replay_touch_parent(p, root, path, &at);
	if (r == 0)
		r = replay_push(p, &y);
	if (r == 0 && mkdirat(at.fd, at.name, 0755) < 0)
		r = -errno;
	return r;
}

static int ensure_parents(struct record_replay *p, int root, const char *path)
{
	AUTO_FREE char *prefix = xstrdup(path);
	struct spot at;
	int r = root_find(p->j, root, path, &at);

	if (!is_gone(r))
		return r;
	r = 0;
	for (char *slash = strchr(prefix, '/'); r == 0 && slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		r = make_parent(p, root, prefix);
		*slash = '/';
	}
	return r;
}

int replay_make_room(struct record_replay *p, int root, const char *path, struct spot *at)
{
	struct object o;
	int r = ensure_parents(p, root, path);

	if (r == 0)
		r = replay_locate(p, root, path, at, &o);
	if (r == 0 && o.mode)
		r = replay_stash(p, root, path, at, &o, 0);
	if (r == 0)
		r = root_find(p->j, root, path, at);
	return r;
}

/* ---- one function per kind of record ----------------------------------------------------------
 */

static int replay_rec_new(struct record_replay *p)
{
	const struct rec *r = p->r;
	struct spot at;
	struct object o;
	int e = replay_locate(p, r->root, r->path, &at, &o);

	if (e < 0 || !o.mode)
		return e;
	return replay_stash(p, r->root, r->path, &at, &o, r->seq);
}

static int give_name(struct record_replay *p, const char *slot, const struct spot *at)
{
	struct object copy;
	int e;

	placed_note_at(p->j, p->from->obj, slot);
	e = object_move(p->j, p->from->obj, slot, at->fd, at->name, &copy);
	if (e == 0)
		placed_note(p->j, &copy);
	return e;
}

int replay_unstash(struct record_replay *p, const char *slot, const struct spot *at)
{
	struct rec y = {.type = REC_NEW, .root = p->r->root, .path = p->r->path, .src = p->r->seq};
	int e = replay_touch_parent(p, y.root, y.path, at);

	if (e == 0)
		e = replay_renew_slot(p, slot);
	if (e == 0)
		e = replay_push(p, &y);
	if (e == 0)
		e = give_name(p, slot, at);
	if (e == 0)
		replay_placed(p, at);
	return e;
}

/* Nothing is to be done, but the path was touched (a link leaves a new ctime): its name goes on to
 * the other log, so that it is looked at again. */
static int remember(struct record_replay *p)
{
	struct rec y = *p->r;

	y.flags ^= REC_SKIPPED;
	y.src = p->r->seq;
	return replay_push(p, &y);
}

static int replay_rec_gone(struct record_replay *p)
{
	const struct rec *r = p->r;
	struct spot at;
	struct object o, kept;
	char slot[24];
	int e;

	store_slot_name(slot, r->slot);
	if (root_find(p->j, r->root, r->path, &at) == 0) {
		e = replay_unstash(p, slot, &at);
		if (e != -EEXIST && e != -ENOENT && e != -ENOTEMPTY)
			return e;
		if (p->pushed)
			undo_log_take_back(&p->to->log, p->mark);
		p->pushed = false;
	}
	e = object_stat(p->from->obj, slot, &kept);
	if (e < 0)
		return e;
	if (!kept.mode)
		return r->flags & REC_LINKED ? remember(p) : 0;
	e = replay_locate(p, r->root, r->path, &at, &o);
	if (e < 0)
		return e;
	if (o.mode && o.ino == kept.ino && o.dev == kept.dev) { /* still its second name */
		e = remember(p);
		placed_keep(p->j, &o);
		return e == 0 && unlinkat(p->from->obj, slot, 0) < 0 ? -errno : e;
	}
	e = replay_make_room(p, r->root, r->path, &at);
	return e < 0 ? e : replay_unstash(p, slot, &at);
}

static int replay_rec_dir_new(struct record_replay *p)
{
	const struct rec *r = p->r;
	struct rec y = {.type = REC_DIR_GONE, .root = r->root, .path = r->path, .src = r->seq};
	AUTO_BUF struct buf meta = BUF_INIT;
	AUTO_CLOSE int fd = -1;
	struct spot at;
	struct object o;
	int e = replay_locate(p, r->root, r->path, &at, &o);

	if (e < 0 || !o.mode)
		return e;
	if (!S_ISDIR(o.mode))
		return replay_stash(p, r->root, r->path, &at, &o, r->seq);
	fd = object_open(at.fd, at.name);
	if (fd < 0)
		return take_fd(&fd);
	e = attributes_read(p->j, fd, &meta);
	if (e == 0)
		e = replay_touch_parent(p, r->root, r->path, &at);
	y.ino = o.ino;
	y.meta = (struct span){meta.data, meta.len};
	if (e == 0)
		e = replay_push(p, &y);
	if (e == 0 && unlinkat(at.fd, at.name, AT_REMOVEDIR) < 0)
		e = -errno;
	if (e == -ENOTEMPTY || e == -EEXIST) { /* somebody else's files: kept with it */
		undo_log_take_back(&p->to->log, p->mark);
		p->pushed = false;
		return replay_stash(p, r->root, r->path, &at, &o, r->seq);
	}
	if (e == 0)
		borrowed_drop(p->j, &o);
	store_forget_near(p->j);
	return e;
}

/* What the kernel lets nobody but another do is no reason to leave all the rest undone. */
int replay_set_attrs(struct record_replay *p, int fd, struct span meta)
{
	int e = attributes_apply_ours(fd, meta);

	if (e > 0 && !p->to->recorded)
		journal_say(p->j,
			    "'%s' (perhaps not alone) does not have its owner, mode or attributes "
			    "back: they are not ours to set",
			    p->r->path);
	p->to->recorded |= e > 0;
	return MIN(e, 0);
}

/* Dress what is at `at` in r's metadata, keeping what it wears now. */
static int redress(struct record_replay *p, const struct spot *at, const struct object *o)
{
	AUTO_CLOSE int fd = object_open(at->fd, at->name);
	int e;

	if (fd < 0)
		return take_fd(&fd);
	p->mark = undo_log_tail(&p->to->log);
	e = capture_keep_meta(p->to, p->r->root, p->r->path, fd, p->r->seq);
	if (e < 0)
		return e;
	p->pushed = p->performed = true;
	e = capture_sync(p->to);
	if (e == 0)
		e = replay_set_attrs(p, fd, p->r->meta);
	placed_dressed(p->j, fd, o, p->r->meta);
	if (e == 0)
		borrowed_drop(p->j, o);
	return e;
}

static int replay_rec_dir_gone(struct record_replay *p)
{
	const struct rec *r = p->r;
	struct rec y = {.type = REC_DIR_NEW, .root = r->root, .path = r->path, .src = r->seq};
	AUTO_CLOSE int fd = -1;
	struct spot at;
	struct object o;
	int e = replay_locate(p, r->root, r->path, &at, &o);

	if (e == 0 && S_ISDIR(o.mode))
		return redress(p, &at, &o);
	if (e == 0)
		e = replay_make_room(p, r->root, r->path, &at);
	if (e == 0)
		e = replay_touch_parent(p, r->root, r->path, &at);
	if (e == 0)
		e = replay_push(p, &y);
	if (e == 0 && mkdirat(at.fd, at.name, 0700) < 0)
		e = -errno;
	if (e < 0)
		return e;
	p->performed = true;
	fd = object_open(at.fd, at.name);
	return fd < 0 ? fd : replay_set_attrs(p, fd, r->meta);
}

static int replay_rec_meta(struct record_replay *p)
{
	const struct rec *r = p->r;
	struct spot at;
	struct object o;
	int e = replay_locate(p, r->root, r->path, &at, &o);

	/* Something of another kind took the name: this is not its metadata. */
	if (e < 0 || !o.mode || (o.mode & S_IFMT) != (attributes_mode(r->meta) & S_IFMT))
		return e;
	e = replay_mind_saves(p, r->root, r->path, &o);
	return e < 0 ? e : redress(p, &at, &o);
}

static int replay_rec_mark(struct record_replay *p)
{
	(void)p; /* what it says stays in the summary */
	return 0;
}

static int replay_rec_dtime(struct record_replay *p)
{
	AUTO_CLOSE int fd = -1;
	struct spot at;
	struct object o;
	int e = replay_locate(p, p->r->root, p->r->path, &at, &o);

	if (e < 0 || !S_ISDIR(o.mode))
		return e;
	fd = object_open(at.fd, at.name);
	if (fd < 0)
		return take_fd(&fd);
	e = capture_touch_dir(p->to, p->r->root, fd, p->r->path);
	return e < 0 ? e : attributes_set_mtime(fd, "", p->r->meta);
}

/* ---- taking records off -----------------------------------------------------------------------
 */

static int perform(struct record_replay *p)
{
	static int (*const table[REC_TYPES])(struct record_replay *) = {
		[REC_NEW] = replay_rec_new,	    [REC_GONE] = replay_rec_gone,
		[REC_RENAME] = replay_rec_rename,   [REC_XCHG] = replay_rec_xchg,
		[REC_DIR_NEW] = replay_rec_dir_new, [REC_DIR_GONE] = replay_rec_dir_gone,
		[REC_META] = replay_rec_meta,	    [REC_CONTENT] = replay_rec_content,
		[REC_XINODE] = replay_rec_xinode,   [REC_DTIME] = replay_rec_dtime,
		[REC_MARK] = replay_rec_mark,
	};
	int e = table[p->r->type](p);

	if (e < 0 && p->pushed && !p->performed)
		undo_log_take_back(&p->to->log, p->mark);
	p->pushed = p->performed = false;
	return e;
}

int replay_record(struct capture *from, struct capture *to)
{
	struct record_replay p = {.j = from->j, .from = from, .to = to};
	struct rec r;
	size_t start;
	int e;

	if (!undo_log_last(&from->log, undo_log_tail(&from->log), &r, &start) || r.type == REC_STEP)
		return 0;
	p.r = &r;
	p.start = start;
	e = perform(&p);
	if (e == -EACCES && unlock_paths(&p) > 0)
		e = perform(&p);
	if (e == -REPLAY_LEFT) {
		to->flags = 0;
		return replay_skip(from, to, false);
	}
	if (e < 0)
		return e;
	e = undo_log_cut(&from->log, start);
	return e < 0 ? e : 1;
}
