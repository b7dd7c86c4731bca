/* frames - the process between the guest's network device and the network gate. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * Theory of operation.
 *
 *   QEMU -- frames --> frames -- packets --> TUN --> router's namespace (backends/linux/net)
 *                        |
 *                      keeper: may this connection be?
 *
 * It takes frames apart (frame.h), holds the first packet of each connection while the keeper
 * decides (syn_gate.h), and writes the packets to a TUN device whose namespace leads nowhere. What
 * the kernel answers goes back as frames. A guest that takes this process over can write any
 * packet to that device: which its root could do all the same, but for the addresses. Nobody
 * listens there for what was not granted, and no other interface is there.
 *
 * It makes no system call but those of its loop, has no capability and no file.
 *
 * Death: it ends with the keeper's socket. When it dies the guest's network is gone: its device is,
 * and with the relay its namespace; the keeper tells the human.
 */
struct frames_spec {
	int net;    /* to QEMU: a 4-byte length before each frame */
	int keeper; /* a seqpacket socket: frames_hello, then guest_note.h */
};

/* Its first message. On success descriptors follow, each in a message with its number: the user and
 * the network namespace, and the sockets of router_prepare_guest(). */
struct frames_hello {
	int32_t code;
};

/* In a process of its own. */
NORETURN void frames_run(const struct frames_spec *spec);

/* ---- frames_filter.c ---- */
/* The last of its confinement; no_new_privs is set. */
int frames_filter(struct err *err) MUST_USE;
