/* answer - answers a trapped call, and wakes its caller on the processor where it called. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/answer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/linux/door/call.h"
#include "backends/linux/door/listeners.h"
#include "backends/linux/door/state.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/pin.h"
#include "core/base/running.h"
#include "core/keeper/keeper.h"

#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP /* Linux 6.6 */
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS	   SECCOMP_IOW(4, __u64)
#endif

/*
 * The processor on which a caller wakes up decides the cost of an answer: another one than before
 * has to wake up first, and has none of the caller's data in its cache.
 *
 * SYNC_WAKE_UP runs the keeper on its caller's processor, and then the caller on the keeper's.
 * ADDFD has no such flag: the caller must install the descriptor itself and is woken like any other
 * thread while the keeper runs here. So the caller's affinity is set to this processor while the
 * descriptor is handed over. During that time the caller is inside the kernel: it can neither see
 * the affinity nor start a thread that inherits it. An affinity that another process sets in these
 * microseconds is lost. Without WAIT_KILLABLE_RECV a signal could come between descriptor and
 * answer; then both are sent in one call.
 *
 * Moving a thread is expensive (a twelfth of the cost of making a file). So while one caller takes
 * descriptor after descriptor, the keeper stays pinned to their processor: until another thread
 * calls, an event other than a call comes (loop.c), a thread or a process is started (pin.h), or no
 * descriptor was taken for a moment. A caller that moves away comes back with its next answer. The
 * caller's own affinity is restored each time.
 *
 * If no processor is idle, the scheduler moves no thread anyway, and pinning only costs: neither is
 * pinned.
 *
 * If several threads call by turns, they should run in parallel: the scheduler chooses where each
 * wakes up.
 */
#define TOGETHER_US 2000
#define STAY_US	    2000
#define TURN_US	    10000 /* how long a caller's priority is cached */
#define CROWD_US    5000  /* how long the machine's load is cached */

/* The threads that called last. */
#define CALLERS 8
struct callers {
	struct one {
		int tid;
		bool turn; /* has_its_turn() */
		int64_t us, turn_us;
	} last[CALLERS];
	size_t at;
	int64_t together_us; /* when two threads last called by turns */
	int taker;	     /* the thread that took the last descriptor, and when */
	int64_t took_us;
	bool may_near; /* the kernel has SYNC_WAKE_UP (Linux 6.6) */
	bool near;     /* SYNC_WAKE_UP is on */
	int nice;      /* the keeper's own nice value */
	int load;      /* /proc/loadavg, or -1 */
	long processors;
	bool crowded;	  /* no processor was idle... */
	int64_t crowd_us; /* ...at this time */
};

static bool are_together(struct callers *c, int tid, int64_t now)
{
	if (c->last[c->at].tid != tid) {
		for (size_t i = 0; i < CALLERS; i++)
			if (c->last[i].tid == tid && now - c->last[i].us < TOGETHER_US)
				c->together_us = now;
		c->at = (c->at + 1) % CALLERS;
		c->last[c->at] = (struct one){.tid = tid, .turn_us = now - TURN_US};
	}
	c->last[c->at].us = now;
	return now - c->together_us < TOGETHER_US;
}

static bool set_near(const struct ldoor *d, bool near)
{
	uint64_t flags = near ? SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP : 0;

	return ioctl(d->door.fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, flags) == 0;
}

void answer_open(struct ldoor *d)
{
	d->callers = xcalloc(1, sizeof(*d->callers));
	d->callers->together_us = -TOGETHER_US;
	d->callers->nice = getpriority(PRIO_PROCESS, 0);
	d->callers->near = d->callers->may_near = set_near(d, true);
	d->callers->load = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	d->callers->processors = sysconf(_SC_NPROCESSORS_ONLN);
	d->callers->crowd_us = -CROWD_US;
}

void answer_close(struct ldoor *d)
{
	util_close_fd(&d->callers->load);
	free(take_ptr(&d->callers));
}

/* Returns whether this thread took the last descriptor, less than STAY_US ago. */
static bool goes_on(const struct callers *c, int tid, int64_t now)
{
	return c->taker == tid && now - c->took_us < STAY_US;
}

void answer_tick(struct ldoor *d)
{
	const struct callers *c = d->callers;

	if (!pin_is_held())
		return;
	if (goes_on(c, c->taker, clock_mono_us()))
		keeper_wake_at(d->k, c->took_us + STAY_US);
	else
		pin_end();
}

void answer_caller(struct ldoor *d, int tid)
{
	struct callers *c = d->callers;
	int64_t now;
	bool near;

	if (!c->may_near)
		return;
	now = clock_mono_us();
	near = !are_together(c, tid, now);
	if (!near || !goes_on(c, tid, now))
		pin_end();
	if (near != c->near && set_near(d, near))
		c->near = near;
}

