/* loop - the keeper's event loop: the order of sources, timers, and when frames go to cordon. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/loop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/pin.h"
#include "core/keeper/channel.h"
#include "core/keeper/sources.h"
#include "core/keeper/state.h"
#include "core/os/poller.h"

#define EVENTS	 64
#define FLUSH_US 16000 /* the events of one screen update go in one write */

static void serve_cordon(struct keeper *k, const struct loop_ops *ops)
{
	int r = keeper_recv(k);

	ops->serve(k);
	if (r < 0)
		k->gone = k->quit = true;
}

/* ---- the door -------------------------------------------------------------------------------- */

/*
 * The door of system calls is not in the epoll set but polled beside it: a kernel that wakes the
 * keeper on the caller's processor (SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) does so through poll(2)
 * only. Exits still come first. The other doors are in the set, because each polled descriptor
 * costs time in every call.
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
	if (!k->exited && k->doors[i]->ops->lost)
		keeper_warn(k, "%s", k->doors[i]->ops->lost);
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

void doors_rolled_back(struct keeper *k, int64_t step)
{
	for (size_t i = 0; i < k->n_doors; i++)
		if (k->doors[i]->ops->rolled_back)
			k->doors[i]->ops->rolled_back(k->doors[i], step);
}

void doors_cover(struct keeper *k, const char *path)
{
	for (size_t i = 0; i < k->n_doors; i++)
		if (k->doors[i]->ops->cover)
			k->doors[i]->ops->cover(k->doors[i], path);
}

void doors_changing(struct keeper *k, const struct inode_id *list, size_t n, bool moved)
{
	for (size_t i = 0; i < k->n_doors; i++)
		if (k->doors[i]->ops->changing)
			k->doors[i]->ops->changing(k->doors[i], list, n, moved);
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

/* Stops serving while cordon does not read, so that neither memory grows without bound nor events
 * are lost: the agent waits. */
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

void keeper_wake_at(struct keeper *k, int64_t mono_us)
{
	if (!k->door_wake || mono_us < k->door_wake)
		k->door_wake = MAX(mono_us, 1);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static int wait_ms(const struct keeper *k, const struct loop_ops *ops)
{
	int64_t at = sooner(k->door_wake, k->flush_at), left;

	for (size_t i = 0; i < ops->n_timers; i++)
		at = sooner(at, ops->timers[i].next(k));
	if (!at)
		return -1;
	left = at - k->now;
	if (left <= 0)
		return 0;
	return (int)MIN((left + 999) / 1000, INT_MAX);
}

static void run_timers(struct keeper *k, const struct loop_ops *ops)
{
	for (size_t i = 0; i < ops->n_timers; i++)
		ops->timers[i].tick(k);
	if (k->door_wake && k->door_wake <= k->now) {
		k->door_wake = 0;
		for (size_t i = 0; i < k->n_doors; i++)
			if (k->doors[i]->ops->tick)
				k->doors[i]->ops->tick(k->doors[i]);
	}
	ops->turned(k);
	if (k->out.len == k->out_sent)
		return;
	if (!k->flush_at)
		k->flush_at = k->now + FLUSH_US;
	if (!k->out_watched &&
	    (k->urgent || k->now >= k->flush_at || k->out.len - k->out_sent >= OUT_URGENT))
		keeper_flush(k);
}

static void turn(struct keeper *k, const struct loop_ops *ops)
{
	struct epoll_event ev[EVENTS];
	struct pollfd p[2] = {{.fd = -1, .events = POLLIN}, {.fd = k->epoll, .events = POLLIN}};
	int n = 0;

	/* epoll is read last, so it has all events from before a request that poll() has found: its
	 * process's edits, and the exit of an earlier process that had the same pid. */
	if (door_is_open(k, 0) && !k->door_off)
		p[0].fd = k->doors[0]->fd;
	if (poll(p, 2, wait_ms(k, ops)) < 0)
		p[0].revents = p[1].revents = 0;
	if (p[1].revents) {
		pin_end(); /* other events may take long: use any processor */
		n = epoll_wait(k->epoll, ev, EVENTS, 0);
	}
	k->now = clock_mono_us();
	for (int rank = 0; rank < RANK_COUNT; rank++) {
		for (int i = 0; i < n; i++) {
			struct source *s = ev[i].data.ptr;

			if (s && s->fd >= 0 && s->rank == (enum source_rank)rank)
				s->fn(s->data);
			else if (!s && rank == RANK_OTHER && (ev[i].events & ~(uint32_t)EPOLLOUT))
				serve_cordon(k, ops);
			else if (!s && rank == RANK_OTHER)
				keeper_flush(k);
		}
	}
	if (n < EVENTS) /* else more exits may follow: serve it next turn */
		serve_door(k, 0, p[0].revents);
	sources_bury(k);
	if (k->exited && k->sandbox && !k->quit)
		ops->exited(k);
	run_timers(k, ops);
	hold_door(k);
}

void keeper_loop(struct keeper *k, const struct loop_ops *ops)
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
	keeper_flush(k); /* WIRE_STARTED */
	ops->started(k);
	while (!k->quit)
		turn(k, ops);
	sources_bury(k);
}
