/* events - the kernel's events of processes: exec and exit. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/shim/shim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* From linux/netlink.h, connector.h, cn_proc.h and filter.h, which not every libc installs. */
#define NETLINK_CONNECTOR 11
#define MESSAGE_DONE	  3
#define CN_PROC		  1 /* idx and val */
#define LISTEN		  1
#define EVENT_EXEC	  0x00000002u
#define EVENT_EXIT	  0x80000000u
#define ATTACH_FILTER	  26

struct address {
	uint16_t family, pad;
	uint32_t pid, groups;
};

struct head { /* nlmsghdr and cn_msg */
	uint32_t len;
	uint16_t type, flags;
	uint32_t seq, pid;
	uint32_t idx, val, cn_seq, ack;
	uint16_t cn_len, cn_flags;
};

struct kernel_event {
	uint32_t what, cpu;
	uint32_t time[2];
	uint32_t pid, tgid;
	uint32_t code, signal; /* of EVENT_EXIT */
};

struct instruction {
	uint16_t code;
	uint8_t yes, no;
	uint32_t k;
};

struct program {
	uint16_t len;
	const struct instruction *list;
};

/* Installs a socket filter that passes only exec and exit. Its numbers are in network byte
 * order. */
static bool filter(int fd)
{
	const struct instruction list[] = {
		{0x20, 0, 0, sizeof(struct head)},		    /* load the event's kind */
		{0x15, 2, 0, htonl(EVENT_EXEC)},		    /* equal: skip two */
		{0x15, 1, 0, htonl(EVENT_EXIT)},   {0x06, 0, 0, 0}, /* drop it */
		{0x06, 0, 0, 0xffffffff},			    /* keep all of it */
	};
	const struct program p = {sizeof(list) / sizeof(*list), list};

	return setsockopt(fd, SOL_SOCKET, ATTACH_FILTER, &p, sizeof(p)) == 0;
}

static bool subscribe(int fd)
{
	struct {
		struct head h;
		uint32_t op;
	} m = {.h = {.len = sizeof(m),
		     .type = MESSAGE_DONE,
		     .idx = CN_PROC,
		     .val = CN_PROC,
		     .cn_len = sizeof(m.op)},
	       .op = LISTEN};

	return send(fd, &m, sizeof(m), 0) == (ssize_t)sizeof(m);
}

int events_open(void)
{
	const struct address a = {.family = AF_NETLINK, .groups = CN_PROC};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
	int size = 4 << 20;

	if (fd < 0)
		return -1;
	if (bind(fd, (const struct sockaddr *)&a, sizeof(a)) < 0 || !filter(fd) || !subscribe(fd)) {
		close(fd);
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return fd;
}

int events_next(int fd, struct event *ret)
{
	struct {
		struct head h;
		struct kernel_event e;
		char rest[256];
	} m;

	for (;;) {
		ssize_t n = fd < 0 ? 0 : recv(fd, &m, sizeof(m), 0);

		if (n < 0 && errno == ENOBUFS)
			return -1;
		if (n <= 0)
			return 0;
		/* Skip the exit of any thread but the first. */
		if (n < (ssize_t)(sizeof(m.h) + sizeof(m.e)) ||
		    (m.e.what == EVENT_EXIT && m.e.pid != m.e.tgid))
			continue;
		*ret = (struct event){.exec = m.e.what == EVENT_EXEC,
				      .pid = (int)m.e.tgid,
				      .status = (int)m.e.code};
		return 1;
	}
}
