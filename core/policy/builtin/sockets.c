/* sockets - well-known control sockets of a host, and the power that each one gives. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/builtin/sockets.h"

#include <fnmatch.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/path.h"

static const char docker[] = "the Docker daemon: it makes you root on this host, or all that your "
			     "user is where it runs as that";
static const char podman[] = "podman: it runs containers that see and write all of your files";
static const char containers[] = "a container or machine manager: it makes you root on this host";
static const char ssh_agent[] = "the ssh-agent: it signs with your keys, on any server";
static const char gpg_agent[] = "the gpg-agent: it signs and decrypts with your keys";
static const char dbus[] = "D-Bus: it starts programs outside the sandbox and opens your keyring";
static const char systemd[] = "systemd: it starts services outside the sandbox";
static const char x11[] = "X11: it reads every key that you type, and types into other windows";
static const char wayland[] = "Wayland: it opens windows and may read the clipboard and the screen";
static const char sound[] = "sound: it records the microphone, and the screen with PipeWire";
static const char terminal[] = "a terminal multiplexer: it types commands into your shells";
static const char keyring[] = "your keyring: it hands out passwords";
static const char editor[] = "your editor: it opens files and runs commands there";

/* fnmatch(3) patterns; `*` matches no slash. The first match decides. */
static const struct {
	const char *pattern, *words;
} known[] = {
	{"/run/docker.sock", docker},
	{"/var/run/docker.sock", docker},
	{"/run/user/*/docker.sock", docker},
	{"/run/podman/podman.sock", podman},
	{"/run/user/*/podman/podman.sock", podman},
	{"/run/containerd/containerd.sock", containers},
	{"/run/crio/crio.sock", containers},
	{"/run/buildkit/buildkitd.sock", containers},
	{"/run/libvirt/*-sock", containers},
	{"/var/lib/lxd/unix.socket", containers},
	{"/var/lib/incus/unix.socket", containers},
	{"/run/user/*/keyring/ssh", ssh_agent},
	{"/run/user/*/gcr/ssh", ssh_agent},
	{"/run/user/*/ssh-agent*", ssh_agent},
	{"/run/user/*/openssh_agent", ssh_agent},
	{"/tmp/ssh-*/agent.*", ssh_agent},
	{"/run/user/*/gnupg/S.gpg-agent.ssh", ssh_agent},
	{"/run/user/*/gnupg/S.gpg-agent*", gpg_agent},
	{"/run/user/*/gnupg/*/S.gpg-agent*", gpg_agent},
	{"/run/user/*/keyring/*", keyring},
	{"/run/user/*/bus", dbus},
	{"/run/dbus/system_bus_socket", dbus},
	{"/tmp/dbus-*", dbus},
	{"/run/user/*/systemd/private", systemd},
	{"/run/user/*/systemd/*", systemd},
	{"/run/systemd/private", systemd},
	{"/run/systemd/*", systemd},
	{"/tmp/.X11-unix/X*", x11},
	{"/run/user/*/wayland-*", wayland},
	{"/run/user/*/pulse/native", sound},
	{"/run/user/*/pipewire-*", sound},
	{"/tmp/tmux-*/*", terminal},
	{"/run/screen/S-*/*", terminal},
	{"/run/user/*/vscode-*.sock", editor},
	{"/tmp/vscode-*.sock", editor},
};

/* By name, at any path, because users choose where to put them. */
static const struct {
	const char *name, *words;
} by_name[] = {
	{"docker.sock", docker},
	{"podman.sock", podman},
	{"containerd.sock", containers},
	{"S.gpg-agent.ssh", ssh_agent},
	{"S.gpg-agent", gpg_agent},
	{"S.gpg-agent.extra", gpg_agent},
	{"S.gpg-agent.browser", gpg_agent},
};

/* The prefix of the path in a variable's value. */
static const struct {
	const char *name, *prefix, *words;
} variables[] = {
	{"SSH_AUTH_SOCK", "", ssh_agent},   {"DBUS_SESSION_BUS_ADDRESS", "unix:path=", dbus},
	{"WAYLAND_DISPLAY", "", wayland},   {"DISPLAY", ":", x11},
	{"DOCKER_HOST", "unix://", docker}, {"CONTAINER_HOST", "unix://", podman},
};

