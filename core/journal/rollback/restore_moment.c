/* restore_moment - detects external edits that are made during a restore. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/restore.h"
#include "core/journal/step/step.h"
#include "core/journal/store/placed.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

/*
 * There are two kinds of edits. One that is made before the restore removes the old object is in
 * the removed object: unless the user forces it, each removed object must be as it was when it was
 * checked, or the restore is reverted. One that is made after the restore has placed a new object
 * at the name is an external edit, a conflict for an undo of the restore: see placed.h.
 */

void restore_expect(struct piece *p, const struct object *now)
{
	change_side_set(&p->expected, now);
	p->checked = true;
}

static bool is_expected(const struct piece *p, const struct object *o)
{
	struct change_side now;

	change_side_set(&now, o);
	return !p->checked || change_sides_equal(&now, &p->expected);
}

bool restore_expects(const struct restore *r, int root, const char *path, const struct object *o)
{
	const struct change *own = restore_find(r, root, path);

	return !own || is_expected(&r->pieces[own - r->list], o);
}

int restore_say_edited(const char *path, struct err *err)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	text_escape(&shown, path, strnlen(path, 300));
	return err_say(err, -ESTALE,
		       "'%s' was edited in this very moment: look at it, then restore it again",
		       shown.data);
}

/* ---- what was taken away ----------------------------------------------------------------------
 */

struct by_inode {
	uint64_t ino;
	const struct piece *piece;
	UT_hash_handle hh;
};

struct expected {
	struct by_inode *inodes;
	struct path_set absent; /* names from which the step moved an object */
	bool any;
};

static void add_inode(struct expected *all, const struct piece *p)
{
	uint64_t ino = p->expected.ino;
	struct by_inode *one;

	if (!p->expected.exists || S_ISDIR(p->expected.mode))
		return;
	HASH_FIND(hh, all->inodes, &ino, sizeof(ino), one);
	if (one)
		return;
	one = xcalloc(1, sizeof(*one));
	one->ino = ino;
	one->piece = p;
	HASH_ADD(hh, all->inodes, ino, sizeof(one->ino), one);
}

static void load(const struct restore *r, struct expected *all)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct change *c = &r->list[i];

		if (!r->pieces[i].checked)
			continue;
		all->any = true;
		add_inode(all, &r->pieces[i]);
		if (c->old_path)
			path_set_add(&all->absent, c->root, c->old_path);
	}
}

static void expected_done(struct expected *all)
{
	struct by_inode *inode, *next;

	HASH_ITER (hh, all->inodes, inode, next) {
		HASH_DEL(all->inodes, inode);
		free(inode);
	}
	path_set_done(&all->absent);
}

/* Returns whether the removed object is the checked one. Objects that the restore itself placed are
 * not compared. */
static bool was_expected(const struct restore *r, const struct expected *all, const struct rec *rec,
			 const struct object *o)
{
	const struct by_inode *inode;
	const struct change *own;

	HASH_FIND(hh, all->inodes, &o->ino, sizeof(o->ino), inode);
	if (inode)
		return is_expected(inode->piece, o);
	if (placed_has(r->j, o))
		return true;
	own = restore_find(r, rec->root, rec->path);
	if (own && r->pieces[own - r->list].checked)
		return is_expected(&r->pieces[own - r->list], o);
	return !path_set_has(&all->absent, rec->root, rec->path);
}

int restore_taken(const struct restore *r, struct err *err)
{
	CLEANUP(expected_done) struct expected all = {0};
	const struct capture *side = &r->s->side;
	struct rec rec;
	size_t at = 0;
	int e = 0;

	load(r, &all);
	while (e == 0 && all.any && undo_log_next(&side->log, &at, &rec)) {
		char slot[24];
		struct object o;

		if (rec.type != REC_GONE)
			continue;
		store_slot_name(slot, rec.slot);
		e = object_stat(side->obj, slot, &o);
		if (e < 0)
			err_set(err, e, "look at what was at '%s'", rec.path);
		else if (o.mode && !was_expected(r, &all, &rec, &o))
			e = restore_say_edited(rec.path, err);
	}
	return e;
}
