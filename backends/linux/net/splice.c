/* splice - moves the bytes of established connections in both directions, and their ends. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "backends/linux/net/relay_priv.h"

#define PIPE_BYTES (1 << 20)
#define ROUNDS	   16 /* per direction and turn of the loop */
#define TELL_US	   1000000

/* One direction: from a socket through a pipe to the other socket. The pipe exists while it has
 * bytes. */
struct way {
	int pipe[2]; /* -1: none */
	bool due;    /* the source may have bytes */
	size_t held;
	uint64_t bytes;
	bool urgent; /* a byte out of band comes, at which splice(2) stops */
	bool taken;  /* `byte` is that byte; it follows the held bytes */
	uint8_t byte;
	bool ended;  /* the source has ended */
	bool passed; /* and the sink was told */
	bool failed; /* the source has failed, possibly after its end */
};

struct pair {
	struct grave grave;
	struct watch ends[2]; /* the agent's and the host's */
	struct pair *prev, *next, *next_ready;
	struct relay *relay;
	uint64_t id;
	struct way ways[2]; /* ways[i] reads from ends[i] */
	uint64_t told;
	struct named *named; /* NULL: the agent's bytes pass unseen */
	bool ready, over;
};

static bool take_pipe(struct relay *r, struct way *w)
{
	if (w->pipe[0] >= 0)
		return true;
	if (r->n_pipes > 0) {
		r->n_pipes--;
		w->pipe[0] = r->pipes[r->n_pipes][0];
		w->pipe[1] = r->pipes[r->n_pipes][1];
		return true;
	}
	if (pipe2(w->pipe, O_CLOEXEC | O_NONBLOCK) < 0) {
		w->pipe[0] = w->pipe[1] = -1;
		return false;
	}
	fcntl(w->pipe[1], F_SETPIPE_SZ, PIPE_BYTES);
	return true;
}

static void leave_pipe(struct relay *r, struct way *w)
{
	if (w->pipe[0] < 0)
		return;
	if (w->held == 0 && r->n_pipes < ARRAY_LEN(r->pipes)) {
		r->pipes[r->n_pipes][0] = w->pipe[0];
		r->pipes[r->n_pipes][1] = w->pipe[1];
		r->n_pipes++;
	} else {
		close(w->pipe[0]);
		close(w->pipe[1]);
	}
	w->pipe[0] = w->pipe[1] = -1;
	w->held = 0;
}

static void tell(struct pair *p, enum net_what what)
{
	const struct net_note note = {
		.what = what, .id = p->id, .sent = p->ways[0].bytes, .received = p->ways[1].bytes};

	p->told = note.sent + note.received;
	relay_tell(p->relay, &note);
}

