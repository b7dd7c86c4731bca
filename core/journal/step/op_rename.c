/* op_rename - operations that remove names: unlink, rmdir, rename; the record first. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/op.h"
#include "core/journal/step/edited.h"
#include "core/journal/step/expected_events.h"
#include "core/journal/step/guarded.h"
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
#include "core/os/file.h"

#define FREE_NAMES 2 /* after so many in a row the next name is likely to be free */

/* ---- taking names away ------------------------------------------------------------------------
 */

/* Returns whether the step created the object by this name and it can be removed without a capture:
 * no other step knows it, and its birth time tells it from an external file with a reused inode
 * number. A name that the step did not give was given by a process of an ended step. */
bool op_target_is_own(struct step *s, const struct op_target *w)
{
	struct touched_inode *k = step_known(s, &w->obj);
	AUTO_FREE char *key = NULL;

	if (!k || !(k->flags & TOUCHED_CREATED) || !object_is_identified(&w->obj) ||
	    step_shared(s, &w->obj))
		return false;
	key = path_key_make(w->root, w->path);
	return touched_paths_find(&s->touches, key);
}

static int remove_own(struct step *s, const struct op_target *w, int flags)
{
	if (unlinkat(w->dirfd, w->raw, flags) < 0)
		return -errno;
	if (w->obj.nlink > 1 && !(flags & AT_REMOVEDIR))
		return 0;
	step_unlearn(s, &w->obj);
	open_file_gone(s->j, &w->obj);
	return 0;
}

/* Removes the object without a capture. */
static int remove_bare(struct step *s, const struct op_target *w, int flags, bool *touched)
{
	int r = remove_own(s, w, flags);

	if (r == 0)
		op_target_report(s, w, &w->obj, touched);
	return r;
}

/* Returns whether the object is moved into the store, which is on the same file system: nothing is
 * copied. */
static bool is_moved(const struct step *s, const struct object *o)
{
	dev_t dev = s->j->store_dev;

	return o->dev == ((uint64_t)major(dev) << 32 | minor(dev));
}

int op_unlink(struct step *s, const struct at *at, bool *touched)
{
	AUTO_OP_TARGET struct op_target w = OP_TARGET_NONE;
	char slot[24];
	size_t mark;
	int r = op_target_find(&w, at, touched);

	if (r < 0)
		return r;
	if (w.plain || w.own || S_ISDIR(w.obj.mode)) /* refused in any case */
		return unlinkat(at->dirfd, w.raw, 0) < 0 ? -errno : 0;
	event_expect_no_close_at(s->j, w.root, w.path);
	edited_look(s, &w);
	if (op_target_is_own(s, &w))
		return remove_own(s, &w, 0);
	r = step_lose(s, LOSS_DELETE, w.root, w.path, &w.obj);
	if (r < 0)
		return r;
	r = step_protects(s, "unlink", w.path, store_weigh_object(&w.obj), !is_moved(s, &w.obj));
	if (r <= 0)
		return r < 0 ? r : remove_bare(s, &w, 0, touched);
	r = op_target_record_gone(s, &w, slot, &mark);
	if (r < 0)
		return r;
	if (renameat(at->dirfd, w.bare, s->side.obj, slot) < 0)
		r = errno == EXDEV ? object_move(s->j, at->dirfd, w.bare, s->side.obj, slot, NULL)
				   : -errno;
	if (r < 0) {
		undo_log_take_back(&s->side.log, mark);
		return r;
	}
	step_took(s, &w.obj);
	op_target_report(s, &w, &w.obj, touched);
	return 0;
}

/* Records a directory before it is removed; the log can be cut at mark again. */
int op_target_keep_dir(struct step *s, const struct op_target *w)
{
	AUTO_CLOSE int fd = object_open(w->dirfd, w->bare);
	AUTO_BUF struct buf meta = BUF_INIT;
	struct rec rec = {.type = REC_DIR_GONE, .root = w->root, .path = w->path};
	int r;

	if (fd < 0)
		return take_fd(&fd);
	r = attributes_read(s->j, fd, &meta);
	if (r < 0)
		return r;
	rec.ino = w->obj.ino;
	rec.meta = (struct span){meta.data, meta.len};
	return capture_push(&s->side, &rec);
}

