/* keeper - the process that performs every change: its birth, its sandbox, its end. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/folders/folder.h"
#include "core/keeper/service.h"
#include "core/keeper/spec.h"

/*
 * One keeper per session, forked before cordon starts its loop. Single thread, one epoll:
 * the door, the socket to cordon, pidfds of commands, timers. (One more thread exists in the
 * console only: it runs what the human granted outside the folders, which Landlock forbids here.)
 *
 * Death:  cordon gone (EOF on the socket): sandbox killed, the operation at hand finished, steps
 * left open for the next start to recover; exit. Keeper gone: held calls fail with ENOSYS and the
 *         launcher's PDEATHSIG ends the sandbox.
 */
/* Fork the keeper; the child never returns. *ret_pid is the child, already confined when its first
 * WIRE_STARTED or WIRE_NOTE arrives. */
int keeper_fork(const struct keeper_spec *spec, pid_t *ret_pid, struct err *err) MUST_USE;

/* Everything but the sandbox: journal, folders, epoll. k is zeroed memory. For tests. */
int keeper_init(struct keeper *k, struct keeper_spec *spec, struct err *err) MUST_USE;
void keeper_done(struct keeper *k);
