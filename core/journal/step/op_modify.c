/* op_modify - operations on existing objects: open for writing, truncate, metadata. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/op.h"
#include "core/journal/step/edited.h"
#include "core/journal/step/limits.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/step/target.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/unkept.h"
#include "core/journal/steps.h"
#include "core/os/file.h"
#include "core/os/xattr.h"

#define ABSENT_US 1000

static const struct object nothing;

static bool writes(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
}

/* ---- open -------------------------------------------------------------------------------------
 */

static void opened(struct step *s, const struct op_target *w, const struct object *o, int flags)
{
	if (!S_ISREG(o->mode) || !writes(flags))
		return;
	step_learn(s, o, TOUCHED_OPENED);
	if (w->path)
		open_file_opened(s->j, o, w->root, w->path);
}

/* Creates the file: its creation is the record. */
static int open_new(struct step *s, struct op_target *w, int flags, mode_t mode, bool *touched)
{
	AUTO_CLOSE int fd = -1;
	int keep = step_protects(s, "create", w->path, 0, false);
	size_t mark = 0;
	int r = keep > 0 ? op_target_record_new(s, w, REC_NEW, &mark) : keep;

	if (r < 0)
		return r;
	fd = openat(w->dirfd, w->raw, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0) {
		r = -errno;
		if (keep)
			undo_log_take_back(&s->side.log, mark);
		return r;
	}
	r = object_stat(fd, "", &w->obj);
	if (r < 0) { /* not in the step's tables, so it would not be watched for writers */
		if (unlinkat(w->dirfd, w->raw, 0) == 0 && keep)
			undo_log_take_back(&s->side.log, mark);
		return r;
	}
	step_learn(s, &w->obj, TOUCHED_CREATED);
	opened(s, w, &w->obj, flags);
	op_target_report(s, w, &nothing, touched);
	return take_fd(&fd);
}

static int open_raw(const struct op_target *w, int flags)
{
	char proc[OS_FD_PATH];
	int fd;

	flags = (flags & ~(O_CREAT | O_EXCL)) | O_CLOEXEC;
	if (*w->bare) {
		fd = openat(w->dirfd, w->raw, flags | O_NOFOLLOW);
	} else {
		os_fd_path(proc, w->dirfd);
		fd = open(proc, flags & ~O_NOFOLLOW);
	}
	return fd < 0 ? -errno : fd;
}

