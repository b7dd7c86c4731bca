/* probe - finds out by trial which mechanisms work on this host. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/sandbox/landlock.h"
#include "backends/linux/limits/limits.h"
#include "backends/linux/native.h"
#include "backends/linux/net/net_priv.h"
#include "backends/linux/probe/probe_priv.h"
#include "core/base/io.h"

/*
 * Each trial runs in a process of its own, which may end in any namespace or under any filter. It
 * returns 0, or a negative errno and a message.
 */
struct outcome {
	int code;
	char found[160];
};

static struct outcome not_tried(const char *what)
{
	struct outcome o;

	o.code = probe_failed(o.found, sizeof(o.found), what);
	return o;
}

/* Leaves *o as it is if the process that had to write it has died. */
static void read_outcome(int fd, struct outcome *o)
{
	struct outcome got;

	if (io_read_full(fd, &got, sizeof(got)) == (ssize_t)sizeof(got))
		*o = got;
}

static struct outcome try(trial_fn fn)
{
	struct outcome o = {.code = -EPIPE, .found = "the trial died"};
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return not_tried("pipe");
	pid = fork();
	if (pid < 0)
		o = not_tried("fork");
	if (pid == 0) {
		o.found[0] = '\0';
		o.code = fn(o.found, sizeof(o.found));
		_exit(io_write_all(fds[1], &o, sizeof(o)) < 0);
	}
	close(fds[1]);
	if (pid > 0) {
		read_outcome(fds[0], &o);
		waitpid(pid, NULL, 0);
	}
	close(fds[0]);
	return o;
}

int probe_failed(char *found, size_t size, const char *what)
{
	char why[80];
	int code = -errno;

	if (code == 0) {
		snprintf(found, size, "%s: it was not refused", what);
		return -EPROTO;
	}
	snprintf(found, size, "%s: %s", what, strerror_r(-code, why, sizeof(why)));
	return code;
}

/* ---- trials ---------------------------------------------------------------------------------- */

static int write_file(const char *path, const char *text)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

#define NO_NAMESPACE "unshare" /* how messages of failures without a namespace begin */

static int enter_user_namespace(char *found, size_t size)
{
	unsigned uid = geteuid(), gid = getegid();
	char map[64];

	prctl(PR_SET_DUMPABLE, 1);
	if (access("/proc/self/uid_map", F_OK) < 0)
		return probe_failed(found, size, "/proc is not mounted here");
	if (unshare(CLONE_NEWUSER) < 0)
		return probe_failed(found, size,
				    errno == ENOSPC ? NO_NAMESPACE
					    ": user.max_user_namespaces is 0, or used up"
						    : NO_NAMESPACE);
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (write_file("/proc/self/uid_map", map) < 0)
		return probe_failed(found, size, "write uid_map");
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	if (write_file("/proc/self/gid_map", map) < 0)
		return probe_failed(found, size, "write gid_map");
	return 0;
}

/* Tries to mount: Ubuntu's AppArmor allows the namespace, but no right in it. */
static int enter_mounts(char *found, size_t size)
{
	int r = enter_user_namespace(found, size);

	if (r < 0)
		return r;
	if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
		    CLONE_NEWCGROUP) < 0)
		return probe_failed(found, size, "unshare in a user namespace");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, NULL) < 0)
		return probe_failed(found, size, "mount in a user namespace");
	return 0;
}

/* Tries two more calls of a start: a filter may refuse them and permit unshare(). */
static int clone_and_join(char *found, size_t size)
{
	AUTO_CLOSE int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return probe_failed(found, size, "clone into a namespace");
	waitpid(pid, NULL, 0);
	if (own < 0 || setns(own, CLONE_NEWNET) < 0)
		return probe_failed(found, size, "join a namespace");
	return 0;
}

static int try_user_namespace(char *found, size_t size)
{
	int r = enter_mounts(found, size);

	if (r == 0)
		r = clone_and_join(found, size);
	if (r == 0)
		snprintf(found, size, "user, mount, pid, net, ipc, uts and cgroup: made");
	return r;
}

