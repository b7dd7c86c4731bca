/* calls_fifo - opens a FIFO of a folder for writing, without waiting for its reader. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/calls_fifo.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backends/linux/door/answer.h"
#include "backends/linux/door/interrupts.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/listeners.h"
#include "backends/linux/door/state.h"
#include "core/base/clock.h"
#include "core/keeper/keeper.h"

/*
 * A FIFO has no content in the folder, so nothing is captured. Landlock refuses to open it for
 * writing through the read-only mount. After CONTINUE the kernel would resolve the path again, and
 * the agent may have changed it. So the door opens it with O_NONBLOCK. If the caller's open has to
 * wait for a reader (fifo(7)), the door retries at intervals.
 */
#define RETRY_US 5000

/* An open() that waits until a process opens the FIFO for reading. */
#define FIFOS_MAX 256
struct fifo_wait {
	struct fifo_wait *next;
	uint64_t id;
	int tid;
	int fifo;  /* O_PATH */
	int flags; /* of the caller */
	struct interrupt interrupt;
};

/* Opens the inode that was resolved, whose O_PATH descriptor is fifo. Its name may have changed. */
static int open_once(int fifo, int flags)
{
	const int status = O_APPEND | O_DIRECT | O_ASYNC | O_NOATIME;
	char link[32];
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fifo);
	fd = open(link, (flags & (O_ACCMODE | status)) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!(flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, flags & status);
	return fd;
}

static void forget(struct ldoor *d, struct fifo_wait *w)
{
	struct fifo_wait **link = &d->fifos;

	while (*link != w)
		link = &(*link)->next;
	*link = w->next;
	d->fifos_len--;
	close(w->fifo);
	free(w);
}

int perform_fifo(struct ldoor *d, struct request *r)
{
	const struct place *p = r->place[0];
	struct fifo_wait *w;
	struct stat st;
	AUTO_CLOSE int fifo = -1;
	int got;

	if (p->at.name[0] == '\0') /* reached by descriptor: it has no name */
		fifo = fcntl(p->at.dirfd, F_DUPFD_CLOEXEC, 3);
	else
		fifo = openat(p->at.dirfd, p->at.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fifo < 0)
		return errno == ENOENT ? DOOR_AGAIN : -errno;
	if (fstat(fifo, &st) < 0 || !S_ISFIFO(st.st_mode))
		return DOOR_AGAIN;
	got = open_once(fifo, r->flags);
	if (got != -ENXIO || (r->flags & O_NONBLOCK))
		return got;
	if (d->fifos_len >= FIFOS_MAX)
		return -ENFILE;
	w = xcalloc(1, sizeof(*w));
	*w = (struct fifo_wait){.next = d->fifos,
				.id = r->id,
				.tid = r->tid,
				.fifo = take_fd(&fifo),
				.flags = r->flags};
	d->fifos = w;
	d->fifos_len++;
	keeper_wake_at(d->k, clock_mono_us() + RETRY_US);
	return DOOR_LATER;
}

void fifo_tick(struct ldoor *d)
{
	struct fifo_wait *next;
	int64_t now = clock_mono_us();

	for (struct fifo_wait *w = d->fifos; w != NULL; w = next) {
		int got;

		next = w->next;
		if (!listener_holds(d, w->id)) {
			forget(d, w);
			continue;
		}
		got = open_once(w->fifo, w->flags);
		if (got == -ENXIO)
			got = interrupt_look(&w->interrupt, w->tid, now, d->fifos_len);
		if (got == 0)
			continue;
		if (got < 0)
			door_answer(d, w->id, got);
		else if (!door_give(d, w->id, 0, w->flags, got))
			close(got);
		forget(d, w);
	}
	if (d->fifos != NULL)
		keeper_wake_at(d->k, now + RETRY_US);
}

void fifo_drop(struct ldoor *d)
{
	while (d->fifos != NULL)
		forget(d, d->fifos);
}
