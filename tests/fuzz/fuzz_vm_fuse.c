/* fuzz_vm_fuse - FUSE messages of a hostile guest, in any order, while the keeper answers. */
/* SPDX-License-Identifier: MIT */
#include <linux/fuse.h>

#include "backends/vm/fs/guest_fuse.h"
#include "tests/support/vmfuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A record is: opcode, node, handle, number of bytes that follow, the bytes. Handle 255: the bytes
 * are the whole message; else its first eight are a handle's number. */
static struct fuse_session *fuse;
static char out[65536];
static size_t open_requests;

static void on_reply(struct fuse_io *io, const void *data, size_t len, size_t direct)
{
	struct fuse_out_header h;

	if (len) {
		memcpy(&h, data, sizeof(h));
		if (h.len != len + direct || h.error > 0 || h.error < -4095)
			abort();
	}
	open_requests--;
	free(io);
}

static void send_message(const uint8_t *r, size_t len)
{
	const struct fuse_in_header h = {
		.len = (uint32_t)(sizeof(h) + len), .opcode = r[0], .nodeid = r[1], .unique = 7};
	AUTO_FREE char *message = xmalloc(sizeof(h) + len);
	struct iovec in = {message, sizeof(h) + len};
	struct iovec to = {out, r[3] == 0 ? 80 : sizeof(out)};
	struct fuse_io *io = xcalloc(1, sizeof(*io));

	memcpy(message, &h, sizeof(h));
	memcpy(message + sizeof(h), r + 4, len);
	if (r[2] != 255 && len >= 8) {
		memset(message + sizeof(h), 0, 8);
		message[sizeof(h)] = (char)r[2];
	}
	*io = (struct fuse_io){.in = &in,
			       .n_in = 1,
			       .in_len = in.iov_len,
			       .out = &to,
			       .n_out = 1,
			       .out_len = to.iov_len,
			       .reply = on_reply};
	open_requests++;
	guest_fuse_serve(fuse, io);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_begin();
	fuse = guest_fuse_new(&tree);
	for (size_t at = 0; size - at >= 4;) {
		size_t len = MIN((size_t)data[at + 3], size - at - 4);

		send_message(data + at, len);
		answer_all(data[at + 1] + data[at + 3]);
		at += 4 + len;
	}
	guest_fuse_free(fuse);
	if (open_requests)
		abort();
	fuzz_end();
	return 0;
}