int op_rmdir(struct step *s, const struct at *at, bool *touched)
{
	AUTO_OP_TARGET struct op_target w = OP_TARGET_NONE;
	size_t mark;
	int r = op_target_find(&w, at, touched);

	if (r < 0)
		return r;
	if (w.plain || !S_ISDIR(w.obj.mode))
		return unlinkat(at->dirfd, w.raw, AT_REMOVEDIR) < 0 ? -errno : 0;
	store_forget_near(s->j);
	if (op_target_is_own(s, &w))
		return remove_own(s, &w, AT_REMOVEDIR);
	r = step_lose(s, LOSS_DELETE, w.root, w.path, &w.obj);
	if (r < 0)
		return r;
	r = step_protects(s, "rmdir", w.path, 0, false);
	if (r <= 0)
		return r < 0 ? r : remove_bare(s, &w, AT_REMOVEDIR, touched);
	r = op_target_touch_dir(s, &w);
	if (r < 0)
		return r;
	mark = undo_log_tail(&s->side.log);
	r = op_target_keep_dir(s, &w);
	if (r == 0 && unlinkat(at->dirfd, w.raw, AT_REMOVEDIR) < 0)
		r = -errno;
	if (r < 0)
		undo_log_take_back(&s->side.log, mark);
	else
		op_target_report(s, &w, &w.obj, touched);
	return r;
}

/* ---- rename -----------------------------------------------------------------------------------
 */

static void file_moved(struct step *s, const struct op_target *from, const struct op_target *to)
{
	if (!S_ISDIR(from->obj.mode))
		open_file_named(s->j, &from->obj, to->root, to->path, &to->obj);
}

/* both: the two objects changed places. */
void op_target_moved(struct step *s, const struct op_target *from, const struct op_target *to,
		     bool both)
{
	file_moved(s, from, to);
	if (both)
		file_moved(s, to, from);
	else if (!S_ISDIR(from->obj.mode))
		event_expect_name(s->j, to->root, to->path);
	if (!S_ISDIR(from->obj.mode) && !(both && S_ISDIR(to->obj.mode)))
		return;
	open_files_moved(s->j, from->root, from->path, to->root, to->path, both);
	s->moved = true;
	for (struct step *p = s->j->open; p; p = p->next)
		p->carried |= p != s;
	capture_forget_dirs(&s->side);
	store_forget_near(s->j);
	touched_paths_move(&s->touches, from->root, from->path, to->root, to->path, both);
}

static int do_rename(const struct op_target *from, const struct op_target *to, unsigned flags)
{
	return renameat2(from->dirfd, from->raw, to->dirfd, to->raw, flags) < 0 ? -errno : 0;
}

/* Replaces the target only if it is the captured object: exchanges the two, and compares. Otherwise
 * changes nothing. */
static int rename_over_kept(const struct step *s, const struct op_target *from,
			    const struct op_target *to)
{
	const struct object *only = s->only;
	struct object was;
	int e, r = move_exchange(from->dirfd, from->bare, to->dirfd, to->bare);

	if (r == -EINVAL) /* not supported by this file system */
		return do_rename(from, to, 0);
	if (r < 0)
		return r;
	r = object_stat(from->dirfd, from->bare, &was);
	if (r == 0 && object_same(&was, only ? only : &to->obj) &&
	    (!only || (was.size == only->size && was.mtime_ns == only->mtime_ns))) {
		if (unlinkat(from->dirfd, from->bare, 0) == 0)
			return 0;
		r = -errno;
	} else if (r == 0) {
		r = only ? -ESTALE : -EEXIST;
	}
	e = move_exchange(from->dirfd, from->bare, to->dirfd, to->bare);
	return e < 0 ? e : r;
}

/* Renames. Returns -EEXIST if another object was created at a name that was free at the look. */
static int rename_onto(const struct step *s, const struct op_target *from,
		       const struct op_target *to, unsigned flags)
{
	unsigned careful = to->obj.mode ? flags : flags | RENAME_NOREPLACE;
	int r;

	if (s->careful && to->obj.mode && !flags && !S_ISDIR(to->obj.mode))
		return rename_over_kept(s, from, to);
	r = do_rename(from, to, careful);

	/* The file system does not support the flag. */
	return r == -EINVAL && careful != flags ? do_rename(from, to, flags) : r;
}