static int try_mount_api(char *found, size_t size)
{
	const struct {
		uint64_t set, clear, propagation, userns;
	} attr = {.set = 1};
	int r = enter_mounts(found, size), fd;

	if (r < 0)
		return r;
	fd = (int)syscall(SYS_fsopen, "tmpfs", 0);
	if (fd < 0)
		return probe_failed(found, size, "fsopen");
	if (mkdir("/tmp/a", 0755) < 0 || mount("/usr", "/tmp/a", NULL, MS_BIND | MS_REC, NULL) < 0)
		return probe_failed(found, size, "bind");
	if (syscall(SYS_mount_setattr, AT_FDCWD, "/tmp/a", 0x8000, &attr, sizeof(attr)) < 0)
		return probe_failed(found, size, "mount_setattr");
	errno = 0;
	if (mkdir("/tmp/a/cordon-probe", 0700) == 0 || errno != EROFS)
		return probe_failed(found, size, "write below a read-only bind");
	snprintf(found, size, "recursive read-only binds hold");
	return 0;
}

static int mount_proc(char *found, size_t size)
{
	struct outcome o = {.code = -EPIPE, .found = "mount proc: the trial died"};
	int fds[2], r = enter_mounts(found, size);
	pid_t pid;

	if (r < 0)
		return r;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return probe_failed(found, size, "pipe");
	/* The new pid namespace begins with the next child. */
	pid = fork();
	if (pid == 0) {
		o.code = mount("proc", "/tmp", "proc", 0, NULL) < 0
				 ? probe_failed(o.found, sizeof(o.found), "mount proc")
				 : 0;
		_exit(io_write_all(fds[1], &o, sizeof(o)) < 0);
	}
	close(fds[1]);
	if (pid < 0)
		return probe_failed(found, size, "fork in a pid namespace");
	read_outcome(fds[0], &o);
	waitpid(pid, NULL, 0);
	snprintf(found, size, "%s", o.code < 0 ? o.found : "mounted");
	return o.code;
}

static int try_overlay(char *found, size_t size)
{
	int r = enter_mounts(found, size);

	if (r < 0)
		return r;
	if (mkdir("/tmp/l", 0755) < 0 || mkdir("/tmp/u", 0755) < 0 || mkdir("/tmp/w", 0755) < 0 ||
	    mkdir("/tmp/m", 0755) < 0)
		return probe_failed(found, size, "mkdir");
	if (mount("overlay", "/tmp/m", "overlay", 0,
		  "userxattr,lowerdir=/tmp/l,upperdir=/tmp/u,workdir=/tmp/w") < 0)
		return probe_failed(found, size, "mount overlay in a user namespace");
	snprintf(found, size, "mounted");
	return 0;
}

static int try_landlock(char *found, size_t size)
{
	int fd = open("/dev/null", O_PATH | O_CLOEXEC), abi = landlock_abi();
	struct landlock_spec spec = {.writable = &fd, .n = 1};
	struct err err = {0};

	if (abi == 0) {
		snprintf(found, size, "not in this kernel, or not among its active modules");
		return -EOPNOTSUPP;
	}
	if (abi < LANDLOCK_ABI_NEEDED) {
		snprintf(found, size, "ABI %d, %d is needed", abi, LANDLOCK_ABI_NEEDED);
		return -EOPNOTSUPP;
	}
	if (landlock_restrict(&spec, &err) < 0) {
		snprintf(found, size, "%.*s", (int)size - 1, err.text);
		return err.code;
	}
	errno = 0;
	/* A process may write its own name, on each host. */
	if (open("/proc/self/comm", O_WRONLY | O_CLOEXEC) >= 0 || errno != EACCES)
		return probe_failed(found, size, "write under Landlock");
	snprintf(found, size, "ABI %d: a write was refused", abi);
	return 0;
}

static int try_openat2(char *found, size_t size)
{
	const struct {
		uint64_t flags, mode, resolve;
	} how = {.flags = O_PATH | O_CLOEXEC, .resolve = 0x08 /* RESOLVE_BENEATH */};

	errno = 0;
	if (syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how)) >= 0 || errno != EXDEV)
		return probe_failed(found, size, "openat2 with RESOLVE_BENEATH");
	snprintf(found, size, "RESOLVE_BENEATH holds");
	return 0;
}

