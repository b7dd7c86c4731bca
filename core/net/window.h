/* window - the ports at which a session may listen where it shares the host's loopback device. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "core/net/addr.h"

/*
 * Windows of sessions that run at the same time do not overlap. The registry is a file in the state
 * folder. A window is a lock on its bytes from the first port to the last: two windows cannot
 * overlap, and one is free again when its process ends, in whatever way.
 */
/* The pool of ports: above those that Linux assigns itself (ip_local_port_range). */
#define WINDOW_FIRST 61000
#define WINDOW_LAST  65499
#define WINDOW_LEAST 1024

/* What happens to a bind() to another port or another address. */
enum window_strategy {
	WINDOW_FAIL,
	WINDOW_DEVICE, /* it uses the session's own loopback address, at the named port */
	/* It uses a port of the window; so does a connect() to the named port. */
	WINDOW_PORT,
};

struct net_window {
	bool on; /* false: bind() is not restricted */
	enum window_strategy strategy;
	uint16_t base, count; /* base 0: any free window */
	struct net_addr device;
	bool own_device; /* not 127.0.0.1: ports of other sessions cause no conflict */
};

/* Fills in base, and for WINDOW_DEVICE a loopback address of the session. *ret_lock: keep it open
 * while the window is used. Returns -EADDRINUSE if another session has the window, or none is
 * free. */
int window_reserve(struct net_window *w, const char *state_dir, int *ret_lock, struct err *err)
	MUST_USE;
bool window_has(const struct net_window *w, uint16_t port);
