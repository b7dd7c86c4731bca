/* fs_channel - the fs server's questions to the keeper, each with a callback for its answer. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/fs_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/hash.h"
#include "core/base/io.h"

/*
 * The keeper may block while its answers are not read. So the server never blocks in a send: a
 * message that does not fit waits in a list.
 */
struct waiter {
	uint64_t id;
	fs_done done;
	void *data;
	UT_hash_handle hh;
};

struct unsent {
	struct unsent *next;
	int fd; /* owned, or -1 */
	size_t len;
	char data[];
};

struct fs_channel {
	int sock;
	bool broken;
	uint64_t last_id;
	struct waiter *waiters;
	struct unsent *first, **last;
	int attached; /* descriptor that is attached to the note, or -1 */
	struct fs_note note;
};

struct fs_channel *fs_channel_new(int sock)
{
	struct fs_channel *c = xcalloc(1, sizeof(*c));

	c->sock = sock;
	c->attached = -1;
	c->last = &c->first;
	return c;
}

static void drop_first(struct fs_channel *c)
{
	struct unsent *u = c->first;

	c->first = u->next;
	if (!c->first)
		c->last = &c->first;
	util_close_fd(&u->fd);
	free(u);
}

void fs_channel_free(struct fs_channel *c)
{
	struct waiter *w, *next;

	if (!c)
		return;
	HASH_ITER (hh, c->waiters, w, next) {
		HASH_DEL(c->waiters, w);
		free(w);
	}
	while (c->first)
		drop_first(c);
	util_close_fd(&c->sock);
	free(c);
}

/* Returns false if the send would block. */
static bool try_send(struct fs_channel *c, const void *data, size_t len, int fd)
{
	int r = io_try_send_fd(c->sock, data, len, fd);

	if (r == -EAGAIN || r == -ENOBUFS)
		return false;
	if (r < 0)
		c->broken = true;
	return true;
}

static void put(struct fs_channel *c, const void *data, size_t len, int fd)
{
	struct unsent *u;

	if (!c->first && try_send(c, data, len, fd))
		return;
	u = xmalloc(sizeof(*u) + len);
	u->next = NULL;
	u->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	u->len = len;
	memcpy(u->data, data, len);
	*c->last = u;
	c->last = &u->next;
}

struct fs_note *fs_note_begin(struct fs_channel *c)
{
	memset(&c->note, 0, FS_NOTE_HEAD);
	c->attached = -1;
	return &c->note;
}

void fs_note_attach(struct fs_channel *c, int fd)
{
	c->attached = fd;
}

uint64_t fs_ask(struct fs_channel *c, const struct fs_note_parts *p, fs_done done, void *data)
{
	struct waiter *w;
	size_t len;

	c->note.id = ++c->last_id;
	len = fs_note_pack(&c->note, p);
	if (!len)
		return 0;
	w = xcalloc(1, sizeof(*w));
	w->id = c->note.id;
	w->done = done;
	w->data = data;
	HASH_ADD(hh, c->waiters, id, sizeof(w->id), w);
	put(c, &c->note, len, c->attached);
	return w->id;
}

static struct waiter *take(struct fs_channel *c, uint64_t id)
{
	struct waiter *w;

	HASH_FIND(hh, c->waiters, &id, sizeof(id), w);
	if (w)
		HASH_DEL(c->waiters, w);
	return w;
}

void fs_ask_cancel(struct fs_channel *c, uint64_t id)
{
	struct fs_note *n;

	free(take(c, id));
	n = fs_note_begin(c);
	n->id = id;
	n->what = FS_CANCEL;
	put(c, n, FS_NOTE_HEAD, -1);
}

short fs_channel_events(const struct fs_channel *c)
{
	return (short)(POLLIN | (c->first ? POLLOUT : 0));
}

/* Receives one answer. Returns false if there is none. */
static bool receive(struct fs_channel *c)
{
	struct fs_answer a;
	struct waiter *w;
	int fd = -1;
	ssize_t n = io_try_recv_fd(c->sock, &a, sizeof(a), &fd);

	if (n == -EAGAIN)
		return false;
	w = n == sizeof(a) && a.what == FS_ANSWER ? take(c, a.id) : NULL;
	if (n != sizeof(a))
		c->broken = true;
	if (w)
		w->done(w->data, a.result, take_fd(&fd));
	util_close_fd(&fd);
	free(w);
	return !c->broken;
}

bool fs_channel_serve(struct fs_channel *c, short revents)
{
	while (c->first && !c->broken && try_send(c, c->first->data, c->first->len, c->first->fd))
		drop_first(c);
	if (revents & (POLLIN | POLLHUP | POLLERR))
		while (receive(c))
			continue;
	return !c->broken;
}
