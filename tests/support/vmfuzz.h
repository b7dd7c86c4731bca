/* vmfuzz - a share with a keeper that answers at random, for fuzz targets. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/vm/fs/fs_tree.h"
#include "core/base/io.h"

/* The server's requests must be well-formed whatever the guest sends; they are answered at random,
 * or held. One per process. */
static struct fs_view view;
static struct fs_tree tree;
static int keeper;
static char top[64];

static inline void remove_top(void)
{
	if (io_remove_tree(AT_FDCWD, top) < 0)
		abort();
}

static inline void fuzz_begin(void)
{
	const struct fs_tree_spec spec = {
		.path = top, .kind = FS_FOLDER, .max_open = 12, .max_nodes = 32, .max_handles = 8};
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
}

/* Returns a file to open for writing. It cannot grow: some calls set any size. */
static inline int file(void)
{
	int fd = memfd_create("f", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (ftruncate(fd, 4096) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) < 0)
		abort();
	return fd;
}

static inline void answer(const struct fs_note *n, unsigned chance)
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

static inline void answer_all(unsigned chance)
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

static inline void fuzz_end(void)
{
	if (tree.handles.slots.used || tree.nodes.slots.used != 1)
		abort();
	fs_tree_done(&tree);
	fs_channel_free(view.channel);
	close(keeper);
}
