/* sandbox_limits - makes the cgroup of a sandbox, or refuses limits that need one. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/limits/limits.h"
#include "backends/linux/sandbox/sandbox_priv.h"

/*
 * Returns which of the limits that the user named need a cgroup: memory unless each process has it
 * as its address space, processes for root, to whom RLIMIT_NPROC does not apply.
 */
static unsigned needs_cgroup(const struct spawn_limits *l)
{
	return (l->needs_memory && !l->address_space ? CGROUP_MEMORY : 0) |
	       (l->needs_processes && geteuid() == 0 ? CGROUP_PIDS : 0);
}

static int refuse_limit(unsigned lacks, struct err *err)
{
	if (lacks & CGROUP_MEMORY)
		return err_say(
			err, -EOPNOTSUPP,
			"sandbox.memory cannot hold: no cgroup can be made here: start cordon "
			"by `systemd-run --user --scope -p Delegate=yes`, or set it to 0 (no "
			"limit), or limit each process alone with sandbox.address-space=true");
	return err_say(err, -EOPNOTSUPP,
		       "sandbox.processes cannot hold for root: no cgroup can be made here: start "
		       "cordon as an ordinary user, or set it to 0 (no limit)");
}

int sandbox_check_limits(const struct spawn_limits *limits, struct err *err)
{
	AUTO_FREE char *name = xasprintf("check-%d", (int)getpid());
	struct err ignored = {0};
	struct cgroup made = {0};
	unsigned lacks = needs_cgroup(limits);

	if (lacks && cgroup_may_exist() && cgroup_make(&made, name, limits, &ignored) == 0) {
		lacks &= ~made.what;
		cgroup_remove(&made);
	}
	return lacks ? refuse_limit(lacks, err) : 0;
}

int sandbox_place_limits(struct sandbox *sb, const struct spawn_spec *spec, struct err *err)
{
	const struct spawn_limits *limits = &spec->limits;
	struct guard g = {.session = spec->session,
			  .limits = limits,
			  .first = sb->cell.first,
			  .pidfd = sb->cell.pidfd};
	struct err ignored = {0};
	struct cgroup made = {0};
	const unsigned needed = needs_cgroup(limits);
	int fds[2], r;

	if ((limits->processes <= 0 && limits->memory <= 0) || !cgroup_may_exist())
		return needed ? refuse_limit(needed, err) : 0;
	/* Without a pid 1 the guard can watch only this process's end of the socket. */
	if (sb->cell.fenced || !cgroup_may_wait(limits) || needed) {
		r = cgroup_make(&made, spec->session, limits, &ignored);
		if (needed & ~made.what) {
			cgroup_remove(&made);
			return refuse_limit(needed & ~made.what, err);
		}
		if (r < 0)
			return 0;
		g.made = &made;
		for (size_t i = 0; i < made.n; i++)
			sb->cgroups[i] = cgroup_open(&made, i);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return err_set(err, -errno, "make a socket");
	g.sock = fds[0];
	if (sb->cell.fenced)
		g.pidfd = fds[0];
	sb->guard_sock = fds[1];
	sb->guard = cgroup_guard(&g, err);
	cgroup_leave(&made);
	close(fds[0]);
	return MIN(sb->guard, 0);
}
