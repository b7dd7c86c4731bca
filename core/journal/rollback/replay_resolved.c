/* replay_resolved - applies the resolution of conflicts: skips records, writes merged files. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/replay.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"

/* Moves the record to the other log, marked. It moves back unchanged if the rollback turns
 * round. */
int replay_skip(struct capture *from, struct capture *to, bool idle)
{
	struct rec r, y;
	size_t start;
	int e;

	if (!undo_log_last(&from->log, undo_log_tail(&from->log), &r, &start))
		return 0;
	y = r;
	if (!idle)
		y.flags ^= REC_SKIPPED;
	y.flags |= REC_ASIDE;
	y.src = r.seq;
	e = capture_push(to, &y);
	if (e == 0)
		e = undo_log_cut(&from->log, start);
	return e < 0 ? e : 1;
}

/* Returns whether a dead process has placed the merged file: the slot has the old file, or none. */
static bool is_done(const struct capture *to, const struct merged *m, const char *slot)
{
	struct rec r;
	size_t at = 0;

	while (undo_log_next(&to->log, &at, &r))
		if (r.type == REC_XINODE && r.slot == m->slot && !r.src)
			return true;
	return faccessat(to->obj, slot, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
}

/* Gives the merged file the metadata of the file that it replaces, except a mode that was edited
 * from outside. Its time is the present one, or the external edit's if all text is that edit's. */
static int set_attrs(const char *slot, const struct capture *to, const struct merged *m, int there)
{
	const struct timespec was = {m->mtime_ns / 1000000000, m->mtime_ns % 1000000000};
	const struct timespec now = {.tv_nsec = UTIME_NOW};
	const struct timespec times[2] = {now, m->mtime_ns ? was : now};
	AUTO_BUF struct buf meta = BUF_INIT;
	AUTO_CLOSE int fd = object_open(to->obj, slot);
	int e = fd < 0 ? fd : attributes_read(to->j, there, &meta);

	if (e >= 0)
		e = attributes_apply_ours(fd, (struct span){.data = meta.data, .len = meta.len});
	if (e >= 0 && m->mode)
		e = object_chmod(fd, m->mode & 07777);
	if (e >= 0 && utimensat(to->obj, slot, times, AT_SYMLINK_NOFOLLOW) < 0)
		e = -errno;
	return MIN(e, 0);
}

static int place(struct record_replay *p, const struct merged *m, const char *slot)
{
	AUTO_CLOSE int fd = -1;
	struct spot at;
	struct object o;
	int e = replay_locate(p, m->root, m->path, &at, &o);

	if (e < 0)
		return e;
	if (!S_ISREG(o.mode)) /* edited from outside at this moment: reverting restores all */
		return -ESTALE;
	fd = object_open(at.fd, at.name);
	e = fd < 0 ? fd : set_attrs(slot, p->to, m, fd);
	return e < 0 ? e : replay_exchange(p, &at, &o, slot);
}

/* Unlocks directories again if needed: a record that was undone may have locked one again. */
int replay_merged(struct capture *to, const struct merged *m)
{
	struct rec r = {
		.type = REC_XINODE, .root = m->root, .path = m->path, .path2 = "", .slot = m->slot};
	struct record_replay p = {.j = to->j, .from = to, .to = to, .r = &r};
	char slot[24];
	int e;

	store_slot_name(slot, m->slot);
	if (is_done(to, m, slot))
		return 0;
	e = place(&p, m, slot);
	if (e == -EACCES && unlock_paths(&p) > 0)
		e = place(&p, m, slot);
	if (e == -REPLAY_LEFT) /* as above */
		e = -ESTALE;
	if (e == 0 && p.performed && unlinkat(to->obj, slot, 0) < 0)
		e = -errno;
	return e;
}
