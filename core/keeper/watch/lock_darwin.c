/* lock_darwin - refuses undo.external = lock, which needs permission events that only Linux has. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/keeper/watch/lock.h"

/* Refuses the setting with a message. fcntl(2) locks are advisory, and editors do not ask for
 * them. */
int lock_start(struct lock **ret, const char *const *folders, struct err *err)
{
	(void)ret, (void)folders;
	return err_say(err, -EOPNOTSUPP,
		       "undo.external = lock: macOS asks no program of the user's before another "
		       "one opens a file: set it to barrier");
}

int lock_fd(const struct lock *l)
{
	(void)l;
	return -1;
}

int lock_read(struct lock *l, struct lock_refusal *ret)
{
	(void)l, (void)ret;
	return -EPIPE;
}

void lock_stop(struct lock *l)
{
	(void)l;
}
