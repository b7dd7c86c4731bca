/* guest_door - decides on connections of a virtual machine's guest, which arrive as packets. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/guest_door.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "backends/linux/door/calls_flow.h"
#include "backends/linux/door/flow_priv.h"
#include "backends/linux/net/guest_note.h"
#include "core/net/notes.h"
#include "core/base/log.h"
#include "core/base/path.h"

#define AT_ONCE 64 /* notes per turn of the loop */

struct guest_door {
	int caller;
	uint64_t dropped; /* frames */
	char *program;
};

static struct ldoor *ldoor(struct door *door)
{
	return (struct ldoor *)(void *)door; /* its first member */
}

int guest_door_caller(const struct ldoor *d)
{
	return d->guest->caller;
}

const char *guest_door_program(const struct ldoor *d)
{
	return d->guest->program;
}

void guest_door_tell(const struct ldoor *d, const struct guest_note *note)
{
	/* The socket has room: the process holds fewer packets than the socket holds notes, and
	 * reads all the time. An error means that it has ended. */
	if (send(d->door.fd, note, sizeof(*note), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log_debug("net", "answer the guest's frames: %s", strerror(errno));
}

static void hear(struct ldoor *d, const struct guest_note *note)
{
	switch ((enum guest_what)note->what) {
	case GUEST_SYN:
		packet_syn(d, note->id, &note->to, note->port);
		return;
	case GUEST_GONE:
		packet_syn_gone(d, note->id);
		return;
	case GUEST_DROPPED:
		d->guest->dropped = note->n;
		return;
	case GUEST_PASS:
	case GUEST_REFUSE:
		return;
	}
}

static int serve(struct door *door, short events)
{
	struct ldoor *d = ldoor(door);

	(void)events;
	for (int i = 0; i < AT_ONCE; i++) {
		struct guest_note note;
		int got = notes_take(door->fd, &note, sizeof(note));

		if (got == 0)
			break;
		if (got < 0) {
			keeper_warn(d->k,
				    "the guest has no network any more: what served it ended");
			flow_drop(d);
			return -EPIPE;
		}
		hear(d, &note);
	}
	return 0;
}

static void answered(struct door *door, uint64_t id, enum door_verdict verdict)
{
	(void)flow_answered(ldoor(door), id, verdict);
}

static void drop_all(struct door *door)
{
	flow_drop(ldoor(door));
}

static void end_flow(struct door *door, uint64_t id)
{
	flow_end_one(ldoor(door), id);
}

static void close_door(struct door *door)
{
	struct ldoor *d = ldoor(door);

	drop_all(door);
	flow_close(d);
	if (d->guest->dropped)
		log_info("net", "%" PRIu64 " frames of the guest were dropped", d->guest->dropped);
	util_close_fd(&door->fd);
	free(d->guest->program);
	free(d->guest);
	free(d);
}

static const struct door_ops ops = {
	.serve = serve,
	.answered = answered,
	.drop_all = drop_all,
	.end_flow = end_flow,
	.close = close_door,
};

struct door *guest_door_new(const struct guest_door_spec *spec)
{
	struct ldoor *d = xcalloc(1, sizeof(*d));

	d->door = (struct door){.ops = &ops, .fd = spec->sock};
	d->k = spec->k;
	d->gateway = spec->gateway;
	d->open_network = spec->open;
	d->guest = xcalloc(1, sizeof(*d->guest));
	d->guest->program = xstrdup(path_base(spec->program));
	if (spec->open)
		gateway_open_names(d->gateway);
	flow_open(d);
	return &d->door;
}

void guest_door_set_caller(struct door *door, int pid)
{
	ldoor(door)->guest->caller = pid;
}
