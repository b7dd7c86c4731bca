/* native - the Linux backend: namespaces, Landlock, and the keeper behind a system-call door. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/native.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/door.h"
#include "backends/linux/landlock.h"
#include "backends/linux/limits.h"
#include "backends/linux/native_priv.h"
#include "core/keeper/keeper.h"

struct sandbox {
	struct keeper *keeper;
	pid_t first;	 /* B */
	pid_t agent;	 /* our child too; 0 once it has been waited for */
	pid_t guard;	 /* of the cgroup */
	int pidfd;	 /* of B */
	int agent_pidfd; /* */
	int build;	 /* B's socket: B ends when it closes */
	int hello;	 /* the agent's, until it execs */
	int guard_pipe;	 /* to the guard of the cgroup */
	int root;	 /* O_PATH, the sandbox's "/" */
	int ns[NS_COUNT];
	int cgroups[2]; /* cgroup.procs to enter, opened before D0 forbids it; -1: none */
	struct plan plan;
	bool watching;
};

/* The network namespace is B's own doing: half a millisecond in which the keeper works on. */
static const unsigned long clone_flags =
	CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

static struct sandbox *sandbox_new(struct keeper *k)
{
	struct sandbox *sb = xcalloc(1, sizeof(*sb));

	sb->keeper = k;
	sb->pidfd = sb->agent_pidfd = sb->build = sb->hello = sb->guard_pipe = sb->root = -1;
	sb->cgroups[0] = sb->cgroups[1] = -1;
	for (size_t i = 0; i < NS_COUNT; i++)
		sb->ns[i] = -1;
	return sb;
}

static int reap(pid_t *pid)
{
	int status = 0;

	if (*pid <= 0)
		return 0;
	while (waitpid(*pid, &status, 0) < 0 && errno == EINTR)
		continue;
	*pid = 0;
	return status;
}

static void sandbox_kill(struct sandbox *sb)
{
	/* A pid of ours that has not been waited for is still ours. */
	if (sb->first > 0)
		kill(sb->first, SIGKILL);
	/* The agent first: pid 1 does not end before the last entry of its pid namespace is gone.
	 */
	reap(&sb->agent);
	reap(&sb->first);
}

static void sandbox_free(struct sandbox *sb)
{
	if (sb->watching)
		keeper_unwatch(sb->keeper, sb->agent_pidfd);
	/* Before the wait: the last reference to the mounts goes with pid 1, not with us. */
	util_close_fd(&sb->root);
	for (size_t i = 0; i < NS_COUNT; i++)
		util_close_fd(&sb->ns[i]);
	for (size_t i = 0; i < ARRAY_LEN(sb->cgroups); i++)
		util_close_fd(&sb->cgroups[i]);
	sandbox_kill(sb);
	util_close_fd(&sb->pidfd);
	util_close_fd(&sb->build);
	util_close_fd(&sb->agent_pidfd);
	util_close_fd(&sb->hello);
	util_close_fd(&sb->guard_pipe);
	/* It has seen the end by now, and takes the cgroup away. */
	reap(&sb->guard);
	plan_done(&sb->plan);
	free(sb);
}

/* ---- B --------------------------------------------------------------------------------------- */

static int write_proc(pid_t pid, const char *name, const char *text)
{
	AUTO_CLOSE int fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || dprintf(fd, "%s", text) < 0)
		return -errno;
	return 0;
}

