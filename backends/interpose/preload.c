/* preload - bind, connect, getsockname and getpeername at the session's own address or ports. */
/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "backends/interpose/portmap.h"

/*
 * A shared library that is loaded into programs where system calls are not trapped (LD_PRELOAD,
 * DYLD_INSERT_LIBRARIES). A convenience: the floor decides what a program may do.
 *
 * CORDON_PORT_MAP names a port map, which maps ports that programs name to ports of the window. If
 * a program binds a port that has no entry, and CORDON_PORT_SOCKET names a socket, the library
 * requests one there (port_server.h).
 *
 * Without CORDON_PORT_MAP, LISTENING_LOOPBACK_DEVICE names an address that replaces the loopback
 * device's. If a setting is invalid, calls about the loopback device fail with EACCES; others pass
 * unchanged. The environment is read once, when the library is loaded.
 */
enum mode {
	MODE_NONE, /* fails closed */
	MODE_DEVICE,
	MODE_PORT,
};

static enum mode mode;
static char map_path[4096];
static struct sockaddr_un server; /* sun_family 0: no server */
static struct in_addr device;

typedef int (*call_addr)(int fd, const struct sockaddr *addr, socklen_t len);
typedef int (*call_name)(int fd, struct sockaddr *addr, socklen_t *len);

#ifdef __APPLE__
#define INTERPOSE(name)                                                                            \
	__attribute__((                                                                            \
		used,                                                                              \
		section("__DATA,__interpose"))) static const void *const interpose_##name[2] = {   \
		(const void *)(uintptr_t)&cordon_##name, (const void *)(uintptr_t)&name}
#define OURS(name) cordon_##name
#define NAMED(name)
#define REAL(type, name) ((type)&name)
#else
#define INTERPOSE(name)	 _Static_assert(1, "")
#define OURS(name)	 preload_##name
/* libc's headers declare these functions with another type of address. */
#define NAMED(name)	 __asm__(#name) __attribute__((visibility("default")))
#define REAL(type, name) ((type)(uintptr_t)dlsym(RTLD_NEXT, #name))
#endif

