/* replay_guarded - gives guarded names files that no process inside can still write to. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/replay.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/step/guarded.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

/*
 * Theory of operation. When a file leaves a guarded name, its bytes are captured under that name,
 * and then the rename is recorded (guarded.h). So the rollback of the rename need not restore the
 * file: it moves the file into the store, for redo, and the record before, the capture, creates a
 * new file. The guarded name never leads to a file that another process may still write to. If the
 * process dies between the two, the name does not exist until the rollback goes on.
 *
 * If a capture is skipped, because the user's edit of the file is kept, it restores nothing: that
 * file is moved back, as a copy if another process may still write to it.
 */

/* ---- renames to a guarded name ----------------------------------------------------------------
 */

enum deal {
	DEAL_NOTHING,
	DEAL_STASH, /* move it into the store */
	DEAL_COPY,  /* replace it by a copy */
};

struct deal_path {
	char *path; /* its present path */
	enum deal what;
};

struct securing {
	struct record_replay *p;
	const char *path, *to; /* present path, and the path after the rename */
	struct span list;
	int to_root;
	struct path_set captured, left_out;
	struct deal_path *todo;
	size_t n;
};

/* Finds the paths of the captures that the rollback applies next (captured) or skips (left_out). */
static void find_captures(struct securing *s)
{
	const struct record_replay *p = s->p;
	size_t start = p->start;
	struct rec r;

	while (undo_log_last(&p->from->log, start, &r, &start)) {
		bool out = r.flags & REC_SKIPPED ||
			   (p->j->excluded && u64_set_have(p->j->excluded, r.seq));

		if (r.type == REC_CONTENT && r.flags & REC_FRESH)
			path_set_add(out ? &s->left_out : &s->captured, r.root, r.path);
		else if (r.type != REC_DTIME && r.type != REC_GONE && r.type != REC_DIR_GONE)
			break;
	}
}

static enum deal judge(const struct securing *s, const char *rel, const char *to, int dirfd,
		       const char *name, const struct object *o)
{
	struct listed was;

	if (!guarded_list_find(s->list, rel, &was)) {
		if (!guarded_list_overflows(s->list))
			return DEAL_STASH;
	} else if (was.type != (o->mode & S_IFMT)) {
		return DEAL_STASH;
	} else if (!S_ISREG(o->mode)) {
		return was.stamp == guarded_stamp(dirfd, name, o) ? DEAL_NOTHING : DEAL_STASH;
	}
	if (!S_ISREG(o->mode))
		return DEAL_NOTHING;
	if (path_set_has(&s->captured, s->to_root, to) &&
	    !path_set_has(&s->left_out, s->to_root, to))
		return DEAL_STASH;
	return guarded_is_held(s->p->j, dirfd, name, o) ? DEAL_COPY : DEAL_NOTHING;
}

static int note(void *data, const char *rel, int dirfd, const char *name, const struct object *o)
{
	struct securing *s = data;
	AUTO_FREE char *to = xasprintf("%s%s%s", s->to, *rel ? "/" : "", rel);
	enum deal what = judge(s, rel, to, dirfd, name, o);

	if (what == DEAL_NOTHING)
		return 0;
	if (what == DEAL_COPY || guarded_is_held(s->p->j, dirfd, name, o))
		replay_say_fresh(s->p, to);
	if (s->n % 16 == 0)
		s->todo = xrealloc(s->todo, (s->n + 16) * sizeof(*s->todo));
	s->todo[s->n++] = (struct deal_path){
		.path = xasprintf("%s%s%s", s->path, *rel ? "/" : "", rel), .what = what};
	return 0;
}

/* Replaces the file by a copy; redo restores the file itself. */
static int copy_in_place(struct record_replay *p, int root, const char *path, const struct spot *at,
			 const struct object *o)
{
	struct rec y = {.type = REC_XINODE, .root = root, .path = path, .ino = o->ino};
	char slot[24];
	size_t mark;
	int r = replay_touch_parent(p, root, path, at);

	if (r < 0)
		return r;
	y.slot = undo_log_slot(&p->to->log);
	store_slot_name(slot, y.slot);
	unlinkat(p->to->obj, slot, 0);
	r = object_copy(p->j, at->fd, at->name, p->to->obj, slot);
	if (r < 0)
		return r;
	mark = undo_log_tail(&p->to->log);
	r = capture_push(p->to, &y);
	if (r == 0)
		r = move_exchange(p->to->obj, slot, at->fd, at->name);
	if (r == 0)
		return 0;
	undo_log_take_back(&p->to->log, mark);
	unlinkat(p->to->obj, slot, 0);
	return r;
}