/* Captures the file that `to` names so that the name always exists: by a second hard link in the
 * store. If that is refused, the two files are exchanged, and the old one is then moved to the
 * store. */
static int keep_target(struct step *s, const struct op_target *to, struct rec *ren)
{
	struct rec gone = {.type = REC_GONE, .flags = REC_LINKED, .root = to->root};
	AUTO_BUF struct buf note = BUF_INIT;
	char slot[24];
	int r;

	gone.path = to->path;
	gone.ino = to->obj.ino;
	ren->slot = gone.slot = undo_log_slot(&s->side.log);
	store_slot_name(slot, gone.slot);
	capture_note(&gone, &note, &to->obj);
	r = capture_push(&s->side, &gone);
	if (r < 0)
		return r;
	if (linkat(to->dirfd, to->bare, s->side.obj, slot, 0) == 0)
		return 0;
	if (errno == EXDEV)
		return object_copy(s->j, to->dirfd, to->bare, s->side.obj, slot);
	if (errno != EPERM && errno != EMLINK && errno != EOPNOTSUPP && errno != EACCES)
		return -errno;
	ren->flags |= REC_SWAPPED;
	return 0;
}

#define STUCK 4098 /* not an errno: both files exist, under each other's name */

static int rename_swapped(struct step *s, const struct op_target *from, const struct op_target *to,
			  uint64_t number)
{
	char slot[24];
	int r = move_exchange(from->dirfd, from->bare, to->dirfd, to->bare);

	if (r < 0)
		return r;
	store_slot_name(slot, number);
	r = renameat(from->dirfd, from->bare, s->side.obj, slot) < 0 ? -errno : 0;
	if (r < 0 && move_exchange(from->dirfd, from->bare, to->dirfd, to->bare) < 0)
		return -STUCK;
	return r;
}

/*
 * Removes the second hard link, which is not needed. It has changed the inode's ctime, which an
 * undo would take for an external edit. So the path gets a record, although it was not changed, and
 * is read again when the step ends.
 */
static void unkeep_target(struct step *s, const struct op_target *to, uint64_t number, size_t *mark)
{
	AUTO_CLOSE int fd = object_open(to->dirfd, to->bare);
	struct object now;
	char slot[24];

	store_slot_name(slot, number);
	unlinkat(s->side.obj, slot, 0);
	undo_log_take_back(&s->side.log, *mark);
	if (fd < 0 || object_stat(fd, "", &now) < 0 || !object_same(&now, &to->obj))
		return;
	step_touch(s, to->root, to->path, &now);
	if (capture_keep_meta(&s->side, to->root, to->path, fd, 0) == 0)
		*mark = undo_log_tail(&s->side.log);
}

/* Renames without a capture, and forgets the replaced object. */
static int rename_bare(struct step *s, const struct op_target *from, const struct op_target *to,
		       unsigned flags)
{
	int r = do_rename(from, to, flags);

	if (r == 0 && to->obj.mode && !(flags & RENAME_EXCHANGE) &&
	    (to->obj.nlink <= 1 || S_ISDIR(to->obj.mode))) {
		step_unlearn(s, &to->obj);
		open_file_gone(s->j, &to->obj);
	}
	return r;
}

/* Captures objects at guarded names before they leave them. */
static int list_guarded(struct step *s, const struct op_target *from, const struct op_target *to,
			unsigned flags, struct buf *lists)
{
	AUTO_BUF struct buf first = BUF_INIT;
	AUTO_BUF struct buf second = BUF_INIT;
	int r = guarded_leave(s, from, &first);

	if (r == 0 && flags & RENAME_EXCHANGE)
		r = guarded_leave(s, to, &second);
	guarded_list_join(lists, &first, &second);
	return r;
}

