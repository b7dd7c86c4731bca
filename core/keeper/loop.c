/* loop - the keeper's one epoll: who is served first, and what waits to be told to cordon. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/keeper/keeper_priv.h"
#include "core/keeper/watch/watch.h"

#define EVENTS	 64
#define FLUSH_US 16000 /* one write and one wake-up of cordon for what a screen shows at once */
#define IN_MAX	 (4u * WIRE_MAX)
#define DRAIN_MS 5000
#define OUT_KEEP (1u << 20) /* memory that an idle buffer may keep */

/* ---- sources --------------------------------------------------------------------------------- */

int source_add(struct keeper *k, int fd, uint32_t events, enum source_rank rank,
	       void (*fn)(void *data), void *data, struct source **ret)
{
	struct source *s = xcalloc(1, sizeof(*s));
	struct epoll_event ev = {.events = events, .data.ptr = s};

	s->fd = fd;
	s->rank = rank;
	s->fn = fn;
	s->data = data;
	if (epoll_ctl(k->epoll, EPOLL_CTL_ADD, fd, &ev) < 0) {
		int r = -errno;

		free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void source_again(struct keeper *k, struct source *s, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = s};

	epoll_ctl(k->epoll, EPOLL_CTL_MOD, s->fd, &ev);
}

/* Freed at the end of the turn: the events at hand may still point to it. */
void source_remove(struct keeper *k, struct source *s)
{
	if (!s || s->fd < 0)
		return;
	epoll_ctl(k->epoll, EPOLL_CTL_DEL, s->fd, NULL);
	s->fd = -1;
	LL_PREPEND(k->graves, s);
}

void sources_bury(struct keeper *k)
{
	while (k->graves) {
		struct source *s = k->graves;

		k->graves = s->next;
		free(s);
	}
}

static int watch(struct keeper *k, int fd, uint32_t events, void (*fn)(void *data), void *data)
{
	struct source *s = NULL;
	int r = source_add(k, fd, events, RANK_OTHER, fn, data, &s);

	if (r == 0 && s)
		LL_PREPEND(k->watches, s);
	return r;
}

int keeper_watch(struct keeper *k, int fd, void (*fn)(void *data), void *data)
{
	return watch(k, fd, EPOLLIN, fn, data);
}

int keeper_watch_write(struct keeper *k, int fd, void (*fn)(void *data), void *data)
{
	return watch(k, fd, EPOLLOUT, fn, data);
}

void keeper_unwatch(struct keeper *k, int fd)
{
	for (struct source *s = k->watches; s; s = s->next) {
		if (s->fd != fd)
			continue;
		LL_DELETE(k->watches, s);
		source_remove(k, s);
		return;
	}
}

void keeper_wake_at(struct keeper *k, int64_t mono_us)
{
	if (!k->door_wake || mono_us < k->door_wake)
		k->door_wake = MAX(mono_us, 1);
}

/* ---- to and from cordon ---------------------------------------------------------------------- */

static void watch_out(struct keeper *k, bool on)
{
	struct epoll_event ev = {.events = EPOLLIN | (on ? EPOLLOUT : 0u), .data.ptr = NULL};

	if (k->out_watched == on)
		return;
	k->out_watched = on;
	epoll_ctl(k->epoll, EPOLL_CTL_MOD, k->sock, &ev);
}

void keeper_flush(struct keeper *k)
{
	while (k->out_sent < k->out.len) {
		ssize_t n = send(k->sock, k->out.data + k->out_sent, k->out.len - k->out_sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n < 0) {
			k->gone = k->quit = true;
			k->out_sent = k->out.len;
			break;
		}
		k->out_sent += (size_t)n;
	}
	if (k->out_sent == k->out.len) {
		if (k->out.cap > OUT_KEEP)
			buf_done(&k->out);
		buf_clear(&k->out);
		k->out_sent = 0;
	} else if (k->out_sent > OUT_KEEP) {
		buf_drop_front(&k->out, k->out_sent);
		k->out_sent = 0;
	}
	k->urgent = false;
	k->flush_at = 0;
	watch_out(k, k->out.len > 0);
}

void keeper_drain(struct keeper *k)
{
	int64_t end = clock_mono_us() + DRAIN_MS * 1000;

	keeper_flush(k);
	while (k->out.len && !k->gone && clock_mono_us() < end) {
		struct pollfd p = {.fd = k->sock, .events = POLLOUT};

		poll(&p, 1, 100);
		keeper_flush(k);
	}
}

void keeper_urgent(struct keeper *k)
{
	k->urgent = true;
}

PRINTF_LIKE(3, 0)
static void send_note(struct keeper *k, enum note_how how, const char *fmt, va_list ap)
{
	AUTO_BUF struct buf words = BUF_INIT;
	size_t mark;

	buf_vfmt(&words, fmt, ap);
	log_info("keeper", "%s", words.data);
	mark = wire_begin(&k->out, WIRE_NOTE);
	wire_u8(&k->out, (uint8_t)how);
	wire_str(&k->out, words.data, words.len);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

void keeper_note(struct keeper *k, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	send_note(k, HEARD_QUIETLY, fmt, ap);
	va_end(ap);
}

void keeper_warn(struct keeper *k, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	send_note(k, HEARD_ALOUD, fmt, ap);
	va_end(ap);
}

void keeper_recovered(struct keeper *k, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	send_note(k, HEARD_RECOVERED, fmt, ap);
	va_end(ap);
}

void keeper_tidy(struct keeper *k)
{
	for (size_t i = 0; k->sandbox && i < k->n_folders; i++) {
		int r = k->folders[i]->granted ? 0 : journal_tidy(k->folders[i]->journal);

		if (r < 0)
			log_warn("keeper", "what undo keeps is not compressed: %s", strerror(-r));
	}
}

void keeper_news(struct keeper *k)
{
	bool aloud = journal_urges(k->journal);
	AUTO_FREE char *words = journal_news(k->journal);

	if (words && aloud)
		keeper_warn(k, "%s", words);
	else if (words)
		keeper_note(k, "%s", words);
}

int keeper_recv(struct keeper *k)
{
	for (;;) {
		ssize_t n;

		if (k->in.len > IN_MAX)
			return -EPIPE; /* not our cordon */
		buf_reserve(&k->in, 16u << 10);
		n = recv(k->sock, k->in.data + k->in.len, 16u << 10, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (n <= 0)
			return -EPIPE;
		k->in.len += (size_t)n;
		k->in.data[k->in.len] = '\0';
	}
}

static void serve_cordon(struct keeper *k)
{
	int r = keeper_recv(k);

	requests_serve(k);
	if (r < 0)
		k->gone = k->quit = true;
}

/* ---- the door -------------------------------------------------------------------------------- */

/*
 * The door of system calls is not in the epoll set but polled beside it: a kernel that wakes the
 * keeper on the caller's processor (SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) does so through poll(2)
 * only. Exits come first all the same. The other doors are in the set: each descriptor that is
 * polled is paid for by every call.
 */
static bool door_is_open(const struct keeper *k, size_t i)
{
	return i < k->n_doors && k->doors[i]->fd >= 0 && !(k->doors_shut & (1u << i));
}

static void serve_door(struct keeper *k, size_t i, short events)
{
	if (!events || !door_is_open(k, i))
		return;
	if (k->doors[i]->ops->serve(k->doors[i], events) == -EPIPE)
		k->doors_shut |= 1u << i;
}

static void serve_other(void *data)
{
	struct doorway *w = data;
	struct keeper *k = w->keeper;
	size_t i = (size_t)(w - k->doorways);

	serve_door(k, i, POLLIN);
	if (door_is_open(k, i))
		return;
	source_remove(k, take_ptr(&w->source));
}

static int doors_watch(struct keeper *k)
{
	int r = 0;

	for (size_t i = 1; i < k->n_doors && r == 0; i++) {
		k->doorways[i].keeper = k;
		if (door_is_open(k, i))
			r = source_add(k, k->doors[i]->fd, EPOLLIN, RANK_OTHER, serve_other,
				       &k->doorways[i], &k->doorways[i].source);
	}
	return r;
}

void doors_unwatch(struct keeper *k)
{
	for (size_t i = 1; i < k->n_doors; i++)
		source_remove(k, take_ptr(&k->doorways[i].source));
}

int keeper_add_door(struct keeper *k, struct door *d)
{
	if (k->n_doors == DOORS_MAX)
		return -ENOSPC;
	k->doors[k->n_doors++] = d;
	return 0;
}

/* A cordon that does not read must not cost unbounded memory, nor events: the agent waits. */
static void hold_door(struct keeper *k)
{
	size_t backlog = k->out.len - k->out_sent;
	bool off = backlog > (k->door_off ? OUT_MAX / 2 : OUT_MAX);

	if (off == k->door_off)
		return;
	k->door_off = off;
	for (size_t i = 1; i < k->n_doors; i++)
		if (k->doorways[i].source)
			source_again(k, k->doorways[i].source, off ? 0 : EPOLLIN);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static int wait_ms(struct keeper *k)
{
	int64_t at = sooner(sooner(steps_next(k), asks_next(k)), sooner(k->door_wake, k->flush_at));
	int64_t left;

	at = sooner(at, sooner(safeguard_next(k), watch_next(k)));
	at = sooner(at, reload_next(k));

	if (!at)
		return -1;
	left = at - k->now;
	if (left <= 0)
		return 0;
	return (int)MIN((left + 999) / 1000, INT_MAX);
}

static void run_timers(struct keeper *k)
{
	steps_tick(k);
	asks_tick(k);
	safeguard_tick(k);
	watch_tick(k);
	reload_tick(k);
	if (k->door_wake && k->door_wake <= k->now) {
		k->door_wake = 0;
		for (size_t i = 0; i < k->n_doors; i++)
			k->doors[i]->ops->tick(k->doors[i]);
	}
	events_tallies(k, false);
	if (k->out.len == k->out_sent)
		return;
	if (!k->flush_at)
		k->flush_at = k->now + FLUSH_US;
	if (!k->out_watched &&
	    (k->urgent || k->now >= k->flush_at || k->out.len - k->out_sent >= OUT_URGENT))
		keeper_flush(k);
}

static void turn(struct keeper *k)
{
	struct epoll_event ev[EVENTS];
	struct pollfd p[2] = {{.fd = -1, .events = POLLIN}, {.fd = k->epoll, .events = POLLIN}};
	int n = 0;

	/* Asked last, epoll has whatever was before a request that is found here: its process's
	 * edits, and the exit of another one that had the same pid. */
	if (door_is_open(k, 0) && !k->door_off)
		p[0].fd = k->doors[0]->fd;
	if (poll(p, 2, wait_ms(k)) < 0)
		p[0].revents = p[1].revents = 0;
	if (p[1].revents)
		n = epoll_wait(k->epoll, ev, EVENTS, 0);
	k->now = clock_mono_us();
	for (int rank = 0; rank < RANK_COUNT; rank++) {
		for (int i = 0; i < n; i++) {
			struct source *s = ev[i].data.ptr;

			if (s && s->fd >= 0 && s->rank == (enum source_rank)rank)
				s->fn(s->data);
			else if (!s && rank == RANK_OTHER && (ev[i].events & ~(uint32_t)EPOLLOUT))
				serve_cordon(k);
			else if (!s && rank == RANK_OTHER)
				keeper_flush(k);
		}
	}
	if (n < EVENTS) /* else there may be more exits, and it waits for the next turn */
		serve_door(k, 0, p[0].revents);
	sources_bury(k);
	if (k->exited && k->sandbox && !k->quit)
		keeper_end_sandbox(k);
	run_timers(k);
	hold_door(k);
}

void keeper_loop(struct keeper *k)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = NULL};

	k->now = clock_mono_us();
	if (epoll_ctl(k->epoll, EPOLL_CTL_ADD, k->sock, &ev) < 0) {
		log_error("keeper", "cannot poll the socket: %s", strerror(errno));
		return;
	}
	if (doors_watch(k) < 0) {
		log_error("keeper", "cannot poll the doors: %s", strerror(errno));
		return;
	}
	keeper_flush(k); /* that it started */
	keeper_tidy(k);
	while (!k->quit)
		turn(k);
	sources_bury(k);
}
