/* router - the process in the namespace behind the agent's, which listens on request. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/net/net_priv.h"
#include "core/base/fork.h"
#include "core/base/io.h"

#define BACKLOG	 128
#define ANSWER_S 2  /* the router has no other work */
#define START_S	 30 /* each change waits for a kernel lock */

enum want {
	WANT_LISTENER,
	WANT_SOCKET, /* a socket of the agent's namespace; at: its family */
};

struct wanted {
	uint32_t number; /* returned with the answer, which may come after its ANSWER_S */
	enum want what;
	struct net_addr at;
	uint16_t port;
	bool deaf;
};

struct given {
	uint32_t number;
	int code; /* 0: with a socket */
};

/* The namespaces in which it listens: its own and the agent's. */
struct places {
	int own, agent;
};

int router_deafen(int sock, bool deaf)
{
	struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog filter = {.len = 1, .filter = &none};
	int r = deaf ? setsockopt(sock, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter))
		     : setsockopt(sock, SOL_SOCKET, SO_DETACH_FILTER, &(int){0}, sizeof(int));

	return r < 0 && (deaf || errno != ENOENT) ? -errno : 0;
}

int router_hear(int sock, bool deaf)
{
	int r = deaf ? router_deafen(sock, true) : 0;

	return r == 0 && listen(sock, BACKLOG) < 0 ? -errno : r;
}

static int listen_at(const struct wanted *w)
{
	struct sockaddr_storage sa;
	socklen_t len = net_addr_to_sock(&w->at, w->port, &sa);
	AUTO_CLOSE int fd =
		socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	int on = 1, r;

	if (fd < 0)
		return -errno;
	if (sa.ss_family == AF_INET6) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
		setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on));
	} else {
		/* If there are routing rules, the kernel looks for own addresses in the table local
		 * only. */
		setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &on, sizeof(on));
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&sa, len) < 0)
		return -errno;
	r = router_hear(fd, w->deaf);
	return r < 0 ? r : take_fd(&fd);
}

static int socket_of(const struct net_addr *a)
{
	int fd = socket(net_addr_is_v4(a) ? AF_INET : AF_INET6,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);

	return fd < 0 ? -errno : fd;
}

/* Opens a socket. Loopback addresses are opened in the agent's namespace, where a service of the
 * host's loopback is shown. */
static int open_wanted(const struct places *p, const struct wanted *w)
{
	int fd;

	if (w->what == WANT_LISTENER && net_addr_class(&w->at) != NET_LOOPBACK)
		return listen_at(w);
	if (setns(p->agent, CLONE_NEWNET) < 0)
		return -errno;
	fd = w->what == WANT_LISTENER ? listen_at(w) : socket_of(&w->at);
	if (setns(p->own, CLONE_NEWNET) < 0)
		_exit(1);
	return fd;
}

/* Other programs of the user can hold all descriptors that may be in flight (ETOOMANYREFS): then
 * the answer is that error, and the next request may succeed. */
static int give(int sock, uint32_t number, int result)
{
	AUTO_CLOSE int fd = result < 0 ? -1 : result;
	struct given g = {.number = number, .code = MIN(result, 0)};
	int r = io_send_fd(sock, &g, sizeof(g), fd);

	if (r == 0 || fd < 0)
		return r;
	g.code = r;
	return io_send_fd(sock, &g, sizeof(g), -1);
}

static NORETURN void serve(int sock, const struct places *p)
{
	struct wanted w;

	while (io_recv_fd(sock, &w, sizeof(w), NULL) == (ssize_t)sizeof(w))
		if (give(sock, w.number, open_wanted(p, &w)) < 0)
			break;
	_exit(0);
}

/* The first message; the packet sockets follow. */
struct hello {
	int code;
	struct router made;
};

static bool send_packets(int sock, const struct router *made)
{
	for (size_t i = 0; i < ARRAY_LEN(made->packets); i++)
		if (io_send_fd(sock, &i, sizeof(i), made->packets[i]) < 0)
			return false;
	return true;
}

