/* connecting - connect() on a copy of the caller's socket, without blocking the keeper. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/connecting.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "backends/linux/door/answer.h"
#include "backends/linux/door/interrupts.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/listeners.h"
#include "backends/linux/door/state.h"
#include "backends/linux/native_priv.h"
#include "core/base/clock.h"
#include "core/keeper/keeper.h"

/*
 * A socket file on a read-only mount can still be connected to, so connect() never continues: it is
 * performed here, on a duplicate of the caller's socket and a copy of the address. calls_peer.c
 * judges which socket files AF_UNIX names may lead to. The keeper must not block: it sets
 * O_NONBLOCK on the open file during the call. A connection in progress is answered when the socket
 * becomes writable, when its time is up (SO_SNDTIMEO), or when a signal would have ended the call
 * (interrupts.c).
 */
#define RETRY_US 5000 /* a full queue of an AF_UNIX listener raises no event */
#define CHECK_US 20000

/* A connect() in progress: two descriptors of the keeper's. Some are retried. */
#define PENDING_MAX 256
struct pending {
	struct pending *next;
	struct ldoor *d;
	uint64_t id;
	int tid;
	int sock;		    /* the keeper's duplicate */
	int peer;		    /* O_PATH of a socket file with a full queue, retried; or -1 */
	int flags;		    /* of the open file; restored at the end */
	int64_t until_us;	    /* SO_SNDTIMEO; 0: no limit */
	struct sockaddr_storage to; /* the address, copied */
	size_t to_len;
	struct interrupt interrupt;
};

/* Connects to a socket file by the descriptor that was judged, not by its name, and with the
 * agent's rights: a keeper of root's has more than root inside. */
static int connect_peer(int sock, int peer)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int got;

	snprintf(un.sun_path, sizeof(un.sun_path), "/proc/self/fd/%d", peer);
	confine_as_agent(true);
	got = connect(sock, (struct sockaddr *)&un, sizeof(un)) < 0 ? -errno : 0;
	confine_as_agent(false);
	return got;
}

static int connect_to(int sock, const struct copy *address)
{
	struct sockaddr_storage to = {0};

	memcpy(&to, address->data, address->len);
	return connect(sock, (struct sockaddr *)&to, (socklen_t)address->len) < 0 ? -errno : 0;
}

/* Returns whether a connection is in progress. EALREADY: it began earlier; a blocking caller waits
 * for it. */
static bool is_under_way(int got)
{
	return got == -EINPROGRESS || got == -EALREADY;
}

static void pending_free(struct pending *w)
{
	struct ldoor *d = w->d;

	for (struct pending **link = &d->pending; *link != NULL; link = &(*link)->next) {
		if (*link == w) {
			*link = w->next;
			d->pending_len--;
			break;
		}
	}
	if (w->peer < 0)
		keeper_unwatch(d->k, w->sock);
	fcntl(w->sock, F_SETFL, w->flags);
	close(w->sock);
	if (w->peer >= 0)
		close(w->peer);
	free(w);
}

/* Answers. Restores the flags first, because the caller may read or set them once it is
 * answered. */
static void pending_answer(struct pending *w, int result)
{
	struct ldoor *d = w->d;
	uint64_t id = w->id;

	pending_free(w);
	door_answer(d, id, result);
}

/*
 * Finishes a connection in progress. The kernel completes it in connect() only: the second call
 * succeeds, or fails with the reason and resets the socket. SO_ERROR is read first: if another
 * thread has shut the socket down, it is reset already, and connect() would begin another
 * connection.
 */
static int connect_end(int sock, const struct copy *address)
{
	socklen_t len = sizeof(int);
	int code = 0, got;

	if (getsockopt(sock, SOL_SOCKET, SO_ERROR, &code, &len) < 0)
		return -errno;
	if (code == ECONNRESET)
		return -code;
	got = connect_to(sock, address);
	if (code)
		return -code;
	return got == -EISCONN || got == -EALREADY ? 0 : got;
}

static void on_writable(void *data)
{
	struct pending *w = data;
	const struct copy address = {.data = (char *)&w->to, .len = w->to_len};

	pending_answer(w, connect_end(w->sock, &address));
}

