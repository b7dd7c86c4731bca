/* listeners - the filters whose trapped calls the door serves: the agent's, and more beside it. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/listeners.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backends/linux/door/state.h"

/* Tries the listener that had the last request first, then the agent's, then the others. */
int listener_ioctl(const struct ldoor *d, unsigned long op, void *arg)
{
	int r = ioctl(d->calling, op, arg);

	r = r < 0 ? -errno : r;
	if (r == -ENOENT && d->calling != d->door.fd) {
		r = ioctl(d->door.fd, op, arg);
		r = r < 0 ? -errno : r;
	}
	for (size_t i = 0; r == -ENOENT && i < d->n_listeners; i++) {
		if (d->listeners[i] == d->calling)
			continue;
		r = ioctl(d->listeners[i], op, arg);
		r = r < 0 ? -errno : r;
	}
	return r;
}

bool listener_holds(const struct ldoor *d, uint64_t id)
{
	return listener_ioctl(d, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) >= 0;
}

int listener_add(struct ldoor *d, int fd)
{
	if (d->n_listeners == LISTENERS_MAX) {
		close(fd);
		return -EUSERS;
	}
	d->listeners[d->n_listeners++] = fd;
	return 0;
}

void listener_remove(struct ldoor *d, int fd)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n_listeners; i++)
		if (d->listeners[i] != fd)
			d->listeners[kept++] = d->listeners[i];
	d->n_listeners = kept;
	if (d->calling == fd)
		d->calling = d->door.fd;
	close(fd);
}