static NORETURN void router(int sock, const struct relay_spec *spec)
{
	int net_ns = spec->net_ns;
	struct hello hello = {.made.packets = {-1, -1, -1}};
	struct places p;

	prctl(PR_SET_NAME, "cordon-router");
	hello.code = router_enter(spec, &hello.made);
	/* Changing credentials clears both. */
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Close the relay's descriptors. Move the three that stay to high numbers first, because
	 * one may have another's target number. */
	sock = fcntl(sock, F_DUPFD_CLOEXEC, 3);
	net_ns = fcntl(net_ns, F_DUPFD_CLOEXEC, 3);
	p.own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	p.own = fcntl(p.own, F_DUPFD_CLOEXEC, 3);
	if (io_send_fd(sock, &hello, sizeof(hello), -1) < 0 || hello.code < 0 ||
	    !send_packets(sock, &hello.made))
		_exit(1);
	if (dup2(sock, 0) < 0 || dup2(net_ns, 1) < 0 || dup2(p.own, 2) < 0 ||
	    close_range(3, ~0u, 0) < 0)
		_exit(1);
	sock = 0;
	p.agent = 1;
	p.own = 2;
	if (net_filter_router() < 0)
		_exit(1);
	serve(sock, &p);
}

static int receive(int sock, struct router *ret)
{
	struct hello hello;
	size_t i, got;

	if (io_recv_fd(sock, &hello, sizeof(hello), NULL) != (ssize_t)sizeof(hello))
		return -EPIPE;
	if (hello.code < 0)
		return hello.code;
	*ret = (struct router){.sock = sock,
			       .inside = hello.made.inside,
			       .outside = hello.made.outside,
			       .packets = {-1, -1, -1}};
	for (i = 0; i < ARRAY_LEN(ret->packets); i++)
		if (io_recv_fd(sock, &got, sizeof(got), &ret->packets[i]) != (ssize_t)sizeof(got))
			return -EPIPE;
	return 0;
}

int router_start(const struct relay_spec *spec, struct router *ret)
{
	const struct timeval start = {.tv_sec = START_S}, most = {.tv_sec = ANSWER_S};
	int fds[2], code;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	pid = fork_bare();
	if (pid == 0) {
		close(fds[0]);
		router(fds[1], spec);
	}
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return -EAGAIN;
	}
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &start, sizeof(start));
	code = receive(fds[0], ret);
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	if (code < 0)
		close(fds[0]);
	return code;
}

static int ask_router(int sock, struct wanted *w)
{
	static uint32_t last;
	struct given g;
	int fd = -1;

	w->number = ++last;
	if (io_send_fd(sock, w, sizeof(*w), -1) < 0)
		return -EPIPE;
	do {
		util_close_fd(&fd);
		if (io_recv_fd(sock, &g, sizeof(g), &fd) != (ssize_t)sizeof(g)) {
			util_close_fd(&fd);
			return -EPIPE;
		}
	} while (g.number != w->number);
	if (g.code < 0)
		util_close_fd(&fd);
	else if (fd < 0) /* this process had no free descriptor */
		g.code = -EMFILE;
	return g.code < 0 ? g.code : fd;
}

int router_listen(int sock, const struct net_addr *at, uint16_t port, bool deaf)
{
	struct wanted w;

	memset(&w, 0, sizeof(w));
	w.what = WANT_LISTENER;
	w.at = *at;
	w.port = port;
	w.deaf = deaf;
	return ask_router(sock, &w);
}

int router_socket(int sock, bool v6)
{
	static const struct net_addr loopback_v6 = {{[15] = 1}};
	struct wanted w;

	memset(&w, 0, sizeof(w));
	w.what = WANT_SOCKET;
	w.at = v6 ? loopback_v6 : net_addr_v4(INADDR_LOOPBACK);
	return ask_router(sock, &w);
}
