/* sync - syncs the records of an open step to disk before their operations are performed. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/step/sync.h"

#include <errno.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/store/durability.h"
#include "core/journal/store/store.h"
#include "core/os/file.h"

int capture_sync(struct capture *s)
{
	if (!s->j->options.durable || !s->unsynced)
		return 0;
	if (fdatasync(s->log.fd) < 0)
		return -errno;
	s->unsynced = false;
	return 0;
}

int step_sync_in(struct step *s, int dirfd)
{
	struct touched_inode *k;
	struct object dir;

	if (!s->j->options.durable || !s->side.unsynced)
		return 0;
	if (object_stat(dirfd, "", &dir) == 0) {
		k = step_known(s, &dir);
		if (k && k->flags & TOUCHED_CREATED && !step_shared(s, &dir))
			return 0;
	}
	return capture_sync(&s->side);
}

/* A new step: its files, and the names that lead to them. */
int step_sync_parts(struct step *s)
{
	AUTO_CLOSE int open_dir = -1;
	int r;

	if (!s->j->options.durable)
		return 0;
	open_dir = store_open_dir(s->j, "open");
	r = open_dir < 0 ? open_dir : durability_sync_fd(s->j, s->side.log.fd);
	if (r == 0)
		r = durability_sync_fd(s->j, s->side.obj);
	if (r == 0)
		r = durability_sync_fd(s->j, s->side.dir);
	if (r == 0)
		r = durability_sync_fd(s->j, open_dir);
	if (r == 0)
		s->side.unsynced = false;
	return r;
}
