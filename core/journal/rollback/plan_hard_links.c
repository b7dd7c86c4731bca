/* plan_hard_links - finds files that a rollback would write through a removed hard link. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/concurrent.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

/*
 * A step writes to a file through one name, then removes that name, and the file has another hard
 * link that no step's record names. The rollback first restores the removed name and then writes
 * the old bytes to the file: they show at the other link as well. The path of the removed name
 * shows nothing of an external edit. So the file itself is compared, as the store holds a link to
 * it: with its state when the last of its names was removed, or with the after-state of a later
 * step that wrote to it through another link.
 */

struct taken { /* a file that lost a name; the record that removed the last one */
	uint64_t ino, seq, slot;
	size_t step;
	struct change_side was; /* its state at that time; not existing: unknown */
	size_t slots;		/* number of its hard links in the store */
	bool edited;		/* edited from outside */
	UT_hash_handle hh;
};

struct links {
	struct planner *p;
	struct inode_image *inodes; /* newest images of the steps; loaded at the first difference */
	struct u64_set known;	    /* inodes at the steps' paths; loaded at the first difference */
	bool has_inodes, has_rest;
};

static struct taken *taken_of(const struct planner *p, uint64_t ino)
{
	struct taken *one;

	HASH_FIND(hh, p->taken, &ino, sizeof(ino), one);
	return one;
}

static void take(struct planner *p, size_t step, const struct rec *rec)
{
	struct taken *one;

	if (rec->type != REC_GONE || rec_is_idle(rec) || !plan_has_written(p, rec->ino))
		return;
	one = taken_of(p, rec->ino);
	if (one && one->seq > rec->seq)
		return;
	if (!one) {
		one = xcalloc(1, sizeof(*one));
		one->ino = rec->ino;
		HASH_ADD(hh, p->taken, ino, sizeof(one->ino), one);
	}
	one->seq = rec->seq;
	one->slot = rec->slot;
	one->step = step;
	capture_noted(rec, &one->was);
}

static void load_taken(struct planner *p)
{
	struct undo_log_walk at = {0};
	struct rec rec;

	while (!p->has_taken && undo_log_walk(p->logs, p->dirs->n, &at, &rec))
		take(p, at.log, &rec);
	p->has_taken = true;
}

void plan_forget_taken(struct planner *p)
{
	struct taken *one, *rest;

	HASH_ITER (hh, p->taken, one, rest) {
		HASH_DEL(p->taken, one);
		free(one);
	}
}

static uint64_t ended(const struct planner *p, size_t step)
{
	AUTO_CLOSE int fd = store_open_dir(p->j, p->dirs->list[step]);

	return fd < 0 ? UINT64_MAX : concurrent_ended(fd);
}

/* Returns whether the name was removed after the image. A redo writes both anew, the image last:
 * there the ends of the steps tell the order. */
static bool is_after(const struct planner *p, const struct taken *one,
		     const struct after_image *post)
{
	size_t by = post->earlier ? plan_place_of(p, post->id) : p->dirs->n;

	return one->seq > post->seq || (by < p->dirs->n && ended(p, by) < ended(p, one->step));
}

bool plan_is_as_taken(struct planner *p, const struct after_image *post)
{
	struct change_side now;
	struct taken *one;
	struct object o;

	load_taken(p);
	if (!p->taken || reach_see(p->j, post->root, post->path, &o) < 0 ||
	    !object_same(&o, &post->obj))
		return false;
	one = taken_of(p, o.ino);
	change_side_set(&now, &o);
	return one && is_after(p, one, post) && change_sides_equal(&now, &one->was);
}

static int keep_own(void *data, const struct after_image *post)
{
	struct links *l = data;

	if (plan_has_step(l->p, post->id))
		inode_images_take(&l->inodes, post);
	return 0;
}

static bool is_as_left(const struct links *l, const struct taken *one,
		       const struct change_side *now)
{
	struct change_side left;
	struct object o;

	if (inode_images_find(l->inodes, one->ino, &o) <= one->seq)
		return false;
	change_side_set(&left, &o);
	return change_sides_equal(now, &left);
}

static void note_known(struct links *l, const struct path_set *names)
{
	for (size_t k = 0; k < path_set_count(names); k++) {
		const char *path;
		int root = path_key_root(path_set_key(names, k), &path);
		struct object o;

		if (reach_see(l->p->j, root, path, &o) == 0 && o.mode && o.mode != OBJECT_UNSEEN)
			u64_set_add(&l->known, o.ino);
	}
}

