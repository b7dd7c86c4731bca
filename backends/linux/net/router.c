/* router - the namespace behind the agent's: it leads nowhere, and listens where it is told. */
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
#include "backends/linux/net/netlink.h"
#include "core/base/fork.h"
#include "core/base/io.h"

#define OUTER	 "cordon0"
#define INNER	 "eth0"
#define MTU	 65520 /* nothing is ever sent on by a real device */
#define BACKLOG	 128
#define ANSWER_S 2 /* the router does nothing else: more means that it is gone */

struct wanted {
	struct net_addr at;
	uint16_t port;
	bool deaf;
};

/* ---- inside, at the start -------------------------------------------------------------------- */

static int bind_stub(uint32_t host, int type)
{
	const struct net_addr a = net_addr_v4(host);
	struct sockaddr_storage sa;
	socklen_t len = net_addr_to_sock(&a, 53, &sa);
	AUTO_CLOSE int low = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 20), on = 1; /* 0, 1, 2 are replaced */

	if (fd < 0)
		return -1;
	if (type == SOCK_STREAM)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&sa, len) < 0 ||
	    (type == SOCK_STREAM && listen(fd, BACKLOG) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Who asks for addresses of a family only where the host has one (AI_ADDRCONFIG) looks at this one,
 * before there is a veth. */
static void add_address(void)
{
	const struct net_addr inside = net_addr_v4(NET_INSIDE);
	AUTO_CLOSE int nl = netlink_open();
	int lo = nl < 0 ? nl : netlink_index(nl, "lo");

	if (lo > 0)
		(void)netlink_address(nl, lo, &inside, 32);
}

void router_prepare_inside(int dns[DNS_SOCKETS])
{
	static const uint32_t hosts[] = {0x7f000035, 0x7f000001}; /* 127.0.0.53, 127.0.0.1 */

	for (size_t i = 0; i < DNS_SOCKETS; i++)
		dns[i] = bind_stub(hosts[i / 2], i % 2 ? SOCK_STREAM : SOCK_DGRAM);
	add_address();
}

/* ---- the namespace --------------------------------------------------------------------------- */

static struct net_addr v6(const char *text)
{
	struct net_addr a = {{0}};

	(void)net_addr_parse(&a, text, strlen(text));
	return a;
}

/* IPv6 may be switched off: then there is none inside. */
static void set_up_v6(int nl, int lo, int outer, int inner_nl, int inner)
{
	const struct net_addr inside = v6(NET_INSIDE_V6), router = v6(NET_ROUTER_V6);

	if (netlink_address(nl, outer, &router, 64) < 0 ||
	    netlink_route(nl, &(struct netlink_route){.index = lo, .v6 = true, .local = true}) < 0)
		return;
	if (netlink_address(inner_nl, inner, &inside, 64) == 0)
		(void)netlink_route(inner_nl, &(struct netlink_route){
						      .index = inner, .via = &router, .v6 = true});
}

/* In the agent's namespace, through a socket that was made there. */
static int set_up_inside(int nl, int *ret_inner)
{
	const struct net_addr inside = net_addr_v4(NET_INSIDE), router = net_addr_v4(NET_ROUTER);
	int r, lo = netlink_index(nl, "lo"), inner = netlink_index(nl, INNER);

	if (lo < 0 || inner < 0)
		return MIN(lo, inner);
	*ret_inner = inner;
	r = netlink_address(nl, lo, &inside, 32);
	if (r < 0 && r != -EEXIST)
		return r;
	r = netlink_up(nl, inner);
	if (r < 0)
		return r;
	return netlink_route(
		nl, &(struct netlink_route){.index = inner, .via = &router, .source = &inside});
}

static int set_up(int inner_nl, int net_ns)
{
	const struct net_addr inside = net_addr_v4(NET_INSIDE), router = net_addr_v4(NET_ROUTER);
	AUTO_CLOSE int nl = netlink_open();
	int r, lo, outer, inner = 0;

	if (nl < 0)
		return nl;
	lo = netlink_index(nl, "lo");
	r = lo < 0 ? lo : netlink_up(nl, lo);
	if (r == 0)
		r = netlink_veth(nl, OUTER, INNER, net_ns, MTU);
	outer = r == 0 ? netlink_index(nl, OUTER) : r;
	if (outer < 0)
		return outer;
	r = netlink_up(nl, outer);
	if (r == 0)
		r = netlink_address(nl, outer, &router, 32);
	if (r == 0)
		r = netlink_route(nl, &(struct netlink_route){.index = outer, .to = &inside});
	/* In the table main: in the table local it would win over the veth's own network. */
	if (r == 0)
		r = netlink_route(nl, &(struct netlink_route){.index = lo, .local = true});
	if (r == 0)
		r = set_up_inside(inner_nl, &inner);
	if (r == 0)
		set_up_v6(nl, lo, outer, inner_nl, inner);
	return r;
}

/* From the relay's namespaces to one of its own, with a way into the agent's. */
static int enter(int user_ns, int net_ns)
{
	AUTO_CLOSE int inner_nl = -1;

	if (setns(user_ns, CLONE_NEWUSER) < 0 || setns(net_ns, CLONE_NEWNET) < 0)
		return -errno;
	inner_nl = netlink_open();
	if (inner_nl < 0)
		return inner_nl;
	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	return set_up(inner_nl, net_ns);
}

int router_try(void)
{
	AUTO_CLOSE int net_ns = -1;
	AUTO_CLOSE int inner_nl = -1;

	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	net_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	inner_nl = netlink_open();
	if (net_ns < 0 || inner_nl < 0 || unshare(CLONE_NEWNET) < 0)
		return -errno;
	return set_up(inner_nl, net_ns);
}

/* ---- listening ------------------------------------------------------------------------------- */

/* Its own namespace and the agent's, to listen in. */
struct places {
	int own, agent;
};

static int listen_at(const struct wanted *w)
{
	struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog deaf = {.len = 1, .filter = &none};
	struct sockaddr_storage sa;
	socklen_t len = net_addr_to_sock(&w->at, w->port, &sa);
	AUTO_CLOSE int fd =
		socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	int on = 1;

	if (fd < 0)
		return -errno;
	if (sa.ss_family == AF_INET6) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
		setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on));
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (w->deaf && setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &deaf, sizeof(deaf)) < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&sa, len) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return take_fd(&fd);
}