static int open_special(const struct op_target *w, int flags)
{
	int fd, r;

	/* The keeper does not open devices, because it has rights that the caller lacks. */
	if (S_ISCHR(w->obj.mode) || S_ISBLK(w->obj.mode))
		return -EACCES;
	if (!S_ISFIFO(w->obj.mode))
		return open_raw(w, flags);
	fd = open_raw(w, flags | O_NONBLOCK);
	if (fd >= 0 && !(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags & O_APPEND) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

/* Truncates for O_RDONLY | O_TRUNC as well, if the caller may write. */
static int cut(int fd, int flags)
{
	char proc[OS_FD_PATH];

	if ((flags & O_ACCMODE) != O_RDONLY)
		return ftruncate(fd, 0) < 0 ? -errno : 0;
	os_fd_path(proc, fd);
	return truncate(proc, 0) < 0 ? -errno : 0;
}

static int open_old(struct step *s, struct op_target *w, int flags, bool *touched)
{
	AUTO_CLOSE int fd = -1;
	struct object o = w->obj;
	int r;

	if (!S_ISREG(o.mode))
		return open_special(w, flags);
	if (writes(flags))
		edited_look(s, w);
	fd = open_raw(w, flags & ~O_TRUNC);
	if (fd < 0)
		return take_fd(&fd);
	if (!writes(flags))
		return take_fd(&fd);
	r = object_stat(fd, "", &o);
	if (r == 0)
		r = op_target_keep_content(s, w, fd, "", &o, !(flags & O_TRUNC));
	if (r == 0 && flags & O_TRUNC)
		r = cut(fd, flags);
	if (r < 0) {
		if (w->path && s->on_loss) /* the close event is ours: no external edit */
			open_file_opened(s->j, &o, w->root, w->path);
		return r;
	}
	opened(s, w, &o, flags);
	op_target_report(s, w, &o, touched);
	return take_fd(&fd);
}

/*
 * If the caller just saw that the name does not exist, only a program outside can have created it
 * since. Then O_EXCL fails, and the next try looks. A crash in between may leave the record of a
 * file that the step did not create. That can happen after a look here as well, and it is no more
 * likely, as slow work such as the capture of open files comes before.
 */
static int look_once(struct op_target *w, const struct at *at)
{
	if (!at->absent_us || !*at->name || clock_mono_us() - at->absent_us > ABSENT_US)
		return op_target_look(w, at);
	op_target_set(w, at);
	return 0;
}

int op_open(struct step *s, const struct at *at, int flags, mode_t mode, bool *touched)
{
	int r = -EEXIST;

	if (touched)
		*touched = false;
	if ((flags & O_TMPFILE) == O_TMPFILE)
		return op_tmpfile(s, at, flags, mode);
	if (flags & O_CREAT && flags & O_DIRECTORY)
		return -EINVAL;
	/* Programs outside may create and remove the name several times between look and open. */
	for (int i = 0; i < 8 && r == -EEXIST; i++) {
		AUTO_OP_TARGET struct op_target w = OP_TARGET_NONE;

		r = i == 0 ? look_once(&w, at) : op_target_look(&w, at);
		if (r < 0)
			return r;
		if (flags & O_EXCL && flags & O_CREAT && (w.obj.mode || w.plain))
			return w.own ? -EISDIR : -EEXIST;
		if (w.obj.mode)
			return w.own && flags & O_CREAT ? -EISDIR : open_old(s, &w, flags, touched);
		if (!(flags & O_CREAT))
			return -ENOENT;
		if (w.plain || w.own)
			return -EISDIR;
		r = open_new(s, &w, flags, mode, touched);
	}
	return r;
}

int op_tmpfile(struct step *s, const struct at *dir, int flags, mode_t mode)
{
	AUTO_CLOSE int fd = -1;
	struct object o;
	int r;

	fd = openat(dir->dirfd, *dir->name ? dir->name : ".", flags | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	/* An unnamed file has nothing to undo until linkat() gives it a name; it is the step's
	 * own. */
	r = object_stat(fd, "", &o);
	if (r < 0)
		return r;
	step_learn(s, &o, TOUCHED_CREATED);
	return take_fd(&fd);
}

/* ---- truncate ---------------------------------------------------------------------------------
 */

int op_truncate(struct step *s, const struct at *at, off_t size, bool *touched)
{
	AUTO_OP_TARGET struct op_target w = OP_TARGET_NONE;
	AUTO_CLOSE int fd = -1;
	char proc[OS_FD_PATH];
	int r = op_target_find(&w, at, touched);

	if (r < 0)
		return r;
	if (w.own && !S_ISDIR(w.obj.mode))
		return -ENOTDIR;
	fd = object_open(at->dirfd, w.bare);
	if (fd < 0)
		return take_fd(&fd);
	r = object_stat(fd, "", &w.obj);
	os_fd_path(proc, fd);
	/* A change that the permissions forbid is refused before the capture. */
	if (r == 0 && S_ISREG(w.obj.mode) && eaccess(proc, W_OK) < 0)
		r = -errno;
	if (r == 0)
		edited_look(s, &w);
	if (r == 0)
		r = op_target_keep_content(s, &w, fd, "", &w.obj, false);
	if (r == 0 && truncate(proc, size) < 0)
		r = -errno;
	if (r == 0)
		op_target_report(s, &w, &w.obj, touched);
	return r;
}

/* ---- metadata ---------------------------------------------------------------------------------
 */

struct change_meta {
	int (*apply)(const struct change_meta *m, const struct op_target *w, int fd);
	const char *op;
	bool by_name; /* can be done without a descriptor of the object */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	const struct timespec *times;
	struct span meta;
	const char *name;
	const void *value;
	size_t size;
	int flags;
};

static int change(struct step *s, const struct change_meta *m, const struct at *at, bool *touched)
{
	AUTO_OP_TARGET struct op_target w = OP_TARGET_NONE;
	AUTO_CLOSE int fd = -1;
	struct touched_inode *k;
	size_t mark = 0;
	int keep, r = op_target_find(&w, at, touched);

	if (r < 0)
		return r;
	if (w.own && !S_ISDIR(w.obj.mode))
		return -ENOTDIR;
	k = step_known(s, &w.obj);
	keep = w.path && !w.plain && !(k && k->flags & (TOUCHED_CREATED | TOUCHED_META));
	keep = keep ? step_protects(s, m->op, w.path, 0, false) : 0;
	if (keep < 0)
		return keep;
	unkept_look(s, &w.obj);
	if (keep || !m->by_name) {
		fd = object_open(at->dirfd, w.bare);
		if (fd < 0)
			return take_fd(&fd);
	}
	if (keep) {
		r = step_make(s);
		if (r < 0)
			return r;
		mark = undo_log_tail(&s->side.log);
		r = capture_keep_meta(&s->side, w.root, w.path, fd, 0);
		if (r < 0)
			return r;
	}
	r = m->apply(m, &w, fd);
	if (r < 0 && keep)
		undo_log_take_back(&s->side.log, mark);
	if (r < 0)
		return r;
	unkept_follow(s, &w.obj);
	if (keep)
		step_learn(s, &w.obj, TOUCHED_META);
	if (!w.plain)
		op_target_report(s, &w, &w.obj, touched);
	if (!w.plain && w.path)
		step_touch_attrs(s, w.root, w.path);
	return 0;
}

static int apply_chmod(const struct change_meta *m, const struct op_target *w, int fd)
{
	(void)fd;
	return S_ISLNK(w->obj.mode) ? -EOPNOTSUPP : object_chmod_at(w->dirfd, w->bare, m->mode);
}

int op_chmod(struct step *s, const struct at *at, mode_t mode, bool *touched)
{
	const struct change_meta m = {
		.apply = apply_chmod, .op = "chmod", .by_name = true, .mode = mode};

	return change(s, &m, at, touched);
}

static int apply_chown(const struct change_meta *m, const struct op_target *w, int fd)
{
	(void)fd;
	return fchownat(w->dirfd, w->bare, m->uid, m->gid,
			AT_SYMLINK_NOFOLLOW | (*w->bare ? 0 : AT_EMPTY_PATH)) < 0
		       ? -errno
		       : 0;
}

int op_chown(struct step *s, const struct at *at, uid_t uid, gid_t gid, bool *touched)
{
	const struct change_meta m = {
		.apply = apply_chown, .op = "chown", .by_name = true, .uid = uid, .gid = gid};

	return change(s, &m, at, touched);
}

static int apply_utimens(const struct change_meta *m, const struct op_target *w, int fd)
{
	char proc[OS_FD_PATH];

	(void)fd;
	if (*w->bare)
		return utimensat(w->dirfd, w->bare, m->times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
	if (utimensat(w->dirfd, "", m->times, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != EINVAL)
		return -errno;
	os_fd_path(proc, w->dirfd);
	return utimensat(AT_FDCWD, proc, m->times, 0) < 0 ? -errno : 0;
}

int op_utimens(struct step *s, const struct at *at, const struct timespec times[2], bool *touched)
{
	const struct change_meta m = {
		.apply = apply_utimens, .op = "utimens", .by_name = true, .times = times};

	return change(s, &m, at, touched);
}

static int apply_attrs(const struct change_meta *m, const struct op_target *w, int fd)
{
	(void)w;
	return MIN(attributes_apply_ours(fd, m->meta), 0);
}

int op_set_attrs(struct step *s, const struct at *at, struct span meta)
{
	const struct change_meta m = {.apply = apply_attrs, .meta = meta};

	return change(s, &m, at, NULL);
}

static int apply_setxattr(const struct change_meta *m, const struct op_target *w, int fd)
{
	char proc[OS_FD_PATH];

	(void)w;
	os_fd_path(proc, fd);
	return setxattr(proc, m->name, m->value, m->size, m->flags) < 0 ? -errno : 0;
}

int op_setxattr(struct step *s, const struct at *at, const char *name, const void *value,
		size_t size, int flags, bool *touched)
{
	const struct change_meta m = {.apply = apply_setxattr,
				      .op = "setxattr",
				      .name = name,
				      .value = value,
				      .size = size,
				      .flags = flags};

	return change(s, &m, at, touched);
}

static int apply_removexattr(const struct change_meta *m, const struct op_target *w, int fd)
{
	char proc[OS_FD_PATH];

	(void)w;
	os_fd_path(proc, fd);
	return removexattr(proc, m->name) < 0 ? -errno : 0;
}

int op_removexattr(struct step *s, const struct at *at, const char *name, bool *touched)
{
	const struct change_meta m = {
		.apply = apply_removexattr, .op = "removexattr", .name = name};

	return change(s, &m, at, touched);
}
