/* lock_darwin - undo.external = lock needs permission events of the system's, which are Linux's. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/keeper/watch/lock.h"

/* Nothing is locked and nothing is started: the setting is refused, in words. fcntl(2) locks are of
 * those who ask for them, and editors do not. */
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
