/* probe - checks which features the backend without namespaces has here. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "backends/landlock/tier_priv.h"
#include "backends/linux/sandbox/landlock.h"
#include "backends/linux/probe/probe_priv.h"

static int try_scope(char *found, size_t size)
{
	struct err err = {0};
	int abi = landlock_abi();

	if (abi < LANDLOCK_ABI_ALONE) {
		snprintf(found, size, "Landlock ABI %d, %d is needed", abi, LANDLOCK_ABI_ALONE);
		return -EOPNOTSUPP;
	}
	if (landlock_scope(&err) < 0) {
		snprintf(found, size, "%.*s", (int)size - 1, err.text);
		return err.code;
	}
	errno = 0;
	if (kill(getppid(), 0) == 0 || errno != EPERM)
		return probe_failed(found, size, "signal a process outside");
	snprintf(found, size, "they stay inside");
	return 0;
}

static int try_reading(char *found, size_t size)
{
	const struct landlock_tree etc = {.path = (char[]){"/etc"}, .rights = LANDLOCK_READ};
	const struct landlock_spec spec = {.trees = &etc, .n_trees = 1};
	struct err err = {0};

	if (landlock_restrict(&spec, &err) < 0) {
		snprintf(found, size, "%.*s", (int)size - 1, err.text);
		return err.code;
	}
	errno = 0;
	if (open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0 || errno != EACCES)
		return probe_failed(found, size, "read / without a rule");
	if (open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0)
		return probe_failed(found, size, "read /etc with a rule");
	snprintf(found, size, "only what has a rule");
	return 0;
}

/* Programs inside see the host's. */
static int try_proc(char *found, size_t size)
{
	if (access("/proc/self/fd", F_OK) < 0)
		return probe_failed(found, size, "/proc is not mounted here");
	snprintf(found, size, "mounted");
	return 0;
}

static const struct trial trials[] = {
	{"/proc", try_proc, BACKEND_UNDO, true, "mount -t proc proc /proc"},
	{"signals and abstract sockets", try_scope, BACKEND_FILES | BACKEND_NET, true,
	 "boot Linux 6.12 or later with landlock among lsm="},
	{"reading", try_reading, BACKEND_FILES, true,
	 "boot Linux 5.19 or later with landlock among lsm="},
};

/* Returns the backend's bits. Without namespaces the names of hidden paths, and other processes,
 * stay visible, so those two bits are never set. */
uint32_t tier_probe(struct probe_report *report, struct err *err)
{
	uint32_t bits = BACKEND_FILES | BACKEND_NET | BACKEND_UNDO | BACKEND_LIMITS;

	bits &= ~probe_trials(trials, ARRAY_LEN(trials), report, err);
	probe_add(report, "read gate", false, true, "every open is trapped", "");
	probe_add(report, "network gate", false, true,
		  "a proxy, for programs that take HTTPS_PROXY or ALL_PROXY; no UDP", "");
	return bits & ~probe_shared(report, err);
}
