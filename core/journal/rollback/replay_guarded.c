/* replay_guarded - gives guarded names files that no process inside can still write to. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/replay.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/step/guarded.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

/*
 * Theory of operation. When a file leaves a guarded name, its bytes are captured by that name, and
 * then the rename is recorded (guarded.h). So the rollback of the rename need not bring the file
 * back: where it lies it is put away, for redo to have it, and the record before, the capture,
 * makes a new file. At no moment does the guarded name lead to what somebody else may write to, and
 * a process that dies between the two leaves the name empty until the rollback goes on.
 *
 * A capture that is left out, since the human's edit of the file is preserved, brings nothing back:
 * that file comes along, as a copy where somebody may still write to it.
 */

void pop_say_fresh(struct pop *p, const char *path)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	if (p->j->reported_fresh)
		return;
	p->j->reported_fresh = p->j->urgent = true;
	text_escape(&shown, path, strlen(path));
	journal_say(p->j,
		    "new file at '%s' (perhaps not alone), with the content that it had: the old "
		    "one is still open for writing, or has another name",
		    shown.data);
}

bool pop_is_guarded(const struct pop *p)
{
	return p->r->flags & REC_FRESH || guarded_name(p->j, p->r->root, p->r->path, S_IFREG);
}

/* ---- what comes to a guarded name by a rename -------------------------------------------------
 */

enum deal {
	DEAL_NOTHING,
	DEAL_STASH, /* out of the way */
	DEAL_COPY,  /* a copy in its place */
};

struct deal_path {
	char *path; /* as it is now */
	enum deal what;
};

struct securing {
	struct pop *p;
	const char *path, *to; /* now, and the name that it comes to */
	struct span list;
	int to_root;
	struct names captured, left_out;
	struct deal_path *todo;
	size_t n;
};

/* The captures that the rollback takes next: their names, and of those the ones left out. */
static void find_captures(struct securing *s)
{
	const struct pop *p = s->p;
	size_t start = p->start;
	struct rec r;

	while (wal_last(&p->from->log, start, &r, &start)) {
		bool out = r.flags & REC_SKIPPED ||
			   (p->j->excluded && numbers_have(p->j->excluded, r.seq));

		if (r.type == REC_CONTENT && r.flags & REC_FRESH)
			names_add(out ? &s->left_out : &s->captured, r.root, r.path);
		else if (r.type != REC_DTIME && r.type != REC_GONE && r.type != REC_DIR_GONE)
			break;
	}
}

static enum deal judge(const struct securing *s, const char *rel, const char *to, int dirfd,
		       const char *name, const struct obj *o)
{
	struct listed was;

	if (!listed_find(s->list, rel, &was)) {
		if (!listed_overflows(s->list))
			return DEAL_STASH;
	} else if (was.type != (o->mode & S_IFMT)) {
		return DEAL_STASH;
	} else if (!S_ISREG(o->mode)) {
		return was.stamp == guarded_stamp(dirfd, name, o) ? DEAL_NOTHING : DEAL_STASH;
	}
	if (!S_ISREG(o->mode))
		return DEAL_NOTHING;
	if (names_has(&s->captured, s->to_root, to) && !names_has(&s->left_out, s->to_root, to))
		return DEAL_STASH;
	return guarded_is_held(s->p->j, dirfd, name, o) ? DEAL_COPY : DEAL_NOTHING;
}

static int note(void *data, const char *rel, int dirfd, const char *name, const struct obj *o)
{
	struct securing *s = data;
	AUTO_FREE char *to = xasprintf("%s%s%s", s->to, *rel ? "/" : "", rel);
	enum deal what = judge(s, rel, to, dirfd, name, o);

	if (what == DEAL_NOTHING)
		return 0;
	if (what == DEAL_COPY || guarded_is_held(s->p->j, dirfd, name, o))
		pop_say_fresh(s->p, to);
	if (s->n % 16 == 0)
		s->todo = xrealloc(s->todo, (s->n + 16) * sizeof(*s->todo));
	s->todo[s->n++] = (struct deal_path){
		.path = xasprintf("%s%s%s", s->path, *rel ? "/" : "", rel), .what = what};
	return 0;
}

/* A copy of the file takes its place; redo has the file itself. */
static int copy_in_place(struct pop *p, int root, const char *path, const struct spot *at,
			 const struct obj *o)
{
	struct rec y = {.type = REC_XINODE, .root = root, .path = path, .ino = o->ino};
	char slot[24];
	size_t mark;
	int r = pop_touch_parent(p, root, path, at);

	if (r < 0)
		return r;
	y.slot = wal_slot(&p->to->log);
	slot_name(slot, y.slot);
	unlinkat(p->to->obj, slot, 0);
	r = obj_copy(p->j, at->fd, at->name, p->to->obj, slot);
	if (r < 0)
		return r;
	mark = wal_tail(&p->to->log);
	r = side_push(p->to, &y);
	if (r == 0)
		r = side_sync(p->to);
	if (r == 0)
		r = move_exchange(p->to->obj, slot, at->fd, at->name);
	if (r == 0)
		return 0;
	wal_take_back(&p->to->log, mark);
	unlinkat(p->to->obj, slot, 0);
	return r;
}

static int do_one(struct securing *s, int root, const struct deal_path *t)
{
	struct spot at;
	struct obj o;
	int r = pop_find(s->p, root, t->path, &at, &o);

	if (r < 0 || !o.mode)
		return r;
	if (t->what == DEAL_COPY)
		return copy_in_place(s->p, root, t->path, &at, &o);
	return pop_stash(s->p, root, t->path, &at, &o, 0);
}

