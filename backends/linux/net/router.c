/* router - the namespace behind the agent's: it leads nowhere, and listens where it is told. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/net/net_priv.h"
#include "backends/linux/net/netlink.h"
#include "core/base/fork.h"
#include "core/base/io.h"
#include "core/net/packet.h"

#define OUTER	 "cordon0"
#define INNER	 "eth0"
#define MTU	 65520 /* nothing is ever sent on by a real device */
#define BACKLOG	 128
#define ANSWER_S 2 /* the router does nothing else: more means that it is gone */

enum want {
	WANT_LISTENER,
	WANT_SOCKET, /* the agent's; at: of which family */
};

struct wanted {
	enum want what;
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

/* A packet socket's view begins at the IP header. */
static int packet_socket(int index, uint16_t type, const struct sock_fprog *filter)
{
	const struct sockaddr_ll at = {
		.sll_family = AF_PACKET, .sll_protocol = htons(type), .sll_ifindex = index};
	AUTO_CLOSE int low = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 20), size = 1 << 20;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	/* It hears nothing before it is bound. */
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, filter, sizeof(*filter)) < 0 ||
	    bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

#define FIELD(size, at)	     BPF_STMT(BPF_LD | (size) | BPF_ABS, at)
#define JUMP_IF(is, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, is, yes, no)
#define ANY_BIT(of, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, of, yes, no)
/* A segment's flags: SYN without ACK; else so many instructions after the next one are skipped. */
#define BEGINS(otherwise)                                                                          \
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PACKET_TCP_SYN | PACKET_TCP_ACK),                      \
		JUMP_IF(PACKET_TCP_SYN, 0, otherwise)
#define TAKE  BPF_STMT(BPF_RET | BPF_K, ~0u)
#define LEAVE BPF_STMT(BPF_RET | BPF_K, 0)

/*
 * Who asks for addresses of a family only where the host has one (AI_ADDRCONFIG) looks at this
 * address, before there is a veth. And until then packets for others take the loopback device,
 * where they are dropped, but the first one is seen.
 */
static int add_address(void)
{
	/* UDP and ICMP that is not for this namespace. */
	struct sock_filter leaving[] = {
		FIELD(BPF_B, 9),
		JUMP_IF(IPPROTO_UDP, 1, 0),
		JUMP_IF(IPPROTO_ICMP, 0, 5),
		FIELD(BPF_W, 16),
		JUMP_IF(NET_INSIDE, 3, 0),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff000000u),
		JUMP_IF(0x7f000000u, 1, 0),
		TAKE,
		LEAVE,
	};
	const struct sock_fprog filter = {.len = ARRAY_LEN(leaving), .filter = leaving};
	const struct net_addr inside = net_addr_v4(NET_INSIDE);
	AUTO_CLOSE int nl = netlink_open();
	int lo = nl < 0 ? nl : netlink_index(nl, "lo"), fd = -1;

	if (lo <= 0 || netlink_address(nl, lo, &inside, 32) < 0)
		return -1;
	fd = packet_socket(lo, ETHERTYPE_IP, &filter);
	if (fd >= 0)
		(void)netlink_route(nl, &(struct netlink_route){.index = lo, .source = &inside});
	return fd;
}

void router_prepare_inside(int inside[INSIDE_SOCKETS])
{
	static const uint32_t hosts[] = {0x7f000035, 0x7f000001}; /* 127.0.0.53, 127.0.0.1 */

	for (size_t i = 0; i < DNS_SOCKETS; i++)
		inside[i] = bind_stub(hosts[i / 2], i % 2 ? SOCK_STREAM : SOCK_DGRAM);
	inside[EARLY_SOCKET] = add_address();
}

void router_allow_ping(void)
{
	AUTO_CLOSE int fd = open("/proc/sys/net/ipv4/ping_group_range", O_WRONLY | O_CLOEXEC);
	char text[64];
	int n;

	if (fd < 0 || write(fd, "0 2147483647", 12) == 12)
		return;
	n = snprintf(text, sizeof(text), "%u %u", (unsigned)getegid(), (unsigned)getegid());
	(void)!write(fd, text, (size_t)n);
}

