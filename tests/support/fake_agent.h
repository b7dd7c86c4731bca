/* fake_agent - a backend without a sandbox and a door without system calls, for keeper tests. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/keeper/keeper.h"

/* The agent is a forked child that runs agent_script. In place of a system call it sends a message
 * to the door, with one end of a socketpair for the answer; like the caller of a held call, the
 * sender waits. */
struct agent_call {
	int tid;
	char op[16];
	char a[512], b[128]; /* "name" or "dir/name" below the folder */
	size_t len;	     /* of a, for exec */
};

static void (*agent_script)(void);
static int agent_sock = -1;

/* ---- in the agent ---------------------------------------------------------------------------- */

UNUSED static int agent_send(const char *op, const char *a, size_t len, const char *b)
{
	struct agent_call call = {.tid = (int)syscall(SYS_gettid), .len = len};
	int pair[2], answer = -EIO;

	snprintf(call.op, sizeof(call.op), "%s", op);
	memcpy(call.a, a, MIN(len, sizeof(call.a) - 1));
	snprintf(call.b, sizeof(call.b), "%s", b ? b : "");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		_exit(99);
	if (io_send_fd(agent_sock, &call, sizeof(call), pair[1]) < 0)
		_exit(98);
	close(pair[1]);
	if (read(pair[0], &answer, sizeof(answer)) != sizeof(answer))
		answer = -ENOSYS; /* the door is closed */
	close(pair[0]);
	return answer;
}

UNUSED static int agent_do(const char *op, const char *a, const char *b)
{
	return agent_send(op, a, strlen(a), b);
}

/* '|' represents NUL; the process announces that it will exec this. */
UNUSED static void agent_exec(const char *text)
{
	char argv[512];
	size_t len = strlen(text) + 1;

	memcpy(argv, text, len);
	for (size_t i = 0; i < len; i++)
		argv[i] = argv[i] == '|' ? '\0' : argv[i];
	agent_send("exec", argv, len, NULL);
}

