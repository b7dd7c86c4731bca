/* gate_held - opens that the read gate holds, and its server's messages to and from the keeper. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/gate/gate_priv.h"

/*
 * The server's side of the messages with the keeper; gate_door.c is the keeper's. One per process,
 * never freed. gate_fuse.c calls gate_hold(), and is called back by gate_finish(). Threads: one.
 */
void gate_held_begin(const struct gate_server *s, pid_t keeper);

/* Return the events to poll the keeper's socket for, and the longest wait in milliseconds; -1:
 * none. */
short gate_held_events(void);
int gate_held_wait_ms(void);
/* Returns whether cached attributes in the kernel may become wrong. */
bool gate_held_is_unsure(void);
/* Tells the keeper that the kernel has dropped such attributes, so that it continues. */
void gate_held_sure(void);
/* Handles the result of poll(2). revents: of the keeper's socket, or 0. late: poll(2) timed out.
 * Returns false if the keeper has ended. */
bool gate_held_serve(short revents, bool late) MUST_USE;
