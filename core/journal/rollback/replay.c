/* replay - the parts of an inverse: finds an object, moves it away or back, and logs that. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/replay.h"
#include "core/journal/step/guarded.h"
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
	return r;
}

/* ---- guarded names ----------------------------------------------------------------------------
 */

void replay_say_fresh(struct record_replay *p, const char *path)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	if (p->j->reported_fresh)
		return;
	p->j->reported_fresh = p->j->urgent = true;
	text_escape(&shown, path, strlen(path));
	journal_say(p->j,
		    "new file at '%s' (and perhaps others), with the old content: the old file is "
		    "still open for writing, or has another name",
		    shown.data);
}

void replay_say_written(struct record_replay *p, const char *so)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	text_escape(&shown, p->r->path, strlen(p->r->path));
	journal_say(p->j, "another program wrote to '%s' meanwhile: %s", shown.data, so);
}

bool replay_is_guarded(const struct record_replay *p)
{
	return p->r->flags & REC_FRESH || root_guards(p->j, p->r->root, p->r->path, S_IFREG);
}

int replay_keep(struct record_replay *p, int root, const char *path, int dirfd, const char *name,
		const struct object *o)
{
	struct spot at;
	int r = root_find(p->j, root, path, &at);

	if (r == 0)
		r = replay_touch_parent(p, root, path, &at);
	return r < 0 ? r
		     : capture_keep_content(p->to, root, path, dirfd, name, o->ino, 0,
					    &(struct kept){0});
}

/* Captures the bytes of a file that is about to move away from a guarded name, if a process may
 * still write to it. */
static int keep_held(struct record_replay *p, int root, const char *path, const struct spot *at,
		     const struct object *o)
{
	AUTO_CLOSE int dir = -1;

	if (!S_ISREG(o->mode) || !root_guards(p->j, root, path, S_IFREG) ||
	    !guarded_is_held(p->j, at->fd, at->name, o))
		return 0;
	dir = object_open(at->fd, "");
	if (dir < 0)
		return take_fd(&dir);
	return replay_keep(p, root, path, dir, at->name, o);
}

#define RENEWED "renewed"

static int renew(struct record_replay *p, int dirfd, const char *name, const struct object *o)
{
	int r;

	if (!guarded_is_held(p->j, dirfd, name, o))
		return 0;
	replay_say_fresh(p, p->r->path);
	unlinkat(p->from->obj, RENEWED, 0);
	r = object_copy(p->j, dirfd, name, p->from->obj, RENEWED);
	if (r == 0 && renameat(p->from->obj, RENEWED, dirfd, name) < 0)
		r = -errno;
	return r;
}

static int renew_one(void *data, const char *rel, int dirfd, const char *name,
		     const struct object *o)
{
	(void)rel;
	return renew(data, dirfd, name, o);
}

int replay_renew_slot(struct record_replay *p, const char *slot)
{
	struct guarded_walk walk = {
		.j = p->j, .root = p->r->root, .path = p->r->path, .on = renew_one, .data = p};
	int r;

	if (!p->j->guards)
		return 0;
	r = guarded_each(&walk, p->from->obj, slot);
	return walk.overflow && r == 0 ? -EFBIG : r;
}

/* ---- objects and their slots -------------------------------------------------------------------
 */

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
		r = keep_held(p, root, path, at, o);
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

/* Creates one missing directory; an object at its path is moved into the store. */
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

/* Sets the attributes. One that only another user may set is no error; the user is told. */
int replay_set_attrs(struct record_replay *p, int fd, struct span meta)
{
	int e = attributes_apply_ours(fd, meta);

	if (e > 0 && !p->to->recorded)
		journal_say(p->j,
			    "'%s' (and perhaps others) did not get its owner, mode or attributes "
			    "back: only its owner or root can set them",
			    p->r->path);
	p->to->recorded |= e > 0;
	return MIN(e, 0);
}
