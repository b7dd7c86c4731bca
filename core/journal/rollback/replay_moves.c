/* replay_moves - undoes renames and exchanges. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/replay.h"
#include "core/journal/step/guarded.h"
#include "core/journal/step/open_files.h"
#include "core/journal/store/placed.h"
#include "core/journal/store/roots.h"

/* Two locations at once: the first one has its own descriptor. */
struct pair {
	struct spot a, b;
	struct object oa, ob;
	int own;
};

static int find_pair(struct record_replay *p, struct pair *two)
{
	const struct rec *r = p->r;
	int e = replay_locate(p, r->root, r->path, &two->a, &two->oa);

	if (e == 0 && two->oa.mode) {
		two->own = object_open(two->a.fd, "");
		if (two->own < 0)
			return two->own;
		two->a.fd = two->own;
	}
	return e < 0 ? e : replay_locate(p, r->root2, r->path2, &two->b, &two->ob);
}

static void file_moved(struct record_replay *p, const struct object *o, int root, const char *to)
{
	static const struct object nothing;

	if (!S_ISDIR(o->mode))
		open_file_named(p->j, o, root, to, &nothing);
}

/* Updates open files and caches after y, the rename of a directory, had the result e. */
static void dir_moved(struct record_replay *p, const struct rec *y, int e)
{
	if (!(y->flags & REC_DIRECTORY))
		return;
	if (e == 0)
		open_files_moved(p->j, y->root, y->path, y->root2, y->path2, y->type == REC_XCHG);
	capture_forget_dirs(p->to);
	store_forget_near(p->j);
}

/* Lists and captures the guarded files that leave (root, path) and, unless NULL, path2. */
static int list_leaving(struct record_replay *p, int root, const char *path, const char *path2,
			struct buf *lists)
{
	AUTO_BUF struct buf first = BUF_INIT;
	AUTO_BUF struct buf second = BUF_INIT;
	struct spot at;
	struct object o;
	int e;

	if (!p->j->guards)
		return 0;
	e = replay_locate(p, root, path, &at, &o);
	if (e == 0 && o.mode)
		e = replay_leave(p, root, path, &at, &first);
	if (e == 0 && path2)
		e = replay_locate(p, p->r->root2, path2, &at, &o);
	if (e == 0 && path2 && o.mode)
		e = replay_leave(p, p->r->root2, path2, &at, &second);
	guarded_list_join(lists, &first, &second);
	return e;
}

/* Moves the object at (root, from) back to (root2, to). */
static int move_back(struct record_replay *p, int root, const char *from, int root2, const char *to)
{
	struct rec y = {.type = REC_RENAME,
			.root = root,
			.root2 = root2,
			.path = from,
			.path2 = to,
			.src = p->r->seq};
	AUTO_BUF struct buf lists = BUF_INIT;
	AUTO_CLOSE int own = -1;
	struct spot at = {.fd = -1}, here = {.fd = -1};
	struct object o;
	int e = replay_make_room(p, root2, to, &at);

	if (e == 0)
		e = replay_touch_parent(p, root2, to, &at);
	if (e == 0)
		e = own = object_open(at.fd, "");
	if (e >= 0)
		e = replay_locate(p, root, from, &here, &o);
	if (e < 0 || !o.mode)
		return e;
	y.ino = o.ino;
	y.flags = S_ISDIR(o.mode) ? REC_DIRECTORY : 0;
	e = replay_mind_saves(p, root, from, &o);
	if (e == 0)
		e = replay_touch_parent(p, root, from, &here);
	if (e == 0)
		e = list_leaving(p, root, from, NULL, &lists);
	if (e == 0)
		e = replay_locate(p, root, from, &here, &o);
	if (e < 0 || !o.mode)
		return e;
	y.meta = (struct span){lists.data, lists.len};
	e = replay_push(p, &y);
	placed_keep(p->j, &o);
	if (e == 0)
		e = move_noreplace(here.fd, here.name, own, at.name);
	if (e == 0) /* the keeper may no longer know which process created it */
		replay_placed(p, &(struct spot){.fd = own, .name = at.name});
	file_moved(p, &o, root2, to);
	dir_moved(p, &y, e);
	return e;
}

int replay_rec_rename(struct record_replay *p)
{
	const struct rec *r = p->r;
	struct spot at;
	struct object o;
	int e = replay_secure(p, r->root2, r->path2, r->root, r->path,
			      guarded_list_get(r->meta, 0));

	if (e < 0)
		return e;
	e = replay_locate(p, r->root2, r->path2, &at, &o);
	if (e < 0 || !o.mode)
		return e;
	return move_back(p, r->root2, r->path2, r->root, r->path);
}

int replay_rec_xchg(struct record_replay *p)
{
	const struct rec *r = p->r;
	struct rec y = {.type = REC_XCHG,
			.root = r->root,
			.root2 = r->root2,
			.path = r->path,
			.path2 = r->path2,
			.src = r->seq};
	AUTO_BUF struct buf lists = BUF_INIT;
	struct pair two = {.own = -1};
	AUTO_CLOSE int own = -1;
	int e = replay_secure(p, r->root2, r->path2, r->root, r->path,
			      guarded_list_get(r->meta, 0));

	if (e == 0)
		e = replay_secure(p, r->root, r->path, r->root2, r->path2,
				  guarded_list_get(r->meta, 1));
	if (e == 0)
		e = list_leaving(p, r->root, r->path, r->path2, &lists);
	if (e == 0)
		e = find_pair(p, &two);
	y.meta = (struct span){lists.data, lists.len};
	own = two.own;
	if (e < 0 || (!two.oa.mode && !two.ob.mode))
		return e;
	if (!two.oa.mode)
		return move_back(p, r->root2, r->path2, r->root, r->path);
	if (!two.ob.mode)
		return move_back(p, r->root, r->path, r->root2, r->path2);
	y.ino = two.oa.ino;
	y.ino2 = two.ob.ino;
	y.flags = S_ISDIR(two.oa.mode) || S_ISDIR(two.ob.mode) ? REC_DIRECTORY : 0;
	e = replay_mind_saves(p, r->root, r->path, &two.oa);
	if (e == 0)
		e = replay_mind_saves(p, r->root2, r->path2, &two.ob);
	if (e == 0)
		e = replay_touch_parent(p, r->root, r->path, &two.a);
	if (e == 0)
		e = replay_touch_parent(p, r->root2, r->path2, &two.b);
	if (e == 0)
		e = replay_push(p, &y);
	placed_keep(p->j, &two.oa);
	placed_keep(p->j, &two.ob);
	if (e == 0)
		e = move_exchange(two.a.fd, two.a.name, two.b.fd, two.b.name);
	file_moved(p, &two.oa, r->root2, r->path2);
	file_moved(p, &two.ob, r->root, r->path);
	dir_moved(p, &y, e);
	return e;
}
