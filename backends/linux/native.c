/* native - the Linux backend that makes its namespaces itself. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/native.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "backends/linux/gate/gate.h"
#include "backends/linux/sandbox/sandbox.h"
#include "core/config/config.h"
#include "core/session/session.h"

/* B makes the network namespace itself: that takes half a millisecond, in which the keeper
 * works. */
static const unsigned long clone_flags =
	CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

/* Opens B's user namespace, while B is still dumpable. */
static int open_user_namespace(struct namespaces *c, const struct plan *plan, struct err *err)
{
	char path[64];

	if (plan->read != READ_FUSE)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)c->first);
	c->user = open(path, O_RDONLY | O_CLOEXEC);
	return c->user < 0 ? err_set(err, -errno, "open '%s'", path) : 0;
}

static int start_builder(struct namespaces *c, const struct plan *plan,
			 const struct spawn_spec *spec, struct err *err)
{
	struct gates gates = {0};
	struct build b = {
		.plan = plan, .gates = &gates, .sock = -1, .private_net = !spec->allow_network};
	int fds[2], dumpable = prctl(PR_GET_DUMPABLE), r;

	r = child_message_pair(fds, err);
	if (r < 0)
		return r;
	c->private_net = b.private_net;
	c->sock = fds[0];
	b.sock = fds[1];
	/* The owner of a dumpable process owns its id maps: for a moment, this user. */
	prctl(PR_SET_DUMPABLE, 1);
	c->child = (pid_t)syscall(SYS_clone, clone_flags | SIGCHLD, 0, 0, 0, 0);
	if (c->child == 0) {
		close(fds[0]);
		build_run(&b);
	}
	r = c->child < 0 ? -errno : 0;
	prctl(PR_SET_DUMPABLE, dumpable);
	close(fds[1]);
	if (r < 0)
		return err_set(err, r, "create namespaces (see `cordon doctor`)");
	c->first = c->child;
	r = namespaces_write_maps(c->first, err);
	if (r == 0)
		r = open_user_namespace(c, plan, err);
	if (r < 0)
		return r;
	if (send(c->sock, "", 1, MSG_NOSIGNAL) != 1)
		return err_set(err, -errno, "start the builder");
	c->pidfd = (int)syscall(SYS_pidfd_open, c->first, 0);
	return c->pidfd < 0 ? err_set(err, -errno, "open a pidfd") : 0;
}

static int finish_builder(struct namespaces *c, const struct plan *plan, int *ret_status,
			  struct err *err)
{
	(void)plan;
	return namespaces_take(c, ret_status, err);
}

static const struct builder builder = {
	.gates = true, .start = start_builder, .finish = finish_builder};

static int native_launch(struct sandbox **ret, struct door **ret_door,
			 const struct spawn_spec *spec, struct keeper *k, int *ret_status,
			 struct err *err)
{
	return sandbox_launch(&builder, ret, ret_door, spec, k, ret_status, err);
}

/* Returns whether the file system can be the upper layer of an overlay. */
static bool takes_layers(const char *dir)
{
	static const unsigned long not [] = {
		OVERLAYFS_SUPER_MAGIC, NFS_SUPER_MAGIC, FUSE_SUPER_MAGIC,    CIFS_SUPER_MAGIC,
		SMB2_SUPER_MAGIC,      V9FS_MAGIC,	ECRYPTFS_SUPER_MAGIC};
	struct statfs fs;

	if (statfs(dir, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(not ); i++)
		if ((unsigned long)fs.f_type == not [i])
			return false;
	/* An ordinary user's overlays store marks in user.overlay.* (tmpfs: from Linux 6.6 on). */
	return getxattr(dir, "user.overlay.opaque", NULL, 0) >= 0 || errno == ENODATA;
}

static unsigned native_homes(const char *dir, const struct session_spec *spec)
{
	const char *gate = config_str(spec->config, "sandbox.read-gate");
	bool gated = spec->dynamic && !str_eq(gate, "trap") && gate_probe() == 0;

	return (takes_layers(dir) ? HOMES_OVERLAYS : 0) | (gated ? HOMES_ABSENT : 0);
}

static int native_check(const struct spawn_spec *wanted, struct err *err)
{
	return sandbox_check(&builder, wanted, err);
}

const struct backend backend_native = {
	.name = "native",
	.summary = "namespaces, Landlock and trapped system calls",
	.asks_network = true,
	.homes = native_homes,
	.probe = native_probe,
	.check = native_check,
	.launch = native_launch,
	.enter = sandbox_enter,
	.signal = sandbox_signal,
	.stop = sandbox_stop,
	.confine_reader = confine_reader,
};
