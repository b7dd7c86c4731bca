/* replay_data - undoes changes of content: restores the old bytes, keeps the new ones. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/replay.h"
#include "core/journal/step/guarded.h"
#include "core/journal/store/compressed.h"
#include "core/journal/store/placed.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"
#include "core/os/file.h"

/* Opens a file that its mode makes read-only; the caller sets the mode afterwards. */
static int open_to_write(int dirfd, const char *name)
{
	AUTO_CLOSE int path = object_open(dirfd, name);
	char proc[OS_FD_PATH];
	int fd;

	if (path < 0)
		return take_fd(&path);
	if (object_chmod(path, 0600) < 0)
		return -EACCES;
	os_fd_path(proc, path);
	fd = open(proc, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Makes the capture exact, and holds the file. Returns 1 if other programs may write to it
 * nevertheless. */
static int settle(struct record_replay *p, int dst)
{
	struct kept kept = {.in_slot = !object_hold(dst)};
	int e = capture_settle(p->to, p->r->root, p->r->path, dst, &kept);

	if (e == -CAPTURE_MOVING && !p->to->strict) {
		replay_say_written(p, "some of that may be lost");
		e = 0;
	}
	return e < 0 ? e : kept.in_slot;
}

static int overwrite(struct record_replay *p, int src, int dst)
{
	int e = settle(p, dst);

	if (e < 0)
		return e;
	p->performed = true;
	if (e == 0)
		return object_copy_data(src, dst);
	e = capture_overwrite(p->to, src, dst);
	if (e > 0)
		replay_say_written(p, "that is kept with the content that was replaced");
	return e;
}

/* Restores the bytes in place: the inode must stay, because it has other hard links or a writer. */
static int content_in_place(struct record_replay *p, const struct spot *at, const struct object *o,
			    const char *slot, struct span meta)
{
	AUTO_CLOSE int src = borrow_open_file(p->j, p->from->obj, slot);
	AUTO_CLOSE int dst = -1, path = -1;
	struct object from;
	int e;

	if (src < 0)
		return take_fd(&src);
	e = object_stat(src, "", &from);
	if (e < 0)
		return e;
	/* A file that cannot be written for another reason than its mode stops the rollback before
	 * its record is written: reverting that record would fail as well. */
	dst = openat(at->fd, at->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (dst < 0 && errno != EACCES)
		return -errno;
	/* The way back may be a rename, which changes the times of the directory. */
	e = replay_touch_parent(p, p->r->root, p->r->path, at);
	if (e < 0)
		return e;
	p->mark = undo_log_tail(&p->to->log);
	e = capture_keep_content(p->to, p->r->root, p->r->path, at->fd, at->name, o->ino, p->r->seq,
				 &(struct kept){0});
	if (e < 0)
		return e;
	p->pushed = true;
	p->performed = dst < 0; /* the mode changes */
	path = object_open(at->fd, at->name);
	if (dst < 0)
		dst = open_to_write(at->fd, at->name);
	if (path < 0 || dst < 0)
		return path < 0 ? path : dst;
	e = overwrite(p, src, dst);
	if (e >= 0)
		e = replay_set_attrs(p, path, meta);
	if (e >= 0)
		placed_written(p->j, path, from.size, meta);
	return e;
}

static bool must_stay(struct journal *j, const struct spot *at, const struct object *o)
{
	AUTO_CLOSE int fd = -1;

	if (!S_ISREG(o->mode))
		return false;
	if (o->nlink > 1)
		return true;
	fd = borrow_open_file(j, at->fd, at->name);
	return fd < 0 || object_has_writer(fd);
}

/* Exchanges the slot and the file, and keeps the times of the directory. The step may not have
 * recorded them: it could not reach a locked directory. */
static int exchange(struct record_replay *p, const struct spot *at, const char *slot)
{
	AUTO_BUF struct buf times = BUF_INIT;
	struct stat st;
	int e;

	if (fstatat(at->fd, "", &st, AT_EMPTY_PATH) < 0)
		return -errno;
	codec_put_u64(&times, (uint64_t)OS_MTIME(&st).tv_sec);
	codec_put_u32(&times, (uint32_t)OS_MTIME(&st).tv_nsec);
	e = move_exchange(p->from->obj, slot, at->fd, at->name);
	if (e == 0 && attributes_set_mtime(at->fd, "", (struct span){times.data, times.len}) < 0)
		log_warn("journal", "the directory of '%s' has a new time", p->r->path);
	return e;
}

/* Exchanges the slot's inode and the file. Nothing has changed on an error such as -EXDEV. */
static int swap_inodes(struct record_replay *p, const struct spot *at, const struct object *o,
		       const char *slot)
{
	struct rec y = {.type = REC_XINODE,
			.root = p->r->root,
			.path = p->r->path,
			.flags = p->r->flags & REC_FRESH,
			.slot = p->r->slot,
			.ino = o->ino,
			.src = p->r->seq};
	bool logged = false;
	int e = replay_touch_parent(p, y.root, y.path, at);

	if (e == 0) {
		e = replay_push(p, &y);
		logged = e == 0;
	}
	if (e == 0)
		placed_note_at(p->j, p->from->obj, slot);
	if (e == 0)
		e = exchange(p, at, slot);
	if (e == 0)
		replay_placed(p, at);
	if (e < 0 && logged) {
		undo_log_take_back(&p->to->log, p->mark);
		p->pushed = false;
	}
	return e;
}

/* Replaces the inode at a guarded name: a process may still write to the old one. */
static int take_guarded(struct record_replay *p, const struct spot *at, const struct object *o,
			const char *slot)
{
	struct spot free;
	int e = replay_renew_slot(p, slot);

	if (e == 0 && guarded_is_held(p->j, at->fd, at->name, o))
		replay_say_fresh(p, p->r->path);
	if (e == 0)
		e = swap_inodes(p, at, o, slot);
	if (e == -EXDEV || e == -EINVAL || e == -EPERM) {
		e = replay_make_room(p, p->r->root, p->r->path, &free);
		if (e == 0)
			e = replay_unstash(p, slot, &free);
	}
	return e;
}

/* Replaces the file at `at` by the slot's, which gets the attributes in meta unless attrs_set. */
static int take_place(struct record_replay *p, const struct spot *at, const struct object *o,
		      const char *slot, struct span meta, bool attrs_set)
{
	/* A file with other hard links is restored in place; replay_renew() replaces it. */
	if (replay_is_guarded(p) && S_ISREG(o->mode) && o->nlink == 1) {
		AUTO_CLOSE int fd = attrs_set ? -1 : object_open(p->from->obj, slot);
		int e = attrs_set ? 0 : fd < 0 ? fd : replay_set_attrs(p, fd, meta);

		return e < 0 ? e : take_guarded(p, at, o, slot);
	}
	if (attrs_set && !must_stay(p->j, at, o)) {
		int e = swap_inodes(p, at, o, slot);

		if (e != -EXDEV && e != -EINVAL && e != -EACCES && e != -EPERM)
			return e;
	}
	return content_in_place(p, at, o, slot, meta);
}

int replay_exchange(struct record_replay *p, const struct spot *at, const struct object *o,
		    const char *slot)
{
	AUTO_BUF struct buf meta = BUF_INIT;
	AUTO_CLOSE int fd = object_open(p->from->obj, slot);
	int e = fd < 0 ? fd : attributes_read(p->j, fd, &meta);

	if (e < 0)
		return e;
	return take_place(p, at, o, slot, (struct span){meta.data, meta.len}, true);
}

static int restore_file(struct record_replay *p, const char *slot, struct span meta, bool set_attrs)
{
	AUTO_CLOSE int fd = object_open(p->from->obj, slot);
	const struct rec *r = p->r;
	struct spot at;
	struct object o;
	bool attrs_set = true;
	int e;

	if (fd < 0)
		return take_fd(&fd);
	e = replay_locate(p, r->root, r->path, &at, &o);
	if (e == 0)
		e = replay_mind_saves(p, r->root, r->path, &o);
	if (e < 0)
		return e;
	if (set_attrs)
		attrs_set = attributes_apply(fd, meta) == 0;
	if (S_ISREG(o.mode))
		return take_place(p, &at, &o, slot, meta, attrs_set);
	e = replay_make_room(p, r->root, r->path, &at);
	return e < 0 ? e : replay_unstash(p, slot, &at);
}

int replay_rec_content(struct record_replay *p)
{
	struct span meta, bytes;
	char slot[24];
	int e = 0;

	store_slot_name(slot, p->r->slot);
	undo_log_content(p->r, &meta, &bytes);
	do
		e = p->r->flags & REC_INLINE ? capture_fill_slot(p->from, p->r->slot, bytes)
					     : compressed_restore(p->from->obj, slot);
	while (e < 0 && store_relieve(p->j, e, p->to->back));
	return e < 0 ? e : restore_file(p, slot, meta, true);
}

int replay_rec_xinode(struct record_replay *p)
{
	AUTO_CLOSE int fd = -1;
	AUTO_BUF struct buf meta = BUF_INIT;
	char slot[24];
	int e;

	store_slot_name(slot, p->r->slot);
	fd = object_open(p->from->obj, slot);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return take_fd(&fd);
	e = attributes_read(p->j, fd, &meta);
	return e < 0 ? e : restore_file(p, slot, (struct span){meta.data, meta.len}, false);
}
