/* own_address - the addresses that lead to this host: of its interfaces and of local routes. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#ifdef __linux__
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#endif

#include "core/base/clock.h"
#include "core/net/addr.h"
#include "core/policy/policy.h"

#define OWN_MAX	  128
#define ROUTES	  16 /* cached, in a slot by address */
#define RECENT_US 1000000

/* Cached for a moment, because each connection needs them. */
static struct {
	struct net_addr list[OWN_MAX];
	size_t n;
	int64_t until_us;
} mine;

static struct {
	struct net_addr to;
	bool local;
	int64_t until_us;
} routes[ROUTES];

/* Reads the addresses of interfaces. Returns false if they are unknown, or too many to be kept. */
static bool read_own(void)
{
	struct ifaddrs *list = NULL;
	bool all = true;

	mine.n = 0;
	if (getifaddrs(&list) < 0)
		return false;
	for (const struct ifaddrs *i = list; i && all; i = i->ifa_next) {
		int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;
		socklen_t len = family == AF_INET    ? sizeof(struct sockaddr_in)
				: family == AF_INET6 ? sizeof(struct sockaddr_in6)
						     : 0;
		uint16_t port;

		all = mine.n < OWN_MAX;
		if (all && net_addr_from_sock(&mine.list[mine.n], &port, i->ifa_addr, len))
			mine.n++;
	}
	freeifaddrs(list);
	return all;
}

#ifdef __linux__
/* Returns whether the kernel keeps packets to this address, which no interface has to own (AnyIP).
 * An address without a route, or a kernel that does not say, is not local. */
static bool ask_route(const struct net_addr *to)
{
	bool v4 = net_addr_is_v4(to);
	size_t bytes = v4 ? 4 : 16;
	struct {
		struct nlmsghdr head;
		struct rtmsg route;
		struct rtattr attr;
		uint8_t to[16];
	} q = {.head = {.nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST},
	       .route = {.rtm_family = v4 ? AF_INET : AF_INET6, .rtm_dst_len = v4 ? 32 : 128},
	       .attr = {.rta_type = RTA_DST, .rta_len = (unsigned short)RTA_LENGTH(bytes)}};
	union {
		struct nlmsghdr head;
		uint8_t bytes[4096];
	} a;
	AUTO_CLOSE int nl = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	const struct rtmsg *route = NLMSG_DATA(&a.head);
	ssize_t n;

	memcpy(q.to, to->b + 16 - bytes, bytes);
	q.head.nlmsg_len = (uint32_t)(NLMSG_LENGTH(sizeof(q.route)) + RTA_LENGTH(bytes));
	if (nl < 0 || send(nl, &q, q.head.nlmsg_len, 0) < 0)
		return false;
	do
		n = recv(nl, &a, sizeof(a), 0);
	while (n < 0 && errno == EINTR);
	return n >= (ssize_t)NLMSG_LENGTH(sizeof(*route)) && a.head.nlmsg_type == RTM_NEWROUTE &&
	       route->rtm_type == RTN_LOCAL;
}
#else
static bool ask_route(const struct net_addr *to)
{
	(void)to;
	return false;
}
#endif

static bool is_routed_here(const struct net_addr *to, int64_t now)
{
	size_t at = (to->b[13] ^ to->b[14] ^ to->b[15]) % ROUTES;

	if (now >= routes[at].until_us || !net_addr_eq(&routes[at].to, to)) {
		routes[at].to = *to;
		routes[at].local = ask_route(to);
		routes[at].until_us = now + RECENT_US;
	}
	return routes[at].local;
}

bool policy_is_own_address(const struct net_addr *addr)
{
	int64_t now = clock_mono_us();

	if (now >= mine.until_us) {
		mine.until_us = 0;
		if (!read_own())
			return true; /* in doubt it is this host's */
		mine.until_us = now + RECENT_US;
	}
	for (size_t i = 0; i < mine.n; i++)
		if (net_addr_eq(&mine.list[i], addr))
			return true;
	return is_routed_here(addr, now);
}
