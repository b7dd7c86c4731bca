/* vhost - the vhost-user back end of one share: QEMU's messages, queues, waiting requests. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/vhost.h"

#include <errno.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/vm/fs/vhost_priv.h"
#include "core/base/io.h"

/* The messages that QEMU may send to this device. Any other is an error. */
enum {
	GET_FEATURES = 1,
	SET_FEATURES = 2,
	SET_OWNER = 3,
	RESET_OWNER = 4,
	SET_MEM_TABLE = 5,
	SET_VRING_NUM = 8,
	SET_VRING_ADDR = 9,
	SET_VRING_BASE = 10,
	GET_VRING_BASE = 11,
	SET_VRING_KICK = 12,
	SET_VRING_CALL = 13,
	SET_VRING_ERR = 14,
	GET_PROTOCOL_FEATURES = 15,
	SET_PROTOCOL_FEATURES = 16,
	GET_QUEUE_NUM = 17,
	SET_VRING_ENABLE = 18,
};

#define VERSION	   1u
#define REPLY	   4u
#define NEED_REPLY 8u

#define FEATURES                                                                                   \
	(UINT64_C(1) << VIRTIO_F_VERSION_1 | UINT64_C(1) << VIRTIO_RING_F_INDIRECT_DESC |          \
	 UINT64_C(1) << 30 /* VHOST_USER_F_PROTOCOL_FEATURES */)
#define PROTOCOL_MQ	   (UINT64_C(1) << 0)
#define PROTOCOL_REPLY_ACK (UINT64_C(1) << 3)

#define NO_FD (UINT64_C(1) << 8) /* of KICK, CALL and ERR */

struct vring_state {
	uint32_t index, num;
};

struct vring_address {
	uint32_t index, flags;
	uint64_t desc, used, avail, log;
};

struct memory_table {
	uint32_t n, unused;
	struct guest_region region[GUEST_REGIONS];
};

struct head {
	uint32_t request, flags, size;
};

struct message {
	struct head h;
	union {
		uint64_t u64;
		struct vring_state state;
		struct vring_address addr;
		struct memory_table memory;
	} body;
	int fds[GUEST_REGIONS];
	size_t n_fds;
};

/* ---- in and out ------------------------------------------------------------------------------ */

static bool receive(struct vhost *v, struct message *m)
{
	ssize_t n;

	memset(m, 0, sizeof(*m));
	n = io_recv_fds(v->sock, &m->h, sizeof(m->h), m->fds, &m->n_fds, ARRAY_LEN(m->fds),
			MSG_WAITALL);
	if (n != sizeof(m->h) || (m->h.flags & 3) != VERSION || m->h.size > sizeof(m->body))
		return false;
	return m->h.size == 0 ||
	       recv(v->sock, &m->body, m->h.size, MSG_WAITALL) == (ssize_t)m->h.size;
}

static bool answer(struct vhost *v, const struct message *m, const void *body, uint32_t size)
{
	char out[sizeof(struct head) + 16];
	const struct head h = {m->h.request, VERSION | REPLY, size};

	memcpy(out, &h, sizeof(h));
	memcpy(out + sizeof(h), body, size);
	return send(v->sock, out, sizeof(h) + size, MSG_NOSIGNAL) == (ssize_t)(sizeof(h) + size);
}

static bool answer_u64(struct vhost *v, const struct message *m, uint64_t value)
{
	return answer(v, m, &value, sizeof(value));
}

/* ---- messages -------------------------------------------------------------------------------- */

static struct vhost_queue *queue_of(struct vhost *v, uint64_t index)
{
	return index < VHOST_QUEUES ? &v->queue[index] : NULL;
}

static bool set_memory(struct vhost *v, const struct message *m)
{
	const struct memory_table *t = &m->body.memory;
	bool ok = t->n <= GUEST_REGIONS && m->n_fds == t->n &&
		  m->h.size >= offsetof(struct memory_table, region) + t->n * sizeof(*t->region);

	ok = ok && guest_memory_set(&v->memory, t->region, m->fds, t->n) == 0;
	if (!ok)
		guest_memory_done(&v->memory);
	for (size_t i = 0; i < VHOST_QUEUES; i++) {
		struct vhost_queue *q = &v->queue[i];

		virtqueue_unmap(&q->ring);
		if (q->running && ok)
			vhost_queue_start(q);
	}
	return ok;
}

/* Takes the descriptor of KICK or CALL. Returns -1 if the message has none or too many. */
static int take_notifier(struct message *m)
{
	if ((m->body.u64 & NO_FD) || m->n_fds != 1)
		return -1;
	return take_fd(&m->fds[0]);
}

static bool set_kick(struct vhost_queue *q, struct message *m)
{
	util_close_fd(&q->kick);
	q->kick = take_notifier(m);
	vhost_queue_start(q);
	return q->kick >= 0; /* a queue without a kick is not polled */
}

static bool set_addr(struct vhost_queue *q, const struct message *m)
{
	const struct vring_address *a = &m->body.addr;

	q->ring.addr = (struct virtqueue_addr){.desc = a->desc, .used = a->used, .avail = a->avail};
	if (q->running)
		return virtqueue_map(&q->ring);
	virtqueue_unmap(&q->ring);
	return true;
}

