/* guest_procs - the keeper's end of what a guest says of its processes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * A change that the guest asks for names a thread of the guest's. Who that is, and what command it
 * belongs to, is asked of the guest's pid 1 once; until it answers the request waits. What the
 * guest does not answer in time is the agent's own doing.
 *
 * Life: guest_procs_new() -> guest_procs_free(), once the fs server has been stopped. One thread,
 * the keeper's.
 */
struct fs_server;
struct guest_procs;
struct keeper;

/* sock is taken: messages of monitor/guest_word.h. */
int guest_procs_new(struct guest_procs **ret, struct keeper *k, struct fs_server *fs, int sock,
		    struct err *err) MUST_USE;
/* Takes what the guest has said last, before its end is known. NULL is a no-op, here and below. */
void guest_procs_drain(struct guest_procs *g);
void guest_procs_free(struct guest_procs *g);
