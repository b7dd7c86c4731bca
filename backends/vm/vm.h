/* vm - the backend that runs the agent in a virtual machine. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

/*
 * Theory of operation.
 *
 *   keeper   the only process that changes a folder, as with every backend
 *     +- fs server   parses what the guest asks of files (backends/vm/fs/fs_server.h)
 *     +- frames      between the guest's network device and the network gate (net/frames.h)
 *     +- monitor     stands for the agent: terminal, signals, exit status (monitor/monitor.h)
 *          +- QEMU   the guest: a kernel, our pid 1 (shim/shim.h), the agent
 *
 * The guest has the host's tree as its own root, read-only and as the policy lets it be read; what
 * it changes there lies in its memory, or in an image that is kept for each folder. Working folders
 * are at their own paths and are changed through the keeper. Its network device ends in a process
 * of ours, in front of the network gate that the other backends have (net/guest_net.h).
 *
 * A change names a thread of the guest's. Its process is asked for once (guest_procs.h), so that
 * each command is a step. While a safeguard asks, QEMU stands still; after an undo the guest's pid
 * 1 makes its kernel forget what it remembers of files.
 *
 * Order of start: the fs server, frames and the monitor are forked, then the keeper confines
 * itself, then the monitor may start the program. If the fs server or QEMU ends, the monitor is
 * ended; all end with the keeper.
 */
extern const struct backend backend_vm;

#define VM_MEMORY_MIN ((int64_t)128 << 20)