__attribute__((constructor)) static void read_environment(void)
{
	const char *map = getenv("CORDON_PORT_MAP");
	const char *sock = getenv("CORDON_PORT_SOCKET");
	const char *address = getenv("LISTENING_LOOPBACK_DEVICE");
	bool known = address && inet_pton(AF_INET, address, &device) == 1 &&
		     ntohl(device.s_addr) >> 24 == IN_LOOPBACKNET;

	if (map) {
		if (strlen(map) < sizeof(map_path) && (known || !address)) {
			memcpy(map_path, map, strlen(map) + 1);
			mode = MODE_PORT;
		}
		if (sock && strlen(sock) < sizeof(server.sun_path)) {
			memcpy(server.sun_path, sock, strlen(sock) + 1);
			server.sun_family = AF_UNIX;
		}
		if (!known)
			device.s_addr = htonl(INADDR_LOOPBACK);
	} else if (known) {
		mode = MODE_DEVICE;
	}
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* An address of either family. */
union spot {
	struct sockaddr sa;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static bool take(union spot *ret, const struct sockaddr *addr, socklen_t len)
{
	if (!addr || len < sizeof(addr->sa_family))
		return false;
	if (addr->sa_family == AF_INET && len >= sizeof(ret->four))
		memcpy(&ret->four, addr, sizeof(ret->four));
	else if (addr->sa_family == AF_INET6 && len >= sizeof(ret->six))
		memcpy(&ret->six, addr, sizeof(ret->six));
	else
		return false;
	return true;
}

static bool is_local4(uint32_t host)
{
	return host >> 24 == IN_LOOPBACKNET || host == INADDR_ANY;
}

static uint32_t mapped_host(const struct in6_addr *a)
{
	uint32_t host;

	memcpy(&host, a->s6_addr + 12, sizeof(host));
	return ntohl(host);
}

/* Returns whether the address is the loopback device, or the wildcard, which includes it. */
static bool is_local(const union spot *s)
{
	const struct in6_addr *a = &s->six.sin6_addr;

	if (s->sa.sa_family == AF_INET)
		return is_local4(ntohl(s->four.sin_addr.s_addr));
	return IN6_IS_ADDR_LOOPBACK(a) || IN6_IS_ADDR_UNSPECIFIED(a) ||
	       (IN6_IS_ADDR_V4MAPPED(a) && is_local4(mapped_host(a)));
}

static uint16_t port_of(const union spot *s)
{
	return ntohs(s->sa.sa_family == AF_INET ? s->four.sin_port : s->six.sin6_port);
}

static void set_port(union spot *s, uint16_t port)
{
	if (s->sa.sa_family == AF_INET)
		s->four.sin_port = htons(port);
	else
		s->six.sin6_port = htons(port);
}

static void set_host(union spot *s, struct in_addr host)
{
	if (s->sa.sa_family == AF_INET) {
		s->four.sin_addr = host;
		return;
	}
	memset(&s->six.sin6_addr, 0, sizeof(s->six.sin6_addr));
	memset(s->six.sin6_addr.s6_addr + 10, 0xff, 2);
	memcpy(s->six.sin6_addr.s6_addr + 12, &host, sizeof(host));
}

static bool is_device(const union spot *s)
{
	if (s->sa.sa_family == AF_INET)
		return s->four.sin_addr.s_addr == device.s_addr;
	return IN6_IS_ADDR_V4MAPPED(&s->six.sin6_addr) &&
	       mapped_host(&s->six.sin6_addr) == ntohl(device.s_addr);
}

static socklen_t length_of(const union spot *s)
{
	return s->sa.sa_family == AF_INET ? sizeof(s->four) : sizeof(s->six);
}

/* Replaces the host by the session's address. ::1 stays if that address is the usual 127.0.0.1. */
static void move_host(union spot *s)
{
	if (s->sa.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&s->six.sin6_addr) &&
	    device.s_addr == htonl(INADDR_LOOPBACK))
		return;
	set_host(s, device);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int refuse(int code)
{
	errno = code;
	return -1;
}

static bool in_window(const struct portmap_view *v, uint16_t port)
{
	return port >= v->base && port - v->base < v->count;
}

/* Binds any free port of the window that has no entry. */
static int bind_any(int fd, union spot *s, call_addr real)
{
	struct portmap_view v;
	unsigned base, count;

	if (portmap_look(map_path, 0, &v) < 0)
		return refuse(EACCES);
	base = v.base;
	count = v.count;
	for (unsigned port = base; port < base + count; port++) {
		if (portmap_look(map_path, (uint16_t)port, &v) < 0)
			return refuse(EACCES);
		if (v.from)
			continue;
		set_port(s, (uint16_t)port);
		if (real(fd, &s->sa, length_of(s)) == 0)
			return 0;
		if (errno != EADDRINUSE)
			return -1;
	}
	return refuse(EADDRINUSE);
}

/* Makes a socket that raises no SIGPIPE, for which the program may have a handler. */
static int quiet_socket(void)
{
#ifdef __APPLE__
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), on = 1;

	if (fd >= 0) {
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
		(void)setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
	}
	return fd;
#else
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
#endif
}

#ifdef __APPLE__
#define QUIET 0
#else
#define QUIET MSG_NOSIGNAL
#endif

/* Requests a port of the window for this one. Returns 0 or an errno. */
static int ask_for(uint16_t port)
{
	call_addr real = REAL(call_addr, connect);
	int fd = server.sun_family ? quiet_socket() : -1;
	unsigned char answer = EACCES;
	ssize_t n = -1;

	if (fd < 0)
		return EACCES;
	if (real(fd, (struct sockaddr *)&server, sizeof(server)) == 0 &&
	    send(fd, &port, sizeof(port), QUIET) == (ssize_t)sizeof(port))
		do
			n = recv(fd, &answer, sizeof(answer), 0);
		while (n < 0 && errno == EINTR);
	close(fd);
	return n == (ssize_t)sizeof(answer) ? answer : EACCES;
}

/* Finds the window's port for a port that is being bound. Returns 0 or an errno. */
static int look_up(uint16_t port, struct portmap_view *ret)
{
	int r;

	if (portmap_look(map_path, port, ret) < 0)
		return EACCES;
	if (ret->to || in_window(ret, port))
		return 0;
	r = ask_for(port);
	if (r)
		return r;
	return portmap_look(map_path, port, ret) < 0 || !ret->to ? EACCES : 0;
}

int OURS(bind)(int fd, const struct sockaddr *addr, socklen_t len) NAMED(bind);
int OURS(bind)(int fd, const struct sockaddr *addr, socklen_t len)
{
	call_addr real = REAL(call_addr, bind);
	struct portmap_view v;
	union spot s = {0};

	if (!take(&s, addr, len) || !is_local(&s))
		return real(fd, addr, len);
	if (mode == MODE_NONE)
		return refuse(EACCES);
	move_host(&s);
	if (mode == MODE_PORT && port_of(&s) == 0)
		return bind_any(fd, &s, real);
	if (mode == MODE_PORT) {
		int r = look_up(port_of(&s), &v);

		if (r)
			return refuse(r);
		if (v.to)
			set_port(&s, v.to);
	}
	return real(fd, &s.sa, length_of(&s));
}
INTERPOSE(bind);

int OURS(connect)(int fd, const struct sockaddr *addr, socklen_t len) NAMED(connect);
int OURS(connect)(int fd, const struct sockaddr *addr, socklen_t len)
{
	call_addr real = REAL(call_addr, connect);
	struct portmap_view v;
	union spot s = {0};

	if (!take(&s, addr, len) || !is_local(&s))
		return real(fd, addr, len);
	if (mode == MODE_NONE)
		return refuse(EACCES);
	if (mode == MODE_PORT) {
		if (portmap_look(map_path, port_of(&s), &v) < 0)
			return refuse(EACCES);
		/* The port belongs to a service of the host. The floor decides on that
		 * connection. */
		if (!v.to && !in_window(&v, port_of(&s)))
			return real(fd, addr, len);
		if (v.to)
			set_port(&s, v.to);
	}
	move_host(&s);
	return real(fd, &s.sa, length_of(&s));
}
INTERPOSE(connect);

/* Reports the address that the program used: 127.0.0.1 and its own port. */
static int name_of(int fd, struct sockaddr *addr, socklen_t *len, call_name real)
{
	struct portmap_view v;
	union spot s = {0};
	socklen_t room;

	if (!len)
		return real(fd, addr, len); /* EFAULT */
	room = *len;
	if (real(fd, addr, len) < 0)
		return -1;
	if (mode == MODE_NONE || !take(&s, addr, *len < room ? *len : room))
		return 0;
	if (mode == MODE_PORT && is_local(&s)) {
		if (portmap_look(map_path, port_of(&s), &v) < 0)
			return refuse(EACCES);
		if (v.from)
			set_port(&s, v.from);
	}
	if (is_device(&s))
		set_host(&s, (struct in_addr){htonl(INADDR_LOOPBACK)});
	memcpy(addr, &s, length_of(&s));
	return 0;
}

int OURS(getsockname)(int fd, struct sockaddr *addr, socklen_t *len) NAMED(getsockname);
int OURS(getsockname)(int fd, struct sockaddr *addr, socklen_t *len)
{
	return name_of(fd, addr, len, REAL(call_name, getsockname));
}
INTERPOSE(getsockname);

int OURS(getpeername)(int fd, struct sockaddr *addr, socklen_t *len) NAMED(getpeername);
int OURS(getpeername)(int fd, struct sockaddr *addr, socklen_t *len)
{
	return name_of(fd, addr, len, REAL(call_name, getpeername));
}
INTERPOSE(getpeername);
