/* answer - answers a trapped call, and lets its caller go on where it stopped. */
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
 * Where the caller goes on decides what an answer costs: on another processor than the one where it
 * stopped it waits for that to wake up, and finds nothing of its work in the cache.
 *
 * SYNC_WAKE_UP runs the keeper where its caller has stopped, and the caller where the keeper is. An
 * ADDFD does not: the caller has to take the descriptor itself, it is woken for that like anybody,
 * and the keeper still runs here. So both may run here only while it is handed over. The caller is
 * inside the kernel then: it cannot see it, nor start a thread that would inherit it; what another
 * process sets in these microseconds is lost. Without WAIT_KILLABLE_RECV a signal could come
 * between the descriptor and the answer, and is not given that chance.
 *
 * To move a thread is dear (a twelfth of what a file costs that is made), so while one caller takes
 * descriptor after descriptor the keeper stays where they both are: until another one calls,
 * anything but a call comes (loop.c), a thread or a process is started (pin.h), or nothing was
 * taken for a moment. A caller that goes elsewhere comes back with its next answer. The caller
 * itself is let go each time: what it may use is its own to see and to set.
 *
 * Where no processor is idle anyway nobody is sent to another one, and all this is only dear: then
 * neither is kept.
 *
 * Where several threads call by turns it is their working at the same time that counts: each wakes
 * up where the scheduler wants it.
 */
#define TOGETHER_US 2000
#define STAY_US	    2000
#define TURN_US	    10000 /* how long a caller's priority is taken for what it was */
#define CROWD_US    5000  /* and the machine for as busy as it was */

/* Who has called lately. */
#define CALLERS 8
struct callers {
	struct one {
		int tid;
		bool turn; /* has_its_turn() */
		int64_t us, turn_us;
	} last[CALLERS];
	size_t at;
	int64_t together_us; /* when two of them called by turns */
	int taker;	     /* who took a descriptor last, and when */
	int64_t took_us;
	bool may_near; /* Linux 6.6 */
	bool near;     /* the listener's flag */
	int nice;      /* our own */
	int load;      /* /proc/loadavg, or -1 */
	long processors;
	bool crowded;	  /* no processor was idle... */
	int64_t crowd_us; /* ...when this was found out */
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

/* Has this one taken a descriptor just now? */
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

/* -ENOENT: the caller was killed or interrupted, nobody waits for this answer any more. */
int answer_send(struct ldoor *d, uint64_t id, int result)
{
	struct seccomp_notif_resp *out = d->out;

	memset(out, 0, d->out_size);
	out->id = id;
	if (result == DOOR_CONTINUE)
		out->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else if (result < 0)
		out->error = result;
	else
		out->val = result;
	if (ioctl(d->door.fd, SECCOMP_IOCTL_NOTIF_SEND, out) == 0)
		return 0;
	if (errno != ENOENT)
		log_error("door", "answer: %s", strerror(errno));
	return -errno;
}

void door_answer(struct ldoor *d, uint64_t id, int result)
{
	answer_send(d, id, result);
}

static int add_fd(struct ldoor *d, struct seccomp_notif_addfd *add)
{
	int n = ioctl(d->door.fd, SECCOMP_IOCTL_NOTIF_ADDFD, add);

	return n < 0 ? -errno : n;
}

/*
 * Does the caller have its turn wherever it is? Of idle priority, or nicer than we are, it may wait
 * long on a processor that others want, and we with it: then it is to go where there is room. What
 * it was a moment ago will do: it is a question of speed alone.
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

/* Does as much run as there are processors? */
static bool is_crowded(struct callers *c, int64_t now)
{
	if (now - c->crowd_us >= CROWD_US) {
		c->crowded = running_now(c->load) >= c->processors;
		c->crowd_us = now;
	}
	return c->crowded;
}

/* With the caller kept here. -EAGAIN: not here, and nothing has been done. */
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
 * Our copy is closed before the caller goes on: its own close() is the last one of the file, and
 * releases locks, tells watchers and ends a pipe. So the answer follows the descriptor, and does
 * not come with it. Where a signal could come between them (see above) they stay together, and the
 * caller's close() may be overtaken by ours.
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