/* Handles a message about one queue, whose number is in the first word. */
static bool on_queue(struct vhost *v, struct message *m)
{
	struct vhost_queue *q = queue_of(v, m->body.state.index & 0xff);
	const uint32_t num = m->body.state.num;

	if (!q || m->h.size < sizeof(uint64_t))
		return false;
	switch (m->h.request) {
	case SET_VRING_NUM:
		return !q->running && virtqueue_set_num(&q->ring, num);
	case SET_VRING_ADDR:
		return m->h.size >= sizeof(struct vring_address) && set_addr(q, m);
	case SET_VRING_BASE:
		if (num <= UINT16_MAX && !q->running)
			vhost_queue_set_base(q, (uint16_t)num);
		return num <= UINT16_MAX && !q->running;
	case SET_VRING_KICK:
		return set_kick(q, m);
	case SET_VRING_CALL:
		util_close_fd(&q->call);
		q->call = take_notifier(m);
		return true;
	case SET_VRING_ENABLE:
		q->enabled = num != 0;
		return true;
	case SET_VRING_ERR:
		return true;
	default:
		return false;
	}
}

static bool get_base(struct vhost *v, const struct message *m)
{
	struct vhost_queue *q = queue_of(v, m->body.state.index);
	struct vring_state out = {.index = m->body.state.index};

	if (!q)
		return false;
	vhost_queue_stop(q); /* does not wait for requests */
	out.num = q->stopped_at;
	return answer(v, m, &out, sizeof(out));
}

/* Returns 1, 0 if the message failed, or -1 to end the connection. *ret_own is set if the message
 * has a reply of its own, which was sent. */
static int perform(struct vhost *v, struct message *m, bool *ret_own)
{
	*ret_own = true;
	switch (m->h.request) {
	case GET_FEATURES:
		return answer_u64(v, m, FEATURES) ? 1 : -1;
	case GET_PROTOCOL_FEATURES:
		return answer_u64(v, m, PROTOCOL_MQ | PROTOCOL_REPLY_ACK) ? 1 : -1;
	case GET_QUEUE_NUM:
		return answer_u64(v, m, VHOST_QUEUES) ? 1 : -1;
	case GET_VRING_BASE:
		return get_base(v, m) ? 1 : -1;
	default:
		break;
	}
	*ret_own = false;
	switch (m->h.request) {
	case SET_FEATURES:
		v->features = m->body.u64;
		return (v->features & ~FEATURES) == 0;
	case SET_PROTOCOL_FEATURES:
		v->protocol = m->body.u64;
		return (v->protocol & ~(PROTOCOL_MQ | PROTOCOL_REPLY_ACK)) == 0;
	case SET_OWNER:
	case RESET_OWNER:
		return 1;
	case SET_MEM_TABLE:
		return set_memory(v, m);
	default:
		return on_queue(v, m);
	}
}

static bool on_message(struct vhost *v)
{
	struct message m;
	bool own = true, ok = receive(v, &m);
	int got = ok ? perform(v, &m, &own) : -1;

	for (size_t i = 0; i < m.n_fds; i++)
		util_close_fd(&m.fds[i]);
	if (got < 0)
		return false;
	if (!own && (m.h.flags & NEED_REPLY) && (v->protocol & PROTOCOL_REPLY_ACK))
		return answer_u64(v, &m, got ? 0 : 1);
	return got > 0;
}

/* ---- the loop's side ------------------------------------------------------------------------- */

struct vhost *vhost_new(int sock, struct fuse_session *fuse)
{
	struct vhost *v = xcalloc(1, sizeof(*v));

	v->sock = sock;
	v->fuse = fuse;
	for (size_t i = 0; i < VHOST_QUEUES; i++) {
		v->queue[i].v = v;
		v->queue[i].kick = v->queue[i].call = -1;
		v->queue[i].ring.memory = &v->memory;
	}
	return v;
}

void vhost_free(struct vhost *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < VHOST_QUEUES; i++)
		vhost_queue_done(&v->queue[i]);
	guest_memory_done(&v->memory);
	util_close_fd(&v->sock);
	free(v);
}

void vhost_poll(const struct vhost *v, struct pollfd *p)
{
	p[0] = (struct pollfd){.fd = v->sock, .events = POLLIN};
	for (size_t i = 0; i < VHOST_QUEUES; i++)
		p[1 + i] = (struct pollfd){.fd = v->queue[i].running ? v->queue[i].kick : -1,
					   .events = POLLIN};
}

bool vhost_serve(struct vhost *v, const struct pollfd *p)
{
	bool look = false;

	if (p[0].revents) {
		if (!on_message(v))
			return false;
		look = true; /* requests from before the start have no kick */
	}
	for (size_t i = 0; i < VHOST_QUEUES; i++) {
		struct vhost_queue *q = &v->queue[i];
		uint64_t kicks;

		if (p[1 + i].revents && q->kick == p[1 + i].fd &&
		    read(q->kick, &kicks, sizeof(kicks)) < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if ((look || p[1 + i].revents) && !vhost_queue_drain(q))
			return false;
	}
	return true;
}
