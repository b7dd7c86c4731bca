/* netlink - interfaces, addresses and routes of a network namespace; no heap. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/net/netlink.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RUNNING_MS 10000 /* the longest wait for a kernel worker */

struct request {
	struct nlmsghdr head;
	char rest[1024];
};

int netlink_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	return fd < 0 ? -errno : fd;
}

static void begin(struct request *r, uint16_t type, uint16_t flags, const void *data, size_t len)
{
	memset(r, 0, sizeof(*r));
	r->head.nlmsg_type = type;
	r->head.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	r->head.nlmsg_len = NLMSG_LENGTH(len);
	memcpy(NLMSG_DATA(&r->head), data, len);
}

static struct rtattr *end_of(struct request *r)
{
	return (struct rtattr *)(void *)((char *)r + NLMSG_ALIGN(r->head.nlmsg_len));
}

/* Appends an attribute. All of them are short and fit. */
static struct rtattr *put(struct request *r, uint16_t type, const void *data, size_t len)
{
	struct rtattr *a = end_of(r);

	a->rta_type = type;
	a->rta_len = (uint16_t)RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(a), data, len);
	r->head.nlmsg_len = NLMSG_ALIGN(r->head.nlmsg_len) + (uint32_t)RTA_ALIGN(a->rta_len);
	return a;
}

static void close_nest(struct request *r, struct rtattr *nest)
{
	nest->rta_len = (uint16_t)((char *)end_of(r) - (char *)nest);
}

static void put_address(struct request *r, uint16_t type, const struct net_addr *a)
{
	if (net_addr_is_v4(a))
		put(r, type, a->b + 12, 4);
	else
		put(r, type, a->b, 16);
}

/* Sends the request and receives its answer. */
static int talk(int nl, struct request *r, struct request *reply)
{
	const struct nlmsgerr *e;
	ssize_t n;

	if (send(nl, r, r->head.nlmsg_len, 0) < 0)
		return -errno;
	do
		n = recv(nl, reply, sizeof(*reply), 0);
	while (n < 0 && errno == EINTR);
	if (n < (ssize_t)NLMSG_LENGTH(0))
		return n < 0 ? -errno : -EBADMSG;
	if (reply->head.nlmsg_type != NLMSG_ERROR)
		return 0;
	if (n < (ssize_t)NLMSG_LENGTH(sizeof(*e)))
		return -EBADMSG;
	e = NLMSG_DATA(&reply->head);
	return e->error;
}

static int ask(int nl, struct request *r)
{
	struct request reply;

	return talk(nl, r, &reply);
}

/* Looks up an interface by name, or by index if name is NULL. */
static int get_link(int nl, const char *name, int index, struct ifinfomsg *ret)
{
	const struct ifinfomsg info = {.ifi_family = AF_UNSPEC, .ifi_index = index};
	struct request r, reply;
	int code;

	begin(&r, RTM_GETLINK, 0, &info, sizeof(info));
	r.head.nlmsg_flags = NLM_F_REQUEST;
	if (name)
		put(&r, IFLA_IFNAME, name, strlen(name) + 1);
	code = talk(nl, &r, &reply);
	if (code == 0)
		memcpy(ret, NLMSG_DATA(&reply.head), sizeof(*ret));
	return code;
}

int netlink_index(int nl, const char *name)
{
	struct ifinfomsg got = {0};
	int r = get_link(nl, name, 0, &got);

	return r < 0 ? r : got.ifi_index;
}

