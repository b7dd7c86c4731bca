/* last_record - after a crash: finds out whether the newest records' operations were performed. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"

/*
 * Only the newest record of the whole store can be in doubt: one thread writes each record before
 * its operation, and the next record after it. Slots and inode numbers show whether the operation
 * was performed. In an older record the inode number may be stale (a rollback restores bytes as
 * another inode), so only the newest record is checked.
 */

/* Zeros in *ret: nothing is there. An error is no answer: to guess here is to lose a file. */
static int look_at(struct journal *j, int root, const char *path, struct object *ret)
{
	struct spot at;
	int r = root_find(j, root, path, &at);

	*ret = (struct object){0};
	if (r == 0)
		r = object_stat(at.fd, at.name, ret);
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP ? 0 : r;
}

static int ino_at(struct journal *j, int root, const char *path, uint64_t *ret)
{
	struct object o;
	int r = look_at(j, root, path, &o);

	*ret = o.ino;
	return r;
}

static int ino_in_slot(const struct capture *s, uint64_t slot, uint64_t *ret)
{
	struct object o;
	char name[24];
	int r;

	store_slot_name(name, slot);
	r = object_stat(s->obj, name, &o);
	*ret = o.ino;
	return r;
}

/* Returns 1 if the operation of the newest record was performed, or if undoing the record does no
 * harm either way. */
static int performed(struct capture *s, const struct rec *y)
{
	uint64_t kept = 0, here = 0;
	int r;

	if (y->flags & REC_SKIPPED)
		return true;
	switch (y->type) {
	case REC_GONE:
		r = ino_in_slot(s, y->slot, &kept);
		if (r == 0)
			r = ino_at(s->j, y->root, y->path, &here);
		return r < 0 ? r : kept && here != kept;
	case REC_RENAME:
		r = ino_at(s->j, y->root2, y->path2, &here);
		return r < 0 ? r : here == y->ino;
	case REC_XCHG:
		r = ino_at(s->j, y->root, y->path, &here);
		return r < 0 ? r : here != y->ino;
	case REC_XINODE:
		r = ino_in_slot(s, y->slot, &kept);
		return r < 0 ? r : kept == y->ino;
	case REC_NEW:
	case REC_DIR_NEW:
	case REC_DIR_GONE:
	case REC_META:
	case REC_CONTENT:
	case REC_DTIME:
	case REC_STEP:
	case REC_MARK:
	case REC_INTENT:
	case REC_END:
	case REC_TYPES:
		break;
	}
	return 1;
}

/* Finishes a rename done as an exchange that stopped half way: moves the replaced object, which
 * still has the old name, into its slot. */
static int finish_swap(struct capture *s, const struct rec *y)
{
	uint64_t kept = 0, here = 0;
	struct spot at;
	char slot[24];
	int r;

	if (y->type != REC_RENAME || !(y->flags & REC_SWAPPED))
		return 0;
	r = ino_in_slot(s, y->slot, &kept);
	if (r == 0)
		r = ino_at(s->j, y->root, y->path, &here);
	if (r < 0 || kept || here != y->ino2)
		return r;
	store_slot_name(slot, y->slot);
	r = root_find(s->j, y->root, y->path, &at);
	if (r < 0)
		return r;
	return renameat(at.fd, at.name, s->obj, slot) < 0 ? -errno : 0;
}

/* y is the inverse of r, which is still in the log. Returns whether r was undone. */
static int answered(struct capture *from, struct capture *to, const struct rec *r,
		    const struct rec *y)
{
	uint64_t ino = 0;
	int e;

	if ((y->flags | r->flags) & REC_SKIPPED) /* it only moved to the other log */
		return true;
	switch (y->type) {
	case REC_NEW:
		e = ino_in_slot(from, r->slot, &ino);
		return e < 0 ? e : !ino;
	case REC_DIR_GONE:
		e = ino_at(to->j, y->root, y->path, &ino);
		return e < 0 ? e : !ino;
	case REC_GONE:
	case REC_RENAME:
	case REC_XCHG:
	case REC_XINODE:
		return performed(to, y);
	case REC_DIR_NEW: /* performed again, see done_again() */
	case REC_META:
	case REC_CONTENT:
	case REC_DTIME:
	case REC_STEP:
	case REC_MARK:
	case REC_INTENT:
	case REC_END:
	case REC_TYPES:
		break;
	}
	return 0;
}

static bool done_again(enum rec_type type)
{
	return type == REC_META || type == REC_CONTENT || type == REC_DIR_NEW;
}

/* Settles a forward operation of a step or of an obstacle: at most the newest two records were not
 * performed. */