static int try_fuse(char *found, size_t size)
{
	AUTO_CLOSE int fd = -1;
	char options[96];
	int r = enter_mounts(found, size);

	if (r < 0)
		return r;
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return probe_failed(found, size, "/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u", fd,
		 (unsigned)geteuid(), (unsigned)getegid());
	if (mount("cordon-probe", "/tmp", "fuse", MS_RDONLY | MS_NOSUID | MS_NODEV, options) < 0)
		return probe_failed(found, size, "mount FUSE in a user namespace");
	snprintf(found, size, "mounted: what no rule grants waits behind it");
	return 0;
}

int probe_network(char *found, size_t size)
{
	int r = enter_mounts(found, size);

	if (r < 0)
		return r;
	r = router_try();
	if (r < 0) {
		errno = -r;
		return probe_failed(found, size, "join two network namespaces");
	}
	snprintf(found, size, "veth and routes: made");
	return 0;
}

static int try_cgroup(char *found, size_t size)
{
	const struct spawn_limits limits = {.processes = 100, .memory = (int64_t)1 << 30};
	struct cgroup g;
	char name[32];
	struct err err = {0};
	unsigned what;
	int r;

	snprintf(name, sizeof(name), "probe-%d", (int)getpid());
	r = cgroup_make(&g, name, &limits, &err);
	if (r < 0) {
		snprintf(found, size, "none can be made here: rlimits hold instead");
		return r;
	}
	what = g.what;
	snprintf(found, size, "%s: %s%s%s", g.n == 1 && what != CGROUP_PIDS ? "v2" : "v1",
		 what & CGROUP_PIDS ? "processes" : "", what == 3 ? " and " : "",
		 what & CGROUP_MEMORY ? "memory" : "");
	cgroup_remove(&g);
	return what == (CGROUP_PIDS | CGROUP_MEMORY) ? 0 : -EOPNOTSUPP;
}

/* ---- the report ------------------------------------------------------------------------------ */

static const char userns_remedy[] =
	"allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1, "
	"user.max_user_namespaces above 0; in a container: relax its seccomp profile, or run "
	"cordon on the host; in a chroot the kernel makes none: enter it with systemd-nspawn, or "
	"use --backend landlock";
static const char apparmor_remedy[] =
	"AppArmor restricts user namespaces here (Ubuntu 23.10 and later): install the profile "
	"that "
	"`make install` puts in /etc/apparmor.d/cordon, then run: sudo apparmor_parser -r "
	"/etc/apparmor.d/cordon";

const char probe_network_remedy[] =
	"it needs the veth module (sudo modprobe veth); in a container: relax its seccomp profile; "
	"until then every connection is refused, or --network open";

const char probe_getfd_remedy[] =
	"in a container: docker run --cap-add SYS_PTRACE, or allow pidfd_getfd in its seccomp "
	"profile; else Linux 5.6 or later, with kernel.yama.ptrace_scope below 3";

static bool apparmor_restricts(void)
{
	AUTO_FREE char *text = NULL;

	return io_read_file(AT_FDCWD, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 16,
			    &text, NULL) >= 0 &&
	       text[0] == '1';
}

static const struct trial namespaces[] = {
	{"user namespaces", try_user_namespace,
	 BACKEND_FILES | BACKEND_HIDE | BACKEND_NET | BACKEND_PIDS, true, userns_remedy},
	{"read-only mounts", try_mount_api, BACKEND_FILES | BACKEND_HIDE, true,
	 "Linux 5.12 or later is needed; in a container: relax its seccomp profile"},
	{"own /proc", mount_proc, BACKEND_PIDS, true,
	 "in a container, which may hide parts of /proc: docker run --security-opt "
	 "systempaths=unconfined"},
	{"overlays", try_overlay, 0, false, "Linux 5.11 or later is needed for --overlay"},
	{"read gate (FUSE)", try_fuse, 0, false,
	 "it needs /dev/fuse, open to you: sudo modprobe fuse; sudo chmod 666 /dev/fuse. "
	 "Until then opens are slower in dynamic mode (a search in thousands of small files takes "
	 "three to four times as long; not with --mode static), and a program in a folder that you "
	 "allow meanwhile runs from the next session on"},
	{"network gate", probe_network, 0, false, probe_network_remedy},
};

