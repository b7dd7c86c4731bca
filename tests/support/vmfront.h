/* vmfront - the front end of a vhost-user device: QEMU's messages and a guest's rings. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <linux/virtio_ring.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "backends/vm/fs/vhost.h"
#include "tests/support/vmfs.h"

#define FRONT_SIZE  (1u << 20)
#define FRONT_GUEST 0x40000000u /* address of the memory, for guest and QEMU */
#define FRONT_USER  0x7f0000000000u
#define FRONT_NUM   16
#define FRONT_RING  0x1000u /* of a queue; the next one is 0x1000 further */
#define FRONT_IN    0x10000u
#define FRONT_OUT   0x40000u

struct front {
	int sock, memfd;
	struct vhost *v; /* served by front_turn(); NULL: by another process */
	char *mem;
	int kick[2], call[2];
	uint16_t avail[2], used[2];
	size_t n_desc; /* of the next chain */
};

struct front_head {
	uint32_t request, flags, size;
};

/* Returns whether the back end still serves. */
static inline bool front_turn(struct front *f)
{
	struct pollfd p[VHOST_POLLS];

	if (!f->v)
		return true;
	vhost_poll(f->v, p);
	if (poll(p, VHOST_POLLS, 0) <= 0)
		return true;
	return vhost_serve(f->v, p);
}

static inline bool front_send(struct front *f, uint32_t request, uint32_t flags, const void *body,
			      uint32_t size, int fd)
{
	char message[512];
	const struct front_head h = {request, flags | 1, size};

	memcpy(message, &h, sizeof(h));
	if (size)
		memcpy(message + sizeof(h), body, size);
	if (io_send_fd(f->sock, message, sizeof(h) + size, fd) < 0)
		return false;
	return front_turn(f);
}

/* Reads an answer's body; returns false if there is none. */
static inline bool front_receive(struct front *f, void *body, uint32_t size)
{
	struct front_head h;

	return recv(f->sock, &h, sizeof(h), MSG_WAITALL) == sizeof(h) && h.size == size &&
	       (h.flags & 7) == 5 && recv(f->sock, body, size, MSG_WAITALL) == (ssize_t)size;
}

struct front_state {
	uint32_t index, num;
};

static inline bool front_state(struct front *f, uint32_t request, uint32_t index, uint32_t num)
{
	const struct front_state s = {index, num};

	return front_send(f, request, 0, &s, sizeof(s), -1);
}

static inline bool front_memory(struct front *f)
{
	const struct {
		uint32_t n, unused;
		uint64_t guest, size, user, offset;
	} table = {1, 0, FRONT_GUEST, FRONT_SIZE, FRONT_USER, 0};

	return front_send(f, 5, 0, &table, sizeof(table), f->memfd);
}

/* Starts a queue like QEMU, from that index on. */
static inline void front_start(struct front *f, uint32_t i, uint16_t base)
{
	const uint64_t at = FRONT_USER + FRONT_RING + (uint64_t)i * 0x1000;
	const struct {
		uint32_t index, flags;
		uint64_t desc, used, avail, log;
	} addr = {i, 0, at, at + 0x800, at + 0x400, 0};
	const uint64_t index = i;

	assert_true(front_state(f, 8, i, FRONT_NUM));
	assert_true(front_state(f, 10, i, base));
	assert_true(front_send(f, 9, 0, &addr, sizeof(addr), -1));
	assert_true(front_send(f, 13, 0, &index, sizeof(index), f->call[i]));
	assert_true(front_send(f, 12, 0, &index, sizeof(index), f->kick[i]));
	assert_true(front_state(f, 18, i, 1));
}

/* Sends GET_VRING_BASE. */
static inline uint16_t front_stop(struct front *f, uint32_t i)
{
	struct front_state s;

	assert_true(front_state(f, 18, i, 0));
	assert_true(front_state(f, 11, i, 0));
	assert_true(front_receive(f, &s, sizeof(s)));
	assert_int_equal(s.index, i);
	return (uint16_t)s.num;
}