static void reset(struct watch *w)
{
	const struct linger at_once = {.l_onoff = 1};

	if (w->fd >= 0)
		setsockopt(w->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

/* Ends the pair. by_reset: one end failed, so the other gets a reset. */
static void finish(struct pair *p, bool by_reset)
{
	struct relay *r = p->relay;

	if (p->over)
		return;
	p->over = true;
	for (int i = 0; i < 2; i++) {
		if (by_reset)
			reset(&p->ends[i]);
		relay_close(r, &p->ends[i]);
		leave_pipe(r, &p->ways[i]);
	}
	free(take_ptr(&p->named));
	tell(p, NET_CLOSED);
	DL_DELETE(r->pairs, p);
	if (!p->ready) /* else pair_run() frees it */
		relay_bury(r, &p->grave);
}

/* Reads the byte out of band, after all bytes before it. */
static bool take_urgent(struct way *w, int from)
{
	int at = 0, on = 1;

	if (ioctl(from, SIOCATMARK, &at) < 0 || !at)
		return false;
	setsockopt(from, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
	w->taken = recv(from, &w->byte, 1, MSG_DONTWAIT) == 1;
	w->urgent = !w->taken;
	return w->taken;
}

/* Returns how many bytes may be read from this end now. */
static size_t may_read(struct pair *p, int i)
{
	size_t n = i == 0 && p->named ? named_look(p->named, p->ends[0].fd) : PIPE_BYTES;

	if (n != NAMED_OVER)
		return n;
	free(take_ptr(&p->named));
	return PIPE_BYTES;
}

/* Reads into the pipe. Returns 1 for bytes or the end, 0 if there are none, negative on failure. */
static int fill(struct pair *p, int i)
{
	struct relay *r = p->relay;
	struct way *w = &p->ways[i];
	int from = p->ends[i].fd;
	size_t most = w->ended || w->taken ? 0 : may_read(p, i);
	ssize_t n;

	if (most == 0)
		return 0;
	if (!take_pipe(r, w))
		return -EMFILE;
	n = splice(from, NULL, w->pipe[1], NULL, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if ((n == 0 || (n < 0 && errno == EAGAIN && w->urgent)) && take_urgent(w, from))
		return 1;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	w->ended = n == 0;
	w->held += (size_t)n;
	if (i == 0 && p->named)
		named_took(p->named, (size_t)n);
	return 1;
}

static int drain_urgent(struct way *w, int to)
{
	ssize_t n = send(to, &w->byte, 1, MSG_OOB | MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno == EOPNOTSUPP) /* a socket to the TLS process */
		n = send(to, &w->byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	w->taken = false;
	w->bytes++;
	return 1;
}

static int drain(struct way *w, int to)
{
	ssize_t n;

	if (w->held == 0)
		return w->taken ? drain_urgent(w, to) : 0;
	n = splice(w->pipe[0], NULL, to, NULL, w->held, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	w->held -= (size_t)n;
	w->bytes += (uint64_t)n;
	return 1;
}

/* Moves bytes one way. Returns 0 if there are none, 1 if its turn is over, negative on failure. */
static int pump(struct pair *p, int i)
{
	struct way *w = &p->ways[i];
	int got = 0, put = 0;

	if (!w->due && w->held == 0 && !w->taken)
		return 0;
	for (int round = 0; round < ROUNDS; round++) {
		got = fill(p, i);
		put = got < 0 ? got : drain(w, p->ends[!i].fd);
		if (put < 0)
			return put;
		if (got == 0 && put == 0)
			break;
	}
	if (w->held == 0)
		leave_pipe(p->relay, w);
	if (w->ended && w->held == 0 && !w->taken && !w->passed) {
		w->passed = true;
		shutdown(p->ends[!i].fd, SHUT_WR);
	}
	return got > 0 || put > 0;
}

static void make_ready(struct pair *p)
{
	if (p->ready || p->over)
		return;
	p->ready = true;
	p->next_ready = p->relay->ready;
	p->relay->ready = p;
}

static void run_one(struct pair *p)
{
	bool more = false;

	bool failed = false;

	/* If one end failed, bytes that it sent earlier still reach the other. */
	for (int i = 0; i < 2; i++) {
		int r = pump(p, i);

		/* An end that failed after its last byte raises no other event. */
		failed |= r < 0 || (p->ways[i].failed && p->ways[i].passed);
		p->ways[i].due = r > 0;
		more |= r > 0;
	}
	if (failed) {
		finish(p, true);
		return;
	}
	if (p->ways[0].passed && p->ways[1].passed)
		finish(p, false);
	else if (more)
		make_ready(p);
}

bool pair_run(struct relay *r)
{
	struct pair *list = r->ready;

	r->ready = NULL;
	while (list) {
		struct pair *p = list;

		list = p->next_ready;
		p->ready = false;
		if (p->over)
			relay_bury(r, &p->grave);
		else
			run_one(p);
	}
	return r->ready != NULL;
}

/* Notes the event. An error takes effect in pump(), after the bytes before it. */
static void on_event(struct pair *p, int i, uint32_t events)
{
	p->ways[i].urgent |= (events & EPOLLPRI) != 0;
	p->ways[i].failed |= (events & EPOLLERR) != 0;
	/* EPOLLOUT alone means room for the other direction's held bytes. */
	p->ways[i].due |= (events & ~(uint32_t)EPOLLOUT) != 0;
	make_ready(p);
}

static void on_inner(struct watch *w, uint32_t events)
{
	on_event((struct pair *)(void *)((char *)w - offsetof(struct pair, ends[0])), 0, events);
}

static void on_outer(struct watch *w, uint32_t events)
{
	on_event((struct pair *)(void *)((char *)w - offsetof(struct pair, ends[1])), 1, events);
}

void pair_begin(struct relay *r, uint64_t id, int inner, int outer, struct named *named)
{
	const uint32_t events = EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLRDHUP | EPOLLET;
	struct pair *p = xcalloc(1, sizeof(*p));
	int on = 1;

	*p = (struct pair){.ends = {{inner, on_inner}, {outer, on_outer}},
			   .relay = r,
			   .id = id,
			   .named = named};
	for (int i = 0; i < 2; i++)
		p->ways[i].pipe[0] = p->ways[i].pipe[1] = -1;
	setsockopt(inner, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	DL_APPEND(r->pairs, p);
	if (relay_watch(r, &p->ends[0], events) < 0 || relay_watch(r, &p->ends[1], events) < 0) {
		finish(p, true);
		return;
	}
	relay_wake_at(r, r->now + TELL_US); /* the first events are of earlier bytes */
}

void pair_passes(struct relay *r, uint64_t id)
{
	struct pair *p;

	DL_FOREACH (r->pairs, p) {
		if (p->id != id || !p->named)
			continue;
		if (named_passed(p->named))
			free(take_ptr(&p->named));
		p->ways[0].due = true;
		make_ready(p);
	}
}

void pair_end(struct relay *r, uint64_t id)
{
	struct pair *p = r->pairs, *next;

	for (; p; p = next) {
		next = p->next;
		if (p->id == id)
			finish(p, true);
	}
}

void pair_tick(struct relay *r)
{
	struct pair *p;

	if (!r->pairs)
		return;
	relay_wake_at(r, r->now + TELL_US);
	if (r->now - r->told_at < TELL_US)
		return;
	r->told_at = r->now;
	DL_FOREACH (r->pairs, p)
		if (p->ways[0].bytes + p->ways[1].bytes != p->told)
			tell(p, NET_BYTES);
}
