/* fs_process - the fs server's process: confines itself, serves until QEMU or the keeper ends. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/fs_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/vm/fs/vhost.h"
#include "core/base/io.h"
#include "core/base/log.h"

#define NODES_MAX   (1 << 20) /* per share: a guest has too little memory for more */
#define HANDLES_MAX 65536
#define FDS_SPARE   256 /* reserved for other uses than nodes and handles */

static struct {
	struct fs_view view;
	struct {
		struct fs_tree tree;
		struct vhost *vhost;
	} share[FS_SHARES_MAX];
	size_t n;
} server;

/* Closes all descriptors except the sockets of p, and opens /dev/null as 0 to 2. */
static void keep_only(const struct fs_process *p)
{
	int keep[1 + FS_SHARES_MAX] = {p->sock}, from;

	memcpy(keep + 1, p->socks, p->n * sizeof(keep[0]));
	io_close_all_but(3, keep, p->n + 1);
	log_open(-1, LOG_ERROR, NULL); /* the log's number may now be another file's */
	from = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3 && from >= 0; fd++)
		dup2(from, fd);
	util_close_fd(&from);
}

static int confine(struct err *err)
{
	int r = confine_parser(err);

	return r < 0 ? r : fs_filter(err);
}

static int open_shares(const struct fs_process *p, size_t files)
{
	int r = 0;

	server.view = (struct fs_view){.policy = p->policy,
				       .hidden = p->hidden,
				       .page = p->page,
				       .channel = fs_channel_new(p->sock)};
	server.n = p->n;
	for (size_t i = 0; i < p->n && r == 0; i++) {
		const struct fs_tree_spec spec = {
			.path = p->shares[i].path,
			.kind = p->shares[i].kind,
			.share = (uint32_t)i,
			.store = p->stores[i],
			.max_nodes = NODES_MAX,
			.max_open = files > 2 * FDS_SPARE ? (files - FDS_SPARE) / 2 / p->n : 0,
			.max_handles = HANDLES_MAX};

		r = fs_tree_init(&server.share[i].tree, &server.view, &spec);
		if (r < 0)
			break;
		server.share[i].vhost =
			vhost_new(p->socks[i], guest_fuse_new(&server.share[i].tree));
	}
	return r;
}

static void loop(int sock)
{
	struct pollfd p[1 + FS_SHARES_MAX * VHOST_POLLS];

	for (;;) {
		p[0] = (struct pollfd){.fd = sock,
				       .events = fs_channel_events(server.view.channel)};
		for (size_t i = 0; i < server.n; i++)
			vhost_poll(server.share[i].vhost, p + 1 + i * VHOST_POLLS);
		if (poll(p, 1 + server.n * VHOST_POLLS, -1) < 0)
			continue;
		if (p[0].revents && !fs_channel_serve(server.view.channel, p[0].revents))
			return;
		for (size_t i = 0; i < server.n; i++)
			if (!vhost_serve(server.share[i].vhost, p + 1 + i * VHOST_POLLS))
				return;
	}
}

NORETURN void fs_process_run(const struct fs_process *p)
{
	struct err err = {0};

	prctl(PR_SET_NAME, "cordon-fs");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	umask(0);
	keep_only(p);
	/* If the parent died before prctl(), the closed socket ends the loop. */
	if (open_shares(p, MIN(io_raise_open_files(), (size_t)1 << 20)) < 0 || confine(&err) < 0)
		_exit(1);
	loop(p->sock);
	_exit(0);
}