static void count_slots_of(struct planner *p, const char *dir, const char *side)
{
	AUTO_CLOSE int fd = store_open_dir(p->j, dir);
	AUTO_CLOSE int obj = fd < 0 ? -1 : object_open(fd, "obj");
	AUTO_UNDO_LOG struct undo_log log = UNDO_LOG_NONE;
	struct rec rec;
	size_t at = 0;

	if (obj < 0 || log_look(p->j, &log, fd, side) < 0)
		return;
	while (undo_log_next(&log, &at, &rec)) {
		struct taken *one = rec.type == REC_GONE ? taken_of(p, rec.ino) : NULL;
		struct object o;
		char slot[24];

		if (!one)
			continue;
		store_slot_name(slot, rec.slot);
		one->slots += object_stat(obj, slot, &o) == 0 && o.ino == one->ino;
	}
}

static void count_slots(struct planner *p, const char *where, const char *side)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(p->j, where, &names);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		AUTO_FREE char *dir = xasprintf("%s/%s", where, names.list[i]);

		count_slots_of(p, dir, side);
	}
}

/* Loads the rest for all files at once: their number is the agent's choice. */
static void load_rest(struct links *l)
{
	if (l->has_rest)
		return;
	note_known(l, &l->p->places);
	note_known(l, &l->p->fates.keys);
	u64_set_sort(&l->known);
	count_slots(l->p, "steps", "undo");
	count_slots(l->p, "redo", "redo");
	l->has_rest = true;
}

/* Returns whether the file is at a path of the steps; its comparison there shows the edit. */
static bool is_known(const struct links *l, uint64_t ino)
{
	return u64_set_have(&l->known, ino);
}

/* Returns whether the file has a hard link outside the store. A restore gives a socket back as a
 * further hard link: the other links may all be in the store. */
static bool lies_outside(const struct taken *one, const struct object *o)
{
	return o->nlink > one->slots;
}

/* Returns 1 if the file was edited from outside, through a hard link that no record names; else 0,
 * or a negative errno. */
static int judge(struct links *l, const struct taken *one)
{
	AUTO_CLOSE int dir = store_open_dir(l->p->j, l->p->dirs->list[one->step]);
	AUTO_CLOSE int obj = dir < 0 ? -1 : object_open(dir, "obj");
	struct change_side now;
	struct object o;
	char slot[24];
	int r;

	if (dir < 0 || obj < 0)
		return dir < 0 ? dir : obj;
	store_slot_name(slot, one->slot);
	r = object_stat(obj, slot, &o);
	if (r < 0 || o.ino != one->ino || o.nlink < 2 || S_ISDIR(o.mode))
		return r;
	change_side_set(&now, &o);
	if (change_sides_equal(&now, &one->was))
		return 0;
	if (!l->has_inodes)
		r = after_image_each(l->p->j, NULL, NULL, keep_own, l);
	l->has_inodes = true;
	if (r < 0 || is_as_left(l, one, &now))
		return MIN(r, 0);
	load_rest(l);
	return !is_known(l, one->ino) && lies_outside(one, &o);
}

/* Adds the paths through which the steps had written to an edited file. */
static void add_paths(struct planner *p)
{
	struct undo_log_walk at = {0};
	struct rec rec;

	while (undo_log_walk(p->logs, p->dirs->n, &at, &rec)) {
		bool writes = rec_is_in_place(&rec) && !rec_is_idle(&rec);
		const struct taken *one = writes ? taken_of(p, rec.ino) : NULL;

		if (one && one->edited && rec.seq <= one->seq)
			renames_add_now(&p->moves, rec.seq, rec.root, rec.path, &p->linked);
	}
}

int plan_load_links(struct planner *p)
{
	struct links l = {.p = p};
	bool edited = false;
	int r = 0;

	load_taken(p);
	for (struct taken *one = p->taken; r >= 0 && one; one = one->hh.next) {
		r = judge(&l, one);
		one->edited = r > 0;
		edited |= r > 0;
	}
	if (edited)
		add_paths(p);
	inode_images_done(l.inodes);
	u64_set_done(&l.known);
	return MIN(r, 0);
}
