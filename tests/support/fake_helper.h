/* fake_helper - a test's own program as the program cordon-seatbelt, on a simulated Mac. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/macos/helper/helper.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/os/file.h"

/* Writes the helper, which has no environment of the test's: `settings` ("FAKE_APPLY=-1") are for
 * helper_fake(). Returns its path, heap. */
UNUSED static char *helper_write(const char *dir, const char *settings)
{
	AUTO_FREE char *self = os_self_copy();
	AUTO_FREE char *text = xasprintf("#!/bin/sh\n%s exec %s \"$@\"\n", settings, self);
	char *path = path_join(dir, HELPER_PROGRAM);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0 || io_write_all(fd, text, strlen(text)) < 0 || close(fd) < 0)
		abort();
	return path;
}

static int helper_result(const char *name)
{
	const char *text = getenv(name);

	return text ? atoi(text) : 0;
}

/* Reports on its output that an agent's profile was entered. The proxy's profile is known: it alone
 * has no parameters. */
static int helper_fake_apply(void *data, const char *profile, const char *const *params, char *why,
			     size_t size)
{
	int r = helper_result("FAKE_APPLY");

	(void)data;
	if (!params && !str_eq(profile, helper_proxy_profile))
		return -EINVAL;
	if (r < 0)
		snprintf(why, size, "libsandbox says no");
	else if (getenv("FAKE_MARK"))
		(void)!write(STDOUT_FILENO, profile, 1);
	return r;
}

static int helper_fake_deny(void *data)
{
	(void)data;
	return helper_result("FAKE_DENY");
}

/* Must be called first in main(): does not return in the helper. inside: for mac_os.list_inside. */
static void helper_fake(int argc, char **argv,
			size_t (*inside)(void *data, const char *session, pid_t root, pid_t *out,
					 size_t max))
{
	static struct mac_os os = {.apply = helper_fake_apply, .deny_attach = helper_fake_deny};

	os.list_inside = inside;
	if (argc > 1)
		helper_run(&os, argc, argv);
}