/* A loopback address is the agent's own: there a service of the host's loopback is shown. */
static int open_listener(const struct places *p, const struct wanted *w)
{
	int fd;

	if (net_addr_class(&w->at) != NET_LOOPBACK)
		return listen_at(w);
	if (setns(p->agent, CLONE_NEWNET) < 0)
		return -errno;
	fd = listen_at(w);
	if (setns(p->own, CLONE_NEWNET) < 0)
		_exit(1);
	return fd;
}

static NORETURN void serve(int sock, const struct places *p)
{
	struct wanted w;

	while (io_recv_fd(sock, &w, sizeof(w), NULL) == (ssize_t)sizeof(w)) {
		int fd = open_listener(p, &w), code = MIN(fd, 0);

		if (io_send_fd(sock, &code, sizeof(code), fd < 0 ? -1 : fd) < 0)
			break;
		util_close_fd(&fd);
	}
	_exit(0);
}

static NORETURN void router(int sock, int user_ns, int net_ns)
{
	struct places p;
	int code;

	prctl(PR_SET_NAME, "cordon-router");
	code = enter(user_ns, net_ns);
	/* Changing credentials clears both. */
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* What the relay has is not for here. The three that stay may have any number, also one of
	 * those that they are to have. */
	sock = fcntl(sock, F_DUPFD_CLOEXEC, 3);
	net_ns = fcntl(net_ns, F_DUPFD_CLOEXEC, 3);
	p.own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	p.own = fcntl(p.own, F_DUPFD_CLOEXEC, 3);
	if (dup2(sock, 0) < 0 || dup2(net_ns, 1) < 0 || dup2(p.own, 2) < 0 ||
	    close_range(3, ~0u, 0) < 0)
		_exit(1);
	sock = 0;
	p.agent = 1;
	p.own = 2;
	if (io_send_fd(sock, &code, sizeof(code), -1) < 0 || code < 0)
		_exit(1);
	serve(sock, &p);
}

int router_start(int user_ns, int net_ns, int *ret_sock)
{
	const struct timeval most = {.tv_sec = ANSWER_S};
	int fds[2], code = -EPIPE;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	pid = fork_bare();
	if (pid == 0) {
		close(fds[0]);
		router(fds[1], user_ns, net_ns);
	}
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return -EAGAIN;
	}
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	if (io_recv_fd(fds[0], &code, sizeof(code), NULL) != (ssize_t)sizeof(code))
		code = -EPIPE;
	if (code < 0) {
		close(fds[0]);
		return code;
	}
	*ret_sock = fds[0];
	return 0;
}

int router_listen(int sock, const struct net_addr *at, uint16_t port, bool deaf)
{
	struct wanted w;
	int code = -EPIPE, fd = -1;

	memset(&w, 0, sizeof(w));
	w.at = *at;
	w.port = port;
	w.deaf = deaf;
	if (io_send_fd(sock, &w, sizeof(w), -1) < 0 ||
	    io_recv_fd(sock, &code, sizeof(code), &fd) != (ssize_t)sizeof(code))
		return -EPIPE;
	if (code < 0)
		util_close_fd(&fd);
	return code < 0 ? code : fd;
}
