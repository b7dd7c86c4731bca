/* landlock - the Linux backend for hosts that give no namespaces. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

/*
 * Theory of operation.
 *
 * The agent sees the host's tree. Landlock handles files, truncation, TCP, signals and abstract
 * sockets. seccomp refuses network sockets other than TCP's, System V and POSIX queues, and changes
 * of other processes' priorities and limits. Landlock refuses the agent connect and bind; the door
 * performs them for it, to the proxy (core/proxy/proxy.h) and at the session's own ports. Outside
 * the folders the door refuses changes that Landlock does not handle (mode, owner, times,
 * attributes), and renames of a directory above a closed place.
 *
 * A fence takes the place of pid 1. The launcher enters a domain D1 that keeps signals in, and
 * forks the fence there before it starts the agent. When the fence's socket closes, its kill(-1,
 * SIGKILL) reaches every descendant of the agent and no other process; the fence has checked that
 * it cannot signal the keeper. If the fence is killed, the keeper kills the processes inside one by
 * one.
 */

extern const struct backend backend_landlock;
