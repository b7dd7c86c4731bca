/* door - the system-call door: receives trapped calls, calls core/keeper/folders/folder.h. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/door.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/linux/door/answer.h"
#include "backends/linux/door/calls_connect.h"
#include "backends/linux/door/calls_fifo.h"
#include "backends/linux/door/calls_flow.h"
#include "backends/linux/door/calls_shared.h"
#include "backends/linux/door/calls_peer.h"
#include "backends/linux/door/calls_read.h"
#include "backends/linux/door/connecting.h"
#include "backends/linux/door/dirs.h"
#include "backends/linux/door/dispatch.h"
#include "backends/linux/door/filter.h"
#include "backends/linux/door/read_check.h"
#include "backends/linux/door/lookup.h"
#include "backends/linux/door/lost.h"
#include "backends/linux/door/parked.h"
#include "backends/linux/door/ports.h"
#include "backends/linux/door/resolve.h"
#include "backends/linux/door/state.h"
#include "backends/linux/door/table.h"
#include "core/base/pin.h"
#include "core/keeper/keeper.h"

static struct ldoor *ldoor(struct door *door)
{
	return (struct ldoor *)door; /* its first member */
}

/*
 * Serves one request per turn: poll(2) has reported one, and asking for another costs as much as a
 * small call. Receiving does not block: if the caller has died, it fails with ENOENT.
 */
int door_serve_listener(struct ldoor *d, int fd, short events)
{

	if (!(events & POLLIN))
		return events & (POLLHUP | POLLERR | POLLNVAL) ? -EPIPE : 0;
	memset(d->in, 0, d->in_size);
	if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, d->in) < 0)
		return errno == ENOENT || errno == EINTR ? 0 : -EPIPE;
	d->calling = fd;
	request_begin(d, &d->scratch->now, d->in);
	answer_caller(d, d->scratch->now.tid);
	d->scratch->now.call = door_call_of(d->in->data.nr);
	if (d->scratch->now.call == NULL)
		door_answer(d, d->in->id, -ENOSYS);
	else
		door_dispatch(d, &d->scratch->now, false);
	return 0;
}

static int door_serve(struct door *door, short events)
{
	return door_serve_listener(ldoor(door), door->fd, events);
}

/* Makes a folder of the directory, after the user allowed a change outside the folders. */
static int grant_outside(struct ldoor *d, const struct parked *p)
{
	const char *text = p->shown[p->shown[1].text != NULL].text;
	AUTO_FREE char *dir = xstrdup(text);
	char *slash = strrchr(dir, '/');
	struct folder *f;

	if (slash == NULL)
		return -EACCES;
	slash[slash == dir] = '\0';
	return folder_grant(d->k, dir, &f);
}

static void door_answered(struct door *door, uint64_t id, enum door_verdict verdict)
{
	struct ldoor *d = ldoor(door);
	struct parked *p = flow_answered(d, id, verdict) ? NULL : parked_take(d, id);

	if (p == NULL)
		return;
	if (p->opened >= 0 && p->call->perform == perform_connect) {
		connect_answered(d, p, verdict, &p->opened);
	} else if (p->opened >= 0) {
		read_answered(d, p, verdict, &p->opened);
	} else if (verdict == VERDICT_STOP) {
		door_answer(d, id, -EPERM);
	} else if (verdict == VERDICT_DENY ||
		   (verdict == VERDICT_ALLOW && p->outside && grant_outside(d, p) < 0)) {
		door_answer(d, id, -EACCES);
	} else {
		d->renames++; /* the shown place must be found without the cache */
		parked_load(d, &d->scratch->now, p);
		door_dispatch(d, &d->scratch->now, p->granted || verdict == VERDICT_ALLOW);
	}
	parked_free(p);
}

static void door_drop_all(struct door *door)
{
	struct ldoor *d = ldoor(door);

	flow_drop(d);
	while (d->parked != NULL) {
		struct parked *p = parked_take(d, d->parked->id);

		door_answer(d, p->id, -EACCES);
		parked_free(p);
	}
}

static void door_tick(struct door *door)
{
	struct ldoor *d = ldoor(door);

	answer_tick(d);
	connecting_tick(d);
	flow_tick(d);
	port_tick(d);
	fifo_tick(d);
	parked_tick(d);
	read_check_tick(d);
}

static void door_end_flow(struct door *door, uint64_t id)
{
	flow_end_one(ldoor(door), id);
}

static void door_publish(struct door *door, uint16_t port, uint16_t host_port, const char *by)
{
	port_publish(ldoor(door), port, host_port, by);
}

/* Initialises the state of each file. */
static void state_open(struct ldoor *d)
{
	request_open(d);
	answer_open(d);
	lost_open(d);
	lookup_open(d);
	dirs_open(d);
	resolve_open(d);
	read_check_begin(d);
	peer_open(d);
	flow_open(d);
}

static void state_close(struct ldoor *d)
{
	peer_close(d);
	read_check_close(d);
	resolve_close(d);
	dirs_close(d);
	lookup_close(d);
	lost_close(d);
	answer_close(d);
	request_close(d);
}

static void door_close(struct door *door)
{
	struct ldoor *d = ldoor(door);

	if (d == NULL)
		return;
	pin_end();
	door_drop_all(door);
	flow_close(d);
	port_drop(d);
	shared_close(d);
	connecting_drop(d);
	fifo_drop(d);
	state_close(d);
	if (door->fd >= 0)
		close(door->fd);
	close(d->root);
	free(d->in);
	free(d->out);
	free(d);
}

static const struct door_ops ops = {
	.serve = door_serve,
	.answered = door_answered,
	.drop_all = door_drop_all,
	.tick = door_tick,
	.end_flow = door_end_flow,
	.publish = door_publish,
	.close = door_close,
};

struct door *door_new(struct keeper *k, int listener, int sandbox_root_fd,
		      const struct filter_spec *spec, const struct floor *floor, struct err *err)
{
	struct seccomp_notif_sizes sizes;
	struct ldoor *d;
	struct stat st;

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0) {
		err_set(err, -errno, "ask for the size of notifications");
		goto fail;
	}
	d = xcalloc(1, sizeof(*d));
	d->door = (struct door){.ops = &ops, .fd = listener};
	d->k = k;
	d->calling = listener;
	d->spec = *spec;
	d->floor = *floor;
	d->gateway = floor->gateway;
	d->root = sandbox_root_fd;
	d->in_size = MAX(sizes.seccomp_notif, (uint16_t)sizeof(*d->in));
	d->out_size = MAX(sizes.seccomp_notif_resp, (uint16_t)sizeof(*d->out));
	d->in = xcalloc(1, d->in_size);
	d->out = xcalloc(1, d->out_size);
	if (fstat(sandbox_root_fd, &d->root_st) < 0) {
		err_set(err, -errno, "look at the sandbox's root");
		free(d->in);
		free(d->out);
		free(d);
		goto fail;
	}
	d->wait_killable = filter_wait_killable();
	if (fstatat(d->root, "proc", &st, 0) == 0)
		d->proc_dev = st.st_dev;
	state_open(d);
	return &d->door;
fail:
	close(listener);
	close(sandbox_root_fd);
	return NULL;
}
