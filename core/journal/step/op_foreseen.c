/* op_foreseen - captures what a change is about to lose that somebody else performs. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/journal.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/op.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/step/target.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"

static const struct obj nothing;

/* ---- records that undo nothing if the change does not come ------------------------------------
 */

/* What has this name, as a copy: undo puts it there if anything else, or nothing, is. */
static int keep_copy(struct step *s, const struct where *w)
{
	AUTO_BUF struct buf note = BUF_INIT;
	struct rec rec = {.type = REC_GONE, .root = w->root, .path = w->path, .ino = w->obj.ino};
	char slot[24];
	size_t mark;
	int r = where_keep_written(s, w);

	if (r == 0)
		r = where_touch_dir(s, w);
	if (r < 0)
		return r;
	mark = wal_tail(&s->side.log);
	rec.slot = wal_slot(&s->side.log);
	slot_name(slot, rec.slot);
	side_note(&rec, &note, &w->obj);
	r = side_push(&s->side, &rec);
	if (r == 0)
		r = side_sync(&s->side);
	if (r == 0)
		r = obj_copy(s->j, w->dirfd, w->bare, s->side.obj, slot);
	if (r < 0)
		wal_take_back(&s->side.log, mark);
	else
		step_holds_more(s, obj_weight(&w->obj), true);
	return r;
}

/* What is found at this name goes, if it was not there before. */
static int note_absent(struct step *s, const struct where *w, bool dir)
{
	struct rec rec = {.type = dir ? REC_DIR_NEW : REC_NEW, .root = w->root, .path = w->path};
	int r = where_touch_dir(s, w);
	size_t mark;

	if (r < 0)
		return r;
	mark = wal_tail(&s->side.log);
	r = side_push(&s->side, &rec);
	if (r == 0)
		r = side_sync(&s->side);
	if (r < 0)
		wal_take_back(&s->side.log, mark);
	return r;
}

/* From here on its changes are somebody else's doing. */
static void report(struct step *s, const struct where *w, const struct obj *before, bool *touched)
{
	AUTO_FREE char *key = key_make(w->root, w->path);
	struct touch *t;

	where_report(s, w, before, touched);
	t = touches_find(&s->touches, key);
	if (t)
		t->foreseen = true;
}

/* A file that loses its name. */
static int lose(struct step *s, enum loss what, const char *op, const struct where *w)
{
	int r;

	if (where_is_own(s, w))
		return 0;
	r = step_lose(s, what, w->root, w->path, &w->obj);
	if (r == 0)
		r = step_protects(s, op, w->path, obj_weight(&w->obj), true);
	return r > 0 ? keep_copy(s, w) : r;
}

static int lose_dir(struct step *s, enum loss what, const char *op, const struct where *w)
{
	int r;

	store_forget_near(s->j);
	if (where_is_own(s, w))
		return 0;
	r = step_lose(s, what, w->root, w->path, &w->obj);
	if (r == 0)
		r = step_protects(s, op, w->path, 0, false);
	if (r <= 0)
		return r;
	r = where_touch_dir(s, w);
	if (r == 0)
		r = where_keep_dir(s, w);
	return r < 0 ? r : side_sync(&s->side);
}

/* ---- one name -------------------------------------------------------------------------------- */

int op_foresee_make(struct step *s, const struct at *at, bool dir, bool *touched)
{
	AUTO_WHERE struct where w = WHERE_NONE;
	int r = where_look(&w, at);

	if (touched)
		*touched = false;
	if (r < 0)
		return r;
	if (w.plain || w.obj.mode)
		return -EEXIST;
	r = step_protects(s, dir ? "mkdir" : "create", w.path, 0, false);
	if (r > 0)
		r = note_absent(s, &w, dir);
	if (r == 0)
		report(s, &w, &nothing, touched);
	return r;
}

static int keep_opened(struct step *s, const struct where *w)
{
	size_t mark = s->made ? wal_tail(&s->side.log) : 0;
	int r = step_lose(s, LOSS_OVERWRITE, w->root, w->path, &w->obj);

	if (r == 0)
		r = step_keep_content(s, w->root, w->path, w->dirfd, w->bare, &w->obj, false);
	if (r < 0 || !s->made || wal_tail(&s->side.log) == mark)
		return MIN(r, 0); /* it was kept before */
	return side_sync(&s->side);
}

int op_foresee_open(struct step *s, const struct at *at, int flags, bool *touched)
{
	AUTO_WHERE struct where w = WHERE_NONE;
	int r = where_look(&w, at);

	if (touched)
		*touched = false;
	if (r < 0)
		return r;
	if (!w.obj.mode)
		return flags & O_CREAT ? op_foresee_make(s, at, false, touched) : -ENOENT;
	if (!S_ISREG(w.obj.mode))
		return 0;
	r = keep_opened(s, &w);
	if (r < 0)
		return r;
	if ((flags & O_ACCMODE) != O_RDONLY) {
		step_learn(s, &w.obj, KNOWN_OPENED);
		writer_add(s->j, &w.obj, w.root, w.path);
	}
	report(s, &w, &w.obj, touched);
	return 0;
}

int op_foresee_remove(struct step *s, const struct at *at, bool *touched)
{
	AUTO_WHERE struct where w = WHERE_NONE;
	int r = where_look(&w, at);

	if (touched)
		*touched = false;
	if (r < 0)
		return r;
	if (!w.obj.mode || w.plain)
		return -ENOENT;
	r = S_ISDIR(w.obj.mode) ? lose_dir(s, LOSS_DELETE, "rmdir", &w)
				: lose(s, LOSS_DELETE, "unlink", &w);
	if (r == 0)
		report(s, &w, &w.obj, touched);
	return r;
}