/* Renames with a record. On failure the caller cuts the log at *mark. */
static int rename_logged(struct step *s, const struct op_target *from, const struct op_target *to,
			 unsigned flags, struct span lists, size_t *mark)
{
	struct rec rec = {.type = REC_RENAME, .root = from->root, .root2 = to->root};
	bool own = false;
	int r = 0;

	rec.meta = lists;
	if (S_ISDIR(from->obj.mode))
		rec.flags = REC_DIRECTORY;
	if (flags & RENAME_EXCHANGE) {
		rec.type = REC_XCHG;
		rec.flags |= S_ISDIR(to->obj.mode) ? REC_DIRECTORY : 0;
	} else if (to->obj.mode) {
		own = op_target_is_own(s, to);
	}
	rec.path = from->path;
	rec.path2 = to->path;
	rec.ino = from->obj.ino;
	rec.ino2 = to->obj.ino;
	if (to->obj.mode && !own && !(flags & RENAME_EXCHANGE))
		r = S_ISDIR(to->obj.mode) ? op_target_keep_dir(s, to) : keep_target(s, to, &rec);
	if (r == 0)
		r = capture_push(&s->side, &rec);
	if (r == 0 && rec.flags & REC_SWAPPED)
		r = rename_swapped(s, from, to, rec.slot);
	else if (r == 0)
		r = rename_onto(s, from, to, flags);
	if (r < 0 && rec.slot && !(rec.flags & REC_SWAPPED))
		unkeep_target(s, to, rec.slot, mark);
	if (r == 0 && own && (to->obj.nlink <= 1 || S_ISDIR(to->obj.mode)))
		step_unlearn(s, &to->obj);
	if (r == 0 && rec.slot)
		step_took(s, &to->obj);
	return r;
}

/* The caller gets an error, so a record tells undo that the two files have changed places. */
static int note_stuck(struct step *s, const struct op_target *from, const struct op_target *to)
{
	struct rec rec = {.type = REC_XCHG,
			  .root = from->root,
			  .root2 = to->root,
			  .path = from->path,
			  .path2 = to->path,
			  .ino = from->obj.ino,
			  .ino2 = to->obj.ino};

	if (capture_push(&s->side, &rec) < 0)
		step_mark_incomplete(s, "a rename failed half-way and left two files exchanged");
	op_target_report(s, from, &from->obj, NULL);
	op_target_report(s, to, &to->obj, NULL);
	return -EIO;
}

static int rename_kept(struct step *s, const struct op_target *from, const struct op_target *to,
		       unsigned flags)
{
	AUTO_BUF struct buf lists = BUF_INIT;
	int r = op_target_touch_dir(s, from);
	size_t mark;

	if (r == 0)
		r = op_target_touch_dir(s, to);
	if (r == 0 && !(flags & RENAME_EXCHANGE) && !op_target_is_own(s, to))
		r = op_target_keep_written(s, to);
	if (r == 0 && s->j->guards)
		r = list_guarded(s, from, to, flags, &lists);
	if (r < 0)
		return r;
	mark = undo_log_tail(&s->side.log);
	r = rename_logged(s, from, to, flags, (struct span){lists.data, lists.len}, &mark);
	if (r < 0)
		undo_log_take_back(&s->side.log, mark);
	return r == -STUCK ? note_stuck(s, from, to) : r;
}

/* Returns how many bytes the store will hold of the replaced file. */
static uint64_t kept_weight(struct step *s, const struct op_target *to, unsigned flags)
{
	bool stays = flags & RENAME_EXCHANGE || !to->obj.mode || S_ISDIR(to->obj.mode);

	return stays || op_target_is_own(s, to) ? 0 : store_weigh_object(&to->obj);
}

/* Returns whether the rename changes nothing, or the kernel will refuse it. */
static bool refused(const struct op_target *from, const struct op_target *to, unsigned flags)
{
	bool from_dir = S_ISDIR(from->obj.mode), to_dir = S_ISDIR(to->obj.mode);

	if (from->plain || to->plain || !*from->raw || !*to->raw)
		return true;
	if (flags & RENAME_EXCHANGE)
		return !to->obj.mode || object_same(&from->obj, &to->obj);
	if (!from_dir && (from->own || to->own)) /* "file/" */
		return true;
	if (!to->obj.mode)
		return false;
	return flags & RENAME_NOREPLACE || from_dir != to_dir || object_same(&from->obj, &to->obj);
}