int netlink_wait_running(int nl, int index)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct ifinfomsg got = {0};
	int r;

	for (int i = 0; i < RUNNING_MS; i++) {
		r = get_link(nl, NULL, index, &got);
		if (r < 0 || (got.ifi_flags & IFF_RUNNING))
			return r;
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

int netlink_up(int nl, int index)
{
	const struct ifinfomsg info = {.ifi_family = AF_UNSPEC,
				       .ifi_index = index,
				       .ifi_flags = IFF_UP,
				       .ifi_change = IFF_UP};
	struct request r;

	begin(&r, RTM_NEWLINK, 0, &info, sizeof(info));
	return ask(nl, &r);
}

int netlink_veth(int nl, const char *name, const char *peer, int peer_ns, unsigned mtu)
{
	const struct ifinfomsg info = {.ifi_family = AF_UNSPEC};
	struct rtattr *link, *data, *other;
	struct request r;
	uint32_t ns = (uint32_t)peer_ns, size = mtu, one = 1;

	begin(&r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
	put(&r, IFLA_IFNAME, name, strlen(name) + 1);
	put(&r, IFLA_MTU, &size, sizeof(size));
	link = put(&r, IFLA_LINKINFO, NULL, 0);
	put(&r, IFLA_INFO_KIND, "veth", 4);
	data = put(&r, IFLA_INFO_DATA, NULL, 0);
	other = put(&r, VETH_INFO_PEER, &info, sizeof(info));
	put(&r, IFLA_IFNAME, peer, strlen(peer) + 1);
	put(&r, IFLA_MTU, &size, sizeof(size));
	put(&r, IFLA_NET_NS_FD, &ns, sizeof(ns));
	/* A datagram that must be segmented (UDP_SEGMENT) arrives as several. */
	put(&r, IFLA_GSO_MAX_SEGS, &one, sizeof(one));
	close_nest(&r, other);
	close_nest(&r, data);
	close_nest(&r, link);
	return ask(nl, &r);
}

int netlink_address(int nl, int index, const struct net_addr *a, unsigned bits)
{
	struct ifaddrmsg msg = {.ifa_family = net_addr_is_v4(a) ? AF_INET : AF_INET6,
				.ifa_prefixlen = (uint8_t)bits,
				.ifa_index = (uint32_t)index};
	struct request r;

	/* The address is unique; duplicate address detection would only delay its use. */
	if (msg.ifa_family == AF_INET6)
		msg.ifa_flags = IFA_F_NODAD;
	begin(&r, RTM_NEWADDR, NLM_F_CREATE, &msg, sizeof(msg));
	put_address(&r, IFA_LOCAL, a);
	put_address(&r, IFA_ADDRESS, a);
	return ask(nl, &r);
}

static int change_route(int nl, const struct netlink_route *route, uint16_t type, uint16_t flags)
{
	struct rtmsg msg = {.rtm_family = route->v6 ? AF_INET6 : AF_INET,
			    .rtm_table = RT_TABLE_MAIN,
			    .rtm_protocol = RTPROT_STATIC,
			    .rtm_scope = RT_SCOPE_LINK,
			    .rtm_type = route->local ? RTN_LOCAL : RTN_UNICAST};
	uint32_t index = (uint32_t)route->index;
	struct request r;

	if (route->to)
		msg.rtm_dst_len = route->v6 ? 128 : 32;
	if (route->via) {
		msg.rtm_scope = RT_SCOPE_UNIVERSE;
		msg.rtm_flags = RTNH_F_ONLINK;
	}
	if (route->local)
		msg.rtm_scope = RT_SCOPE_HOST;
	begin(&r, type, flags, &msg, sizeof(msg));
	if (route->to)
		put_address(&r, RTA_DST, route->to);
	if (route->via)
		put_address(&r, RTA_GATEWAY, route->via);
	if (route->source)
		put_address(&r, RTA_PREFSRC, route->source);
	put(&r, RTA_OIF, &index, sizeof(index));
	return ask(nl, &r);
}

int netlink_route(int nl, const struct netlink_route *route)
{
	return change_route(nl, route, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
}

int netlink_unroute(int nl, const struct netlink_route *route)
{
	return change_route(nl, route, RTM_DELROUTE, 0);
}

int netlink_drop(int nl, uint8_t protocol, bool v6, bool refuse, const char *from)
{
	const struct fib_rule_hdr head = {.family = v6 ? AF_INET6 : AF_INET,
					  .action = refuse ? FR_ACT_UNREACHABLE : FR_ACT_BLACKHOLE};
	uint32_t priority = 100; /* after the table local, before the table main */
	struct request r;

	begin(&r, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
	put(&r, FRA_PRIORITY, &priority, sizeof(priority));
	put(&r, FRA_IP_PROTO, &protocol, sizeof(protocol));
	if (from)
		put(&r, FRA_IIFNAME, from, strlen(from) + 1);
	return ask(nl, &r);
}
