/* runner_link - the socket to the runner in the sandbox: queues and sends packets, reads whole
 * ones. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <uv.h>

#include "core/api/inside/wire.h"

/*
 * Life:    runner_link_open() takes the socket, a stream, over -> runner_link_close(), after which
 *          free_it() is called once the loop has run.
 * Threads: main loop only; never blocks.
 * Trust:   the bytes come from inside, so sizes are checked: a malformed stream is broken.
 */
struct runner_link {
	int sock;
	bool closed, broken; /* broken: the runner has ended */
	uv_poll_t poll;	     /* data is the link */
	struct packet *out;  /* packets that the socket has not accepted yet */
	/* A NUL follows the bytes. May call runner_link_close(). */
	void (*packet)(struct runner_link *l, const struct runner_head *h, const char *bytes);
	void (*gone)(struct runner_link *l); /* broken is set before the call */
	void (*free_it)(struct runner_link *l);
	size_t n_in;
	char in[sizeof(struct runner_head) + RUNNER_BYTES + 1]; /* 1: for the NUL */
};

/* Opens the link. The caller has set the three functions. */
void runner_link_open(struct runner_link *l, uv_loop_t *loop, int sock);
void runner_link_close(struct runner_link *l);
/* Queues a packet; sets h->len itself. bytes may be NULL if len is 0. */
void runner_link_send(struct runner_link *l, const struct runner_head *h, const void *bytes,
		      size_t len);