/* Returns -ENOENT if the caller was killed or interrupted, and no longer waits for this answer. */
int answer_send(struct ldoor *d, uint64_t id, int result)
{
	struct seccomp_notif_resp *out = d->out;
	int r;

	memset(out, 0, d->out_size);
	out->id = id;
	if (result == DOOR_CONTINUE)
		out->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else if (result < 0)
		out->error = result;
	else
		out->val = result;
	r = listener_ioctl(d, SECCOMP_IOCTL_NOTIF_SEND, out);
	if (r < 0 && r != -ENOENT)
		log_error("door", "answer: %s", strerror(-r));
	return MIN(r, 0);
}

void door_answer(struct ldoor *d, uint64_t id, int result)
{
	answer_send(d, id, result);
}

static int add_fd(struct ldoor *d, struct seccomp_notif_addfd *add)
{
	return listener_ioctl(d, SECCOMP_IOCTL_NOTIF_ADDFD, add);
}

/*
 * Returns whether the caller has at least the keeper's priority. A caller of idle priority, or
 * nicer than the keeper, may wait long on a busy processor, and the keeper with it: the scheduler
 * should choose another one. A cached value suffices, as only speed depends on it.
 */
static bool has_its_turn(struct callers *c, int tid)
{
	struct one *l = &c->last[c->at];
	bool turn;
	int nice;

	if (l->tid == tid && l->us - l->turn_us < TURN_US)
		return l->turn;
	errno = 0;
	nice = getpriority(PRIO_PROCESS, (id_t)tid);
	turn = errno == 0 && nice <= c->nice && sched_getscheduler(tid) != SCHED_IDLE;
	if (l->tid == tid) {
		l->turn = turn;
		l->turn_us = l->us;
	}
	return turn;
}

/* Returns whether there are at least as many running threads as processors. */
static bool is_crowded(struct callers *c, int64_t now)
{
	if (now - c->crowd_us >= CROWD_US) {
		c->crowded = running_now(c->load) >= c->processors;
		c->crowd_us = now;
	}
	return c->crowded;
}

/* Adds the descriptor with the caller pinned to this processor. Returns -EAGAIN, and changes
 * nothing, if that is not possible. */
static int add_fd_here(struct ldoor *d, int tid, struct seccomp_notif_addfd *add)
{
	struct callers *c = d->callers;
	const int64_t now = c->last[c->at].us;
	const bool stays = goes_on(c, tid, now);
	const int cpu = sched_getcpu();
	cpu_set_t here, theirs;
	int n = -EAGAIN;

	if (cpu < 0 || cpu >= CPU_SETSIZE || is_crowded(c, now) || !has_its_turn(c, tid) ||
	    sched_getaffinity(tid, sizeof(theirs), &theirs) < 0 || !CPU_ISSET(cpu, &theirs) ||
	    CPU_COUNT(&theirs) == 1)
		return -EAGAIN;
	CPU_ZERO(&here);
	CPU_SET(cpu, &here);
	if (stays && !pin_is_held())
		keeper_wake_at(d->k, now + STAY_US);
	if (!pin_here(cpu))
		return -EAGAIN;
	if (sched_setaffinity(tid, sizeof(here), &here) == 0) {
		n = add_fd(d, add);
		pin_set_free(tid, &theirs);
	}
	if (!stays)
		pin_end();
	c->taker = tid;
	c->took_us = now;
	return n;
}

/*
 * Adds the descriptor, then answers. In between the keeper closes its copy, so that the caller's
 * own close() is the last one of the file: it releases locks, notifies watchers and ends a pipe. If
 * a signal could come in between (see above), one call sends both, and the caller's close() may
 * come before the keeper's.
 */
static int give_then_answer(struct ldoor *d, int tid, struct seccomp_notif_addfd *add, int *fd)
{
	int r = tid != 0 && d->callers->near ? add_fd_here(d, tid, add) : -EAGAIN;

	if (r == -EAGAIN) {
		pin_end();
		r = add_fd(d, add);
	}
	if (r < 0)
		return r;
	util_close_fd(fd);
	answer_send(d, add->id, r);
	return 0;
}

int door_add(struct ldoor *d, uint64_t id, int flags, int fd)
{
	struct seccomp_notif_addfd add = {
		.id = id, .srcfd = (uint32_t)fd, .newfd_flags = flags & O_CLOEXEC};

	return add_fd(d, &add);
}

bool door_give(struct ldoor *d, uint64_t id, int tid, int flags, int fd)
{
	struct seccomp_notif_addfd add = {
		.id = id,
		.srcfd = (uint32_t)fd,
		.newfd_flags = flags & O_CLOEXEC,
	};
	int r;

	if (d->wait_killable) {
		r = give_then_answer(d, tid, &add, &fd);
	} else {
		add.flags = SECCOMP_ADDFD_FLAG_SEND; /* Linux 5.14 */
		r = add_fd(d, &add);
	}
	if (r == -ENOENT)
		return false;
	util_close_fd(&fd);
	if (r < 0) /* EMFILE: the caller's table is full */
		answer_send(d, id, r == -EMFILE || r == -ENFILE ? r : -EIO);
	return true;
}
