/* gate - the keeper's side of the read gate: starts and ends its two processes. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/gate/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/gate/gate_priv.h"
#include "backends/linux/sandbox/sandbox.h"
#include "core/base/log.h"
#include "core/base/io.h"

struct gate {
	const struct plan *plan;
	const struct policy *policy;
	pid_t mounter, server;
	int orders;		/* to the mounter */
	int requests;		/* of the server; -1: the door has it */
	struct gate_page *page; /* NULL: the door has it */
};

void gate_keep_only(const int *fds, size_t n)
{
	bool logs = false;
	int from;

	io_close_all_but(0, fds, n);
	for (size_t i = 0; i < n; i++)
		logs = logs || fds[i] == log_descriptor();
	if (!logs)
		log_open(-1, LOG_ERROR, NULL); /* the log's number may be another file's */
	while ((from = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && from <= STDERR_FILENO)
		continue;
	util_close_fd(&from);
}

int gate_probe(void)
{
	AUTO_CLOSE int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : 0;
}

struct gate_page *gate_page_new(struct err *err)
{
	void *page = mmap(NULL, sizeof(struct gate_page), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page != MAP_FAILED)
		return page;
	err_set(err, -errno, "share memory with the read gate");
	return NULL;
}

void gate_page_free(struct gate_page *page)
{
	if (page)
		munmap(page, sizeof(*page));
}

/* ---- start ----------------------------------------------------------------------------------- */

int gate_new(struct gate **ret, const struct plan *plan, const struct policy *policy, int user_ns,
	     struct err *err)
{
	struct mounter m = {.plan = plan, .user_ns = user_ns};
	struct gate *g;
	int fds[2], r;

	r = child_message_pair(fds, err);
	if (r < 0)
		return r;
	g = xcalloc(1, sizeof(*g));
	g->plan = plan;
	g->policy = policy;
	g->orders = fds[0];
	g->requests = -1;
	m.sock = fds[1];
	*ret = g;
	g->mounter = fork();
	if (g->mounter == 0)
		mounter_run(&m);
	close(fds[1]);
	return g->mounter < 0 ? err_set(err, -errno, "fork the mounter of the read gate") : 0;
}

static int fork_server(struct gate *g, const int *fuse, struct err *err)
{
	struct gate_server s = {.plan = g->plan, .policy = g->policy, .fuse = fuse};
	int fds[2], r;

	s.page = g->page = gate_page_new(err);
	r = g->page ? child_message_pair(fds, err) : -ENOMEM;
	if (r < 0)
		return r;
	s.sock = fds[1];
	g->server = fork();
	if (g->server == 0)
		gate_server_run(&s);
	close(fds[1]);
	g->requests = fds[0];
	return g->server < 0 ? err_set(err, -errno, "fork the read gate") : 0;
}

int gate_serve(struct gate *g, int build_sock, struct err *err)
{
	size_t n = plan_gate_mounts(g->plan);
	int fds[2 * GATES_MAX], r, status;

	r = namespaces_expect(g->orders, NOTE_GATES, fds, 2 * n, &status, err);
	if (r == 0)
		r = fork_server(g, fds, err);
	if (r == 0) {
		struct note note = {.kind = NOTE_GATES};

		r = child_message_send(build_sock, &note, fds + n, n);
		if (r < 0)
			err_set(err, r, "hand the read gate over");
	}
	for (size_t i = 0; i < 2 * n; i++)
		util_close_fd(&fds[i]);
	return r;
}

int gate_open(struct gate *g, struct keeper *k, int mnt_ns, struct door **ret, struct err *err)
{
	struct note home = {.kind = NOTE_HOME};
	int r = child_message_send(g->orders, &home, &mnt_ns, 1);

	if (r < 0)
		return err_set(err, r, "show the mounter the sandbox");
	*ret = gate_door_new(k, &(struct gate_door_spec){.sock = take_fd(&g->requests),
							 .page = take_ptr(&g->page),
							 .mounter = g->orders,
							 .plan = g->plan});
	return 0;
}

/* ---- end ------------------------------------------------------------------------------------- */

void gate_kill(const struct gate *g)
{
	if (g && g->server > 0)
		kill(g->server, SIGKILL);
	if (g && g->mounter > 0)
		kill(g->mounter, SIGKILL);
}

static void wait_for(pid_t pid)
{
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

void gate_free(struct gate *g)
{
	if (!g)
		return;
	gate_kill(g);
	wait_for(g->server);
	wait_for(g->mounter);
	util_close_fd(&g->orders);
	util_close_fd(&g->requests);
	gate_page_free(g->page);
	free(g);
}