/* Root keeps every id, so that owners mean inside what they mean outside; others have their own. */
static int write_maps(pid_t pid, struct err *err)
{
	static const char all[] = "0 0 4294967295";
	char uid[64], gid[64];
	int r;

	if (geteuid() == 0 && write_proc(pid, "uid_map", all) == 0 &&
	    write_proc(pid, "gid_map", all) == 0)
		return 0;
	snprintf(uid, sizeof(uid), "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
	snprintf(gid, sizeof(gid), "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
	r = write_proc(pid, "uid_map", uid);
	if (r == 0)
		r = write_proc(pid, "setgroups", "deny");
	if (r == 0)
		r = write_proc(pid, "gid_map", gid);
	return r < 0 ? err_set(err, r, "map the user ids of the sandbox") : 0;
}

static int pair(int fds[2], struct err *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return err_set(err, -errno, "make a socket pair");
	return 0;
}

static int start_builder(struct sandbox *sb, const struct spawn_spec *spec, struct err *err)
{
	struct build b = {.plan = &sb->plan, .sock = -1, .private_net = !spec->allow_network};
	int fds[2], dumpable = prctl(PR_GET_DUMPABLE), r;

	r = pair(fds, err);
	if (r < 0)
		return r;
	sb->build = fds[0];
	b.sock = fds[1];
	/* B's id maps belong to whoever may look into B: for a moment, to this user. */
	prctl(PR_SET_DUMPABLE, 1);
	sb->first = (pid_t)syscall(SYS_clone, clone_flags | SIGCHLD, 0, 0, 0, 0);
	if (sb->first == 0) {
		close(fds[0]);
		build_run(&b);
	}
	r = sb->first < 0 ? -errno : 0;
	prctl(PR_SET_DUMPABLE, dumpable);
	close(fds[1]);
	if (r < 0)
		return err_set(err, r, "create namespaces (see `cordon doctor`)");
	r = write_maps(sb->first, err);
	if (r < 0)
		return r;
	if (send(sb->build, "", 1, MSG_NOSIGNAL) != 1)
		return err_set(err, -errno, "start the builder");
	sb->pidfd = (int)syscall(SYS_pidfd_open, sb->first, 0);
	return sb->pidfd < 0 ? err_set(err, -errno, "open a pidfd") : 0;
}

/* A note that must come now; a failure that the other side reports becomes ours. */
static int expect(int sock, enum note_kind kind, struct note *note, int *fds, size_t n,
		  int *ret_status, struct err *err)
{
	int r = note_recv(sock, note, fds, n);

	if (r < 0)
		return err_set(err, r, "wait for the sandbox");
	if (r == 0)
		return err_say(err, -EPIPE, "a process of the sandbox died while it was starting");
	if (note->kind == NOTE_FAILED) {
		*ret_status = note->status;
		return err_say(err, note->code < 0 ? note->code : -EIO, "%s", note->text);
	}
	return note->kind == (int)kind ? 0
				       : err_say(err, -EPROTO, "unexpected note %d", note->kind);
}

static int finish_builder(struct sandbox *sb, int *ret_status, struct err *err)
{
	struct note note;
	int fds[NOTE_FDS], r;

	r = expect(sb->build, NOTE_BUILT, &note, fds, NOTE_FDS, ret_status, err);
	if (r < 0)
		return err_wrap(err, r, "build the sandbox");
	sb->root = fds[0];
	for (size_t i = 0; i < NS_COUNT; i++)
		sb->ns[i] = fds[i + 1];
	return 0;
}

/* ---- the keeper's own domain ----------------------------------------------------------------- */

static int confine(const struct sandbox *sb, const struct spawn_spec *spec, struct err *err)
{
	enum {
		MAX_FDS = 64
	};
	int fds[MAX_FDS], r;
	struct landlock_spec rules = {.writable = fds};
	struct folder *f;

	r = confine_keeper(err);
	if (r < 0 || spec->landlock_off)
		return r;
	fds[rules.n++] = sb->root;
	/* The agent stands under these rules too, and opens /dev/stdout. */
	for (size_t i = 0; i < ARRAY_LEN(spec->stdio); i++)
		fds[rules.n++] = landlock_stdio(spec->stdio[i]);
	for (size_t i = 0; (f = folders_at(sb->keeper, i)); i++) {
		if (rules.n + 2 > MAX_FDS)
			return err_say(err, -E2BIG, "too many working folders");
		fds[rules.n++] = folder_store_fd(f);
		fds[rules.n++] = folder_fd(f);
	}
	r = landlock_restrict(&rules, err);
	return r < 0 ? err_wrap(err, r, "confine the keeper") : 0;
}

/* ---- the agent ------------------------------------------------------------------------------- */

static int start_agent(struct sandbox *sb, const struct spawn_spec *spec,
		       const struct filter_spec *filter, struct err *err)
{
	struct launch l = {.spec = spec, .plan = &sb->plan, .filter = *filter};
	int fds[2], r;

	r = pair(fds, err);
	if (r < 0)
		return r;
	sb->hello = fds[0];
	l.agent = fds[1];
	for (size_t i = 0; i < NS_COUNT; i++)
		l.ns[i] = sb->ns[i];
	for (size_t i = 0; i < ARRAY_LEN(l.cgroups); i++)
		l.cgroups[i] = sb->cgroups[i];
	r = launch_agent(&l, err);
	close(fds[1]);
	if (r < 0)
		return r;
	sb->agent = l.pid;
	sb->agent_pidfd = (int)syscall(SYS_pidfd_open, sb->agent, 0);
	return sb->agent_pidfd < 0 ? err_set(err, -errno, "open a pidfd") : 0;
}

static void on_exit_of_agent(void *data)
{
	struct sandbox *sb = data;

	keeper_unwatch(sb->keeper, sb->agent_pidfd);
	sb->watching = false;
	keeper_agent_exited(sb->keeper, reap(&sb->agent));
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Best effort: `doctor` says what holds here, and rlimits hold in any case. */
static int place_limits(struct sandbox *sb, const struct spawn_spec *spec, struct err *err)
{
	const struct spawn_limits *limits = &spec->limits;
	struct guard g = {
		.session = spec->session, .limits = limits, .first = sb->first, .pidfd = sb->pidfd};
	struct err ignored = {0};
	struct cgroup made;
	int fds[2], r;

	if ((limits->processes <= 0 && limits->memory <= 0) || !cgroup_may_exist())
		return 0;
	if (!cgroup_may_wait(limits)) {
		r = cgroup_make(&made, spec->session, limits, &ignored);
		if (r < 0)
			return 0;
		g.made = &made;
		for (size_t i = 0; i < made.n; i++)
			sb->cgroups[i] = cgroup_open(&made, i);
	}
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(err, -errno, "make a pipe");
	g.pipe = fds[0];
	sb->guard_pipe = fds[1];
	sb->guard = cgroup_guard(&g, err);
	close(fds[0]);
	return MIN(sb->guard, 0);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int check_host(const struct spawn_spec *spec, struct err *err)
{
	int abi;

	if (spec->landlock_off)
		return 0;
	abi = landlock_abi();
	if (abi >= LANDLOCK_ABI_NEEDED)
		return 0;
	return err_say(
		err, -EOPNOTSUPP,
		"%s: boot a kernel of 5.19 or later with landlock among its lsm=, or accept the "
		"mounts as the only floor with --set sandbox.landlock=off",
		abi ? "this kernel's Landlock (ABI 1) would break renames"
		    : "this kernel has no Landlock, or it is switched off");
}

/* From go to the exec: the agent's own execve() comes through the door. */
static int start_program(struct sandbox *sb, struct door *door, int *ret_status, struct err *err)
{
	struct note note = {.kind = NOTE_GO};
	int r = note_send(sb->hello, &note, NULL, 0);

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
		r = note_recv(sb->hello, &note, NULL, 0);
		/* Closed by exec: the program runs. */
		if (r <= 0) {
			util_close_fd(&sb->hello);
			return 0;
		}
		*ret_status = note.status;
		return err_say(err, note.code < 0 ? note.code : -EIO, "%s", note.text);
	}
}

static int open_door(struct sandbox *sb, const struct filter_spec *filter, struct door **ret_door,
		     int *ret_status, struct err *err)
{
	AUTO_CLOSE int listener = -1;
	AUTO_CLOSE int root = -1;
	struct note note;
	int r;

	r = expect(sb->hello, NOTE_READY, &note, &listener, 1, ret_status, err);
	if (r < 0)
		return r;
	root = fcntl(sb->root, F_DUPFD_CLOEXEC, 3);
	if (listener < 0 || root < 0)
		return err_say(err, -EPROTO, "the system-call door did not arrive");
	*ret_door = door_new(sb->keeper, take_fd(&listener), take_fd(&root), filter, err);
	return *ret_door ? 0 : -EIO; /* err says why */
}

static int start(struct sandbox *sb, struct door **ret_door, const struct spawn_spec *spec,
		 int *ret_status, struct err *err)
{
	struct filter_spec filter = {.no_debug = spec->no_debug,
				     .nesting = spec->nesting,
				     .allow_network = spec->allow_network};
	int r;

	r = check_host(spec, err);
	if (r == 0)
		r = plan_make(&sb->plan, spec, err);
	if (r == 0)
		r = start_builder(sb, spec, err);
	/* While B mounts: what needs nobody. */
	if (r == 0)
		r = filter_prepare(&filter, err);
	if (r == 0)
		r = place_limits(sb, spec, err);
	if (r == 0)
		r = finish_builder(sb, ret_status, err);
	if (r == 0)
		r = confine(sb, spec, err);
	if (r == 0)
		r = start_agent(sb, spec, &filter, err);
	if (r < 0)
		return r;
	if (sb->guard_pipe >= 0 && write(sb->guard_pipe, &sb->agent, sizeof(sb->agent)) < 0)
		return err_set(err, -errno, "tell the guard of the limits");
	r = open_door(sb, &filter, ret_door, ret_status, err);
	if (r < 0)
		return r;
	keeper_set_agent(sb->keeper, sb->agent);
	assert(*ret_door);
	r = start_program(sb, *ret_door, ret_status, err);
	if (r < 0)
		return r;
	r = keeper_watch(sb->keeper, sb->agent_pidfd, on_exit_of_agent, sb);
	if (r < 0)
		return err_set(err, r, "watch the agent");
	sb->watching = true;
	return 0;
}

static int native_launch(struct sandbox **ret, struct door **ret_door,
			 const struct spawn_spec *spec, struct keeper *k, int *ret_status,
			 struct err *err)
{
	struct sandbox *sb = sandbox_new(k);
	struct door *door = NULL;
	int r;

	*ret_status = 125;
	r = start(sb, &door, spec, ret_status, err);
	if (r < 0) {
		if (door)
			door->ops->close(door);
		sandbox_free(sb);
		return r;
	}
	*ret = sb;
	*ret_door = door;
	return 0;
}

static void native_signal(struct sandbox *sb, int sig)
{
	if (sig == SIGKILL)
		syscall(SYS_pidfd_send_signal, sb->pidfd, SIGKILL, NULL, 0);
	else if (sb->agent > 0)
		kill(-sb->agent, sig); /* it leads a session of its own */
}

static void native_stop(struct sandbox *sb)
{
	sandbox_free(sb);
}

const struct backend backend_native = {
	.name = "native",
	.summary = "namespaces, Landlock and trapped system calls",
	.probe = native_probe,
	.launch = native_launch,
	.signal = native_signal,
	.stop = native_stop,
};
