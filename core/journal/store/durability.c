/* durability - syncs in the right order, for stores that survive power loss. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/group_commit.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/store/store.h"
#include "core/os/file.h"

/*
 * Theory of operation. File systems with a journal bring changes of names and metadata to the disk
 * in their order, some of them late; bytes of files come in any order, or not at all. With
 * journal.durable:
 *
 * - A record, and the copy that it speaks of, is on the disk before its operation is performed. So
 *   after power was lost the log has all the records of what the folder shows, and perhaps some of
 *   operations that the disk never saw. Recovery takes those off first (last_record.c).
 * - Calls that wait at the same time share that sync (group_commit.c).
 * - What is made in a directory that the step itself made needs no sync: should its record be lost,
 *   the directory goes as a whole.
 * - A commit, and the arrival of a rollback, is one rename. Before it everything that the folder
 *   and the store hold is brought to the disk, after it the directories of the store.
 * - Numbers are given out of a range that was reserved on the disk beforehand.
 */

static int sync_log(struct side *s)
{
	if (fdatasync(s->log.fd) < 0)
		return -errno;
	s->unsynced = s->loose = false;
	return 0;
}

int side_sync(struct side *s)
{
	struct journal *k = s->j;
	int r;

	if (!k->options.durable || !s->unsynced)
		return 0;
	r = sync_log(s);
	do
		for (struct step *other = k->open; other && r == 0; other = other->next)
			if (other->side.loose)
				r = sync_log(&other->side);
	while ((k = k->sibling) != s->j);
	return r;
}

int step_sync(struct step *s, size_t mark)
{
	if (!s->j->options.durable || !s->side.unsynced)
		return 0;
	return s->may_wait ? intents_keep(s, mark) : side_sync(&s->side);
}

int sync_fd(const struct journal *j, int fd)
{
	return j->options.durable && fsync(fd) < 0 ? -errno : 0;
}

int step_sync_in(struct step *s, int dirfd, size_t mark)
{
	struct known *k;
	struct obj dir;

	if (!s->j->options.durable || !s->side.unsynced)
		return 0;
	if (obj_stat(dirfd, "", &dir) == 0) {
		k = step_known(s, &dir);
		if (k && k->flags & KNOWN_CREATED && !step_shared(s, &dir))
			return 0;
	}
	return step_sync(s, mark);
}

/* A new step: its files, and the names that lead to them. */
int step_sync_parts(struct step *s)
{
	AUTO_CLOSE int open_dir = -1;
	int r;

	if (!s->j->options.durable)
		return 0;
	open_dir = store_open_dir(s->j, "open");
	r = open_dir < 0 ? open_dir : sync_fd(s->j, s->side.log.fd);
	if (r == 0)
		r = sync_fd(s->j, s->side.obj);
	if (r == 0)
		r = sync_fd(s->j, s->side.dir);
	if (r == 0)
		r = sync_fd(s->j, open_dir);
	if (r == 0)
		s->side.unsynced = false;
	return r;
}

/* The descriptor of a root is no more than a place. */
static int sync_root(struct journal *j, int root)
{
	AUTO_CLOSE int fd = -1;
	int at = store_root_fd(j, root);

	if (at < 0)
		return at == -ENOENT ? 0 : at;
	fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		sync(); /* we may not read it: all of the machine, then */
		return 0;
	}
	return syncfs(fd) < 0 ? -errno : 0;
}

int sync_all(struct journal *j)
{
	int r = 0;

	if (!j->options.durable)
		return 0;
	for (int i = 0; r == 0 && i < j->n_roots; i++)
		if (i == 0 || j->roots[i].fd >= 0)
			r = sync_root(j, i);
	if (r == 0 && syncfs(j->store) < 0)
		r = -errno;
	return r;
}

int sync_names(const struct journal *j)
{
	static const char *const names[] = {"open", "steps", "redo", "."};
	int r = 0;

	for (size_t i = 0; j->options.durable && r == 0 && i < ARRAY_LEN(names); i++) {
		AUTO_CLOSE int fd = store_open_dir(j, names[i]);

		r = fd < 0 ? fd : sync_fd(j, fd);
	}
	return r;
}