/* Returns when the connection times out; 0: never. */
static int64_t time_is_up(int sock, int64_t now)
{
	struct timeval most = {0};
	socklen_t len = sizeof(most);

	if (getsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &most, &len) < 0 ||
	    (most.tv_sec == 0 && most.tv_usec == 0))
		return 0;
	return now + (int64_t)most.tv_sec * 1000000 + most.tv_usec;
}

static void wake(struct ldoor *d, const struct pending *w, int64_t now)
{
	keeper_wake_at(d->k, now + (w->peer >= 0 ? RETRY_US : CHECK_US));
	if (w->until_us > 0)
		keeper_wake_at(d->k, w->until_us);
}

/* Leaves the rest of a blocking connect() to the loop. Takes sock and peer. */
static int wait_for(struct ldoor *d, const struct request *r, int sock, int peer, int flags)
{
	struct pending *w = xcalloc(1, sizeof(*w));
	int64_t now = clock_mono_us();

	*w = (struct pending){.next = d->pending,
			      .d = d,
			      .id = r->id,
			      .tid = r->tid,
			      .sock = sock,
			      .peer = peer,
			      .flags = flags,
			      .until_us = time_is_up(sock, now),
			      .to_len = r->slot[SLOT_EXTRA].len};
	memcpy(&w->to, r->slot[SLOT_EXTRA].data, w->to_len);
	d->pending = w;
	d->pending_len++;
	if (peer < 0 && keeper_watch_write(d->k, sock, on_writable, w) < 0) {
		pending_free(w);
		return -ENOBUFS;
	}
	wake(d, w, now);
	return DOOR_LATER;
}

int connecting_now(struct ldoor *d, struct request *r, int sock, int peer)
{
	struct pollfd p = {.fd = sock, .events = POLLOUT};
	int flags = fcntl(sock, F_GETFL);
	bool blocking = flags >= 0 && !(flags & O_NONBLOCK);
	int got;

	if (blocking)
		fcntl(sock, F_SETFL, flags | O_NONBLOCK);
	got = peer >= 0 ? connect_peer(sock, peer) : connect_to(sock, &r->slot[SLOT_EXTRA]);
	if (blocking && is_under_way(got) && poll(&p, 1, 0) == 1) /* on the loopback device */
		got = connect_end(sock, &r->slot[SLOT_EXTRA]);
	if (blocking && (is_under_way(got) || (got == -EAGAIN && peer >= 0))) {
		int own = fcntl(sock, F_DUPFD_CLOEXEC, 3);
		int own_peer = got == -EAGAIN ? fcntl(peer, F_DUPFD_CLOEXEC, 3) : -1;

		if (own >= 0 && (got != -EAGAIN || own_peer >= 0) && d->pending_len < PENDING_MAX)
			return wait_for(d, r, own, own_peer, flags);
		util_close_fd(&own);
		util_close_fd(&own_peer);
		got = -ENOBUFS;
	}
	if (blocking)
		fcntl(sock, F_SETFL, flags);
	return got;
}

/* Returns the answer for a waiting call, or DOOR_LATER. */
static int try_pending(struct ldoor *d, struct pending *w, int64_t now)
{
	int got = w->peer >= 0 ? connect_peer(w->sock, w->peer) : -EINPROGRESS;

	if (got != -EINPROGRESS && got != -EAGAIN)
		return got;
	if (w->until_us > 0 && now >= w->until_us)
		return got;
	got = interrupt_look(&w->interrupt, w->tid, now, d->pending_len);
	if (got < 0) /* with a time limit a restart would wait too long */
		return w->until_us > 0 ? -EINTR : got;
	return DOOR_LATER;
}

void connecting_tick(struct ldoor *d)
{
	int64_t now = clock_mono_us();
	struct pending *next;

	for (struct pending *w = d->pending; w != NULL; w = next) {
		int got;

		next = w->next;
		if (!listener_holds(d, w->id)) {
			pending_free(w);
			continue;
		}
		got = try_pending(d, w, now);
		if (got == DOOR_LATER)
			wake(d, w, now);
		else
			pending_answer(w, got);
	}
}

void connecting_drop(struct ldoor *d)
{
	while (d->pending != NULL)
		pending_free(d->pending);
}
