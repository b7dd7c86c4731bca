/* vhost_queue - requests between a virtqueue and the FUSE codec, across stops and resets. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backends/vm/fs/vhost_priv.h"

/*
 * A request that the keeper holds outlives a stop of its queue (QEMU's `stop`), because the guest
 * still waits for it. Its answer is kept until the queue continues at the same index, and is then
 * written to the request's descriptors. A queue that starts at another index was reset.
 */
struct vhost_request {
	struct fuse_io io;
	struct vhost_request *next;
	struct vhost_queue *q;
	uint32_t life;
	uint16_t head;
	size_t len; /* size of data, which is kept while the queue is stopped */
	char *data;
};

/* The request in guest_fuse_serve(), and the one that is answered late. The server has one
 * thread. */
static struct virtqueue_chain chain, late_chain;
static const struct vhost_request *at_hand;

static void request_free(struct vhost_request *r)
{
	r->q->n_held--;
	free(r->data);
	free(r);
}

static void call(struct vhost_queue *q)
{
	const uint64_t one = 1;

	q->owed = false;
	if (q->call >= 0 && virtqueue_wants_call(&q->ring) &&
	    write(q->call, &one, sizeof(one)) < 0 && errno != EAGAIN)
		util_close_fd(&q->call);
}

static void give_back(struct vhost_request *r, const void *data, size_t len, size_t direct)
{
	struct vhost_queue *q = r->q;
	struct virtqueue_chain *c = r == at_hand ? &chain : &late_chain;

	if (c == &late_chain && !virtqueue_chain_at(&q->ring, r->head, c))
		return;
	if (len > c->out_len)
		len = 0;
	iov_write(c->out, c->n_out, 0, data, len);
	virtqueue_push(&q->ring, r->head, (uint32_t)(len + direct));
	q->owed = true;
}

static void keep(struct vhost_request *r, const void *data, size_t len)
{
	r->data = xmalloc(len + 1);
	if (len)
		memcpy(r->data, data, len);
	r->len = len;
	r->next = r->q->late;
	r->q->late = r;
}

static void reply(struct fuse_io *io, const void *data, size_t len, size_t direct)
{
	struct vhost_request *r = (struct vhost_request *)io;
	struct vhost_queue *q = r->q;
	bool inside = r == at_hand;

	if (r->life == q->life && !q->running) {
		keep(r, data, len);
		return;
	}
	if (r->life == q->life)
		give_back(r, data, len, direct);
	if (inside)
		at_hand = NULL;
	request_free(r);
	if (!inside && q->owed)
		call(q);
}

static void drop_late(struct vhost_queue *q)
{
	while (q->late) {
		struct vhost_request *r = q->late;

		q->late = r->next;
		request_free(r);
	}
}

void vhost_queue_set_base(struct vhost_queue *q, uint16_t base)
{
	if (base != q->stopped_at || q->running) {
		q->life++;
		drop_late(q);
		guest_fuse_cancel(q->v->fuse);
	}
	q->ring.last = base;
	q->ring.broken = false;
}

void vhost_queue_start(struct vhost_queue *q)
{
	if (q->kick < 0 || !virtqueue_map(&q->ring))
		return;
	q->running = true;
	while (q->late) {
		struct vhost_request *r = q->late;

		q->late = r->next;
		give_back(r, r->data, r->len, 0);
		request_free(r);
	}
	if (q->owed)
		call(q);
}

void vhost_queue_stop(struct vhost_queue *q)
{
	q->running = false;
	q->stopped_at = q->ring.last;
	virtqueue_unmap(&q->ring);
	util_close_fd(&q->kick);
}

bool vhost_queue_drain(struct vhost_queue *q)
{
	int got = 0;

	while (q->running && q->enabled && (got = virtqueue_pop(&q->ring, &chain)) > 0) {
		struct vhost_request *r;

		/* A guest that offers a descriptor again before its answer could fill the memory.
		 */
		if (q->n_held >= q->ring.num)
			return false;
		q->n_held++;
		r = xcalloc(1, sizeof(*r));
		r->io = (struct fuse_io){.in = chain.in,
					 .out = chain.out,
					 .n_in = chain.n_in,
					 .n_out = chain.n_out,
					 .in_len = chain.in_len,
					 .out_len = chain.out_len,
					 .reply = reply};
		r->q = q;
		r->life = q->life;
		r->head = chain.head;
		at_hand = r;
		guest_fuse_serve(q->v->fuse, &r->io);
		at_hand = NULL;
	}
	if (q->owed)
		call(q);
	return got >= 0;
}

void vhost_queue_done(struct vhost_queue *q)
{
	drop_late(q);
	util_close_fd(&q->kick);
	util_close_fd(&q->call);
}
