/* sandbox - one running sandbox of the Linux backends. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/sandbox_priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/linux/door/beside_door.h"
#include "backends/linux/door/door.h"
#include "backends/linux/gate/gate.h"
#include "backends/linux/net/gateway.h"
#include "backends/linux/net/proxy_host.h"
#include "backends/linux/net/tls.h"
#include "backends/linux/sandbox/beside.h"
#include "backends/linux/sandbox/keeper_domain.h"
#include "backends/linux/probe/probe_priv.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/keeper/service.h"

static struct sandbox *sandbox_new(struct keeper *k)
{
	struct sandbox *sb = xcalloc(1, sizeof(*sb));

	sb->keeper = k;
	sb->agent_pidfd = sb->hello = sb->guard_sock = -1;
	sb->cgroups[0] = sb->cgroups[1] = -1;
	namespaces_init(&sb->cell);
	return sb;
}

/* Returns the given environment with the sandbox's own temporary files, cache and proxy. */
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

		if (str_starts(rest, "TMPDIR=") || str_sets_same(rest, proxy))
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
	beside_drop(&sb->others);
	if (sb->watching)
		keeper_unwatch(sb->keeper, sb->agent_pidfd);
	if (sb->starting)
		keeper_unwatch(sb->keeper, sb->hello);
	if (sb->watching_fence)
		keeper_unwatch(sb->keeper, sb->cell.pidfd);
	for (size_t i = 0; i < ARRAY_LEN(sb->cgroups); i++)
		util_close_fd(&sb->cgroups[i]);
	namespaces_leave(&sb->cell);
	namespaces_kill(&sb->cell);
	/* Ends callers that wait at the gate. */
	gate_kill(sb->gate);
	if (sb->cell.fenced && sb->agent > 0) /* the fence itself may have been killed */
		kill(sb->agent, SIGKILL);
	namespaces_done(&sb->cell); /* waits for the agent, too */
	/* The mounter's mounts are removed meanwhile, which takes longest. */
	gate_free(take_ptr(&sb->gate));
	if (sb->plan.own && io_remove_tree(AT_FDCWD, sb->plan.own) < 0)
		log_warn("sandbox", "remove %s: %s", sb->plan.own, strerror(errno));
	util_close_fd(&sb->agent_pidfd);
	util_close_fd(&sb->hello);
	util_close_fd(&sb->guard_sock);
	/* The guard has seen the end, and removes the cgroup. */
	sandbox_reap(&sb->guard);
	plan_done(&sb->plan);
	proxy_door_free(sb->proxy);
	tls_free(sb->tls);
	for (size_t i = 0; sb->env && sb->env[i]; i++)
		free(sb->env[i]);
	free(sb->env);
	free(sb);
}

/* ---- the whole sandbox ----------------------------------------------------------------------- */

/* The door duplicates its callers' sockets and directories. If the host refuses that, most calls
 * would fail. */
static int check_descriptors(struct err *err)
{
	AUTO_CLOSE int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	AUTO_CLOSE int copy = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, pidfd, 0);

	if (copy >= 0)
		return 0;
	if (errno == EMFILE || errno == ENFILE)
		return err_set(err, -errno, "duplicate a descriptor");
	return err_say(err, -errno,
		       "the kernel refuses to duplicate descriptors of others "
		       "(pidfd_getfd): %s: %s",
		       strerror(errno), probe_getfd_remedy);
}

