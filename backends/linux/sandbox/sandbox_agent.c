/* sandbox_agent - the agent of a sandbox: its start, its program, its end. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/limits/limits.h"
#include "backends/linux/sandbox/sandbox_priv.h"
#include "core/keeper/door.h"
#include "core/keeper/service.h"

int sandbox_reap(pid_t *pid)
{
	int status = 0;

	if (*pid <= 0)
		return 0;
	while (waitpid(*pid, &status, 0) < 0 && errno == EINTR)
		continue;
	*pid = 0;
	return status;
}

static int begin_fence(struct sandbox *sb, struct launch *l, struct err *err)
{
	int fds[2], r = child_message_pair(fds, err);

	if (r < 0)
		return r;
	sb->cell.sock = fds[0];
	l->fence_sock = fds[1];
	return 0;
}

/* Ends the agent when the fence was killed. */
static void on_end_of_fence(void *data)
{
	struct sandbox *sb = data;

	keeper_unwatch(sb->keeper, sb->cell.pidfd);
	sb->watching_fence = false;
	if (sb->agent > 0)
		kill(sb->agent, SIGKILL);
}

static int watch_fence(struct sandbox *sb, int *ret_status, struct err *err)
{
	int r;

	if (!sb->cell.fenced)
		return 0;
	r = namespaces_expect(sb->cell.sock, NOTE_READY, NULL, 0, ret_status, err);
	if (r < 0)
		return err_wrap(err, r, "fence the sandbox");
	sb->cell.pidfd = (int)syscall(SYS_pidfd_open, sb->cell.child, 0);
	r = sb->cell.pidfd < 0 ? -errno
			       : keeper_watch(sb->keeper, sb->cell.pidfd, on_end_of_fence, sb);
	if (r < 0)
		return err_set(err, r, "watch the sandbox's fence");
	sb->watching_fence = true;
	return 0;
}

/* Hands the lifeline to pid 1 or the fence, which ends all processes inside if the keeper
 * cannot. */
static int hand_lifeline(struct sandbox *sb, const struct spawn_spec *spec, struct err *err)
{
	struct note note = {.kind = NOTE_LIFELINE};
	int r = spec->lifeline > 0 ? child_message_send(sb->cell.sock, &note, &spec->lifeline, 1)
				   : 0;

	return r < 0 ? err_set(err, r, "hand cordon's lifeline over") : 0;
}

static int start_launcher(struct sandbox *sb, const struct builder *builder,
			  const struct spawn_spec *spec, const struct filter_spec *filter,
			  struct err *err)
{
	struct launch l = {.spec = spec,
			   .plan = &sb->plan,
			   .filter = *filter,
			   .limits = sb->limits,
			   .env = sb->env ? (const char *const *)sb->env : spec->env,
			   .fence = builder->fence,
			   .fence_sock = -1,
			   .keeper = getpid()};
	int fds[2], r;

	r = child_message_pair(fds, err);
	if (r < 0)
		return r;
	sb->hello = fds[0];
	l.agent = fds[1];
	for (size_t i = 0; i < NS_COUNT; i++)
		l.ns[i] = sb->cell.ns[i];
	for (size_t i = 0; i < ARRAY_LEN(l.cgroups); i++)
		l.cgroups[i] = sb->cgroups[i];
	r = sb->cell.fenced ? begin_fence(sb, &l, err) : 0;
	l.ends[0] = sb->hello;
	l.ends[1] = sb->cell.sock;
	if (r == 0)
		r = launch_agent(&l, err);
	close(fds[1]);
	util_close_fd(&l.fence_sock);
	sb->cell.child = l.fence_pid > 0 ? l.fence_pid : sb->cell.child;
	if (r < 0)
		return r;
	sb->agent = l.pid;
	sb->agent_pidfd = (int)syscall(SYS_pidfd_open, sb->agent, 0);
	return sb->agent_pidfd < 0 ? err_set(err, -errno, "open a pidfd") : 0;
}