int pop_secure(struct pop *p, int root, const char *path, int to_root, const char *to,
	       struct span list)
{
	struct securing s = {.p = p, .path = path, .to_root = to_root, .to = to, .list = list};
	struct guarded_walk walk = {.j = p->j, .root = to_root, .path = to, .on = note, .data = &s};
	struct spot at;
	struct obj o;
	int r;

	if (!list.len)
		return 0;
	r = pop_find(p, root, path, &at, &o);
	if (r < 0 || !o.mode)
		return r;
	find_captures(&s);
	r = guarded_each(&walk, at.fd, at.name);
	/* Parents first: what goes with them is not there any more. */
	for (size_t i = 0; r == 0 && i < s.n; i++)
		r = do_one(&s, root, &s.todo[i]);
	for (size_t i = 0; i < s.n; i++)
		free(s.todo[i].path);
	free(s.todo);
	names_done(&s.captured);
	names_done(&s.left_out);
	return r;
}

/* ---- what leaves one --------------------------------------------------------------------------
 */

static int keep(struct pop *p, int root, const char *path, int dirfd, const char *name,
		const struct obj *o)
{
	struct spot at;
	int r = spot_find(p->j, root, path, &at);

	if (r == 0)
		r = pop_touch_parent(p, root, path, &at);
	return r < 0 ? r
		     : side_keep_content(p->to, root, path, dirfd, name, o->ino, 0,
					 &(struct kept){0});
}

int pop_keep_held(struct pop *p, int root, const char *path, const struct spot *at,
		  const struct obj *o)
{
	AUTO_CLOSE int dir = -1;

	if (!S_ISREG(o->mode) || !guarded_name(p->j, root, path, S_IFREG) ||
	    !guarded_is_held(p->j, at->fd, at->name, o))
		return 0;
	dir = obj_open(at->fd, "");
	if (dir < 0)
		return take_fd(&dir);
	return keep(p, root, path, dir, at->name, o);
}

struct leaving {
	struct pop *p;
	int root;
	const char *path;
	struct buf *list;
};

static int leave_one(void *data, const char *rel, int dirfd, const char *name, const struct obj *o)
{
	const struct leaving *l = data;
	AUTO_FREE char *path = xasprintf("%s%s%s", l->path, *rel ? "/" : "", rel);

	listed_put(l->list, rel, o, guarded_stamp(dirfd, name, o));
	return S_ISREG(o->mode) && guarded_name(l->p->j, l->root, path, S_IFREG)
		       ? keep(l->p, l->root, path, dirfd, name, o)
		       : 0;
}

int pop_leave(struct pop *p, int root, const char *path, const struct spot *at, struct buf *list)
{
	struct leaving l = {.p = p, .root = root, .path = path, .list = list};
	struct guarded_walk walk = {
		.j = p->j, .root = root, .path = path, .on = leave_one, .data = &l, .any = true};
	AUTO_CLOSE int dir = -1;
	int r;

	if (!guarded_name(p->j, root, path, 0))
		return 0;
	dir = obj_open(at->fd, "");
	if (dir < 0)
		return take_fd(&dir);
	r = guarded_each(&walk, dir, at->name);
	listed_close(list, walk.overflow);
	return r;
}

/* ---- what comes out of the store --------------------------------------------------------------
 */

#define RENEWED "renewed"

static int renew(struct pop *p, int dirfd, const char *name, const struct obj *o)
{
	int r;

	if (!guarded_is_held(p->j, dirfd, name, o))
		return 0;
	pop_say_fresh(p, p->r->path);
	unlinkat(p->from->obj, RENEWED, 0);
	r = obj_copy(p->j, dirfd, name, p->from->obj, RENEWED);
	if (r == 0 && renameat(p->from->obj, RENEWED, dirfd, name) < 0)
		r = -errno;
	return r;
}

static int renew_one(void *data, const char *rel, int dirfd, const char *name, const struct obj *o)
{
	(void)rel;
	return renew(data, dirfd, name, o);
}

int pop_renew_slot(struct pop *p, const char *slot)
{
	struct guarded_walk walk = {
		.j = p->j, .root = p->r->root, .path = p->r->path, .on = renew_one, .data = p};
	int r;

	if (!p->j->guards)
		return 0;
	r = guarded_each(&walk, p->from->obj, slot);
	return walk.overflow && r == 0 ? -EFBIG : r;
}

/* ---- at the end -------------------------------------------------------------------------------
 */

static int renew_place(struct pop *p, int root, const char *path)
{
	struct spot at;
	struct obj o;
	int r = pop_find(p, root, path, &at, &o);

	if (r < 0 || !S_ISREG(o.mode) || !guarded_is_held(p->j, at.fd, at.name, &o))
		return r;
	pop_say_fresh(p, path);
	return copy_in_place(p, root, path, &at, &o);
}

/* Written in place, as other names wanted it. The log grows meanwhile: keys first. */
static int renew_side(struct side *to)
{
	struct names places = {0};
	struct rec r = {0};
	struct pop p = {.j = to->j, .from = to, .to = to, .r = &r};
	size_t at = 0;
	int e = 0;

	while (wal_next(&to->log, &at, &r))
		if (r.type == REC_CONTENT && r.flags & REC_FRESH && r.src)
			names_add(&places, r.root, r.path);
	for (size_t i = 0; e == 0 && i < names_count(&places); i++) {
		const char *path;
		int root = key_root(names_key(&places, i), &path);

		e = renew_place(&p, root, path);
	}
	names_done(&places);
	return e;
}

int txn_renew(struct txn *t)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->n; i++)
		if (!t->list[i].arrived && !t->list[i].foreign)
			r = renew_side(txn_to(t, &t->list[i]));
	return r;
}
