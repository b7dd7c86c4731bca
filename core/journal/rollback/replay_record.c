/* replay_record - undoes one record: performs its inverse and logs that. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/replay.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/borrowed_dirs.h"
#include "core/journal/store/placed.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"

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

/* Moves a record with nothing to perform to the other log: the path was touched (a link changes the
 * ctime), so it needs a new after-image. */
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
	if (o.mode && o.ino == kept.ino && o.dev == kept.dev) { /* the slot is a hard link of it */
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
	if (e == -ENOTEMPTY || e == -EEXIST) { /* it has files from outside: kept with it */
		undo_log_take_back(&p->to->log, p->mark);
		p->pushed = false;
		return replay_stash(p, r->root, r->path, &at, &o, r->seq);
	}
	if (e == 0)
		borrowed_drop(p->j, &o);
	store_forget_near(p->j);
	return e;
}

/* Sets the object's metadata to the record's, and captures the present metadata. */
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

	/* An object of another type has the name: the metadata is not for it. */
	if (e < 0 || !o.mode || (o.mode & S_IFMT) != (attributes_mode(r->meta) & S_IFMT))
		return e;
	e = replay_mind_saves(p, r->root, r->path, &o);
	return e < 0 ? e : redress(p, &at, &o);
}

static int replay_rec_mark(struct record_replay *p)
{
	(void)p; /* its text stays in the summary */
	return 0;
}

/* Notes the end among the records of the way back, which are in the opposite order. */
static int replay_rec_end(struct record_replay *p)
{
	return replay_push(
		p, &(struct rec){.type = REC_END, .path = "", .path2 = "", .src = p->r->seq});
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

/* ---- applying one record ----------------------------------------------------------------------
 */

static int perform(struct record_replay *p)
{
	static int (*const table[REC_TYPES])(struct record_replay *) = {
		[REC_NEW] = replay_rec_new,	    [REC_GONE] = replay_rec_gone,
		[REC_RENAME] = replay_rec_rename,   [REC_XCHG] = replay_rec_xchg,
		[REC_DIR_NEW] = replay_rec_dir_new, [REC_DIR_GONE] = replay_rec_dir_gone,
		[REC_META] = replay_rec_meta,	    [REC_CONTENT] = replay_rec_content,
		[REC_XINODE] = replay_rec_xinode,   [REC_DTIME] = replay_rec_dtime,
		[REC_MARK] = replay_rec_mark,	    [REC_END] = replay_rec_end,
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
