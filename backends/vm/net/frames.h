/* frames - the process between the guest's network device and the network gate. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * Theory of operation.
 *
 *   QEMU -- frames --> frames -- packets --> TUN --> router's namespace (backends/linux/net)
 *                        |
 *                      keeper: is this connection allowed?
 *
 * The process parses frames (frame.h), holds the first packet of each connection while the keeper
 * decides (syn_gate.h), and writes the packets to a TUN device whose namespace has no other
 * interface, and no listener without a grant. The kernel's answers go back as frames. A guest that
 * takes this process over can write any packet to that device; a guest's root can do the same from
 * its own addresses.
 *
 * The process makes only the system calls of its loop, and has no capability and no file.
 *
 * Death: it ends when the keeper's socket closes. When it dies the guest loses its network: the
 * device is gone, and with the relay the namespace. The keeper tells the user.
 */
struct frames_spec {
	int net;    /* to QEMU: a 4-byte length before each frame */
	int keeper; /* a seqpacket socket: frames_hello, then guest_note.h */
};

/* The first message to the keeper. On success descriptors follow, each in a message with its
 * number: the user and the network namespace, and the sockets of router_prepare_guest(). */
struct frames_hello {
	int32_t code;
};

/* Runs the process. */
NORETURN void frames_run(const struct frames_spec *spec);

/* ---- frames_filter.c ---- */
/* Installs the process's system call filter. no_new_privs must be set. */
int frames_filter(struct err *err) MUST_USE;
