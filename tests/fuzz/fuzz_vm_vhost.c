/* fuzz_vm_vhost - QEMU's messages and a guest's rings, with any bytes. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/vm/fs/vhost.h"
#include "core/base/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Guest memory is 64 KiB at address 0 of both the guest and the front end. A record is: what, a
 * byte for it, how many bytes follow, these.
 *
 *   0  a message: the byte is the request, the bytes its body
 *   1  the same, with guest memory's descriptor; 2: with an eventfd
 *   3  the bytes are written to guest memory, at 256 times the byte
 *   4  a kick of that queue
 *   5  the queues are started as QEMU does
 */
#define MEMORY 65536

static struct fs_view view;
static struct fs_tree tree;
static struct fuse_session *fuse;
static struct vhost *vhost;
static int front, keeper, memory, event;
static char *guest;

static void begin(void)
{
	const struct fs_tree_spec spec = {.path = "/usr",
					  .kind = FS_READ_ONLY,
					  .max_open = 12,
					  .max_nodes = 32,
					  .max_handles = 8};
	int pair[2], rings[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, rings) < 0)
		abort();
	keeper = pair[0];
	front = rings[0];
	view.channel = fs_channel_new(pair[1]);
	if (fs_tree_init(&tree, &view, &spec) < 0)
		abort();
	fuse = guest_fuse_new(&tree);
	vhost = vhost_new(rings[1], fuse);
	memory = memfd_create("guest", MFD_CLOEXEC);
	if (ftruncate(memory, MEMORY) < 0)
		abort();
	guest = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static void end(void)
{
	guest_fuse_free(fuse);
	vhost_free(vhost);
	fs_tree_done(&tree);
	fs_channel_free(view.channel);
	munmap(guest, MEMORY);
	close(keeper);
	close(front);
	close(memory);
	close(event);
}

static bool turn(void)
{
	struct pollfd p[VHOST_POLLS];
	char answers[4096];
	bool ok = true;

	vhost_poll(vhost, p);
	if (poll(p, VHOST_POLLS, 0) > 0)
		ok = vhost_serve(vhost, p);
	while (recv(front, answers, sizeof(answers), MSG_DONTWAIT) > 0)
		continue;
	return ok;
}

static bool message(uint32_t request, const void *body, uint32_t size, int fd)
{
	char bytes[512];
	const uint32_t head[3] = {request & 0x3f, 1 | (request >> 4 & 8), size};

	memcpy(bytes, head, sizeof(head));
	memcpy(bytes + sizeof(head), body, size);
	return io_send_fd(front, bytes, sizeof(head) + size, fd) >= 0 && turn();
}

static bool start(void)
{
	const uint64_t table[5] = {1, 0, MEMORY, 0, 0}, features = UINT64_C(1) << 30;

	if (!message(2, &features, 8, -1) || !message(5, table, sizeof(table), memory))
		return false;
	for (uint64_t i = 0; i < 2; i++) {
		const uint64_t num = i | UINT64_C(8) << 32, base = i, on = i | UINT64_C(1) << 32;
		const uint64_t addr[5] = {i, i << 12, (i << 12) + 0x800, (i << 12) + 0x400, 0};

		if (!message(8, &num, 8, -1) || !message(10, &base, 8, -1) ||
		    !message(9, addr, sizeof(addr), -1) || !message(13, &i, 8, event) ||
		    !message(12, &i, 8, event) || !message(18, &on, 8, -1))
			return false;
	}
	return true;
}

static bool kick(void)
{
	const uint64_t one = 1;

	return write(event, &one, sizeof(one)) == sizeof(one) && turn();
}

static bool one(const uint8_t *r, size_t len)
{
	switch (r[0] % 6) {
	case 0:
		return message(r[1], r + 3, (uint32_t)len, -1);
	case 1:
		return message(r[1], r + 3, (uint32_t)len, memory);
	case 2:
		return message(r[1], r + 3, (uint32_t)len, event);
	case 3:
		memcpy(guest + (size_t)r[1] * 256, r + 3, MIN(len, (size_t)(256 - r[1]) * 256));
		return true;
	case 4:
		return kick();
	default:
		return start();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool ok = true;

	begin();
	for (size_t at = 0; ok && size - at >= 3;) {
		size_t len = MIN((size_t)data[at + 2], size - at - 3);

		ok = one(data + at, len);
		at += 3 + len;
	}
	end();
	return 0;
}