int sandbox_start_agent(struct sandbox *sb, const struct builder *builder,
			const struct spawn_spec *spec, const struct filter_spec *filter,
			int *ret_status, struct err *err)
{
	int r = start_launcher(sb, builder, spec, filter, err);

	if (r == 0)
		r = watch_fence(sb, ret_status, err);
	return r < 0 ? r : hand_lifeline(sb, spec, err);
}

/*
 * Returns the wait status of the agent. If a process inside traces the agent, its zombie cannot be
 * reaped until the tracer detaches, and the keeper would serve no call meanwhile. So all processes
 * inside are killed first; they would be killed next anyway.
 */
static int reap_agent(struct sandbox *sb)
{
	int status = 0;

	if (waitpid(sb->agent, &status, WNOHANG) == 0) {
		namespaces_kill(&sb->cell);
		return sandbox_reap(&sb->agent);
	}
	sb->agent = 0;
	return status;
}

static void on_exit_of_agent(void *data)
{
	struct sandbox *sb = data;

	keeper_unwatch(sb->keeper, sb->agent_pidfd);
	sb->watching = false;
	if (cgroup_guard_ended_it(sb->guard_sock))
		keeper_note(sb->keeper,
			    "the agent was ended: more processes than sandbox.processes allows");
	keeper_agent_exited(sb->keeper, reap_agent(sb));
}

/* Waits until the program runs. Serves the door meanwhile, because the agent's own execve() is
 * trapped. */
static int start_program(struct sandbox *sb, struct door *door, int *ret_status, struct err *err)
{
	struct note note = {.kind = NOTE_GO};
	int r = child_message_send(sb->hello, &note, NULL, 0);

	if (r < 0)
		return err_set(err, r, "start the agent");
	for (;;) {
		struct pollfd p[2] = {{.fd = sb->hello, .events = POLLIN},
				      {.fd = door->fd, .events = POLLIN}};

		if (poll(p, 2, -1) < 0) {
			if (errno != EINTR)
				return err_set(err, -errno, "wait for the agent");
			continue;
		}
		door->ops->serve(door, p[1].revents);
		if (!(p[0].revents & (POLLIN | POLLHUP)))
			continue;
		r = child_message_recv(sb->hello, &note, NULL, 0);
		/* exec has closed the socket: the program runs. */
		if (r <= 0) {
			util_close_fd(&sb->hello);
			return 0;
		}
		*ret_status = note.status;
		return err_say(err, note.code < 0 ? note.code : -EIO, "%s", note.text);
	}
}

static void on_exec(void *data)
{
	struct sandbox *sb = data;
	struct note note;
	int r = child_message_recv(sb->hello, &note, NULL, 0);

	keeper_unwatch(sb->keeper, sb->hello);
	sb->starting = false;
	util_close_fd(&sb->hello);
	if (r > 0)
		keeper_agent_failed(sb->keeper, note.status, note.text);
}

/* Starts the program without waiting: it is behind the gate, so the user may be asked about it. */
static int start_gated_program(struct sandbox *sb, struct err *err)
{
	struct note note = {.kind = NOTE_GO};
	int r = child_message_send(sb->hello, &note, NULL, 0);

	if (r == 0)
		r = keeper_watch(sb->keeper, sb->hello, on_exec, sb);
	if (r < 0)
		return err_set(err, r, "start the agent");
	sb->starting = true;
	return 0;
}

int sandbox_start_program(struct sandbox *sb, struct door *door, int *ret_status, struct err *err)
{
	int r = sb->gate ? start_gated_program(sb, err) : start_program(sb, door, ret_status, err);

	if (r < 0)
		return r;
	r = keeper_watch(sb->keeper, sb->agent_pidfd, on_exit_of_agent, sb);
	if (r < 0)
		return err_set(err, r, "watch the agent");
	sb->watching = true;
	return 0;
}
