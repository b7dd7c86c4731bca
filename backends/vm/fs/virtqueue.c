/* virtqueue - one split virtqueue: takes requests from the guest, gives them back. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/virtqueue.h"

#include <endian.h>
#include <errno.h>
#include <linux/virtio_ring.h>
#include <stdatomic.h>
#include <string.h>

#include "core/base/util.h"

bool virtqueue_set_num(struct virtqueue *q, uint32_t num)
{
	if (num == 0 || num > VIRTQUEUE_MAX || (num & (num - 1)))
		return false;
	virtqueue_unmap(q);
	q->num = num;
	return true;
}

void virtqueue_unmap(struct virtqueue *q)
{
	q->desc = q->avail = q->used = NULL;
}

static bool is_aligned(const void *p, uintptr_t to)
{
	return p && ((uintptr_t)p & (to - 1)) == 0;
}

/* Loads a ring's index or flags: 16 bits that the guest may change at any time. */
static uint16_t load16(const void *ring, size_t i)
{
	const _Atomic uint16_t *p = (const _Atomic uint16_t *)ring + i;

	return le16toh(atomic_load_explicit(p, memory_order_acquire));
}

bool virtqueue_map(struct virtqueue *q)
{
	size_t n = q->num;

	virtqueue_unmap(q);
	if (n == 0)
		return false;
	q->desc = guest_memory_user(q->memory, q->addr.desc, n * sizeof(struct vring_desc));
	q->avail = guest_memory_user(q->memory, q->addr.avail, 4 + 2 * n);
	q->used =
		guest_memory_user(q->memory, q->addr.used, 4 + n * sizeof(struct vring_used_elem));
	if (!is_aligned(q->desc, 16) || !is_aligned(q->avail, 2) || !is_aligned(q->used, 4)) {
		virtqueue_unmap(q);
		return false;
	}
	q->used_idx = load16(q->used, 1);
	return true;
}

/* ---- chains ---------------------------------------------------------------------------------- */

struct walk {
	const struct virtqueue *q;
	struct virtqueue_chain *c;
};

static bool add_piece(const struct virtqueue *q, const struct vring_desc *d,
		      struct virtqueue_chain *c)
{
	if (d->flags & VRING_DESC_F_WRITE) {
		c->out_len += d->len;
		return guest_memory_pieces(q->memory, d->addr, d->len, c->out, &c->n_out,
					   VIRTQUEUE_PIECES);
	}
	if (c->n_out) /* readable descriptors come first */
		return false;
	c->in_len += d->len;
	return guest_memory_pieces(q->memory, d->addr, d->len, c->in, &c->n_in, VIRTQUEUE_PIECES);
}

static struct vring_desc desc_at(const void *table, uint32_t i)
{
	struct vring_desc d;

	memcpy(&d, (const char *)table + i * sizeof(d), sizeof(d));
	return (struct vring_desc){.addr = le64toh(d.addr),
				   .len = le32toh(d.len),
				   .flags = le16toh(d.flags),
				   .next = le16toh(d.next)};
}

/* Adds the descriptors of a table of n to c, beginning with entry i, each at most once. If table is
 * the ring, *ret_indirect is set where an indirect table replaces it. */
static bool walk_table(const struct virtqueue *q, const void *table, uint32_t n, uint32_t i,
		       struct virtqueue_chain *c, struct vring_desc *ret_indirect)
{
	for (uint32_t seen = 0; seen < n; seen++) {
		struct vring_desc d;

		if (i >= n)
			return false;
		d = desc_at(table, i);
		if (d.flags & VRING_DESC_F_INDIRECT) {
			if (!ret_indirect || seen || (d.flags & VRING_DESC_F_NEXT))
				return false;
			*ret_indirect = d;
			return true;
		}
		if (!add_piece(q, &d, c))
			return false;
		if (!(d.flags & VRING_DESC_F_NEXT))
			return true;
		i = d.next;
	}
	return false;
}

static bool walk_indirect(const struct virtqueue *q, const struct vring_desc *d,
			  struct virtqueue_chain *c)
{
	static _Alignas(16) char table[VIRTQUEUE_MAX * sizeof(struct vring_desc)];
	struct iovec v[GUEST_REGIONS];
	size_t n = 0, at = 0;

	if (d->len == 0 || d->len % sizeof(struct vring_desc) || d->len > sizeof(table) ||
	    !guest_memory_pieces(q->memory, d->addr, d->len, v, &n, ARRAY_LEN(v)))
		return false;
	for (size_t i = 0; i < n; i++) {
		memcpy(table + at, v[i].iov_base, v[i].iov_len);
		at += v[i].iov_len;
	}
	return walk_table(q, table, d->len / (uint32_t)sizeof(struct vring_desc), 0, c, NULL);
}

bool virtqueue_chain_at(struct virtqueue *q, uint16_t head, struct virtqueue_chain *ret)
{
	struct vring_desc indirect = {0};

	ret->head = head;
	ret->n_in = ret->n_out = ret->in_len = ret->out_len = 0;
	if (!q->desc || !walk_table(q, q->desc, q->num, head, ret, &indirect))
		return false;
	return !(indirect.flags & VRING_DESC_F_INDIRECT) || walk_indirect(q, &indirect, ret);
}

int virtqueue_pop(struct virtqueue *q, struct virtqueue_chain *ret)
{
	uint16_t avail, head;

	if (!q->avail || q->broken)
		return 0;
	avail = load16(q->avail, 1);
	if (avail == q->last)
		return 0;
	if ((uint16_t)(avail - q->last) > q->num) {
		q->broken = true;
		return -EBADMSG;
	}
	head = load16(q->avail, 2 + (q->last & (q->num - 1)));
	if (head >= q->num || !virtqueue_chain_at(q, head, ret)) {
		q->broken = true;
		return -EBADMSG;
	}
	q->last++;
	return 1;
}

/* ---- giving back ----------------------------------------------------------------------------- */

void virtqueue_push(struct virtqueue *q, uint16_t head, uint32_t len)
{
	const struct vring_used_elem e = {.id = htole32(head), .len = htole32(len)};
	size_t at = q->used_idx & (q->num - 1);

	if (!q->used)
		return;
	memcpy((char *)q->used + 4 + at * sizeof(e), &e, sizeof(e));
	q->used_idx++;
	atomic_store_explicit((_Atomic uint16_t *)q->used + 1, htole16(q->used_idx),
			      memory_order_release);
}

bool virtqueue_wants_call(const struct virtqueue *q)
{
	atomic_thread_fence(memory_order_seq_cst);
	return q->avail && !(load16(q->avail, 0) & VRING_AVAIL_F_NO_INTERRUPT);
}