static int do_one(struct securing *s, int root, const struct deal_path *t)
{
	struct spot at;
	struct object o;
	int r = replay_locate(s->p, root, t->path, &at, &o);

	if (r < 0 || !o.mode)
		return r;
	if (t->what == DEAL_COPY)
		return copy_in_place(s->p, root, t->path, &at, &o);
	return replay_stash(s->p, root, t->path, &at, &o, 0);
}

int replay_secure(struct record_replay *p, int root, const char *path, int to_root, const char *to,
		  struct span list)
{
	struct securing s = {.p = p, .path = path, .to_root = to_root, .to = to, .list = list};
	struct guarded_walk walk = {.j = p->j, .root = to_root, .path = to, .on = note, .data = &s};
	struct spot at;
	struct object o;
	int r;

	if (!list.len)
		return 0;
	r = replay_locate(p, root, path, &at, &o);
	if (r < 0 || !o.mode)
		return r;
	find_captures(&s);
	r = guarded_each(&walk, at.fd, at.name);
	/* Parents come first: entries that moved with them are not found any longer. */
	for (size_t i = 0; r == 0 && i < s.n; i++)
		r = do_one(&s, root, &s.todo[i]);
	for (size_t i = 0; i < s.n; i++)
		free(s.todo[i].path);
	free(s.todo);
	path_set_done(&s.captured);
	path_set_done(&s.left_out);
	return r;
}

/* ---- renames away from one --------------------------------------------------------------------
 */

struct leaving {
	struct record_replay *p;
	int root;
	const char *path;
	struct buf *list;
};

static int leave_one(void *data, const char *rel, int dirfd, const char *name,
		     const struct object *o)
{
	const struct leaving *l = data;
	AUTO_FREE char *path = xasprintf("%s%s%s", l->path, *rel ? "/" : "", rel);

	guarded_list_put(l->list, rel, o, guarded_stamp(dirfd, name, o));
	return S_ISREG(o->mode) && root_guards(l->p->j, l->root, path, S_IFREG)
		       ? replay_keep(l->p, l->root, path, dirfd, name, o)
		       : 0;
}

int replay_leave(struct record_replay *p, int root, const char *path, const struct spot *at,
		 struct buf *list)
{
	struct leaving l = {.p = p, .root = root, .path = path, .list = list};
	struct guarded_walk walk = {
		.j = p->j, .root = root, .path = path, .on = leave_one, .data = &l, .any = true};
	AUTO_CLOSE int dir = -1;
	int r;

	if (!root_guards(p->j, root, path, 0))
		return 0;
	dir = object_open(at->fd, "");
	if (dir < 0)
		return take_fd(&dir);
	r = guarded_each(&walk, dir, at->name);
	guarded_list_close(list, walk.overflow);
	return r;
}

/* ---- the end of a rollback --------------------------------------------------------------------
 */

static int renew_place(struct record_replay *p, int root, const char *path)
{
	struct spot at;
	struct object o;
	int r = replay_locate(p, root, path, &at, &o);

	if (r < 0 || !S_ISREG(o.mode) || !guarded_is_held(p->j, at.fd, at.name, &o))
		return r;
	replay_say_fresh(p, path);
	return copy_in_place(p, root, path, &at, &o);
}

/* Renews guarded files that were written in place because of other hard links. Reads their paths
 * first, because the log grows meanwhile. */
static int renew_side(struct capture *to)
{
	AUTO_PATH_SET struct path_set places = {0};
	struct rec r = {0};
	struct record_replay p = {.j = to->j, .from = to, .to = to, .r = &r};
	size_t at = 0;
	int e = 0;

	while (undo_log_next(&to->log, &at, &r))
		if (r.type == REC_CONTENT && r.flags & REC_FRESH && r.src)
			path_set_add(&places, r.root, r.path);
	for (size_t i = 0; e == 0 && i < path_set_count(&places); i++) {
		const char *path;
		int root = path_key_root(path_set_key(&places, i), &path);

		e = renew_place(&p, root, path);
	}
	return e;
}

int replay_renew(struct txn *t)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->n; i++)
		if (!t->list[i].arrived && !t->list[i].foreign)
			r = renew_side(txn_to(t, &t->list[i]));
	return r;
}
