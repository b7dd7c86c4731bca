/* plan_links - files that a rollback writes to by a name that they do not have for the moment. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/way.h"
#include "core/journal/undo/planner.h"

/*
 * A step writes to a file, then takes the name away by which it did, and the file has another that
 * no step has spoken of. The rollback first brings the name back and then writes the old bytes
 * where it is: at the other name as well. What lies at the first one now says nothing of it, so the
 * file itself is compared, of which the store has a name: with what it was like when the last of
 * its names came there, or as one of the steps left it by another one later.
 */

struct taken { /* a file that a name was taken of, as of the last time */
	uint64_t ino, seq, slot;
	size_t step;
	struct change_side was; /* nothing: that is not known */
	UT_hash_handle hh;
};

struct links {
	struct planner *p;
	struct inode_image *inodes; /* the newest of the steps' own; once one differs */
	bool has_inodes;
};

static void take(struct planner *p, size_t step, const struct rec *rec)
{
	struct taken *one;

	if (rec->type != REC_GONE || rec_is_idle(rec) || !plan_has_written(p, rec->ino))
		return;
	HASH_FIND(hh, p->taken, &rec->ino, sizeof(rec->ino), one);
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
	side_noted(rec, &one->was);
}

static void load_taken(struct planner *p)
{
	for (size_t i = 0; !p->has_taken && i < p->dirs->n; i++) {
		struct rec rec;
		size_t at = 0;

		while (wal_next(&p->logs[i], &at, &rec))
			take(p, i, &rec);
	}
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

bool plan_is_as_taken(struct planner *p, const struct post *post)
{
	struct change_side now;
	struct taken *one;
	struct obj o;

	load_taken(p);
	if (!p->taken || way_see(p->j, post->root, post->path, &o) < 0 || !obj_same(&o, &post->obj))
		return false;
	HASH_FIND(hh, p->taken, &o.ino, sizeof(o.ino), one);
	change_side_set(&now, &o);
	return one && one->seq > post->seq && sides_equal(&now, &one->was);
}

static int keep_own(void *data, const struct post *post)
{
	struct links *l = data;

	if (plan_has_step(l->p, post->id))
		inodes_take(&l->inodes, post);
	return 0;
}

static bool is_as_left(const struct links *l, const struct taken *one,
		       const struct change_side *now)
{
	struct change_side left;
	struct obj o;

	if (inodes_find(l->inodes, one->ino, &o) <= one->seq)
		return false;
	change_side_set(&left, &o);
	return sides_equal(now, &left);
}

static bool lies_at(const struct planner *p, const struct names *names, uint64_t ino)
{
	for (size_t k = 0; k < names_count(names); k++) {
		const char *path;
		int root = key_root(names_key(names, k), &path);
		struct obj o;

		if (way_see(p->j, root, path, &o) == 0 && o.mode && o.mode != OBJ_UNSEEN &&
		    o.ino == ino)
			return true;
	}
	return false;
}

/* By a name that the steps know of: that is compared, and tells of it. */
static bool is_known(const struct planner *p, uint64_t ino)
{
	return lies_at(p, &p->places, ino) || lies_at(p, &p->fates.keys, ino);
}

static size_t slots_of(struct journal *j, const char *dir, const char *side, uint64_t ino)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	AUTO_CLOSE int obj = fd < 0 ? -1 : obj_open(fd, "obj");
	struct wal log = WAL_NONE;
	struct rec rec;
	size_t at = 0, n = 0;

	if (obj < 0 || log_look(j, &log, fd, side) < 0)
		return 0;
	while (wal_next(&log, &at, &rec)) {
		struct obj o;
		char slot[24];

		if (rec.type != REC_GONE || rec.ino != ino)
			continue;
		slot_name(slot, rec.slot);
		n += obj_stat(obj, slot, &o) == 0 && o.ino == ino;
	}
	wal_close(&log);
	return n;
}

static size_t slots_in(struct journal *j, const char *where, const char *side, uint64_t ino)
{
	char **names = NULL;
	size_t n = 0, sum = 0;
	int r = store_names(j, where, &names, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf("%s/%s", where, names[i]);

		sum += slots_of(j, dir, side, ino);
	}
	store_names_free(names, n);
	return sum;
}

/* A restore gives a socket back by one more of its names: the others may all be in the store. */
static bool lies_outside(struct journal *j, const struct obj *o)
{
	return o->nlink >
	       slots_in(j, "steps", "undo", o->ino) + slots_in(j, "redo", "redo", o->ino);
}

/* 1: somebody else wrote to it; 0 also where it has no other name any more. */
static int judge(struct links *l, const struct taken *one)
{
	AUTO_CLOSE int dir = store_open_dir(l->p->j, l->p->dirs->dirs[one->step]);
	AUTO_CLOSE int obj = dir < 0 ? -1 : obj_open(dir, "obj");
	struct change_side now;
	struct obj o;
	char slot[24];
	int r;

	if (dir < 0 || obj < 0)
		return dir < 0 ? dir : obj;
	slot_name(slot, one->slot);
	r = obj_stat(obj, slot, &o);
	if (r < 0 || o.ino != one->ino || o.nlink < 2 || S_ISDIR(o.mode))
		return r;
	change_side_set(&now, &o);
	if (sides_equal(&now, &one->was))
		return 0;
	if (!l->has_inodes)
		r = post_each(l->p->j, NULL, NULL, keep_own, l);
	l->has_inodes = true;
	return r < 0 ? r
		     : !is_as_left(l, one, &now) && !is_known(l->p, one->ino) &&
			       lies_outside(l->p->j, &o);
}

/* Where the steps had written to it before. */
static void add_paths(struct planner *p, const struct taken *one)
{
	for (size_t i = 0; i < p->dirs->n; i++) {
		struct rec rec;
		size_t at = 0;

		while (wal_next(&p->logs[i], &at, &rec)) {
			if (rec_is_in_place(&rec) && !rec_is_idle(&rec) && rec.ino == one->ino &&
			    rec.seq <= one->seq)
				plan_add_place(p, &p->linked, rec.seq, rec.root, rec.path);
		}
	}
}

int plan_load_links(struct planner *p)
{
	struct links l = {.p = p};
	struct taken *one;
	int r = 0;

	load_taken(p);
	for (one = p->taken; r >= 0 && one; one = one->hh.next)
		if ((r = judge(&l, one)) > 0)
			add_paths(p, one);
	inodes_done(l.inodes);
	return MIN(r, 0);
}
