/* portmap - the file that maps each port that a program names to a port of the session's window. */
/* SPDX-License-Identifier: MIT */
#include "backends/interpose/portmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/err.h"
#include "core/base/io.h"

int portmap_create(const char *path, uint16_t base, uint16_t count, int *ret_fd, struct err *err)
{
	AUTO_FREE struct portmap *map = xcalloc(1, sizeof(*map));
	AUTO_FREE char *fresh = xasprintf("%s.new", path);
	AUTO_CLOSE int fd = -1;
	int r;

	map->magic = PORTMAP_MAGIC;
	map->version = PORTMAP_VERSION;
	map->size = sizeof(*map);
	map->base = base;
	map->count = count;
	unlink(fresh);
	fd = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	r = fd < 0 ? -errno : io_pwrite_all(fd, map, sizeof(*map), 0);
	if (r == 0 && rename(fresh, path) < 0)
		r = -errno;
	if (r < 0)
		return err_set(err, r, "make the port map '%s'", path);
	*ret_fd = take_fd(&fd);
	return 0;
}

static int set_seq(int fd, uint32_t seq)
{
	return io_pwrite_all(fd, &seq, sizeof(seq), offsetof(struct portmap, seq));
}

int portmap_set(int fd, uint16_t named, uint16_t mapped)
{
	uint32_t seq;
	int r;

	if (io_pread_full(fd, &seq, sizeof(seq), offsetof(struct portmap, seq)) !=
		    (ssize_t)sizeof(seq) ||
	    (seq & 1))
		return -EIO;
	r = set_seq(fd, seq + 1);
	if (r == 0)
		r = io_pwrite_all(fd, &mapped, sizeof(mapped),
				  (off_t)(offsetof(struct portmap, to) + named * sizeof(mapped)));
	if (r == 0)
		r = io_pwrite_all(fd, &named, sizeof(named),
				  (off_t)(offsetof(struct portmap, from) + mapped * sizeof(named)));
	/* After a failed write seq stays odd, so that no reader trusts the map. */
	return r == 0 ? set_seq(fd, seq + 2) : r;
}
