/* poller - epoll(7), implemented over kqueue(2) on macOS. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* On macOS: descriptors for reading, writing, or both; EPOLLONESHOT; level-triggered as on Linux.
 * An end of file is EPOLLHUP besides the requested events. A descriptor of kqueue is itself
 * readable when an event waits, like one of epoll. */
#ifdef __linux__
#include <sys/epoll.h>
#else
#define EPOLL_CLOEXEC 1
#define EPOLL_CTL_ADD 1
#define EPOLL_CTL_DEL 2
#define EPOLL_CTL_MOD 3
#define EPOLLIN	      0x001u
#define EPOLLOUT      0x004u
#define EPOLLERR      0x008u
#define EPOLLHUP      0x010u
#define EPOLLONESHOT  (1u << 30)

struct epoll_event {
	uint32_t events;
	union {
		void *ptr;
		int fd;
	} data;
};

int epoll_create1(int flags);
int epoll_ctl(int ep, int op, int fd, struct epoll_event *ev);
int epoll_wait(int ep, struct epoll_event *list, int n, int timeout_ms);
#endif
