/* answer - answers a trapped call, and lets its caller go on where it stopped. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ldoor;

void answer_open(struct ldoor *d);
void answer_close(struct ldoor *d);
/* A thread has called, before its answer. */
void answer_caller(struct ldoor *d, int tid);
void answer_tick(struct ldoor *d);
/* Answer a request: result as a handler returns it. */
void door_answer(struct ldoor *d, uint64_t id, int result);
/* The same; -ENOENT: nobody waits any more. */
int answer_send(struct ldoor *d, uint64_t id, int result);
/* Hand over a descriptor, with the close-on-exec that flags ask for, to a thread that goes on where
 * we are; tid 0: anywhere. False: nobody waits any more, and fd stays ours; else it is closed here.
 */
bool door_give(struct ldoor *d, uint64_t id, int tid, int flags, int fd);
/* A copy of fd for the caller, which still waits; its number there, or negative errno. */
int door_add(struct ldoor *d, uint64_t id, int flags, int fd);