static const struct trial shared[] = {
	{"Landlock", try_landlock, BACKEND_FILES, true,
	 "boot Linux 5.19 or later with landlock among lsm=; or accept weaker protection: cordon "
	 "run --set sandbox.landlock=off"},
	{"openat2", try_openat2, BACKEND_UNDO, true,
	 "Linux 5.6 or later is needed; in a container: relax its seccomp profile"},
	{"trapped system calls", probe_notify, BACKEND_UNDO, true,
	 "Linux 5.14 or later is needed, with CONFIG_SECCOMP_FILTER; in a container: relax its "
	 "seccomp "
	 "profile"},
	{"descriptors of others (pidfd_getfd)", probe_getfd, BACKEND_UNDO, true,
	 probe_getfd_remedy},
	{"signals wait for held calls", probe_wait_killable, 0, false,
	 "Linux 5.19 or later; without it a call that a signal interrupts is recognised when the "
	 "program tries again"},
	{"control groups", try_cgroup, BACKEND_LIMITS, false,
	 "run cordon from a systemd user session (systemd-run --user --scope cordon ...) for "
	 "limits of the "
	 "whole tree; until then processes are counted per user namespace and memory is not "
	 "bounded"},
};

/* Advice about a trial that only found something used up, or NULL. */
static const char *used_up(int code)
{
	switch (-code) {
	case ETOOMANYREFS:
		return "programs of this user have sent more descriptors over sockets, not yet "
		       "received, than a process may open (ulimit -n): end them, or raise that "
		       "limit";
	case EMFILE:
		return "this process has as many files open as it may: raise ulimit -n";
	case ENFILE:
		return "all processes together have as many files open as they may: raise "
		       "fs.file-max (sysctl)";
	case EAGAIN:
		return "as many processes run as may (ulimit -u, or pids.max of a container or "
		       "cgroup): end some";
	case ENOMEM:
		return "the kernel has no memory for it: end something that has much";
	default:
		return NULL;
	}
}

static const char *advice(const struct trial *t, const struct outcome *o)
{
	const char *used = used_up(o->code);

	if (used)
		return used;
	if (t->fn == try_user_namespace)
		return (o->code == -EPERM || o->code == -EACCES) && apparmor_restricts()
			       ? apparmor_remedy
			       : t->remedy;
	if (str_starts(o->found, NO_NAMESPACE ": "))
		return "it needs user namespaces: see above";
	if (t->fn != probe_notify && str_starts(o->found, PROBE_NO_LISTENER ": "))
		return "it needs trapped system calls: see above";
	return t->remedy;
}

uint32_t probe_trials(const struct trial *list, size_t n, struct probe_report *report,
		      struct err *err)
{
	uint32_t lacks = 0;

	for (size_t i = 0; i < n; i++) {
		const struct trial *t = &list[i];
		struct outcome o = try(t->fn);
		bool ok = o.code == 0;
		const char *remedy = advice(t, &o);

		probe_add(report, t->name, t->needed, ok, o.found, remedy);
		if (ok)
			continue;
		lacks |= t->gives;
		if (t->needed && err && !err->code)
			err_say(err, o.code, "%s: %s: %s", t->name, o.found, remedy);
	}
	return lacks;
}

uint32_t probe_shared(struct probe_report *report, struct err *err)
{
	return probe_trials(shared, ARRAY_LEN(shared), report, err);
}

uint32_t native_probe(struct probe_report *report, struct err *err)
{
	uint32_t bits = BACKEND_REQUIRED | BACKEND_LIMITS;

	bits &= ~probe_trials(namespaces, ARRAY_LEN(namespaces), report, err);
	return bits & ~probe_shared(report, err);
}
