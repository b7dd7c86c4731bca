/* sandbox - one running sandbox of the Linux backends, whoever made its namespaces. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/sandbox.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/door/door.h"
#include "backends/linux/gate/gate.h"
#include "backends/linux/net/gateway.h"
#include "backends/linux/net/proxy_host.h"
#include "backends/linux/net/tls.h"
#include "backends/linux/sandbox/keeper_domain.h"
#include "backends/linux/limits/limits.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/keeper/keeper.h"

struct sandbox {
	struct keeper *keeper;
	struct cell cell;
	pid_t agent;	 /* our child too; 0 once it has been waited for */
	pid_t guard;	 /* of the cgroup */
	int agent_pidfd; /* */
	int hello;	 /* the agent's, until it execs */
	int guard_sock;	 /* to the guard of the cgroup */
	int cgroups[2];	 /* cgroup.procs to enter, opened before D0 forbids it; -1: none */
	struct plan plan;
	struct gate *gate;
	struct tls *tls; /* puts secrets into requests; NULL: there are none */
	const struct secrets *secrets;
	struct proxy_door *proxy; /* until the keeper has it among its doors */
	bool no_fuse;		  /* the device opens, but mounting failed */
	struct spawn_limits limits;
	char **env;		 /* the agent's, where it is not as given */
	const char *private[5];	 /* for keeper_set_private() */
	bool watching, starting; /* the agent's end, and its exec, are waited for */
	bool watching_fence;
};

static struct sandbox *sandbox_new(struct keeper *k)
{
	struct sandbox *sb = xcalloc(1, sizeof(*sb));

