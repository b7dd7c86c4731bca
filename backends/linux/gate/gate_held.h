/* gate_held - the opens that the read gate holds, and what its server and the keeper say of them.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/gate/gate_priv.h"

/*
 * The server's half of the talk with the keeper; gate_door.c is the other. One for each process,
 * begun once, ended with it. gate_hold() and gate_finish() of gate_fuse.h are its door to the
 * kernel's requests. Threads: one.
 */
void gate_held_begin(const struct gate_server *s, pid_t keeper);

/* What the keeper's socket is to be polled for, and for how many milliseconds at most; -1. */
short gate_held_events(void);
int gate_held_wait_ms(void);
/* Some attributes that the kernel believes may change from now on. */
bool gate_held_is_unsure(void);
/* It believes none of them any more: the keeper goes on. */
void gate_held_sure(void);
/* What poll(2) said of the socket: 0 when something else came, or nothing in time (late). False:
 * the keeper is gone. */
bool gate_held_serve(short revents, bool late) MUST_USE;