/* Takes sock over. v: the device to be served here, or NULL. */
static inline struct front *front_new(int sock, struct vhost *v)
{
	struct front *f = xcalloc(1, sizeof(*f));
	uint64_t got;

	f->sock = sock;
	f->v = v;
	f->memfd = memfd_create("guest", MFD_CLOEXEC);
	assert_int_equal(ftruncate(f->memfd, FRONT_SIZE), 0);
	f->mem = mmap(NULL, FRONT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, f->memfd, 0);
	assert_true(f->mem != MAP_FAILED);
	for (int i = 0; i < 2; i++) {
		f->kick[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		f->call[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	}
	assert_true(front_send(f, 1, 0, NULL, 0, -1)); /* GET_FEATURES */
	assert_true(front_receive(f, &got, sizeof(got)));
	assert_true(got & (UINT64_C(1) << 30));
	assert_true(front_send(f, 15, 0, NULL, 0, -1));
	assert_true(front_receive(f, &got, sizeof(got)));
	assert_true(front_send(f, 16, 0, &got, sizeof(got), -1));
	assert_true(front_send(f, 17, 0, NULL, 0, -1));
	assert_true(front_receive(f, &got, sizeof(got)));
	assert_int_equal(got, 2);
	assert_true(front_send(f, 3, 0, NULL, 0, -1));
	got = UINT64_C(1) << 32 | UINT64_C(1) << 30 | UINT64_C(1) << 28;
	assert_true(front_send(f, 2, 0, &got, sizeof(got), -1));
	assert_true(front_memory(f));
	return f;
}

static inline void front_free(struct front *f)
{
	munmap(f->mem, FRONT_SIZE);
	close(f->memfd);
	close(f->sock);
	for (int i = 0; i < 2; i++) {
		close(f->kick[i]);
		close(f->call[i]);
	}
	free(f);
}

/* ---- a guest's driver ------------------------------------------------------------------------ */

static inline struct vring_desc *front_desc(struct front *f, uint32_t queue, uint32_t i)
{
	void *ring = f->mem + FRONT_RING + queue * 0x1000;

	return (struct vring_desc *)ring + i;
}

/* Writes the guest's data before a kick. */
static inline void front_offer(struct front *f, uint32_t queue, uint16_t head)
{
	uint16_t *avail = (void *)(f->mem + FRONT_RING + queue * 0x1000 + 0x400);

	avail[2 + f->avail[queue] % FRONT_NUM] = head;
	__atomic_store_n(&avail[1], ++f->avail[queue], __ATOMIC_RELEASE);
}

static inline bool front_kick(struct front *f, uint32_t queue)
{
	const uint64_t one = 1;

	assert_int_equal(write(f->kick[queue], &one, sizeof(one)), sizeof(one));
	return front_turn(f);
}

/* Returns the length of the next used element; -1: none. */
static inline long front_used(struct front *f, uint32_t queue)
{
	const char *ring = f->mem + FRONT_RING + queue * 0x1000 + 0x800;
	struct vring_used_elem e;
	uint16_t idx;

	idx = __atomic_load_n((const uint16_t *)(const void *)(ring + 2), __ATOMIC_ACQUIRE);
	if (idx == f->used[queue])
		return -1;
	memcpy(&e, ring + 4 + (f->used[queue]++ % FRONT_NUM) * sizeof(e), sizeof(e));
	return e.len;
}

/* Offers a request of two descriptors, from `slot` on; its answer will be at FRONT_OUT + slot *
 * 4096. */
static inline void front_request(struct front *f, uint32_t slot, uint32_t opcode, uint64_t node,
				 struct vm_part a, struct vm_part b)
{
	struct fuse_in_header h = {.opcode = opcode,
				   .unique = 1000 + slot,
				   .nodeid = node,
				   .uid = geteuid(),
				   .gid = getegid(),
				   .len = (uint32_t)(sizeof(h) + a.len + b.len)};
	char *in = f->mem + FRONT_IN + slot * 4096;

	memcpy(in, &h, sizeof(h));
	memcpy(in + sizeof(h), a.data, a.len);
	memcpy(in + sizeof(h) + a.len, b.data, b.len);
	*front_desc(f, 1, slot) = (struct vring_desc){.addr = FRONT_GUEST + FRONT_IN + slot * 4096,
						      .len = h.len,
						      .flags = VRING_DESC_F_NEXT,
						      .next = (uint16_t)(slot + 1)};
	*front_desc(f, 1, slot + 1) =
		(struct vring_desc){.addr = FRONT_GUEST + FRONT_OUT + slot * 4096,
				    .len = 4096,
				    .flags = VRING_DESC_F_WRITE};
	front_offer(f, 1, (uint16_t)slot);
}

static inline struct fuse_out_header front_answer(const struct front *f, uint32_t slot)
{
	struct fuse_out_header h;

	memcpy(&h, f->mem + FRONT_OUT + slot * 4096, sizeof(h));
	return h;
}
