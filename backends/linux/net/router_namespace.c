/* router_namespace - the router's namespace: the veth between it and the agent, addresses, routes.
 */
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
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/net/net_priv.h"
#include "backends/linux/net/netlink.h"
#include "core/base/io.h"
#include "core/net/packet.h"

#define OUTER	"cordon0"
#define INNER	"eth0"
#define MTU	65520 /* no real device forwards a packet */
#define BACKLOG 128

/* ---- inside, before the agent is confined ---------------------------------------------------- */

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

/* Returns a packet socket, whose packets begin at the IP header. */
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
	/* It receives nothing before bind(), so the filter comes first. */
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
/* Tests a segment's flags for SYN without ACK; otherwise skips `otherwise` instructions after the
 * next one. */
#define BEGINS(otherwise)                                                                          \
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PACKET_TCP_SYN | PACKET_TCP_ACK),                      \
		JUMP_IF(PACKET_TCP_SYN, 0, otherwise)
#define TAKE  BPF_STMT(BPF_RET | BPF_K, ~0u)
#define LEAVE BPF_STMT(BPF_RET | BPF_K, 0)

/*
 * Adds the agent's address before there is a veth. Programs that ask for addresses only of families
 * that the host has (AI_ADDRCONFIG) check it. Until the veth exists, packets go to the loopback
 * device, which drops them; the first one is noticed.
 */
static int add_address(void)
{
	/* Passes UDP and ICMP packets that leave this namespace. */
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

/* ---- the router's namespace ------------------------------------------------------------------ */

static struct net_addr v6(const char *text)
{
	struct net_addr a = {{0}};

	(void)net_addr_parse(&a, text, strlen(text));
	return a;
}

/* IPv6 may be disabled on the host; the sandbox then has none. */
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

/* Sets up the agent's namespace, through a netlink socket that was made there. Returns the
 * interface's index. */
static int set_up_inside(int nl)
{
	const struct net_addr inside = net_addr_v4(NET_INSIDE);
	int r, lo = netlink_index(nl, "lo"), inner = netlink_index(nl, INNER);

	if (lo < 0 || inner < 0)
		return MIN(lo, inner);
	r = netlink_address(nl, lo, &inside, 32);
	if (r == 0 || r == -EEXIST)
		r = netlink_up(nl, inner);
	return r < 0 ? r : inner;
}

/* Adds the agent's route to the veth, after everything behind it works. */
static int lead_out(int nl, int inner)
{
	const struct net_addr inside = net_addr_v4(NET_INSIDE), router = net_addr_v4(NET_ROUTER);

	return netlink_route(
		nl, &(struct netlink_route){.index = inner, .via = &router, .source = &inside});
}

/* Drops packets. All addresses are local here, so this kernel would answer echo requests to any
 * host, and refuse datagrams. Packet sockets see the packets before that. */
static int drop_packets(int nl, bool refuse, const char *from)
{
	int r = netlink_drop(nl, IPPROTO_UDP, false, refuse, from);

	if (r == 0)
		r = netlink_drop(nl, IPPROTO_ICMP, false, refuse, from);
	if (r < 0 || netlink_drop(nl, IPPROTO_UDP, true, refuse, from) < 0)
		return r; /* no IPv6 */
	return netlink_drop(nl, IPPROTO_ICMPV6, true, refuse, from);
}

/* Opens the packet sockets. Of TCP they receive segments that begin a connection or refuse one. */
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

/* Sets up the router's namespace, for the interface to the agent. Returns lo's index. */
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
	/* In the table main: in the table local it would take precedence over the veth's
	 * network. */
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
	int r = nl < 0 ? nl : netlink_veth(nl, OUTER, INNER, net_ns, MTU), lo, outer, inner;

	outer = r == 0 ? netlink_index(nl, OUTER) : r;
	lo = outer < 0 ? outer : set_up_outer(nl, outer);
	if (lo < 0)
		return lo;
	inner = set_up_inside(inner_nl);
	if (inner < 0)
		return inner;
	made->outside.index = inner;
	if (hardware(inner_nl, INNER, made->inside.mac) && hardware(nl, OUTER, made->outside.mac))
		open_packets(made, outer);
	/* Without this the first answer may be dropped (netlink.h). */
	r = netlink_wait_running(nl, outer);
	if (r == 0)
		r = lead_out(inner_nl, inner);
	if (r < 0)
		return r;
	if (set_up_outer_v6(nl, lo, outer) == 0)
		set_up_inside_v6(inner_nl, inner);
	return made->packets[PACKETS_V4] < 0 ? drop_packets(inner_nl, true, NULL) : 0;
}

/* Uses the namespaces of router_prepare_guest(), which lack only this process's sockets. */
static int take_over(struct router *made)
{
	AUTO_CLOSE int nl = netlink_open();
	int outer = nl < 0 ? nl : netlink_index(nl, OUTER);

	if (outer < 0)
		return outer;
	open_packets(made, outer);
	return 0;
}

/* Returns a packet socket without a protocol, which receives nothing. */
static int sending_socket(void)
{
	AUTO_CLOSE int low = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 20); /* 0, 1, 2 are replaced */
}

int router_enter(const struct relay_spec *spec, struct router *made)
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
	if (r < 0) /* without a route a send fails at once, instead of seeming to succeed */
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
	return set_up(inner_nl, net_ns, &made); /* in a process that ends */
}

/* ---- for a guest ----------------------------------------------------------------------------- */

/* Returns a socket for the first UDP or ICMP packet that is not for the router itself. */
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

/* Opens a TUN device: IP packets without a header. */
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
	(void)set_up_outer_v6(nl, lo, outer); /* IPv6 may be disabled */
	inside[0] = bind_stub(NET_ROUTER, SOCK_DGRAM);
	inside[1] = bind_stub(NET_ROUTER, SOCK_STREAM);
	inside[EARLY_SOCKET] = hear_first(outer);
	return take_fd(&tun);
}
