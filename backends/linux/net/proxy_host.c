/* proxy_host - confines the proxy's process on Linux. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/net/proxy_host.h"

#include <signal.h>
#include <sys/prctl.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/net/net_priv.h"
#include "backends/linux/sandbox/landlock.h"

/* Allows only the files of name look-ups: the lists of nameservers and names, and the libraries
 * that some hosts use for them. */
static int confine(void *data)
{
	static const char *const places[] = {"/etc", "/usr/lib", "/usr/lib64",
					     "/lib", "/lib64",	 "/run/systemd/resolve"};
	struct landlock_tree trees[ARRAY_LEN(places)];
	const struct landlock_spec little = {
		.trees = trees, .n_trees = ARRAY_LEN(trees), .agent = true};
	struct err err = {0};

	(void)data;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		trees[i] = (struct landlock_tree){.path = (char *)(uintptr_t)places[i],
						  .rights = LANDLOCK_READ | LANDLOCK_EXEC};
	if (landlock_abi() > 0 && landlock_restrict(&little, &err) < 0)
		return err.code;
	if (confine_server(&err) < 0)
		return err.code;
	return net_filter_proxy();
}

const struct proxy_host proxy_host_linux = {.confine = confine};
