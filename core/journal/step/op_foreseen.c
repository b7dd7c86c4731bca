/* op_foreseen - captures state before a change that the agent's process performs itself. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/op.h"
#include "core/journal/step/limits.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/step/target.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/steps.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/store/usage.h"
#include "core/journal/util/path_set.h"

static const struct object nothing;

/* ---- records that undo nothing if the change does not come ------------------------------------
 */

/* Captures a copy of the object at this name: undo restores it if the name has another object, or
 * none. */
static int keep_copy(struct step *s, const struct op_target *w)
{
	char slot[24];
	size_t mark;
	int r = op_target_record_gone(s, w, slot, &mark);

	if (r < 0)
		return r;
	r = object_copy(s->j, w->dirfd, w->bare, s->side.obj, slot);
	if (r < 0)
		undo_log_take_back(&s->side.log, mark);
	else
		step_holds_more(s, store_weigh_object(&w->obj), true);
	return r;
}

/* Reports the path as touched. Its later changes are made by another process. */
static void report(struct step *s, const struct op_target *w, const struct object *before,
		   bool *touched)
{
	AUTO_FREE char *key = path_key_make(w->root, w->path);
	struct touched_path *t;

	op_target_report(s, w, before, touched);
	t = touched_paths_find(&s->touches, key);
	if (t)
		t->foreseen = true;
}

/* Captures a file that loses its name. */
static int lose(struct step *s, enum loss what, const char *op, const struct op_target *w)
{
	int r;

	if (op_target_is_own(s, w))
		return 0;
	r = step_lose(s, what, w->root, w->path, &w->obj);
	if (r == 0)
		r = step_protects(s, op, w->path, store_weigh_object(&w->obj), true);
	return r > 0 ? keep_copy(s, w) : r;
}

static int lose_dir(struct step *s, enum loss what, const char *op, const struct op_target *w)
{
	int r;

	store_forget_near(s->j);
	if (op_target_is_own(s, w))
		return 0;
	r = step_lose(s, what, w->root, w->path, &w->obj);
	if (r == 0)
		r = step_protects(s, op, w->path, 0, false);
	if (r <= 0)
		return r;
	r = op_target_touch_dir(s, w);
	if (r == 0)
		r = op_target_keep_dir(s, w);
	return r;
}

/* ---- one name -------------------------------------------------------------------------------- */

/* Undo removes the object at this name, as none was there before. */
int op_foresee_make(struct step *s, const struct at *at, bool dir, bool *touched)
{
	AUTO_OP_TARGET struct op_target w = OP_TARGET_NONE;
	size_t mark;
	int r = op_target_look(&w, at);

	if (touched)
		*touched = false;
	if (r < 0)
		return r;
	if (w.plain || w.obj.mode)
		return -EEXIST;
	r = step_protects(s, dir ? "mkdir" : "create", w.path, 0, false);
	if (r > 0)
		r = op_target_record_new(s, &w, dir ? REC_DIR_NEW : REC_NEW, &mark);
	if (r == 0)
		report(s, &w, &nothing, touched);
	return r;
}

int op_foresee_open(struct step *s, const struct at *at, int flags, bool *touched)
{
	AUTO_OP_TARGET struct op_target w = OP_TARGET_NONE;
	int r = op_target_look(&w, at);

	if (touched)
		*touched = false;
	if (r < 0)
		return r;
	if (!w.obj.mode)
		return flags & O_CREAT ? op_foresee_make(s, at, false, touched) : -ENOENT;
	if (!S_ISREG(w.obj.mode))
		return 0;
	r = op_target_keep_content(s, &w, w.dirfd, w.bare, &w.obj, false);
	if (r < 0)
		return r;
	if ((flags & O_ACCMODE) != O_RDONLY) {
		step_learn(s, &w.obj, TOUCHED_OPENED);
		open_file_add(s->j, &w.obj, w.root, w.path);
	}
	report(s, &w, &w.obj, touched);
	return 0;
}

