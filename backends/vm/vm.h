/* vm - the backend that runs the agent in a virtual machine. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

/*
 * Theory of operation.
 *
 *   keeper   the only process that changes a folder, as with every backend
 *     +- fs server   parses the guest's file requests (backends/vm/fs/fs_server.h)
 *     +- frames      between the guest's network device and the network gate (net/frames.h)
 *     +- monitor     represents the agent: terminal, signals, exit status (monitor/monitor.h)
 *          +- QEMU   the guest: a kernel, cordon's pid 1 (shim/shim.h), the agent
 *
 * The guest has the host's tree as its own root, read-only, and readable as far as the policy
 * allows. Its changes there stay in its memory, or in an image that is kept for each folder.
 * Working folders are at their own paths and are changed through the keeper. The guest's network
 * device ends in the process "frames", in front of the network gate of the other backends
 * (net/guest_net.h).
 *
 * A request for a change names a thread of the guest. The keeper asks the guest once for the
 * thread's process (guest_procs.h), so that each command is a step. While a safeguard asks, QEMU
 * is stopped; after an undo the guest's pid 1 makes its kernel drop its cache of files.
 *
 * Order of start: the fs server, frames and the monitor are forked, then the keeper confines
 * itself, then the monitor may start the program. If the fs server or QEMU ends, the monitor is
 * ended; all end with the keeper.
 */
extern const struct backend backend_vm;

#define VM_MEMORY_MIN ((int64_t)128 << 20)
