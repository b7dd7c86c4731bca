/* virtqueue - one split virtqueue: takes requests from the guest, gives them back. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/fs/guest_memory.h"

#define VIRTQUEUE_MAX	 1024 /* entries: QEMU's own limit */
#define VIRTQUEUE_PIECES 1100 /* per request, each way */

struct virtqueue_addr { /* in the front end's memory */
	uint64_t desc, used, avail;
};

/* The guest may change the rings at any time: each number is read once and checked before use. */
struct virtqueue {
	const struct guest_memory *memory;
	uint32_t num;
	struct virtqueue_addr addr;
	void *desc, *avail, *used; /* NULL: unknown, or not in mapped memory */
	uint16_t last, used_idx;
	bool broken; /* the rings are invalid: no request is served */
};

/* The memory of one request. */
struct virtqueue_chain {
	uint16_t head;
	size_t n_in, n_out, in_len, out_len;
	struct iovec in[VIRTQUEUE_PIECES], out[VIRTQUEUE_PIECES];
};

bool virtqueue_set_num(struct virtqueue *q, uint32_t num);
/* Finds the rings again, after a change of memory. Returns false if mapped memory lacks them. */
bool virtqueue_map(struct virtqueue *q);
void virtqueue_unmap(struct virtqueue *q);
/* Returns 1 and the next request in *ret, 0 if there is none, or -EBADMSG if the queue is
 * broken. */
int virtqueue_pop(struct virtqueue *q, struct virtqueue_chain *ret);
/* Finds the memory of a request that was popped earlier. Returns false if the request is
 * invalid. */
bool virtqueue_chain_at(struct virtqueue *q, uint16_t head, struct virtqueue_chain *ret);
/* Returns a request to the guest, with the number of bytes written. */
void virtqueue_push(struct virtqueue *q, uint16_t head, uint32_t len);
bool virtqueue_wants_call(const struct virtqueue *q); /* the guest wants an interrupt */
