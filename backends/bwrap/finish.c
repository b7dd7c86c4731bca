/* finish - performs the operations that bubblewrap has no option for, in its namespaces. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "backends/bwrap/bwrap_priv.h"
#include "backends/linux/limits/limits.h"
#include "backends/linux/net/net_priv.h"

static int join(const struct namespaces *c, struct err *err)
{
	if (setns(c->ns[NS_USER], CLONE_NEWUSER) < 0)
		return err_set(err, -errno, "join the user namespace that bubblewrap made");
	/* Uses the host's /proc, because the sandbox's is read-only. */
	limits_share_watches();
	if (c->ns[NS_NET] >= 0 && setns(c->ns[NS_NET], CLONE_NEWNET) == 0)
		router_allow_ping();
	if (setns(c->ns[NS_MNT], CLONE_NEWNS) < 0)
		return err_set(err, -errno, "join the namespaces that bubblewrap made");
	if (chdir("/") < 0)
		return err_set(err, -errno, "enter the sandbox's root");
	umask(0);
	/* bwrap leaves slave mounts: later mounts of the host would appear, writable. */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_set(err, -errno, "make the mounts private");
	return 0;
}

/* Sets the owner. Before PLAN_SEAL each tmpfs covers a directory of the host and gets its owner. */
static int own(const struct plan_op *op)
{
	bool foreign = geteuid() == 0 && (op->uid != geteuid() || op->gid != getegid());

	switch ((int)op->what) {
	case PLAN_TMPFS:
		return build_own(op);
	case PLAN_DIR:
	case PLAN_LINK:
		return foreign ? build_own(op) : 0;
	default:
		return 0;
	}
}

static int seal(const struct plan_op *op)
{
	int r = 0;

	if (op->what == PLAN_TMPFS)
		r = build_seal(op->path, false);
	else if (op->what == PLAN_BIND || op->what == PLAN_BIND_RO)
		r = build_seal(op->path, true);
	/* An optional path is missing. */
	return op->optional && (r == -EINVAL || r == -ENOENT || r == -ENOTDIR) ? 0 : r;
}

/* Finishes the operations before PLAN_SEAL, which make the host's tree: sets owners, then makes
 * every mount read-only. */
static int seal_host_tree(const struct plan *plan, size_t *ret_next, struct err *err)
{
	size_t n = 0;
	int r = 0;

	while (n < plan->n && plan->ops[n].what != PLAN_SEAL)
		n++;
	for (size_t i = 0; i < n && r == 0; i++) {
		r = own(&plan->ops[i]);
		if (r < 0)
			return err_set(err, r, "set the owner of '%s'", plan->ops[i].path);
	}
	for (size_t i = 0; i < n; i++) {
		r = seal(&plan->ops[i]);
		if (r < 0)
			return err_set(err, r, "make read-only '%s'", plan->ops[i].path);
	}
	r = n < plan->n ? build_seal("/", false) : 0;
	*ret_next = n;
	return r < 0 ? err_set(err, r, "make read-only '/'") : 0;
}

static int finish_op(const struct build *b, const struct plan_op *op, struct err *err)
{
	int r;

	switch ((int)op->what) {
	case PLAN_SEAL:
		return 0;
	case PLAN_TMPFS: /* in a tree that was sealed with its mounts */
		r = build_unseal(op->path);
		return r < 0 ? err_set(err, r, "make writable '%s'", op->path) : 0;
	case PLAN_PROC:
		if (mount("proc", op->path, "proc", MS_REMOUNT | MS_NOSUID | MS_NODEV | MS_NOEXEC,
			  op->source) < 0)
			return err_set(err, -errno, "set the options of '%s'", op->path);
		return 0;
	case PLAN_BIND_RO:
		if (!args_tell(op))
			return build_op(b, op, err);
		r = seal(op);
		return r < 0 ? err_set(err, r, "make read-only '%s'", op->path) : 0;
	default:
		return args_tell(op) ? 0 : build_op(b, op, err);
	}
}

static int finish(const struct namespaces *c, const struct plan *plan, struct err *err)
{
	const struct build b = {.plan = plan, .sock = -1};
	size_t next = 0;
	int r;

	r = join(c, err);
	if (r == 0)
		r = seal_host_tree(plan, &next, err);
	for (size_t i = next; i < plan->n && r == 0; i++)
		r = finish_op(&b, &plan->ops[i], err);
	if (r == 0)
		build_ops_done();
	return r;
}

static NORETURN void run(const struct namespaces *c, const struct plan *plan, int sock)
{
	struct note note = {.kind = NOTE_BUILT};
	struct err err = {0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (finish(c, plan, &err) < 0)
		child_message_fail(sock, 125, &err);
	_exit(child_message_send(sock, &note, NULL, 0) < 0);
}

int finish_tree(const struct namespaces *c, const struct plan *plan, int *ret_status,
		struct err *err)
{
	int fds[2], r;
	pid_t pid;

	r = child_message_pair(fds, err);
	if (r < 0)
		return r;
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		run(c, plan, fds[1]);
	}
	close(fds[1]);
	r = pid < 0 ? err_set(err, -errno, "fork the finisher of the sandbox")
		    : namespaces_expect(fds[0], NOTE_BUILT, NULL, 0, ret_status, err);
	close(fds[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return r < 0 ? err_wrap(err, r, "finish what bubblewrap built") : 0;
}