const char *const sockets_variables[] = {"SSH_AUTH_SOCK",
					 "DBUS_SESSION_BUS_ADDRESS",
					 "WAYLAND_DISPLAY",
					 "DISPLAY",
					 "DOCKER_HOST",
					 "CONTAINER_HOST",
					 NULL};

static size_t find_variable(const char *name)
{
	size_t i = 0;

	while (i < ARRAY_LEN(variables) && !str_eq(variables[i].name, name))
		i++;
	return i;
}

/* Returns the socket of a display: /tmp/.X11-unix/X0 for ":0.1". A display with a host is reached
 * over the network. */
static char *of_display(const char *number)
{
	size_t n = strspn(number, "0123456789");

	if (n == 0 || n > 5 || (number[n] != '\0' && number[n] != '.'))
		return NULL;
	return xasprintf("/tmp/.X11-unix/X%.*s", (int)n, number);
}

char *sockets_named(const char *variable, const char *value)
{
	size_t i = find_variable(variable);
	AUTO_FREE char *path = NULL;
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (i == ARRAY_LEN(variables) || !value || !str_starts(value, variables[i].prefix))
		return NULL;
	value += strlen(variables[i].prefix);
	if (str_eq(variable, "DISPLAY"))
		return of_display(value);
	/* "unix:path=/run/user/1000/bus,guid=...;unix:..." */
	path = str_eq(variable, "DBUS_SESSION_BUS_ADDRESS") ? xstrndup(value, strcspn(value, ",;"))
							    : xstrdup(value);
	if (str_eq(variable, "WAYLAND_DISPLAY") && *path && *path != '/' && runtime) {
		char *whole = path_join(runtime, path);

		free(path);
		path = whole;
	}
	return *path == '/' ? path_clean(path) : NULL;
}

char *sockets_setting(const char *variable, const char *value, const char *path)
{
	size_t i = find_variable(variable);

	if (i == ARRAY_LEN(variables) || str_eq(variable, "DISPLAY"))
		return xasprintf("%s=%s", variable, value);
	return xasprintf("%s=%s%s", variable, variables[i].prefix, path);
}

static bool is_named_by(const char *variable, const char *path)
{
	AUTO_FREE char *named = sockets_named(variable, getenv(variable));
	AUTO_FREE char *real = named ? realpath(named, NULL) : NULL;

	return named && (str_eq(named, path) || (real && str_eq(real, path)));
}

const char *sockets_words(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (fnmatch(known[i].pattern, path, FNM_PATHNAME) == 0)
			return known[i].words;
	for (size_t i = 0; i < ARRAY_LEN(by_name); i++)
		if (str_eq(path_base(path), by_name[i].name))
			return by_name[i].words;
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		if (is_named_by(variables[i].name, path))
			return variables[i].words;
	return NULL;
}

/* ---- existing sockets ------------------------------------------------------------------------ */

struct seen {
	char **list;
	size_t n;
	void (*fn)(void *data, const char *path, const char *words);
	void *data;
};

static void see(struct seen *s, const char *path, const char *words)
{
	AUTO_FREE char *real = realpath(path, NULL);
	struct stat st;

	if (!real || lstat(real, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->list[i], real))
			return;
	s->fn(s->data, real, words);
	s->list = xrealloc(s->list, (s->n + 1) * sizeof(*s->list));
	s->list[s->n++] = take_ptr(&real);
}

void sockets_each(void (*fn)(void *data, const char *path, const char *words), void *data)
{
	struct seen s = {.fn = fn, .data = data};

	for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
		AUTO_FREE char *path = sockets_named(variables[i].name, getenv(variables[i].name));

		if (path)
			see(&s, path, variables[i].words);
	}
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		glob_t found = {0};

		if (glob(known[i].pattern, GLOB_NOSORT, NULL, &found) == 0)
			for (size_t k = 0; k < found.gl_pathc; k++)
				see(&s, found.gl_pathv[k], known[i].words);
		globfree(&found);
	}
	for (size_t i = 0; i < s.n; i++)
		free(s.list[i]);
	free(s.list);
}
