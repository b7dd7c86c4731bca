/* restore_replace - replaces one file by another, even while a process edits it. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/content.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/op.h"
#include "core/journal/rollback/restore.h"
#include "core/journal/rollback/restore_target.h"
#include "core/journal/step/step.h"
#include "core/journal/store/placed.h"

/*
 * A new file with a temporary name is renamed over the old one: then the store has the old file as
 * its last writer left it. The bytes are written into the existing file only if its other hard
 * links must show the same bytes, or if the file is another user's, so that a copy would change its
 * owner.
 */

/* Replaces by a rename, so that the name never leads to a mixture of both files. */
static int rename_over(struct restore *r, const struct at *tmp, struct target *t)
{
	int e = S_ISDIR(t->now.mode) ? target_clear(r, t) : 0;
	struct object o;

	if (e == 0)
		e = object_stat(tmp->dirfd, tmp->name, &o);
	if (e < 0)
		return e;
	placed_keep(r->j, &o);
	r->s->only = r->strict && S_ISREG(t->now.mode) ? &t->now : NULL;
	e = op_rename(r->s, tmp, &t->at, 0, NULL);
	e = r->s->only && e == -ESTALE ? -RESTORE_EDITED : e;
	r->s->only = NULL;
	return e;
}

/* Removes the copy that could not be placed. */
static int take_away(struct restore *r, const struct at *tmp, int e)
{
	int undone = op_unlink(r->s, tmp, NULL);

	return undone < 0 ? undone : e;
}

/* Places a copy of the file. now: its mtime is the present time. */
static int put_copy(struct restore *r, struct target *t, int from, struct span meta, bool now)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
	char name[64];
	struct at tmp = target_beside(r, t, name);
	AUTO_CLOSE int fd = op_open(r->s, &tmp, O_WRONLY | O_CREAT | O_EXCL, 0600, NULL);
	int e;

	if (fd < 0)
		return take_fd(&fd);
	e = object_copy_data(from, fd);
	/* The file was created in this step, so its creation is the only record needed. */
	if (e >= 0)
		e = attributes_apply(fd, meta);
	if (e >= 0 && now && futimens(fd, times) < 0)
		e = -errno;
	return e < 0 ? take_away(r, &tmp, e) : rename_over(r, &tmp, t);
}

int replace_by_copy(struct restore *r, struct target *t, const struct content_origin *o)
{
	return put_copy(r, t, o->fd, (struct span){o->meta.data, o->meta.len}, false);
}

/* Replaces the content by the bytes of `from`, and keeps the file's metadata. */
static int text_over(struct restore *r, struct target *t, int from)
{
	AUTO_CLOSE int old = object_open(t->at.dirfd, t->at.name);
	AUTO_BUF struct buf meta = BUF_INIT;
	int e = old < 0 ? old : attributes_read(r->j, old, &meta);

	return e < 0 ? e : put_copy(r, t, from, (struct span){meta.data, meta.len}, true);
}

int replace_by_link(struct restore *r, struct target *t, const struct at *from)
{
	char name[64];
	struct at tmp = target_beside(r, t, name);
	int e = op_link(r->s, from, &tmp, NULL);

	return e < 0 ? e : rename_over(r, &tmp, t);
}

/* Returns whether the target is the very file with the bytes: writing to it would empty it
 * first. */
bool replace_has_bytes(const struct target *t, const struct content_origin *o)
{
	struct object from;

	return object_stat(o->fd, "", &from) == 0 && from.ino == t->now.ino &&
	       from.dev == t->now.dev;
}

/* Checks that the captured file is the one that was checked, and captures the last bytes that other
 * processes wrote to it. *careful: they may write more. */
static int hold(struct restore *r, struct target *t, int fd, bool *careful)
{
	struct kept kept = {.in_slot = !object_hold(fd)};
	struct object o = {0};
	int e = capture_settle(&r->s->side, t->at.root, t->path, fd, &kept);

	*careful = kept.in_slot && r->s->side.last.is;
	if (e == -CAPTURE_MOVING)
		return -RESTORE_EDITED;
	if (e == 0)
		e = object_stat(fd, "", &o);
	if (e < 0 || (restore_expects(r, t->at.root, t->path, &t->now) && o.size == t->now.size &&
		      o.mtime_ns == t->now.mtime_ns))
		return e;
	return -RESTORE_EDITED;
}

