/* guest_procs - the keeper's knowledge of the guest's processes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * A request of the guest for a change names a thread of the guest. The keeper asks the guest's pid
 * 1 once for the thread's process and command; the request waits for the answer. Without an answer
 * in time the change counts as the agent's own.
 *
 * Life: guest_procs_new() -> guest_procs_free(), once the fs server has been stopped. One thread,
 * the keeper's.
 */
struct fs_server;
struct guest_procs;
struct keeper;

/* Takes sock, which carries messages of monitor/guest_word.h. */
int guest_procs_new(struct guest_procs **ret, struct keeper *k, struct fs_server *fs, int sock,
		    struct err *err) MUST_USE;
/* Handles the guest's last messages before its end is reported. Here and below NULL is a no-op. */
void guest_procs_drain(struct guest_procs *g);
void guest_procs_free(struct guest_procs *g);
