/* fs_server - serves host folders to the guest: starts, stops and watches the serving process. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/fs_server.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/vm/fs/fs_door.h"
#include "backends/vm/fs/fs_process.h"
#include "core/base/fork.h"
#include "core/keeper/folders/folders.h"
#include "core/keeper/service.h"
#include "core/session/backend.h"

#define SEND_BUFFER (1 << 20) /* several of the largest messages */

struct fs_server {
	pid_t pid;
	int pidfd;
	struct fs_shared *shared;
};

/* State while the server starts. */
struct setup {
	struct keeper *k;
	struct fs_process process;
	struct folder *folder[FS_SHARES_MAX];
	struct fs_key store[FS_SHARES_MAX];
	int theirs[FS_SHARES_MAX]; /* the server's ends of the sockets to QEMU */
	int *ours;
	int pair[2];
};

static int pair_of(int type, int fds[2], struct err *err)
{
	return socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) < 0
		       ? err_set(err, -errno, "make a socket pair for the file server")
		       : 0;
}

static int find_folder(struct setup *s, size_t i, const struct fs_share *share, struct err *err)
{
	const char *below;
	struct stat st;
	struct folder *f;

	if (share->kind != FS_FOLDER)
		return 0;
	f = folders_find(s->k, share->path, &below);
	if (!f || *below)
		return err_say(err, -EINVAL, "'%s' is no working folder", share->path);
	s->folder[i] = f;
	if (folder_store_fd(f) >= 0 && fstat(folder_store_fd(f), &st) == 0)
		s->store[i] = (struct fs_key){.dev = st.st_dev, .ino = st.st_ino};
	return 0;
}

static int make_sockets(struct setup *s, struct err *err)
{
	int fds[2], r = pair_of(SOCK_SEQPACKET, s->pair, err), size = SEND_BUFFER;

	for (size_t i = 0; i < s->process.n && r == 0; i++) {
		r = pair_of(SOCK_STREAM, fds, err);
		if (r == 0) {
			s->ours[i] = fds[0];
			s->theirs[i] = fds[1];
		}
	}
	if (r == 0) /* the system may cap it */
		(void)setsockopt(s->pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	return r;
}

static int fork_server(struct setup *s, struct fs_server *server, struct err *err)
{
	s->process.sock = s->pair[1];
	s->process.socks = s->theirs;
	server->pid = fork_bare();
	if (server->pid == 0)
		fs_process_run(&s->process);
	if (server->pid < 0)
		return err_set(err, -errno, "fork the file server");
	server->pidfd = (int)syscall(SYS_pidfd_open, server->pid, 0);
	return server->pidfd < 0 ? err_set(err, -errno, "watch the file server") : 0;
}

int fs_server_start(struct fs_server **ret, struct door **ret_door, struct keeper *k,
		    const struct spawn_spec *spec, const struct fs_share *shares, size_t n,
		    int *ret_socks, struct err *err)
{
	struct setup s = {.k = k, .pair = {-1, -1}, .ours = ret_socks};
	struct fs_server *server = xcalloc(1, sizeof(*server));
	struct fs_page *page = fs_page_new(err);
	int r = page ? 0 : -ENOMEM;

	server->pidfd = -1;
	for (size_t i = 0; i < n; i++)
		ret_socks[i] = -1;
	for (size_t i = 0; i < FS_SHARES_MAX; i++)
		s.theirs[i] = -1;
	if (r == 0 && n > FS_SHARES_MAX)
		r = err_say(err, -E2BIG, "at most %d folders fit into a guest", FS_SHARES_MAX);
	s.process = (struct fs_process){.policy = keeper_policy(k),
					.hidden = spec ? spec->hidden : NULL,
					.page = page,
					.shares = shares,
					.stores = s.store,
					.n = n};
	for (size_t i = 0; i < n && r == 0; i++)
		r = find_folder(&s, i, &shares[i], err);
	if (r == 0)
		r = make_sockets(&s, err);
	if (r == 0)
		r = fork_server(&s, server, err);
	util_close_fd(&s.pair[1]);
	for (size_t i = 0; i < FS_SHARES_MAX; i++)
		util_close_fd(&s.theirs[i]);
	if (r < 0) {
		util_close_fd(&s.pair[0]);
		fs_page_free(page);
		for (size_t i = 0; i < n; i++)
			util_close_fd(&ret_socks[i]);
		fs_server_stop(server);
		return r;
	}
	server->shared = xcalloc(1, sizeof(*server->shared));
	server->shared->refs = 1;
	*ret_door = fs_door_new(
		&(struct fs_door_spec){
			.k = k, .sock = s.pair[0], .page = page, .folder = s.folder, .n = n},
		server->shared);
	*ret = server;
	return 0;
}

void fs_server_set_caller(struct fs_server *s, pid_t caller)
{
	s->shared->caller = caller;
}

void fs_server_set_callers(struct fs_server *s, const struct fs_callers *callers, void *data)
{
	s->shared->callers = callers;
	s->shared->data = data;
}

void fs_server_known(struct fs_server *s, int tid)
{
	if (s->shared->door)
		fs_door_known(s->shared->door, tid);
}

void fs_server_stop(struct fs_server *s)
{
	if (!s)
		return;
	if (s->pid > 0) {
		kill(s->pid, SIGKILL);
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	util_close_fd(&s->pidfd);
	if (s->shared)
		s->shared->callers = NULL; /* the owner of its functions is gone */
	if (s->shared)
		fs_shared_unref(s->shared);
	free(s);
}

int fs_server_pidfd(const struct fs_server *s)
{
	return s->pidfd;
}