int op_foresee_meta(struct step *s, const struct at *at, bool *touched)
{
	AUTO_WHERE struct where w = WHERE_NONE;
	AUTO_CLOSE int fd = -1;
	const struct known *k;
	int r = where_look(&w, at);

	if (touched)
		*touched = false;
	if (r < 0)
		return r;
	if (!w.obj.mode)
		return -ENOENT;
	k = step_known(s, &w.obj);
	if (!(k && k->flags & (KNOWN_CREATED | KNOWN_META)))
		r = step_protects(s, "chmod", w.path, 0, false);
	if (r > 0) {
		fd = obj_open(w.dirfd, w.bare);
		r = fd < 0 ? take_fd(&fd) : step_make(s);
		if (r == 0)
			r = side_keep_meta(&s->side, w.root, w.path, fd, 0);
		if (r == 0)
			r = side_sync(&s->side);
		if (r == 0)
			step_learn(s, &w.obj, KNOWN_META);
	}
	if (r < 0)
		return r;
	report(s, &w, &w.obj, touched);
	step_touch_attrs(s, w.root, w.path);
	return 0;
}

/* ---- two names ------------------------------------------------------------------------------- */

/*
 * A file: three records that each undo nothing where it was not moved. The target's comes first and
 * is undone last: by then the moved file is out of its way.
 */
static int foresee_file(struct step *s, const struct where *from, const struct where *to)
{
	int r = 0;

	if (to->obj.mode)
		r = lose(s, LOSS_REPLACE, "rename", to);
	else if ((r = step_protects(s, "rename", to->path, 0, false)) > 0)
		r = note_absent(s, to, false);
	if (r < 0 || where_is_own(s, from))
		return r;
	r = step_protects(s, "rename", from->path, obj_weight(&from->obj), true);
	return r > 0 ? keep_copy(s, from) : r;
}

static int foresee_dir(struct step *s, const struct where *from, const struct where *to)
{
	int r = to->obj.mode ? lose_dir(s, LOSS_REPLACE, "rename", to) : 0;

	if (r == 0)
		r = step_protects(s, "rename", from->path, 0, false);
	if (r <= 0)
		return r;
	r = where_touch_dir(s, from);
	return r < 0 ? r : where_touch_dir(s, to);
}

int op_foresee_rename(struct step *s, const struct at *from, const struct at *to, bool *touched)
{
	AUTO_WHERE struct where a = WHERE_NONE;
	AUTO_WHERE struct where b = WHERE_NONE;
	bool first = false, second = false;
	int r = where_look(&a, from);

	if (touched)
		*touched = false;
	if (r == 0)
		r = where_look(&b, to);
	if (r < 0)
		return r;
	if (!a.obj.mode || a.plain || b.plain)
		return -ENOENT;
	if (obj_same(&a.obj, &b.obj)) /* nothing happens, or the case of its name changes */
		return str_eq(a.path, b.path) ? 0 : -EEXIST;
	if (b.obj.mode && S_ISDIR(a.obj.mode) != S_ISDIR(b.obj.mode))
		return -EEXIST;
	r = S_ISDIR(a.obj.mode) ? foresee_dir(s, &a, &b) : foresee_file(s, &a, &b);
	if (r < 0)
		return r;
	report(s, &a, &a.obj, &first);
	report(s, &b, &b.obj, &second);
	if (touched)
		*touched = first || second;
	return 0;
}

/* ---- what has been performed ----------------------------------------------------------------- */

/* Whoever makes a file has it open for writing. */
void op_note_made(struct step *s, const struct at *at)
{
	AUTO_WHERE struct where w = WHERE_NONE;
	AUTO_FREE char *key = NULL;

	if (where_look(&w, at) < 0 || !w.obj.mode || !w.path)
		return;
	key = key_make(w.root, w.path);
	if (!touches_find(&s->touches, key))
		return;
	step_learn(s, &w.obj, S_ISREG(w.obj.mode) ? KNOWN_CREATED | KNOWN_OPENED : KNOWN_CREATED);
	if (S_ISREG(w.obj.mode))
		writer_add(s->j, &w.obj, w.root, w.path);
}

int op_note_moved(struct step *s, const struct at *from, const struct at *to)
{
	AUTO_WHERE struct where a = WHERE_NONE;
	AUTO_WHERE struct where b = WHERE_NONE;
	struct rec rec = {
		.type = REC_RENAME, .flags = REC_DIRECTORY, .root = from->root, .root2 = to->root};
	int r = where_look(&b, to);

	if (r < 0)
		return r;
	where_set(&a, from);
	if (!b.obj.mode || !a.path)
		return -ENOENT;
	a.obj = b.obj;
	b.obj = nothing;
	if (S_ISDIR(a.obj.mode)) {
		s->j->dir_moves++;
		rec.path = a.path;
		rec.path2 = b.path;
		rec.ino = a.obj.ino;
		r = step_protects(s, "rename", a.path, 0, false);
		if (r > 0)
			r = side_push(&s->side, &rec);
		if (r == 0)
			r = side_sync(&s->side);
	}
	if (r == 0)
		where_moved(s, &a, &b, false);
	return r;
}