static int settle_one(struct capture *s, const struct rec *top, size_t start)
{
	struct rec below;
	int e = finish_swap(s, top);

	if (e == 0)
		e = performed(s, top);
	if (e != 0)
		return e < 0 ? e : 0;
	e = capture_drop_link(s, top);
	/* Dropping the second hard link changed the inode's ctime. The record stays, so that the
	 * path is looked at again; its slot is empty, so it undoes nothing. */
	if (e < 0 || (top->type == REC_GONE && top->flags & REC_LINKED))
		return e;
	e = undo_log_cut(&s->log, start);
	/* The rename's target was captured by the record before. */
	if (e < 0 || top->type != REC_RENAME || !undo_log_last(&s->log, start, &below, &start) ||
	    below.type != REC_GONE || !str_eq(below.path, top->path2))
		return e;
	e = performed(s, &below);
	if (e != 0)
		return e < 0 ? e : 0;
	return capture_drop_link(s, &below);
}

/* ---- after a reboot ---------------------------------------------------------------------------
 *
 * The disk may lack the newest operations of which it has the records. A file system that keeps the
 * order of its names lacks all operations after one point. So the search goes backwards, and ends
 * at an operation that was performed. Some records show neither: a file was made, or its bytes or
 * attributes changed. They go if an older one was not performed, else they may stay: their inverse
 * changes nothing.
 *
 * An object that was changed after the process died shows nothing, as the user may have moved it
 * back. Nor does an older record than a REC_MARK show anything: later changes have no records.
 */

enum disk_has {
	DISK_BEFORE,
	DISK_AFTER,
	DISK_EITHER,
};

#define INO_EDITED UINT64_MAX /* of an object that was changed after the last sign of life */

static int ino_left_at(struct journal *j, int root, const char *path, int64_t last_sign_ns,
		       uint64_t *ret)
{
	struct object o;
	int r = look_at(j, root, path, &o);

	*ret = o.mode && last_sign_ns && o.ctime_ns > last_sign_ns ? INO_EDITED : o.ino;
	return r;
}

static enum disk_has has_rename(const struct rec *r, uint64_t here, uint64_t there)
{
	if (there == r->ino)
		return DISK_AFTER;
	return here == r->ino || (there && there == r->ino2) ? DISK_BEFORE : DISK_EITHER;
}

/* Returns an enum disk_has, or an error. */
static int disk_has(const struct capture *s, const struct rec *r, int64_t last_sign_ns)
{
	uint64_t here = 0, there = 0, kept = 0;
	int e = 0;

	if (rec_is_idle(r) || rec_is_in_place(r))
		return DISK_EITHER;
	if (r->type == REC_GONE)
		e = ino_in_slot(s, r->slot, &kept);
	if (e == 0)
		e = ino_left_at(s->j, r->root, r->path, last_sign_ns, &here);
	if (e == 0 && (r->type == REC_RENAME || r->type == REC_XCHG))
		e = ino_left_at(s->j, r->root2, r->path2, last_sign_ns, &there);
	if (e < 0)
		return e;
	if (r->type == REC_GONE && kept)
		return here == kept ? DISK_BEFORE : DISK_AFTER;
	if (r->type == REC_GONE)
		return here == r->ino && !(r->flags & REC_LINKED) ? DISK_BEFORE : DISK_EITHER;
	return *r->path2 ? (int)has_rename(r, here, there) : DISK_EITHER;
}

int last_record_drop_lost(struct capture *s, int64_t last_sign_ns)
{
	size_t end = undo_log_tail(&s->log), keep = end, start;
	int has = DISK_EITHER;
	struct rec r;

	store_forget_near(s->j);
	for (; has != DISK_AFTER && undo_log_last(&s->log, end, &r, &start); end = start) {
		if (r.type == REC_STEP || (r.type == REC_MARK && keep == undo_log_tail(&s->log)))
			break;
		has = disk_has(s, &r, last_sign_ns);
		if (has < 0)
			return has;
		keep = has == DISK_BEFORE ? start : keep;
	}
	while (undo_log_tail(&s->log) > keep) {
		int e = undo_log_last(&s->log, undo_log_tail(&s->log), &r, &start)
				? capture_drop_link(s, &r)
				: -EBADMSG;

		if (e == 0)
			e = undo_log_cut(&s->log, start);
		if (e < 0)
			return e;
	}
	return 0;
}

int last_record_settle(struct capture *from, struct capture *to, bool forward)
{
	struct rec r = {0}, y = {0};
	size_t r_start = 0, y_start = 0;
	bool has_r = undo_log_last(&from->log, undo_log_tail(&from->log), &r, &r_start);
	bool has_y = undo_log_last(&to->log, undo_log_tail(&to->log), &y, &y_start);

	store_forget_near(from->j);
	if (has_r && has_y && y.src && y.src == r.seq) {
		int e = answered(from, to, &r, &y);

		if (e > 0)
			e = undo_log_cut(&from->log, r_start);
		else if (e == 0 && !done_again(y.type))
			e = undo_log_cut(&to->log, y_start);
		return e < 0 ? e : 0;
	}
	/* An inverse whose record was removed from the log was performed before that removal. */
	if (has_y && (!has_r || y.seq > r.seq))
		return y.src ? 0 : settle_one(to, &y, y_start);
	/* If the step was kept, all its operations were performed, whatever the paths have at
	 * recovery. */
	return has_r && forward ? settle_one(from, &r, r_start) : 0;
}