/* Runs fn in a child and waits for it. */
UNUSED static void agent_run(void (*fn)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		fn();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* ---- the door -------------------------------------------------------------------------------- */

struct fake_parked {
	uint64_t id;
	int answer;
	struct agent_call call;
};

struct fake_door {
	struct door door;
	struct keeper *k;
	struct fake_parked parked[64];
	size_t n_parked;
	uint64_t last_id;
};

struct fake_place {
	char dir[128];
	int fd;
	struct at at;
};

static void fake_find(struct fake_place *p, struct folder *f, const char *name)
{
	const char *slash = strrchr(name, '/');

	snprintf(p->dir, sizeof(p->dir), "%.*s", slash ? (int)(slash - name) : 0, name);
	p->fd = slash ? openat(folder_fd(f), p->dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	p->at = (struct at){.dirfd = slash ? p->fd : folder_fd(f),
			    .dir = p->dir,
			    .name = slash ? slash + 1 : name};
}

static int fake_perform(struct fake_door *d, const struct agent_call *call, struct caller *c,
			struct folder *f, const struct at *a, const struct at *b)
{
	int r;

	if (str_eq(call->op, "create") || str_eq(call->op, "write")) {
		r = folder_open(f, c, a, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (r >= 0 && *call->b && write(r, call->b, strlen(call->b)) < 0)
			r = -errno;
		if (r > 0)
			close(r);
		return MIN(r, 0);
	}
	if (str_eq(call->op, "mkdir"))
		return folder_mkdir(f, c, a, 0777);
	if (str_eq(call->op, "unlink"))
		return folder_unlink(f, c, a);
	if (str_eq(call->op, "link"))
		return folder_link(f, c, a, b);
	if (str_eq(call->op, "rename"))
		return folder_rename(f, c, a, b, 0);
	if (str_eq(call->op, "read"))
		return folder_read(d->k, c, RULE_READ, call->a, NULL);
	if (str_eq(call->op, "outside"))
		return folder_outside(d->k, c, call->a);
	if (str_eq(call->op, "exec")) {
		keeper_exec(d->k, c, call->a, call->a, call->len);
		return 0;
	}
	return -EINVAL;
}

static void fake_answer(struct fake_door *d, const struct agent_call *call, uint64_t id, int fd,
			bool granted)
{
	struct caller c = {.door = &d->door, .request = id, .granted = granted, .op = call->op};
	struct folder *f = folders_at(d->k, 0);
	struct fake_place a, b;
	int r = keeper_caller(d->k, call->tid, &c);

	fake_find(&a, f, call->a);
	fake_find(&b, f, call->b);
	if (r == 0)
		r = fake_perform(d, call, &c, f, &a.at, &b.at);
	util_close_fd(&a.fd);
	util_close_fd(&b.fd);
	if (r == -FOLDER_HELD && d->n_parked < ARRAY_LEN(d->parked)) {
		d->parked[d->n_parked++] = (struct fake_parked){id, fd, *call};
		return;
	}
	if (send(fd, &r, sizeof(r), MSG_NOSIGNAL) < 0)
		r = -errno; /* the caller died */
	close(fd);
}

static int fake_serve(struct door *door, short events)
{
	struct fake_door *d = (struct fake_door *)door;
	struct agent_call call;
	int fd;

	(void)events;
	if (io_recv_fd(door->fd, &call, sizeof(call), &fd) != (ssize_t)sizeof(call))
		return -EPIPE;
	fake_answer(d, &call, ++d->last_id, fd, false);
	return 0;
}

static void fake_answered(struct door *door, uint64_t id, enum door_verdict verdict)
{
	struct fake_door *d = (struct fake_door *)door;

	for (size_t i = 0; i < d->n_parked; i++) {
		struct fake_parked p = d->parked[i];
		int refused = verdict == VERDICT_STOP ? -EPERM : -EACCES;

		if (p.id != id)
			continue;
		d->parked[i] = d->parked[--d->n_parked];
		if (verdict == VERDICT_ALLOW || verdict == VERDICT_RETRY) {
			fake_answer(d, &p.call, id, p.answer, verdict == VERDICT_ALLOW);
			return;
		}
		send(p.answer, &refused, sizeof(refused), MSG_NOSIGNAL);
		close(p.answer);
		return;
	}
}

static void fake_drop_all(struct door *door)
{
	struct fake_door *d = (struct fake_door *)door;

	while (d->n_parked)
		fake_answered(door, d->parked[0].id, VERDICT_DENY);
}

static void fake_close(struct door *door)
{
	close(door->fd);
	free(door);
}

/* ---- the backend ----------------------------------------------------------------------------- */

struct sandbox {
	struct keeper *k;
	pid_t pid;
	int pidfd;
};

static void fake_exited(void *data)
{
	struct sandbox *sb = data;
	int status = 0;

	keeper_unwatch(sb->k, sb->pidfd);
	waitpid(sb->pid, &status, 0);
	sb->pid = 0;
	keeper_agent_exited(sb->k, status);
}

static NORETURN void fake_agent_main(int sock, int go)
{
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	agent_sock = sock;
	if (read(go, &c, 1) == 1)
		agent_script();
	_exit(3);
}

static int fake_launch(struct sandbox **ret, struct door **ret_door, const struct spawn_spec *spec,
		       struct keeper *k, int *ret_status, struct err *err)
{
	static const struct door_ops ops = {.serve = fake_serve,
					    .answered = fake_answered,
					    .drop_all = fake_drop_all,
					    .close = fake_close};
	struct sandbox *sb;
	struct fake_door *d;
	int pair[2], go[2];

	(void)spec;
	if (!agent_script) {
		*ret_status = 127;
		return err_say(err, -ENOENT, "no such agent");
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 || pipe(go) < 0)
		return err_set(err, -errno, "sockets");
	sb = xcalloc(1, sizeof(*sb));
	sb->k = k;
	sb->pid = fork();
	if (sb->pid == 0) {
		close(pair[0]);
		close(go[1]);
		fake_agent_main(pair[1], go[0]);
	}
	close(pair[1]);
	close(go[0]);
	sb->pidfd = (int)syscall(SYS_pidfd_open, sb->pid, 0);
	keeper_set_agent(k, sb->pid, ORPHANS_UNKNOWN);
	keeper_watch(k, sb->pidfd, fake_exited, sb);
	if (write(go[1], "", 1) < 0)
		return err_set(err, -errno, "start");
	close(go[1]);
	d = xcalloc(1, sizeof(*d));
	d->door.ops = &ops;
	d->door.fd = pair[0];
	d->k = k;
	*ret = sb;
	*ret_door = &d->door;
	return 0;
}

static void fake_signal(struct sandbox *sb, int sig)
{
	if (sb->pid)
		kill(sb->pid, sig);
}

static void fake_stop(struct sandbox *sb)
{
	if (sb->pid) {
		kill(sb->pid, SIGKILL);
		waitpid(sb->pid, NULL, 0);
	}
	close(sb->pidfd);
	free(sb);
}

UNUSED static const struct backend fake_backend = {
	.name = "fake",
	.summary = "no sandbox",
	.launch = fake_launch,
	.signal = fake_signal,
	.stop = fake_stop,
};
