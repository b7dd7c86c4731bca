/* answer - answers a trapped call, and wakes its caller on the processor where it called. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ldoor;

void answer_open(struct ldoor *d);
void answer_close(struct ldoor *d);
/* Notes the thread of a new request, before its answer: decides whether SYNC_WAKE_UP is on. */
void answer_caller(struct ldoor *d, int tid);
/* Unpins the keeper once no descriptor has been taken for a moment. */
void answer_tick(struct ldoor *d);
/* Answers a request. result: as a handler returns it. */
void door_answer(struct ldoor *d, uint64_t id, int result);
/* The same. Returns 0 or negative errno; -ENOENT: the caller was killed or interrupted. */
int answer_send(struct ldoor *d, uint64_t id, int result);
/* Answers a request with a descriptor. flags: O_CLOEXEC or not. tid: the calling thread, to be
 * woken on the keeper's processor; 0: on any. Takes fd and returns true. If the caller was killed
 * or interrupted, returns false, and fd stays with the caller of this function. */
bool door_give(struct ldoor *d, uint64_t id, int tid, int flags, int fd);
/* Copies fd to the trapped process, whose call still waits. Returns the number there, or negative
 * errno. */
int door_add(struct ldoor *d, uint64_t id, int flags, int fd);