static bool is_ascii(const char *text)
{
	while (*text && !(*text & 0x80))
		text++;
	return *text == '\0';
}

/* Returns whether no file system takes the two for one name. Only ASCII names: case folding of
 * other letters differs between file systems. */
static bool names_differ(const char *a, const char *b)
{
	return is_ascii(a) && is_ascii(b) && strcasecmp(a, b) != 0;
}

/*
 * A program that installs many files renames each to a free name. After some such renames the next
 * one is performed without a look at its new name: RENAME_NOREPLACE checks it. If the name is
 * taken, the record is removed, both names are looked at, and the replaced object is captured as
 * usual. A process that dies before it removes the record leaves a record of a rename that was not
 * performed, as one that dies before the call does. The recovery drops it, because another inode
 * than the record's has the new name. So this is not done if the inode is the same: a second hard
 * link of the file, or the same name in another spelling.
 */
static bool name_is_likely_free(const struct step *s, const struct op_target *from,
				const struct at *to, unsigned flags)
{
	return s->free_names >= FREE_NAMES && !(flags & RENAME_EXCHANGE) && !s->careful &&
	       S_ISREG(from->obj.mode) && from->obj.nlink == 1 &&
	       names_differ(from->bare, to->name);
}

/* *again: somebody else changed a name between our look and the call, or we did not look. */
static int rename_once(struct step *s, const struct at *from, const struct at *to, unsigned flags,
		       bool *touched, bool *again)
{
	AUTO_OP_TARGET struct op_target a = OP_TARGET_NONE;
	AUTO_OP_TARGET struct op_target b = OP_TARGET_NONE;
	bool first = false, second = false, unseen;
	int r;

	*again = false;
	r = op_target_look(&a, from);
	if (r < 0)
		return r;
	unseen = name_is_likely_free(s, &a, to, flags);
	if (unseen) {
		op_target_set(&b, to);
		flags |= RENAME_NOREPLACE;
	} else {
		r = op_target_look(&b, to);
	}
	if (r < 0)
		return r;
	if (!a.obj.mode)
		return a.plain || b.plain ? -EBUSY : -ENOENT;
	if (S_ISDIR(a.obj.mode) || S_ISDIR(b.obj.mode))
		s->j->dir_moves++;
	if (refused(&a, &b, flags))
		return do_rename(&a, &b, flags);
	event_expect_no_close_at(s->j, a.root, a.path);
	event_expect_no_close_at(s->j, b.root, b.path);
	if (b.obj.mode && !(flags & RENAME_EXCHANGE)) {
		edited_look(s, &b);
		r = step_lose(s, LOSS_REPLACE, b.root, b.path, &b.obj);
	}
	if (r < 0)
		return r;
	r = step_protects(s, "rename", a.path, kept_weight(s, &b, flags), !is_moved(s, &b.obj));
	if (r >= 0)
		r = r ? rename_kept(s, &a, &b, flags) : rename_bare(s, &a, &b, flags);
	*again = r == -ENOENT || (r == -EEXIST && (s->careful || !b.obj.mode) && !flags) ||
		 (unseen && (r == -EEXIST || r == -EINVAL)); /* not supported by this file system */
	s->free_names = r == 0 && !b.obj.mode ? s->free_names + 1 : 0;
	if (r < 0)
		return r;
	op_target_report(s, &a, &a.obj, &first);
	op_target_report(s, &b, &b.obj, &second);
	if (touched) /* a new file was reported by the old name */
		*touched = first || second || step_created(s, &a.obj);
	op_target_moved(s, &a, &b, flags & RENAME_EXCHANGE);
	return 0;
}

int op_rename(struct step *s, const struct at *from, const struct at *to, unsigned flags,
	      bool *touched)
{
	bool again = true;
	int r = 0;

	if (touched)
		*touched = false;
	if (flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	for (int i = 0; i < 8 && again; i++)
		r = rename_once(s, from, to, flags, touched, &again);
	return r;
}
