/* keeper - the process that performs every change of the working folders: start and end. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/folders/folder.h"
#include "core/keeper/service.h"
#include "core/keeper/spec.h"

/*
 * One keeper per session, forked before cordon starts its loop. It has a single thread and one
 * epoll: for the door, the socket to cordon, pidfds of commands, and timers. Landlock confines this
 * thread to the folders. In the console a second thread, outside that domain, performs writes that
 * the user granted elsewhere.
 *
 * End of cordon (EOF on the socket): the keeper kills the sandbox, finishes the current operation
 * and exits. The next start rolls open steps back.
 * End of the keeper: held calls fail with ENOSYS, and the launcher's PDEATHSIG ends the sandbox.
 */

/* Forks the keeper, which never returns. It is confined before its first WIRE_STARTED or WIRE_NOTE
 * arrives. */
int keeper_fork(const struct keeper_spec *spec, pid_t *ret_pid, struct err *err) MUST_USE;

/* Opens journal, folders and epoll, without a sandbox: for tests. k is zeroed memory. */
int keeper_init(struct keeper *k, struct keeper_spec *spec, struct err *err) MUST_USE;
void keeper_done(struct keeper *k);
