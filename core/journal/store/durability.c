/* durability - syncs in the right order, for stores that survive power loss. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/store/durability.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/os/file.h"

/*
 * Theory of operation. File systems with a journal write changes of names and metadata to the disk
 * in order, some of them late; bytes of files are written in any order, or not at all. With
 * journal.durable:
 *   - A record, and the copy that it names, is synced before its operation is performed. So after
 *     power loss the log has the records of all that the folder shows, and perhaps some of
 *     operations that never reached the disk. Recovery removes those first
 *     (rollback/power_loss.c).
 *   - An object that is created in a directory of the same step needs no sync: if its record is
 *     lost, the directory is removed as a whole.
 *   - A commit, and the end of a rollback, is one rename. Everything in the folder and the store
 *     is synced before it, the store's directories after it.
 *   - Numbers are given out of a range that was reserved on the disk before.
 */

int durability_sync_fd(const struct journal *j, int fd)
{
	return j->options.durable && fsync(fd) < 0 ? -errno : 0;
}

/* Syncs the file system of a root, whose descriptor is O_PATH and must be opened again. */
static int sync_root(struct journal *j, int root)
{
	AUTO_CLOSE int fd = -1;
	int at = store_root_fd(j, root);

	if (at < 0)
		return at == -ENOENT ? 0 : at;
	fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		sync(); /* not readable: syncs all file systems */
		return 0;
	}
	return syncfs(fd) < 0 ? -errno : 0;
}

int durability_sync_all(struct journal *j)
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