int op_foresee_remove(struct step *s, const struct at *at, bool *touched)
{
	AUTO_OP_TARGET struct op_target w = OP_TARGET_NONE;
	int r = op_target_look(&w, at);

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
	AUTO_OP_TARGET struct op_target w = OP_TARGET_NONE;
	AUTO_CLOSE int fd = -1;
	const struct touched_inode *k;
	int r = op_target_find(&w, at, touched);

	if (r < 0)
		return r;
	k = step_known(s, &w.obj);
	if (!(k && k->flags & (TOUCHED_CREATED | TOUCHED_META)))
		r = step_protects(s, "chmod", w.path, 0, false);
	if (r > 0) {
		fd = object_open(w.dirfd, w.bare);
		r = fd < 0 ? take_fd(&fd) : step_make(s);
		if (r == 0)
			r = capture_keep_meta(&s->side, w.root, w.path, fd, 0);
		if (r == 0)
			step_learn(s, &w.obj, TOUCHED_META);
	}
	if (r < 0)
		return r;
	report(s, &w, &w.obj, touched);
	step_touch_attrs(s, w.root, w.path);
	return 0;
}

/* ---- two names ------------------------------------------------------------------------------- */

/* Renaming a file takes three records, which undo nothing if the file was not moved. The target's
 * record is the first, and is undone last, when the moved file no longer has the name. */
static int foresee_file(struct step *s, const struct op_target *from, const struct op_target *to)
{
	size_t mark;
	int r = 0;

	if (to->obj.mode)
		r = lose(s, LOSS_REPLACE, "rename", to);
	else if ((r = step_protects(s, "rename", to->path, 0, false)) > 0)
		r = op_target_record_new(s, to, REC_NEW, &mark);
	if (r < 0 || op_target_is_own(s, from))
		return r;
	r = step_protects(s, "rename", from->path, store_weigh_object(&from->obj), true);
	return r > 0 ? keep_copy(s, from) : r;
}

static int foresee_dir(struct step *s, const struct op_target *from, const struct op_target *to)
{
	int r = to->obj.mode ? lose_dir(s, LOSS_REPLACE, "rename", to) : 0;

	if (r == 0)
		r = step_protects(s, "rename", from->path, 0, false);
	if (r <= 0)
		return r;
	r = op_target_touch_dir(s, from);
	return r < 0 ? r : op_target_touch_dir(s, to);
}

int op_foresee_rename(struct step *s, const struct at *from, const struct at *to, bool *touched)
{
	AUTO_OP_TARGET struct op_target a = OP_TARGET_NONE;
	AUTO_OP_TARGET struct op_target b = OP_TARGET_NONE;
	bool first = false, second = false;
	int r = op_target_look(&a, from);

	if (touched)
		*touched = false;
	if (r == 0)
		r = op_target_look(&b, to);
	if (r < 0)
		return r;
	if (!a.obj.mode || a.plain || b.plain)
		return -ENOENT;
	if (object_same(&a.obj, &b.obj)) /* nothing happens, or only the case of the name changes */
		return str_eq(a.path, b.path) ? 0 : -EEXIST;
	if (b.obj.mode && S_ISDIR(a.obj.mode) != S_ISDIR(b.obj.mode))
		return -EEXIST;
	r = S_ISDIR(a.obj.mode) ? foresee_dir(s, &a, &b) : foresee_file(s, &a, &b);
	if (r < 0)
		return r;
	report(s, &a, &a.obj, &first);
	report(s, &b, &b.obj, &second);
	if (touched) /* a new file was reported by the old name */
		*touched = first || second || step_created(s, &a.obj);
	return 0;
}

/* ---- what has been performed ----------------------------------------------------------------- */

/* The process that creates a file has it open for writing. */
void op_note_made(struct step *s, const struct at *at)
{
	AUTO_OP_TARGET struct op_target w = OP_TARGET_NONE;
	AUTO_FREE char *key = NULL;

	if (op_target_look(&w, at) < 0 || !w.obj.mode || !w.path)
		return;
	key = path_key_make(w.root, w.path);
	if (!touched_paths_find(&s->touches, key))
		return;
	step_learn(s, &w.obj,
		   S_ISREG(w.obj.mode) ? TOUCHED_CREATED | TOUCHED_OPENED : TOUCHED_CREATED);
	if (S_ISREG(w.obj.mode))
		open_file_add(s->j, &w.obj, w.root, w.path);
}

int op_note_moved(struct step *s, const struct at *from, const struct at *to)
{
	AUTO_OP_TARGET struct op_target a = OP_TARGET_NONE;
	AUTO_OP_TARGET struct op_target b = OP_TARGET_NONE;
	struct rec rec = {
		.type = REC_RENAME, .flags = REC_DIRECTORY, .root = from->root, .root2 = to->root};
	int r = op_target_look(&b, to);

	if (r < 0)
		return r;
	op_target_set(&a, from);
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
			r = capture_push(&s->side, &rec);
	}
	if (r == 0)
		op_target_moved(s, &a, &b, false);
	return r;
}
