/* work - runs a pure job on a worker thread of libuv's. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <uv.h>

/* A job owns its input and result, and uses nothing else. */
struct work {
	void (*run)(void *job);	 /* on the worker thread */
	void (*done)(void *job); /* on the loop */
	void *job;
	void (*after)(void *data); /* on the loop, after done() */
	void *data;
};

void work_submit(uv_loop_t *loop, const struct work *work); /* copies *work */
