/* vhost_priv - the state of a vhost-user back end. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/fs/vhost.h"
#include "backends/vm/fs/virtqueue.h"

struct vhost_queue {
	struct vhost *v;
	struct virtqueue ring;
	int kick, call;
	bool enabled, running; /* running: kicked after the last stop */
	bool owed;	       /* a call must be sent at the end of this turn */
	uint32_t life;	       /* number of resets: requests of an earlier life get no answer */
	uint16_t stopped_at;
	uint32_t n_held;	    /* requests without an answer */
	struct vhost_request *late; /* answered while the queue was stopped */
};

struct vhost {
	int sock;
	struct fuse_session *fuse;
	struct guest_memory memory;
	uint64_t features, protocol;
	struct vhost_queue queue[VHOST_QUEUES];
};

/* ---- vhost_queue.c ---- */
void vhost_queue_start(struct vhost_queue *q); /* if all its addresses are known */
void vhost_queue_stop(struct vhost_queue *q);
void vhost_queue_set_base(struct vhost_queue *q, uint16_t base);
bool vhost_queue_drain(struct vhost_queue *q); /* false: broken */
void vhost_queue_done(struct vhost_queue *q);
