/* window - the ports at which a session may listen where it shares the host's loopback device. */
/* SPDX-License-Identifier: MIT */
#include "core/net/window.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"

/* Locks for the open file, not the process: a child that closes its copy does not unlock it. */
static int lock_ports(int fd, uint16_t base, uint16_t count)
{
	struct flock range = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = base, .l_len = count};

	return fcntl(fd, F_OFD_SETLK, &range) < 0 ? -errno : 0;
}

static int lock_any(struct net_window *w, int fd)
{
	int r = -EADDRINUSE;

	for (unsigned at = WINDOW_FIRST; at + w->count - 1 <= WINDOW_LAST; at += w->count) {
		r = lock_ports(fd, (uint16_t)at, w->count);
		if (r == 0)
			w->base = (uint16_t)at;
		if (r != -EAGAIN && r != -EACCES)
			return r;
	}
	return -EADDRINUSE;
}

int window_reserve(struct net_window *w, const char *state_dir, int *ret_lock, struct err *err)
{
	AUTO_FREE char *path = path_join(state_dir, "ports");
	AUTO_CLOSE int fd = -1;
	unsigned given = w->base, last = given + w->count - 1;
	int r = io_mkdir_p(AT_FDCWD, state_dir, 0700);

	if (w->count == 0 || (given && (given < WINDOW_LEAST || last > UINT16_MAX)) ||
	    (!given && w->count > WINDOW_LAST - WINDOW_FIRST + 1))
		return err_say(err, -EINVAL,
			       "listening ports: %u ports from %u on do not fit: choose a range "
			       "between %d and 65535",
			       w->count, given ? given : WINDOW_FIRST, WINDOW_LEAST);
	if (r == 0) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		r = fd < 0 ? -errno : 0;
	}
	if (r < 0)
		return err_set(err, r, "open '%s'", path);
	r = given ? lock_ports(fd, w->base, w->count) : lock_any(w, fd);
	if (r == -EAGAIN || r == -EACCES || r == -EADDRINUSE)
		return given ? err_say(err, -EADDRINUSE,
				       "listening ports: of %u to %u some are another session's: "
				       "take others, or leave --listening-base-port out",
				       given, last)
			     : err_say(err, -EADDRINUSE,
				       "listening ports: all from %d to %d are taken by sessions "
				       "that run",
				       WINDOW_FIRST, WINDOW_LAST);
	if (r < 0)
		return err_set(err, r, "lock ports in '%s'", path);
	/* One address for each window: 127.238.72.1 for 61000. */
	if (w->strategy == WINDOW_DEVICE && !w->own_device) {
		w->device = net_addr_v4(0x7f000001u | (uint32_t)w->base << 8);
		w->own_device = true;
	}
	*ret_lock = take_fd(&fd);
	return 0;
}

bool window_has(const struct net_window *w, uint16_t port)
{
	return w->on && port >= w->base && port - w->base < w->count;
}