static int check_host(const struct spawn_spec *spec, struct err *err)
{
	int abi, r = check_descriptors(err);

	if (r < 0 || spec->landlock_off)
		return r;
	abi = landlock_abi();
	if (abi >= LANDLOCK_ABI_NEEDED)
		return 0;
	return err_say(err, -EOPNOTSUPP,
		       "%s: boot a kernel of 5.19 or later with landlock among its lsm=, or accept "
		       "weaker protection (mounts alone) with --set sandbox.landlock=off",
		       abi ? "this kernel's Landlock (ABI 1) would break renames"
			   : "this kernel has no Landlock, or it is switched off");
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

	r = namespaces_expect(sb->hello, NOTE_READY, fds, ARRAY_LEN(fds), ret_status, err);
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

/* Chooses how reads are held. no_fuse: it is known that no gate can be mounted. */
static int choose_read_door(enum read_door *ret, const struct builder *builder,
			    const struct spawn_spec *spec, bool no_fuse, struct err *err)
{
	int r = -EOPNOTSUPP;

	if (!spec->dynamic)
		return 0;
	if (builder->gates && spec->read_gate != READ_GATE_TRAP && !no_fuse)
		r = gate_probe();
	*ret = r == 0 ? READ_FUSE : READ_TRAP;
	if (!builder->gates && spec->read_gate == READ_GATE_FUSE)
		return err_say(err, r,
			       "the read gate by FUSE comes with --backend native only: leave "
			       "sandbox.read-gate=fuse out, and every open is trapped");
	if (r < 0 && spec->read_gate == READ_GATE_FUSE)
		return err_set(err, r, "mount a FUSE file system as the read gate");
	if (r < 0 && spec->landlock_off)
		return err_say(
			err, -EINVAL,
			"with sandbox.landlock=off nothing in the kernel limits reading here: "
			"use --mode static, or a host with FUSE");
	return 0;
}

int sandbox_check(const struct builder *builder, const struct spawn_spec *wanted, struct err *err)
{
	enum read_door read;
	int r = choose_read_door(&read, builder, wanted, false, err);

	return r < 0 ? r : sandbox_check_limits(&wanted->limits, err);
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

static int add_beside(struct sandbox *sb, struct door *door, struct err *err)
{
	struct door *beside = beside_door_new(door, err);
	int r = beside ? keeper_add_door(sb->keeper, beside) : -EIO;

	if (r == 0)
		sb->beside = beside;
	else if (beside)
		beside->ops->close(beside);
	return r == 0 || !beside ? r : err_set(err, r, "add a door to the keeper's");
}

/* Prepares what replaces mounts and a network namespace. */
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
	sb->spec = spec;
	if (r == 0)
		r = choose_read_door(&sb->plan.read, builder, spec, sb->no_fuse, err);
	if (r == 0)
		r = (builder->plan ? builder->plan : plan_make)(&sb->plan, spec, err);
	if (sb->plan.read == READ_TRAP) {
		filter.reads = true;
		floor.trees = &sb->plan.trees;
		floor.shut = sb->plan.shut;
	}
	if (r == 0 && sb->plan.own)
		r = prepare_alone(sb, spec, &filter, &floor, err);
	if (r == 0)
		r = builder->start(&sb->cell, &sb->plan, spec, err);
	if (r == 0 && sb->plan.n_gated && sb->plan.read == READ_FUSE)
		r = gate_new(&sb->gate, &sb->plan, keeper_policy(sb->keeper), sb->cell.user, err);
	/* Work that needs no other process, while the tree is mounted. */
	if (r == 0)
		r = filter_prepare(&filter, err);
	sb->filter = filter;
	if (r == 0)
		r = sandbox_place_limits(sb, spec, err);
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
		r = sandbox_start_agent(sb, builder, spec, &filter, ret_status, err);
	if (r < 0)
		return r;
	if (sb->guard_sock >= 0 && !sb->cell.fenced &&
	    write(sb->guard_sock, &sb->agent, sizeof(sb->agent)) < 0)
		return err_set(err, -errno, "tell the guard of the limits");
	r = open_door(sb, &filter, &floor, ret_door, ret_status, err);
	if (r < 0)
		return r;
	for (const struct port_pair *p = spec->publish; p && p->port; p++)
		(*ret_door)->ops->publish(*ret_door, p->port, p->host_port, "the command line");
	r = open_gate(sb, err);
	if (r == 0)
		r = add_proxy(sb, err);
	if (r == 0)
		r = add_beside(sb, *ret_door, err);
	if (r < 0)
		return r;
	keeper_set_agent(sb->keeper, sb->agent, sb->cell.fenced ? ORPHANS_OUTSIDE : sb->cell.first);
	assert(*ret_door);
	return sandbox_start_program(sb, *ret_door, ret_status, err);
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

int sandbox_enter(struct sandbox *sb, const struct beside_spec *spec, struct err *err)
{
	const struct ground ground = {
		.keeper = sb->keeper,
		.cell = &sb->cell,
		.spec = sb->spec,
		.plan = &sb->plan,
		.filter = &sb->filter,
		.limits = &sb->limits,
		.env = sb->env ? (const char *const *)sb->env : sb->spec->env,
		.cgroups = {sb->cgroups[0], sb->cgroups[1]},
		.guard = sb->guard_sock,
		.door = sb->beside,
	};

	return beside_start(&sb->others, &ground, spec, err);
}

void sandbox_signal(struct sandbox *sb, int sig)
{
	if (sig == SIGKILL)
		namespaces_kill(&sb->cell);
	else if (sb->agent > 0)
		kill(-sb->agent, sig); /* the agent leads a session of its own */
}
