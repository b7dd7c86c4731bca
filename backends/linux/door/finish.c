/* finish - the end of a request: answers or parks it. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/finish.h"

#include <errno.h>

#include "backends/linux/door/answer.h"
#include "backends/linux/door/lost.h"
#include "backends/linux/door/parked.h"
#include "backends/linux/door/state.h"
#include "core/base/util.h"

/* Answers with a descriptor. If the caller was interrupted, keeps it for the repeated call. */
static void answer_fd(struct ldoor *d, const struct request *r, int fd)
{
	if (!door_give(d, r->id, r->resumed ? 0 : r->tid, r->flags, fd))
		lost_keep(d, r, fd);
}

void request_finish(struct ldoor *d, struct request *r, int got)
{
	if (got == -FOLDER_HELD)
		parked_add(d, r);
	/* Before the answer, so that the caller's close() is the last one of its file. */
	util_close_fd(&r->opened);
	place_done(&d->scratch->places[0]);
	place_done(&d->scratch->places[1]);
	if (got == -FOLDER_HELD || got == DOOR_DEAD || got == DOOR_LATER)
		return;
	if (got >= 0 && r->gives_fd)
		answer_fd(d, r, got);
	else if (answer_send(d, r->id, got) == -ENOENT && got == 0)
		lost_keep(d, r, -1);
}