/* ---- the namespace --------------------------------------------------------------------------- */

static struct net_addr v6(const char *text)
{
	struct net_addr a = {{0}};

	(void)net_addr_parse(&a, text, strlen(text));
	return a;
}

/* IPv6 may be switched off: then there is none inside. */
static int set_up_outer_v6(int nl, int lo, int outer)
{
	const struct net_addr router = v6(NET_ROUTER_V6);
	int r = netlink_address(nl, outer, &router, 64);

	if (r < 0)
		return r;
	return netlink_route(nl, &(struct netlink_route){.index = lo, .v6 = true, .local = true});
}

static void set_up_inside_v6(int inner_nl, int inner)
{
	const struct net_addr inside = v6(NET_INSIDE_V6), router = v6(NET_ROUTER_V6);

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

/* Everything is local here: without this an echo request to any host would be answered, and a
 * datagram refused, by this kernel. Packet sockets see them before. */
static int drop_packets(int nl, bool refuse, const char *from)
{
	int r = netlink_drop(nl, IPPROTO_UDP, false, refuse, from);

	if (r == 0)
		r = netlink_drop(nl, IPPROTO_ICMP, false, refuse, from);
	if (r < 0 || netlink_drop(nl, IPPROTO_UDP, true, refuse, from) < 0)
		return r; /* no IPv6 */
	return netlink_drop(nl, IPPROTO_ICMPV6, true, refuse, from);
}

/* Of TCP what begins a connection, or says that there is none. */
static void open_packets(struct router *made, int outer)
{
	struct sock_filter v4[] = {FIELD(BPF_B, 9),
				   JUMP_IF(IPPROTO_UDP, 7, 0),
				   JUMP_IF(IPPROTO_ICMP, 6, 0),
				   JUMP_IF(IPPROTO_TCP, 0, 6),
				   BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
				   BPF_STMT(BPF_LD | BPF_B | BPF_IND, 13),
				   ANY_BIT(PACKET_TCP_RST, 2, 0),
				   BEGINS(1),
				   TAKE,
				   LEAVE};
	struct sock_filter v6[] = {FIELD(BPF_B, 6),
				   JUMP_IF(IPPROTO_UDP, 6, 0),
				   JUMP_IF(IPPROTO_ICMPV6, 5, 0),
				   JUMP_IF(IPPROTO_TCP, 0, 5),
				   FIELD(BPF_B, 40 + 13),
				   ANY_BIT(PACKET_TCP_RST, 2, 0),
				   BEGINS(1),
				   TAKE,
				   LEAVE};
	const struct sock_fprog filters[] = {{.len = ARRAY_LEN(v4), .filter = v4},
					     {.len = ARRAY_LEN(v6), .filter = v6}};

	made->inside.index = outer;
	made->packets[PACKETS_V4] = packet_socket(outer, ETHERTYPE_IP, &filters[0]);
	made->packets[PACKETS_V6] = packet_socket(outer, ETHERTYPE_IPV6, &filters[1]);
}

/* In the router's namespace, for the interface behind which the agent is. Returns lo's index. */
static int set_up_outer(int nl, int outer)
{
	const struct net_addr inside = net_addr_v4(NET_INSIDE), router = net_addr_v4(NET_ROUTER);
	int lo = netlink_index(nl, "lo");
	int r = lo < 0 ? lo : netlink_up(nl, lo);

	if (r == 0)
		r = netlink_up(nl, outer);
	if (r == 0)
		r = netlink_address(nl, outer, &router, 32);
	if (r == 0)
		r = netlink_route(nl, &(struct netlink_route){.index = outer, .to = &inside});
	/* In the table main: in the table local it would win over the veth's own network. */
	if (r == 0)
		r = netlink_route(nl, &(struct netlink_route){.index = lo, .local = true});
	if (r == 0)
		r = drop_packets(nl, false, OUTER);
	return r < 0 ? r : lo;
}

static bool hardware(int nl, const char *name, uint8_t mac[6])
{
	struct ifreq end = {0};

	snprintf(end.ifr_name, sizeof(end.ifr_name), "%s", name);
	if (ioctl(nl, SIOCGIFHWADDR, &end) < 0)
		return false;
	memcpy(mac, end.ifr_hwaddr.sa_data, 6);
	return true;
}

static int set_up(int inner_nl, int net_ns, struct router *made)
{
	AUTO_CLOSE int nl = netlink_open();
	int r = nl < 0 ? nl : netlink_veth(nl, OUTER, INNER, net_ns, MTU), lo, outer, inner = 0;

	outer = r == 0 ? netlink_index(nl, OUTER) : r;
	lo = outer < 0 ? outer : set_up_outer(nl, outer);
	if (lo < 0)
		return lo;
	r = set_up_inside(inner_nl, &inner);
	if (r < 0)
		return r;
	if (set_up_outer_v6(nl, lo, outer) == 0)
		set_up_inside_v6(inner_nl, inner);
	made->outside.index = inner;
	if (hardware(inner_nl, INNER, made->inside.mac) && hardware(nl, OUTER, made->outside.mac))
		open_packets(made, outer);
	return made->packets[PACKETS_V4] < 0 ? drop_packets(inner_nl, true, NULL) : 0;
}

/* Of router_prepare_guest(): all is there but the sockets of this process. */
static int take_over(struct router *made)
{
	AUTO_CLOSE int nl = netlink_open();
	int outer = nl < 0 ? nl : netlink_index(nl, OUTER);

	if (outer < 0)
		return outer;
	open_packets(made, outer);
	return 0;
}

/* Of no protocol: it hears nothing. */
static int sending_socket(void)
{
	AUTO_CLOSE int low = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 20); /* 0, 1, 2 are replaced */
}

