/* tier - the landlock backend: the door and the keeper without namespaces. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>

#include "backends/landlock/landlock.h"
#include "backends/landlock/tier_priv.h"
#include "backends/linux/sandbox/landlock.h"
#include "core/keeper/keeper.h"

static int start(struct namespaces *c, const struct plan *plan, const struct spawn_spec *spec,
		 struct err *err)
{
	(void)plan;
	(void)spec;
	c->fenced = true;
	c->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return c->root < 0 ? err_set(err, -errno, "open '/'") : 0;
}

static int finish(struct namespaces *c, const struct plan *plan, int *ret_status, struct err *err)
{
	(void)c;
	(void)plan;
	(void)ret_status;
	(void)err;
	return 0; /* no process was started besides the keeper */
}

static const struct builder builder = {
	.plan = tier_plan,
	.fence = watchdog_fence,
	.start = start,
	.finish = finish,
};

/* Refuses settings that need mounts, or without which nothing protects the host. */
static int check_mounts(const struct spawn_spec *wanted, struct err *err)
{
	if (wanted->landlock_off)
		return err_say(err, -EINVAL,
			       "sandbox.landlock=off leaves this backend without protection by the "
			       "kernel: choose --backend native");
	if (wanted->overlays && *wanted->overlays)
		return err_say(err, -EOPNOTSUPP,
			       "overlays need mounts, which this backend cannot make: leave "
			       "--overlay out, or choose --backend native");
	return 0;
}

static int check(const struct spawn_spec *wanted, struct err *err)
{
	int r = check_mounts(wanted, err);

	return r < 0 ? r : sandbox_check(&builder, wanted, err);
}

static int launch(struct sandbox **ret, struct door **ret_door, const struct spawn_spec *spec,
		  struct keeper *k, int *ret_status, struct err *err)
{
	int abi = landlock_abi(), r;

	*ret_status = 125;
	if (abi < LANDLOCK_ABI_ALONE)
		return err_say(err, -EOPNOTSUPP,
			       "this kernel's Landlock (ABI %d) does not keep signals in: Linux "
			       "6.12 or later is needed without namespaces",
			       abi);
	r = check_mounts(spec, err);
	return r < 0 ? r : sandbox_launch(&builder, ret, ret_door, spec, k, ret_status, err);
}

const struct backend backend_landlock = {
	.name = "landlock",
	.summary = "Landlock and trapped system calls, without namespaces",
	.asks_network = true,
	.shares_network = true,
	.probe = tier_probe,
	.check = check,
	.launch = launch,
	.signal = sandbox_signal,
	.stop = sandbox_stop,
	.confine_reader = confine_reader,
};
