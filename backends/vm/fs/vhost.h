/* vhost - the vhost-user back end of one share: QEMU's messages, queues, waiting requests. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <poll.h>

#include "backends/vm/fs/guest_fuse.h"

struct vhost;

#define VHOST_QUEUES 2 /* FORGET and the like have their own */
#define VHOST_POLLS  (1 + VHOST_QUEUES)

/* Takes sock, connected to QEMU; the session is borrowed. */
struct vhost *vhost_new(int sock, struct fuse_session *fuse);
void vhost_free(struct vhost *v); /* after guest_fuse_free(); NULL is a no-op */
/* Fills in VHOST_POLLS entries; an unused entry has fd -1. */
void vhost_poll(const struct vhost *v, struct pollfd *p);
/* Returns false if QEMU closed the socket or sent an invalid message. */
bool vhost_serve(struct vhost *v, const struct pollfd *p);
