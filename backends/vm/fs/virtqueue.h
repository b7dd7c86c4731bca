/* virtqueue - one split virtqueue: takes requests from the guest, gives them back. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/fs/guest_memory.h"

#define VIRTQUEUE_MAX	 1024 /* entries: QEMU's own limit */
#define VIRTQUEUE_PIECES 1100 /* of one request, each way */

struct virtqueue_addr { /* of the front end's memory */
	uint64_t desc, used, avail;
};

/*
 * Everything in the rings is the guest's to change at any time: each number is read once, and
 * checked before it is used.
 */
struct virtqueue {
	const struct guest_memory *memory;
	uint32_t num;
	struct virtqueue_addr addr;
	void *desc, *avail, *used; /* NULL: not known, or not in memory that is mapped */
	uint16_t last, used_idx;
	bool broken; /* it said something that cannot be: nothing of it is served any more */
};

/* A request's memory. */
struct virtqueue_chain {
	uint16_t head;
	size_t n_in, n_out, in_len, out_len;
	struct iovec in[VIRTQUEUE_PIECES], out[VIRTQUEUE_PIECES];
};

bool virtqueue_set_num(struct virtqueue *q, uint32_t num);
/* Finds the rings anew, as after a change of memory. False: they are not in it. */
bool virtqueue_map(struct virtqueue *q);
void virtqueue_unmap(struct virtqueue *q);
/* 1: *ret is the next request; 0: there is none; -EBADMSG: broken. */
int virtqueue_pop(struct virtqueue *q, struct virtqueue_chain *ret);
/* The memory of a request that was taken earlier. False: there is no such request now. */
bool virtqueue_chain_at(struct virtqueue *q, uint16_t head, struct virtqueue_chain *ret);
/* Gives it back with len bytes written. */
void virtqueue_push(struct virtqueue *q, uint16_t head, uint32_t len);
bool virtqueue_wants_call(const struct virtqueue *q); /* an interrupt */
