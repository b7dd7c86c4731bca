/* portmap_read - reads one entry of the port map, and detects a damaged map. */
/* SPDX-License-Identifier: MIT */
#include "backends/interpose/portmap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Up to 2 s more for a writer that is preempted within an entry. */
#define TRIES	 1000
#define PAUSES	 2000
#define PAUSE_NS 1000000

static bool read_at(int fd, void *to, size_t len, size_t at)
{
	ssize_t n;

	do
		n = pread(fd, to, len, (off_t)at);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len;
}

static bool in_window(const struct portmap_view *v, uint16_t port)
{
	return port >= v->base && port - v->base < v->count;
}

/* Returns whether the entry is one that the server could have written. */
static bool is_sound(const struct portmap_view *v, uint16_t port)
{
	return v->base && v->count && v->base + (unsigned)v->count <= PORTMAP_PORTS &&
	       (!v->to || in_window(v, v->to)) && (!v->from || in_window(v, port));
}

/* The last seq that stayed odd too long: no thread waits for it again. 0: none. */
static _Atomic uint32_t given_up;

static int look(int fd, uint16_t port, struct portmap_view *ret)
{
	struct {
		uint32_t magic, version, size, seq;
		uint16_t base, count;
	} head;
	uint32_t after;

	for (int i = 0; i < TRIES + PAUSES; i++) {
		if (!read_at(fd, &head, sizeof(head), 0) || head.magic != PORTMAP_MAGIC ||
		    head.version != PORTMAP_VERSION || head.size != sizeof(struct portmap) ||
		    ((head.seq & 1) && head.seq == given_up))
			return -EACCES;
		ret->base = head.base;
		ret->count = head.count;
		if (!(head.seq & 1) &&
		    read_at(fd, &ret->to, sizeof(ret->to),
			    offsetof(struct portmap, to) + port * sizeof(ret->to)) &&
		    read_at(fd, &ret->from, sizeof(ret->from),
			    offsetof(struct portmap, from) + port * sizeof(ret->from)) &&
		    read_at(fd, &after, sizeof(after), offsetof(struct portmap, seq)) &&
		    after == head.seq)
			return is_sound(ret, port) ? 0 : -EACCES;
		if (i < TRIES)
			sched_yield();
		else
			nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
	given_up = head.seq;
	return -EACCES;
}

int portmap_look(const char *path, uint16_t port, struct portmap_view *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), r;
	struct stat st;

	*ret = (struct portmap_view){0};
	if (fd < 0)
		return -EACCES;
	r = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == sizeof(struct portmap)
		    ? look(fd, port, ret)
		    : -EACCES;
	close(fd);
	return r;
}
