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
/* The pool: above the ports that Linux assigns itself (ip_local_port_range). */
#define WINDOW_FIRST 61000
#define WINDOW_LAST  65499
#define WINDOW_LEAST 1024

/* The treatment of a bind() that names another port or another address. */
enum window_strategy {
	WINDOW_FAIL,
	WINDOW_DEVICE, /* uses the session's own loopback address, at the named port */
	/* Uses a port of the window; so does a connect() to the named port. */
	WINDOW_PORT,
};

struct net_window {
	bool on; /* false: bind() is not restricted */
	enum window_strategy strategy;
	uint16_t base, count; /* base 0: any free one */
	struct net_addr device;
	bool own_device; /* not 127.0.0.1: ports of other sessions do not matter */
};

/* Fills in base, and for WINDOW_DEVICE a loopback address of the session. *ret_lock: to be kept
 * open while the window is used. Returns -EADDRINUSE if another session has it, or all are
 * taken. */
int window_reserve(struct net_window *w, const char *state_dir, int *ret_lock, struct err *err)
	MUST_USE;
bool window_has(const struct net_window *w, uint16_t port);
