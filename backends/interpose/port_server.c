/* port_server - gives out ports of the session's window, and writes them into its port map. */
/* SPDX-License-Identifier: MIT */
#include "backends/interpose/port_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "backends/interpose/portmap.h"
#include "core/base/path.h"
#include "core/keeper/service.h"
#include "core/os/socket.h"

struct asker {
	struct port_server *server;
	int fd; /* -1: free */
};

struct port_server {
	struct port_server_spec spec;
	char *map_path, *sock_path;
	char *env[PORT_SERVER_SETTINGS + 1];
	int map, listener; /* -1: none */
	bool watched;
	uint16_t *given; /* by the port that a program named; 0: none */
	unsigned left;	 /* ports not given out; the window's last goes first */
	struct asker askers[PORT_ASKERS];
	size_t next; /* the asker to drop if all slots are used */
};

/* ---- ports ----------------------------------------------------------------------------------- */

/* Returns whether the port is free: a program may have bound it by its number. */
static bool is_free(uint16_t port)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool r = fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0;

	if (fd >= 0)
		close(fd);
	return r;
}

/* Gives out a port for `named` and adds it to the map. Returns 0 or a negative errno. */
static int give(struct port_server *s, pid_t pid, uint16_t named)
{
	const struct port_server_spec *spec = &s->spec;
	unsigned left = s->left;
	uint16_t to;
	int r;

	if (!named)
		return -EINVAL;
	if (s->given[named] || (named >= spec->base && named - spec->base < spec->count))
		return 0;
	while (left && !is_free((uint16_t)(spec->base + left - 1)))
		left--;
	if (!left)
		return -EADDRINUSE;
	to = (uint16_t)(spec->base + left - 1);
	r = portmap_set(s->map, named, to);
	if (r < 0)
		return r;
	s->left = left - 1;
	s->given[named] = to;
	if (spec->given)
		spec->given(spec->data, pid, named, to);
	return 0;
}

/* ---- askers ---------------------------------------------------------------------------------- */

static void drop(struct asker *a)
{
	if (a->fd < 0)
		return;
	keeper_unwatch(a->server->spec.k, a->fd);
	util_close_fd(&a->fd);
}

static void on_asker(void *data)
{
	struct asker *a = data;
	uint16_t named = 0;
	uint8_t answer;
	ssize_t n = recv(a->fd, &named, sizeof(named), MSG_DONTWAIT);
	pid_t pid = 0;

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return;
	if (n == (ssize_t)sizeof(named)) { /* a shorter request is an error */
		(void)os_peer_pid(a->fd, &pid);
		answer = (uint8_t)-give(a->server, pid, named);
		(void)!send(a->fd, &answer, sizeof(answer), MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	drop(a);
}

static void on_connection(void *data)
{
	struct port_server *s = data;
	struct asker *a = &s->askers[s->next];
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	drop(a);
	if (keeper_watch(s->spec.k, fd, on_asker, a) < 0) {
		close(fd);
		return;
	}
	a->fd = fd;
	s->next = (s->next + 1) % PORT_ASKERS;
}

/* ---- life ------------------------------------------------------------------------------------ */

static int listen_here(struct port_server *s)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int r;

	if (strlen(s->sock_path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path, s->sock_path, strlen(s->sock_path) + 1);
	s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(s->listener, PORT_ASKERS) < 0)
		return -errno;
	r = keeper_watch(s->spec.k, s->listener, on_connection, s);
	s->watched = r == 0;
	return r;
}

int port_server_start(struct port_server **ret, const struct port_server_spec *spec,
		      struct err *err)
{
	struct port_server *s = xcalloc(1, sizeof(*s));
	int r;

	s->spec = *spec;
	s->map = s->listener = -1;
	s->left = spec->count;
	s->given = xcalloc(PORTMAP_PORTS, sizeof(*s->given));
	s->map_path = path_join(spec->dir, "ports");
	s->sock_path = path_join(spec->dir, "ports.sock");
	s->env[0] = xasprintf("CORDON_PORT_MAP=%s", s->map_path);
	s->env[1] = xasprintf("CORDON_PORT_SOCKET=%s", s->sock_path);
	for (size_t i = 0; i < PORT_ASKERS; i++)
		s->askers[i] = (struct asker){.server = s, .fd = -1};
	r = portmap_create(s->map_path, spec->base, spec->count, &s->map, err);
	if (r == 0) {
		r = listen_here(s);
		if (r < 0)
			err_set(err, r, "listen at '%s'", s->sock_path);
	}
	if (r < 0) {
		port_server_stop(s);
		return r;
	}
	*ret = s;
	return 0;
}

const char *const *port_server_env(const struct port_server *s)
{
	return (const char *const *)s->env;
}

void port_server_stop(struct port_server *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < PORT_ASKERS; i++)
		drop(&s->askers[i]);
	if (s->watched)
		keeper_unwatch(s->spec.k, s->listener);
	util_close_fd(&s->listener);
	util_close_fd(&s->map);
	for (size_t i = 0; i < PORT_SERVER_SETTINGS; i++)
		free(s->env[i]);
	free(s->map_path);
	free(s->sock_path);
	free(s->given);
	free(s);
}
