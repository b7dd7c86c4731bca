/* test_sockets - the sockets that variables name, and which of them rules show inside. */
/* SPDX-License-Identifier: MIT */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/config/config.h"
#include "core/policy/policy.h"
#include "core/policy/builtin/sockets.h"
#include "tests/support/check.h"

static void named(const char *variable, const char *value, const char *want)
{
	AUTO_FREE char *got = sockets_named(variable, value);

	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
}

TEST(a_variable_names_a_path_or_none)
{
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	named("SSH_AUTH_SOCK", "/tmp/ssh-a/agent.1", "/tmp/ssh-a/agent.1");
	named("SSH_AUTH_SOCK", "/a/../b//c", "/b/c");
	named("SSH_AUTH_SOCK", "relative", NULL);
	named("SSH_AUTH_SOCK", "", NULL);
	named("SSH_AUTH_SOCK", NULL, NULL);
	named("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/7/bus,guid=1;unix:path=/x",
	      "/run/user/7/bus");
	named("DBUS_SESSION_BUS_ADDRESS", "unix:abstract=/tmp/dbus-1", NULL);
	named("WAYLAND_DISPLAY", "wayland-0", "/run/user/7/wayland-0");
	named("WAYLAND_DISPLAY", "/w", "/w");
	named("WAYLAND_DISPLAY", "", NULL);
	named("DISPLAY", ":10.0", "/tmp/.X11-unix/X10");
	named("DISPLAY", "host:0", NULL);
	named("DISPLAY", ":../../x", NULL);
	named("DISPLAY", ":", NULL);
	named("DOCKER_HOST", "unix:///run/docker.sock", "/run/docker.sock");
	named("DOCKER_HOST", "tcp://10.0.0.1:2375", NULL);
	named("PATH", "/bin", NULL);
}

TEST(a_setting_names_it_again)
{
	for (size_t i = 0; sockets_variables[i]; i++) {
		const char *name = sockets_variables[i];
		AUTO_FREE char *setting = sockets_setting(name, ":3", "/tmp/.X11-unix/X3");
		size_t n = strlen(name);

		assert_memory_equal(setting, name, n);
		named(name, setting + n + 1, "/tmp/.X11-unix/X3");
	}
}

TEST(what_is_known_has_words)
{
	setenv("SSH_AUTH_SOCK", "/odd/place", 1);
	assert_non_null(strstr(sockets_words("/run/docker.sock"), "root"));
	assert_non_null(strstr(sockets_words("/home/u/.colima/docker.sock"), "root"));
	assert_non_null(strstr(sockets_words("/tmp/.X11-unix/X0"), "every key"));
	assert_non_null(strstr(sockets_words("/odd/place"), "signs"));
	assert_non_null(strstr(sockets_words("/run/user/7/gnupg/S.gpg-agent.ssh"), "ssh-agent"));
	assert_non_null(strstr(sockets_words("/run/user/7/gnupg/S.gpg-agent.extra"), "gpg-agent"));
	assert_null(sockets_words("/odd/place/below"));
	assert_null(sockets_words("/run/user/7/a/bus"));
	assert_null(sockets_words("/srv/db.sock"));
}

/* ---- of rules -------------------------------------------------------------------------------- */

static void listen_at(const char *dir, const char *name)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s", dir, name);
	assert_int_equal(bind(s, (struct sockaddr *)&un, sizeof(un)), 0);
	close(s);
}

static void remove_all(const char *dir)
{
	AUTO_FREE char *command = xasprintf("rm -rf '%s'", dir);

	assert_int_equal(system(command), 0); /* NOLINT: a test's own directory */
}

static size_t shown(const char *dir, const char *const *settings)
{
	const struct config_spec spec = {.home = dir,
					 .config_home = "/dev/null",
					 .org_file = "/dev/null/none",
					 .settings = settings};
	struct policy_spec about = {.home = dir};
	struct config *config = NULL;
	struct policy *policy = NULL;
	const char *const *list;
	struct err err = {0};
	size_t n;

	assert_int_equal(config_load(&config, &spec, &err), 0);
	about.config = config;
	assert_int_equal(policy_new(&policy, &about, &err), 0);
	n = policy_sockets(policy, &list);
	for (size_t i = 0; i < n; i++)
		assert_true(strncmp(list[i], dir, strlen(dir)) == 0);
	policy_free(policy);
	config_free(config);
	return n;
}

TEST(rules_show_what_they_open)
{
	char made[] = "/tmp/test_sockets.XXXXXX";
	AUTO_FREE char *dir = NULL, *deep = NULL, *link = NULL;

	assert_non_null(mkdtemp(made));
	dir = realpath(made, NULL);
	deep = xasprintf("%s/deep", dir);
	link = xasprintf("%s/link", dir);
	assert_int_equal(mkdir(deep, 0700), 0);
	listen_at(dir, "a");
	listen_at(dir, "b");
	listen_at(deep, "c");
	assert_int_equal(symlink("a", link), 0);
	assert_int_equal(shown(dir, NULL), 0);
	assert_int_equal(shown(dir, (const char *[]){"rule.r.allow=unix ~/a", NULL}), 1);
	assert_int_equal(shown(dir, (const char *[]){"rule.r.ask=unix ~/a", NULL}), 1);
	assert_int_equal(shown(dir, (const char *[]){"rule.r.deny=unix ~/a", NULL}), 0);
	assert_int_equal(shown(dir, (const char *[]){"rule.r.allow=read ~/a", NULL}), 0);
	assert_int_equal(shown(dir, (const char *[]){"rule.r.allow=unix ~/deep", NULL}), 0);
	assert_int_equal(shown(dir, (const char *[]){"rule.r.allow=unix ~/link", NULL}), 1);
	assert_int_equal(shown(dir, (const char *[]){"rule.r.allow=unix ~/*", NULL}), 2);
	assert_int_equal(shown(dir, (const char *[]){"rule.r.allow=unix ~/**", NULL}), 3);
	assert_int_equal(shown(dir, (const char *[]){"rule.r.allow=unix ~/**",
						     "rule.s.deny=unix ~/deep/**", NULL}),
			 2);
	unsetenv("SSH_AUTH_SOCK");
	assert_int_equal(shown(dir, (const char *[]){"rule.r.allow=unix $SSH_AUTH_SOCK", NULL}), 0);
	setenv("SSH_AUTH_SOCK", link, 1);
	assert_int_equal(shown(dir, (const char *[]){"rule.r.allow=unix $SSH_AUTH_SOCK", NULL}), 1);
	remove_all(dir);
}

TESTS(NULL, NULL)
