/* fuzz_vm_fuse - FUSE messages of a hostile guest, in any order, while the keeper answers. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/vm/fs/fuse.h"
#include "core/base/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * A record is: opcode, node, handle, how many bytes follow, these. Handle 255: the bytes are all of
 * the message; else its first eight are a handle's number. What the server asks the keeper must be
 * well-formed whatever the guest says; it is answered by chance, or held.
 */
static struct fs_view view;
static struct fs_tree tree;
static struct fuse_session *fuse;
static int keeper;
static char top[64];
static char out[65536];
static size_t open_requests;

static void remove_top(void)
{
	if (io_remove_tree(AT_FDCWD, top) < 0)
		abort();
}

static void begin(void)
{
	const struct fs_tree_spec spec = {
		.path = top, .kind = FS_FOLDER, .max_nodes = 32, .max_handles = 8};
	char dir[80];
	int pair[2];

	if (!*top) {
		snprintf(top, sizeof(top), "/tmp/cordon-fuzz-XXXXXX");
		if (!mkdtemp(top))
			abort();
		atexit(remove_top);
		snprintf(dir, sizeof(dir), "%s/d", top);
		if (mkdir(dir, 0755) < 0)
			abort();
		snprintf(dir, sizeof(dir), "%s/f", top);
		if (io_write_file(AT_FDCWD, dir, 0644, "0123456789", 10, false) < 0)
			abort();
		snprintf(dir, sizeof(dir), "%s/l", top);
		if (symlink("f", dir) < 0)
			abort();
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	keeper = pair[0];
	view.channel = fs_channel_new(pair[1]);
	if (fs_tree_init(&tree, &view, &spec) < 0)
		abort();
	fuse = fuse_new(&tree);
}

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
	fuse_serve(fuse, io);
}

/* What is opened for writing: it cannot grow, for there are calls that make it as large as asked.
 */
static int file(void)
{
	int fd = memfd_create("f", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (ftruncate(fd, 4096) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) < 0)
		abort();
	return fd;
}

static void answer(const struct fs_note *n, unsigned chance)
{
	struct fs_answer a = {.id = n->id, .what = FS_ANSWER};
	AUTO_CLOSE int fd = -1;

	if (chance % 8 == 0)
		return; /* held */
	if (chance % 8 < 3)
		a.result = -EACCES;
	else if (n->what == FS_OPEN || n->what == FS_CREATE)
		fd = file();
	if (io_send_fd(keeper, &a, sizeof(a), fd) < 0)
		abort();
}

static void answer_all(unsigned chance)
{
	static struct fs_note n;
	struct fs_note_parts parts;
	ssize_t len;

	while ((len = recv(keeper, &n, sizeof(n), MSG_DONTWAIT)) > 0) {
		if (n.what == FS_CANCEL)
			continue;
		if (!fs_note_parse(&n, (size_t)len, &parts) || n.what >= FS_WHATS)
			abort();
		answer(&n, chance++);
	}
	if (!fs_channel_serve(view.channel, POLLIN))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	begin();
	for (size_t at = 0; size - at >= 4;) {
		size_t len = MIN((size_t)data[at + 3], size - at - 4);

		send_message(data + at, len);
		answer_all(data[at + 1] + data[at + 3]);
		at += 4 + len;
	}
	fuse_free(fuse);
	if (open_requests || tree.handles.slots.used || tree.nodes.slots.used != 1)
		abort();
	fs_tree_done(&tree);
	fs_channel_free(view.channel);
	close(keeper);
	return 0;
}