	sb->keeper = k;
	sb->agent_pidfd = sb->hello = sb->guard_sock = -1;
	sb->cgroups[0] = sb->cgroups[1] = -1;
	cell_init(&sb->cell);
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

static bool sets_same(const char *setting, const char *const *list)
{
	size_t len = strcspn(setting, "=") + 1;

	for (; list && *list; list++)
		if (strncmp(setting, *list, len) == 0)
			return true;
	return false;
}

/* The given environment, but for where temporary files, the cache and the network are. */
static char **env_with_own(const struct sandbox *sb, const struct spawn_spec *spec)
{
	static const char inside[] = CACHE_INSIDE;
	const char *const *proxy = sb->proxy ? proxy_door_env(sb->proxy) : NULL;
	size_t n = 0, at = 1;
	char **own;

	while (spec->env[n])
		n++;
	own = xcalloc(n + 2 + PROXY_SETTINGS, sizeof(*own));
	own[0] = xasprintf("TMPDIR=%s", sb->plan.own);
	for (size_t i = 0; proxy && proxy[i]; i++)
		own[at++] = xstrdup(proxy[i]);
	for (size_t i = 0; i < n; i++) {
		const char *rest = spec->env[i], *cache;
		AUTO_BUF struct buf text = BUF_INIT;

		if (str_starts(rest, "TMPDIR=") || sets_same(rest, proxy))
			continue;
		for (; spec->cache && (cache = strstr(rest, inside));
		     rest = cache + strlen(inside)) {
			buf_add(&text, rest, (size_t)(cache - rest));
			buf_str(&text, spec->cache);
		}
		buf_str(&text, rest);
		own[at++] = xstrdup(text.data);
	}
	return own;
}

void sandbox_stop(struct sandbox *sb)
{
	if (sb->watching)
		keeper_unwatch(sb->keeper, sb->agent_pidfd);
	if (sb->starting)
		keeper_unwatch(sb->keeper, sb->hello);
	if (sb->watching_fence)
		keeper_unwatch(sb->keeper, sb->cell.pidfd);
	for (size_t i = 0; i < ARRAY_LEN(sb->cgroups); i++)
		util_close_fd(&sb->cgroups[i]);
	cell_leave(&sb->cell);
	cell_kill(&sb->cell);
	/* Whoever waits at the gate ends with it. */
	gate_kill(sb->gate);
	if (sb->cell.fenced && sb->agent > 0) /* the fence may have been killed itself */
		kill(sb->agent, SIGKILL);
	cell_done(&sb->cell); /* and waits for the agent */
	/* The mounter's mounts go meanwhile: that takes it longest. */
	gate_free(take_ptr(&sb->gate));
	if (sb->plan.own && io_remove_tree(AT_FDCWD, sb->plan.own) < 0)
		log_warn("sandbox", "remove %s: %s", sb->plan.own, strerror(errno));
	util_close_fd(&sb->agent_pidfd);
	util_close_fd(&sb->hello);
	util_close_fd(&sb->guard_sock);
	/* It has seen the end by now, and takes the cgroup away. */
	reap(&sb->guard);
	plan_done(&sb->plan);
	proxy_door_free(sb->proxy);
	tls_free(sb->tls);
	for (size_t i = 0; sb->env && sb->env[i]; i++)
		free(sb->env[i]);
	free(sb->env);
	free(sb);
}

/* ---- the agent ------------------------------------------------------------------------------- */

static int begin_fence(struct sandbox *sb, struct launch *l, struct err *err)
{
	int fds[2], r = note_pair(fds, err);

	if (r < 0)
		return r;
	sb->cell.sock = fds[0];
	l->fence_sock = fds[1];
	return 0;
}

/* Killed by somebody: those inside must not outlive it. */
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
	r = cell_expect(sb->cell.sock, NOTE_READY, NULL, 0, ret_status, err);
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

/* To pid 1 or the fence, who has to end all inside where this process cannot. */
static int hand_lifeline(struct sandbox *sb, const struct spawn_spec *spec, struct err *err)
{
	struct note note = {.kind = NOTE_LIFELINE};
	int r = spec->lifeline > 0 ? note_send(sb->cell.sock, &note, &spec->lifeline, 1) : 0;

	return r < 0 ? err_set(err, r, "hand cordon's lifeline over") : 0;
}

static int start_agent(struct sandbox *sb, const struct builder *builder,
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

	r = note_pair(fds, err);
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

/*
 * A zombie that somebody inside traces is not ours to wait for until the tracer lets go of it, and
 * while we wait nobody is served or stopped: then all inside end here, as they would in a moment.
 */
static int reap_agent(struct sandbox *sb)
{
	int status = 0;

	if (waitpid(sb->agent, &status, WNOHANG) == 0) {
		cell_kill(&sb->cell);
		return reap(&sb->agent);
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

/* ---- limits ---------------------------------------------------------------------------------- */

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

/* The usual limits are best effort: `doctor` says what holds here, and rlimits hold in any case.
 * Those that the user named hold, or the start fails. */
static int place_limits(struct sandbox *sb, const struct spawn_spec *spec, struct err *err)
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
	/* Without a pid 1 there is nothing to watch but our own end of the socket. */
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

static void on_exec(void *data)
{
	struct sandbox *sb = data;
	struct note note;
	int r = note_recv(sb->hello, &note, NULL, 0);

	keeper_unwatch(sb->keeper, sb->hello);
	sb->starting = false;
	util_close_fd(&sb->hello);
	if (r > 0)
		keeper_agent_failed(sb->keeper, note.status, note.text);
}

/* Its program lies behind the gate, and a human may be asked: the keeper's loop has to run. */
static int start_gated_program(struct sandbox *sb, struct err *err)
{
	struct note note = {.kind = NOTE_GO};
	int r = note_send(sb->hello, &note, NULL, 0);

	if (r == 0)
		r = keeper_watch(sb->keeper, sb->hello, on_exec, sb);
	if (r < 0)
		return err_set(err, r, "start the agent");
	sb->starting = true;
	return 0;
}

static int open_door(struct sandbox *sb, const struct filter_spec *filter,
		     const struct floor *floor, struct door **ret_door, int *ret_status,
		     struct err *err)
{
	int fds[1 + INSIDE_SOCKETS];
	struct floor own = *floor;
	AUTO_CLOSE int listener = -1;
	AUTO_CLOSE int root = -1;
	int r;

	r = cell_expect(sb->hello, NOTE_READY, fds, ARRAY_LEN(fds), ret_status, err);
	if (r < 0)
		return r;
	listener = fds[0];
	root = fcntl(sb->cell.root, F_DUPFD_CLOEXEC, 3);
	if (sb->cell.ns[NS_NET] >= 0 && fds[1] >= 0) /* the agent was told to prepare for it */
		own.gateway =
			gateway_new(sb->keeper, sb->cell.ns[NS_USER], sb->cell.ns[NS_NET], fds + 1);
	if (own.gateway)
		gateway_use_secrets(own.gateway, sb->secrets, sb->tls);
	if (listener < 0 || root < 0)
		r = err_say(err, -EPROTO, "the system-call door did not arrive");
	else
		*ret_door =
			door_new(sb->keeper, take_fd(&listener), take_fd(&root), filter, &own, err);
	if (r == 0 && *ret_door)
		return 0;
	gateway_free(own.gateway);
	return r < 0 ? r : -EIO; /* err says why */
}

static int choose_read_door(struct sandbox *sb, const struct builder *builder,
			    const struct spawn_spec *spec, struct err *err)
{
	int r = -EOPNOTSUPP;

	if (!spec->dynamic)
		return 0;
	if (builder->gates && spec->read_gate != READ_GATE_TRAP && !sb->no_fuse)
		r = gate_probe();
	sb->plan.read = r == 0 ? READ_FUSE : READ_TRAP;
	if (!builder->gates && spec->read_gate == READ_GATE_FUSE)
		return err_say(err, r,
			       "the read gate by FUSE comes with --backend native only: leave "
			       "sandbox.read-gate=fuse out, and every open is trapped");
	if (r < 0 && spec->read_gate == READ_GATE_FUSE)
		return err_set(err, r, "mount a FUSE file system as the read gate");
	return 0;
}

static int open_gate(struct sandbox *sb, struct err *err)
{
	struct door *door;
	int r;

	if (!sb->gate)
		return 0;
	r = gate_open(sb->gate, sb->keeper, sb->cell.ns[NS_MNT], &door, err);
	if (r < 0)
		return r;
	r = keeper_add_door(sb->keeper, door);
	if (r == 0)
		return 0;
	door->ops->close(door);
	return err_set(err, r, "add the read gate to the keeper's doors");
}

static int add_proxy(struct sandbox *sb, struct err *err)
{
	int r = sb->proxy ? keeper_add_door(sb->keeper, proxy_door_of(sb->proxy)) : 0;

	if (r < 0)
		return err_set(err, r, "add the proxy to the keeper's doors");
	sb->proxy = NULL;
	return 0;
}

/* What takes the place of mounts and of a network namespace. */
static int prepare_alone(struct sandbox *sb, const struct spawn_spec *spec,
			 struct filter_spec *filter, struct floor *floor, struct err *err)
{
	int r = spec->ask_network ? proxy_door_new(&sb->proxy, sb->keeper, &proxy_host_linux, err)
				  : 0;

	filter->alone = true;
	filter->proxied = sb->proxy != NULL;
	floor->proxy = sb->proxy;
	floor->own = &sb->private[2];
	sb->env = env_with_own(sb, spec);
	sb->private[0] = "/dev";
	sb->private[1] = "/proc";
	sb->private[2] = sb->plan.own;
	sb->private[3] = spec->cache;
	keeper_set_private(sb->keeper, sb->private);
	return r;
}

static int start(struct sandbox *sb, const struct builder *builder, struct door **ret_door,
		 const struct spawn_spec *spec, int *ret_status, struct err *err)
{
	struct filter_spec filter = {.no_debug = spec->no_debug,
				     .nesting = spec->nesting,
				     .allow_network = spec->allow_network,
				     .windowed = spec->window.on};
	struct floor floor = {.window = spec->window};
	int r;

	r = check_host(spec, err);
	sb->secrets = spec->secrets;
	if (r == 0 && spec->secrets)
		r = tls_start(&sb->tls, spec, err);
	sb->limits = spec->limits;
	if (r == 0)
		r = choose_read_door(sb, builder, spec, err);
	if (r == 0)
		r = (builder->plan ? builder->plan : plan_make)(&sb->plan, spec, err);
	if (sb->plan.read == READ_TRAP) {
		filter.reads = true;
		floor.trees = &sb->plan.trees;
		floor.shut = sb->plan.shut;
	}
	if (r == 0 && sb->plan.read == READ_TRAP && spec->landlock_off)
		r = err_say(err, -EINVAL,
			    "sandbox.landlock=off leaves reading without a floor here: use --mode "
			    "static, or a host with FUSE");
	if (r == 0 && sb->plan.own)
		r = prepare_alone(sb, spec, &filter, &floor, err);
	if (r == 0)
		r = builder->start(&sb->cell, &sb->plan, spec, err);
	if (r == 0 && sb->plan.n_gated && sb->plan.read == READ_FUSE)
		r = gate_new(&sb->gate, &sb->plan, keeper_policy(sb->keeper), sb->cell.user, err);
	/* While the tree is mounted: what needs nobody. */
	if (r == 0)
		r = filter_prepare(&filter, err);
	if (r == 0)
		r = place_limits(sb, spec, err);
	if (r == 0 && sb->gate) {
		r = gate_serve(sb->gate, sb->cell.sock, err);
		sb->no_fuse = r < 0;
	}
	if (r == 0)
		r = builder->finish(&sb->cell, &sb->plan, ret_status, err);
	tls_shown(sb->tls);
	if (r == 0)
		r = keeper_domain_enter(sb->keeper, &sb->plan, sb->cell.root, spec, err);
	if (r == 0)
		r = start_agent(sb, builder, spec, &filter, err);
	if (r == 0)
		r = watch_fence(sb, ret_status, err);
	if (r == 0)
		r = hand_lifeline(sb, spec, err);
	if (r < 0)
		return r;
	if (sb->guard_sock >= 0 && !sb->cell.fenced &&
	    write(sb->guard_sock, &sb->agent, sizeof(sb->agent)) < 0)
		return err_set(err, -errno, "tell the guard of the limits");
	r = open_door(sb, &filter, &floor, ret_door, ret_status, err);
	if (r < 0)
		return r;
	for (const struct port_pair *p = spec->publish; p && p->port; p++)
		(*ret_door)->ops->publish(*ret_door, p->port, p->host_port);
	r = open_gate(sb, err);
	if (r == 0)
		r = add_proxy(sb, err);
	if (r < 0)
		return r;
	keeper_set_agent(sb->keeper, sb->agent, sb->cell.fenced ? ORPHANS_OUTSIDE : sb->cell.first);
	assert(*ret_door);
	r = sb->gate ? start_gated_program(sb, err) : start_program(sb, *ret_door, ret_status, err);
	if (r < 0)
		return r;
	r = keeper_watch(sb->keeper, sb->agent_pidfd, on_exit_of_agent, sb);
	if (r < 0)
		return err_set(err, r, "watch the agent");
	sb->watching = true;
	return 0;
}

int sandbox_launch(const struct builder *builder, struct sandbox **ret, struct door **ret_door,
		   const struct spawn_spec *spec, struct keeper *k, int *ret_status,
		   struct err *err)
{
	struct sandbox *sb = sandbox_new(k);
	struct door *door = NULL;
	int r;

	*ret_status = 125;
	r = start(sb, builder, &door, spec, ret_status, err);
	if (r < 0 && sb->no_fuse && spec->read_gate == READ_GATE_AUTO) {
		log_warn("sandbox", "%s: every open is trapped instead", err->text);
		sandbox_stop(sb);
		sb = sandbox_new(k);
		sb->no_fuse = true;
		*err = (struct err){0};
		r = start(sb, builder, &door, spec, ret_status, err);
	}
	if (r < 0) {
		if (door)
			door->ops->close(door);
		sandbox_stop(sb);
		return r;
	}
	*ret = sb;
	*ret_door = door;
	return 0;
}

void sandbox_signal(struct sandbox *sb, int sig)
{
	if (sig == SIGKILL)
		cell_kill(&sb->cell);
	else if (sb->agent > 0)
		kill(-sb->agent, sig); /* it leads a session of its own */
}