/* From the relay's namespaces to one of its own, with a way into the agent's. */
static int enter(const struct relay_spec *spec, struct router *made)
{
	AUTO_CLOSE int inner_nl = -1;
	int net_ns = spec->net_ns, r;

	if (setns(spec->user_ns, CLONE_NEWUSER) < 0 || setns(net_ns, CLONE_NEWNET) < 0)
		return -errno;
	if (spec->guest)
		return take_over(made);
	inner_nl = netlink_open();
	if (inner_nl < 0)
		return inner_nl;
	made->packets[PACKETS_AGAIN] = sending_socket();
	r = unshare(CLONE_NEWNET) < 0 ? -errno : set_up(inner_nl, net_ns, made);
	if (r < 0) /* what is to leave is refused, and does not seem to have gone */
		(void)netlink_unroute(
			inner_nl, &(struct netlink_route){.index = netlink_index(inner_nl, "lo")});
	return r;
}

int router_try(void)
{
	struct router made = {.packets = {-1, -1, -1}};
	AUTO_CLOSE int net_ns = -1;
	AUTO_CLOSE int inner_nl = -1;

	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	net_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	inner_nl = netlink_open();
	if (net_ns < 0 || inner_nl < 0 || unshare(CLONE_NEWNET) < 0)
		return -errno;
	return set_up(inner_nl, net_ns, &made); /* by a process that ends */
}

/* ---- before a guest -------------------------------------------------------------------------- */

/* The first UDP or ICMP of either family that is not for the router itself. */
static int hear_first(int outer)
{
	struct sock_filter coming[] = {
		FIELD(BPF_W, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
		JUMP_IF(PACKET_OUTGOING, 12, 0),
		FIELD(BPF_B, 0),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0),
		JUMP_IF(0x60, 5, 0),
		FIELD(BPF_B, 9),
		JUMP_IF(IPPROTO_UDP, 1, 0),
		JUMP_IF(IPPROTO_ICMP, 0, 6),
		FIELD(BPF_W, 16),
		JUMP_IF(NET_ROUTER, 4, 3),
		FIELD(BPF_B, 6),
		JUMP_IF(IPPROTO_UDP, 1, 0),
		JUMP_IF(IPPROTO_ICMPV6, 0, 1),
		TAKE,
		LEAVE,
	};
	const struct sock_fprog filter = {.len = ARRAY_LEN(coming), .filter = coming};

	return packet_socket(outer, ETH_P_ALL, &filter);
}

