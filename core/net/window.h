/* window - the ports that a session may listen at where it shares the host's loopback device. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "core/net/addr.h"

/*
 * Sessions that run at the same time have windows that do not overlap. The registry is a file in
 * the state folder; a window is a lock on its bytes from the first port to the last, so two of them
 * cannot meet, and one is free again when the process that holds it ends, however it ends.
 */
#define WINDOW_FIRST                                                                               \
	61000 /* the pool: above what Linux gives out by itself (ip_local_port_range) */
#define WINDOW_LAST  65499
#define WINDOW_COUNT 32 /* ports, unless told otherwise */
#define WINDOW_LEAST 1024

/* What becomes of a bind() that names another port or another address. */
enum window_strategy {
	WINDOW_FAIL,
	WINDOW_DEVICE, /* goes to the session's own loopback address, at the port that it names */
	WINDOW_PORT, /* goes to a port of the window; a connect() to the one that was named, too */
};

struct net_window {
	bool on; /* false: bind() is nobody's business */
	enum window_strategy strategy;
	uint16_t base, count; /* base 0: any free one */
	struct net_addr device;
	bool own_device; /* not 127.0.0.1: ports of others are no matter */
};

/* Fills base in, and a device of the session's own for WINDOW_DEVICE. *ret_lock: to be kept as long
 * as it is used. -EADDRINUSE: it is another session's, or all are. */
int window_reserve(struct net_window *w, const char *state_dir, int *ret_lock, struct err *err)
	MUST_USE;
bool window_has(const struct net_window *w, uint16_t port);
