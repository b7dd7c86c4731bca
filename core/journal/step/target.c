/* target - the target of an operation: its path for the record, its name, its object. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/step/target.h"
#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/op.h"
#include "core/journal/step/edited.h"
#include "core/journal/step/guarded.h"
#include "core/journal/step/limits.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/steps.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"

#include <errno.h>
#include <string.h>

#define SETTLE_TRIES 2 /* a sync takes long */

void op_target_done(struct op_target *w)
{
	free(w->path);
	free(w->own);
}

static char *join(const char *dir, const char *name)
{
	char *path = xmalloc(strlen(dir) + 1 + strlen(name) + 1);
	char *at = stpcpy(path, dir);

	if (at != path)
		*at++ = '/';
	strcpy(at, name);
	return path;
}

void op_target_set(struct op_target *w, const struct at *at)
{
	size_t len = strlen(at->name);

	*w = (struct op_target){.root = at->root,
				.dirfd = at->dirfd,
				.raw = at->name,
				.bare = at->name,
				.dir = at->dir};
	if (len == 0) {
		if (at->leaf)
			w->path = *at->leaf ? join(at->dir, at->leaf) : xstrdup(at->dir);
		return;
	}
	while (len > 1 && at->name[len - 1] == '/')
		len--;
	if (at->name[len])
		w->bare = w->own = xstrndup(at->name, len);
	w->plain = str_eq(w->bare, ".") || str_eq(w->bare, "..");
	w->path = join(at->dir, w->bare);
}

int op_target_look(struct op_target *w, const struct at *at)
{
	op_target_set(w, at);
	return object_stat(w->dirfd, w->bare, &w->obj);
}

int op_target_find(struct op_target *w, const struct at *at, bool *touched)
{
	int r = op_target_look(w, at);

	if (touched)
		*touched = false;
	return r < 0 || w->obj.mode ? r : -ENOENT;
}

int op_target_touch_dir(struct step *s, const struct op_target *w)
{
	int r = step_make(s);

	return r < 0 ? r : capture_touch_dir(&s->side, w->root, w->dirfd, w->dir);
}

/* Captures the bytes of a file that leaves a guarded name, if a process may still write to it. */
static int keep_held(struct step *s, const struct op_target *w)
{
	if (!root_guards(s->j, w->root, w->path, S_IFREG) ||
	    !guarded_is_held(s->j, w->dirfd, w->bare, &w->obj))
		return 0;
	return step_keep_again(s, w->root, w->path, w->dirfd, w->bare, &w->obj);
}

int op_target_keep_written(struct step *s, const struct op_target *w)
{
	AUTO_CLOSE int fd = -1;
	struct open_file *known;

	if (!S_ISREG(w->obj.mode))
		return 0;
	known = open_file_find(s->j, &w->obj);
	if (!known)
		return keep_held(s, w);
	fd = borrow_open_file(s->j, w->dirfd, w->bare);
	if (fd >= 0 && !object_has_writer(fd)) {
		if (!known->once) /* else its close event comes, by another name */
			open_file_drop(s->j, known);
		return 0;
	}
	if (w->obj.nlink > 1 && !open_file_seek(s->j, known, w->root, w->path))
		step_mark_incomplete(s, NAME_UNKNOWN);
	known->sought = w->obj.nlink <= 1; /* only this name can bring it back */
	return step_keep_content(s, w->root, w->path, w->dirfd, w->bare, &w->obj, false);
}

int op_target_keep_content(struct step *s, const struct op_target *w, int fd, const char *name,
			   const struct object *o, bool may_spare)
{
	size_t mark = s->made ? undo_log_tail(&s->side.log) : 0;
	int r;

	if (!w->path || !S_ISREG(o->mode) || o->nlink == 0)
		return 0;
	s->side.last.is = false;
	r = step_lose(s, LOSS_OVERWRITE, w->root, w->path, o);
	if (r == 0) {
		edited_take(s, w->root, w->path, o);
		r = step_keep_content(s, w->root, w->path, fd, name, o, may_spare);
	}
	if (r < 0 || !s->made || undo_log_tail(&s->side.log) == mark)
		return MIN(r, 0); /* captured earlier */
	/* A foreseen change is performed later, by another process. */
	if (*name)
		return 0;
	for (int i = 0; r == 0 && i < SETTLE_TRIES && !capture_is_exact(&s->side, fd); i++)
		r = step_settle_content(s, w->root, w->path, fd, o);
	return r;
}

int op_target_record_new(struct step *s, const struct op_target *w, enum rec_type type,
			 size_t *mark)
{
	struct rec rec = {.type = type, .root = w->root, .path = w->path};
	int r = op_target_touch_dir(s, w);

	if (r < 0)
		return r;
	*mark = undo_log_tail(&s->side.log);
	r = capture_push(&s->side, &rec);
	if (r < 0)
		undo_log_take_back(&s->side.log, *mark);
	return r;
}

int op_target_record_gone(struct step *s, const struct op_target *w, char slot[24], size_t *mark)
{
	AUTO_BUF struct buf note = BUF_INIT;
	struct rec rec = {.type = REC_GONE, .root = w->root, .path = w->path, .ino = w->obj.ino};
	int r = op_target_keep_written(s, w);

	if (r == 0)
		r = op_target_touch_dir(s, w);
	if (r < 0)
		return r;
	*mark = undo_log_tail(&s->side.log);
	rec.slot = undo_log_slot(&s->side.log);
	store_slot_name(slot, rec.slot);
	capture_note(&rec, &note, &w->obj);
	r = capture_push(&s->side, &rec);
	if (r < 0)
		undo_log_take_back(&s->side.log, *mark);
	return r;
}

void op_target_report(struct step *s, const struct op_target *w, const struct object *before,
		      bool *touched)
{
	bool first = w->path && step_touch(s, w->root, w->path, before);

	if (touched)
		*touched = first;
}