/* Packets of IP, without a header before them. */
static int open_tun(void)
{
	struct ifreq ifr = {.ifr_name = OUTER, .ifr_flags = IFF_TUN | IFF_NO_PI};
	AUTO_CLOSE int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	AUTO_CLOSE int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || s < 0 || ioctl(fd, TUNSETIFF, &ifr) < 0)
		return -errno;
	ifr.ifr_mtu = MTU;
	return ioctl(s, SIOCSIFMTU, &ifr) < 0 ? -errno : take_fd(&fd);
}

int router_prepare_guest(int inside[INSIDE_SOCKETS])
{
	AUTO_CLOSE int tun = -1;
	AUTO_CLOSE int nl = -1;
	int outer, lo;

	for (size_t i = 0; i < INSIDE_SOCKETS; i++)
		inside[i] = -1;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return -errno;
	tun = open_tun();
	nl = netlink_open();
	if (tun < 0 || nl < 0)
		return MIN(tun, nl);
	outer = netlink_index(nl, OUTER);
	lo = outer < 0 ? outer : set_up_outer(nl, outer);
	if (lo < 0)
		return lo;
	(void)set_up_outer_v6(nl, lo, outer); /* it may be switched off */
	inside[0] = bind_stub(NET_ROUTER, SOCK_DGRAM);
	inside[1] = bind_stub(NET_ROUTER, SOCK_STREAM);
	inside[EARLY_SOCKET] = hear_first(outer);
	return take_fd(&tun);
}

/* ---- listening ------------------------------------------------------------------------------- */

/* Its own namespace and the agent's, to listen in. */
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

static int listen_at(const struct wanted *w)
{
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
	} else {
		/* Once there are rules, the kernel looks for own addresses in the table local. */
		setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &on, sizeof(on));
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (w->deaf && router_deafen(fd, true) < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&sa, len) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return take_fd(&fd);
}

static int socket_of(const struct net_addr *a)
{
	int fd = socket(net_addr_is_v4(a) ? AF_INET : AF_INET6,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);

	return fd < 0 ? -errno : fd;
}

/* A loopback address is the agent's own: there a service of the host's loopback is shown. */
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

static NORETURN void serve(int sock, const struct places *p)
{
	struct wanted w;

	while (io_recv_fd(sock, &w, sizeof(w), NULL) == (ssize_t)sizeof(w)) {
		int fd = open_wanted(p, &w), code = MIN(fd, 0);

		if (io_send_fd(sock, &code, sizeof(code), fd < 0 ? -1 : fd) < 0)
			break;
		util_close_fd(&fd);
	}
	_exit(0);
}

/* Its first message; the packet sockets follow. */
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
	hello.code = enter(spec, &hello.made);
	/* Changing credentials clears both. */
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* What the relay has is not for here. The three that stay may have any number, also one of
	 * those that they are to have. */
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
	const struct timeval most = {.tv_sec = ANSWER_S};
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
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	code = receive(fds[0], ret);
	if (code < 0)
		close(fds[0]);
	return code;
}

static int ask_router(int sock, const struct wanted *w)
{
	int code = -EPIPE, fd = -1;

	if (io_send_fd(sock, w, sizeof(*w), -1) < 0 ||
	    io_recv_fd(sock, &code, sizeof(code), &fd) != (ssize_t)sizeof(code))
		return -EPIPE;
	if (code < 0)
		util_close_fd(&fd);
	else if (fd < 0) /* there was no room for it here */
		code = -EMFILE;
	return code < 0 ? code : fd;
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