/* Opens the captured file for writing. */
static int open_captured(struct restore *r, struct target *t, int *ret, bool *careful)
{
	AUTO_CLOSE int fd = -1;
	size_t mark;
	int e = step_make(r->s);

	if (e < 0)
		return e;
	r->s->side.last.is = false; /* the file may be captured already */
	mark = undo_log_tail(&r->s->side.log);
	fd = op_open(r->s, &t->at, O_RDWR, 0, NULL);
	if (fd == -EACCES) {
		e = op_chmod(r->s, &t->at, (t->now.mode & 07777) | 0600, NULL);
		if (e < 0)
			return e;
		mark = undo_log_tail(&r->s->side.log);
		fd = op_open(r->s, &t->at, O_RDWR, 0, NULL);
	}
	if (fd < 0)
		return take_fd(&fd);
	e = hold(r, t, fd, careful);
	if (e < 0) /* not written, so an undo must not write either */
		undo_log_take_back(&r->s->side.log, mark);
	else
		*ret = take_fd(&fd);
	r->s->spares &= e < 0; /* other processes may write to it */
	return e;
}

static int overwrite(struct restore *r, int from, int fd, bool careful)
{
	return MIN(careful ? capture_overwrite(&r->s->side, from, fd) : object_copy_data(from, fd),
		   0);
}

/* Writes into the existing file, because its other hard links must show the same bytes. */
int replace_in_place(struct restore *r, struct target *t, const struct content_origin *o)
{
	const struct span meta = {o->meta.data, o->meta.len};
	AUTO_CLOSE int fd = -1;
	struct stat from = {0};
	bool careful;
	struct at at;
	int e;

	if (replace_has_bytes(t, o))
		return target_set_attrs(r, t, meta);
	e = open_captured(r, t, &fd, &careful);
	at = target_object(t, fd);
	if (e == 0 && fstat(o->fd, &from) < 0)
		e = -errno;
	if (e == 0)
		e = overwrite(r, o->fd, fd, careful);
	if (e >= 0)
		e = op_set_attrs(r->s, &at, meta);
	if (e == 0)
		placed_written(r->j, fd, (uint64_t)from.st_size, meta);
	return e;
}

int replace_by_symlink(struct restore *r, struct target *t, const struct content_origin *o)
{
	char name[64], goal[PATH_MAX + 1];
	struct at tmp = target_beside(r, t, name);
	ssize_t n = io_pread_full(o->fd, goal, PATH_MAX, 0);
	int e;

	if (n < 0)
		return (int)n;
	goal[n] = '\0';
	e = op_symlink(r->s, goal, &tmp, NULL);
	if (e == 0)
		e = op_set_attrs(r->s, &tmp, (struct span){o->meta.data, o->meta.len});
	return e < 0 ? e : rename_over(r, &tmp, t);
}

int restore_text(struct restore *r, size_t i, struct span text)
{
	const struct change *c = &r->list[i];
	AUTO_TARGET struct target t = TARGET_NONE;
	AUTO_CLOSE int fd = -1, from = capture_in_memory(text);
	bool careful;
	int e = MIN(from, 0);

	if (e == 0)
		e = target_find(r, c->root, c->path, &t);
	if (e == 0 && !S_ISREG(t.now.mode))
		e = -RESTORE_EDITED;
	if (e == 0)
		e = t.now.nlink == 1 ? text_over(r, &t, from) : -EPERM;
	if (e != -EPERM) /* another user's file, or other hard links must show the same bytes */
		return e;
	e = open_captured(r, &t, &fd, &careful);
	if (e == 0)
		e = overwrite(r, from, fd, careful);
	if (e == 0)
		placed_written(r->j, fd, text.len, (struct span){NULL, 0});
	return e;
}
