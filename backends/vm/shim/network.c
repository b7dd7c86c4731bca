/* network - the guest's interfaces, addresses, routes and resolver. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/shim/shim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * The host's end expects these (backends/linux/net/net_priv.h) and drops packets from other
 * addresses. The host is the only neighbour. So the interface has neither ARP nor neighbour
 * discovery (IFF_NOARP), and the host parses neither.
 */
#define DEVICE	  "eth0"
#define OWN	  "198.18.0.2"
#define ROUTER	  "198.18.0.1"
#define OWN_V6	  "fdc0:7d0::2"
#define ROUTER_V6 "fdc0:7d0::1"
#define MTU	  65520 /* no real device forwards a packet */

/* struct in6_ifreq of <linux/ipv6.h>, which conflicts with <netinet/in.h>. */
struct address_v6 {
	struct in6_addr addr;
	uint32_t bits;
	int index;
};

static struct ifreq of_device(const char *name)
{
	struct ifreq ifr = {0};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	return ifr;
}

static int up(int s, const char *name, int flags)
{
	struct ifreq ifr = of_device(name);

	ifr.ifr_flags = (short)(IFF_UP | flags);
	return ioctl(s, SIOCSIFFLAGS, &ifr);
}

static void put_v4(struct sockaddr *sa, const char *text)
{
	struct sockaddr_in in = {.sin_family = AF_INET};

	inet_pton(AF_INET, text, &in.sin_addr);
	memcpy(sa, &in, sizeof(in));
}

static int set_v4(int s)
{
	struct ifreq ifr = of_device(DEVICE);
	struct rtentry route = {.rt_flags = RTF_UP | RTF_GATEWAY, .rt_dev = (char[]){DEVICE}};

	put_v4(&ifr.ifr_addr, OWN);
	if (ioctl(s, SIOCSIFADDR, &ifr) < 0)
		return -1;
	put_v4(&ifr.ifr_netmask, "255.255.255.252");
	if (ioctl(s, SIOCSIFNETMASK, &ifr) < 0)
		return -1;
	put_v4(&route.rt_dst, "0.0.0.0");
	put_v4(&route.rt_genmask, "0.0.0.0");
	put_v4(&route.rt_gateway, ROUTER);
	return ioctl(s, SIOCADDRT, &route);
}

/* Configures IPv6. A kernel without it is fine. */
static int set_v6(void)
{
	int s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), r;
	struct address_v6 own = {.bits = 64, .index = (int)if_nametoindex(DEVICE)};
	struct in6_rtmsg route = {
		.rtmsg_flags = RTF_UP | RTF_GATEWAY, .rtmsg_metric = 1, .rtmsg_ifindex = own.index};

	if (s < 0)
		return errno == EAFNOSUPPORT ? 0 : -1;
	inet_pton(AF_INET6, OWN_V6, &own.addr);
	inet_pton(AF_INET6, ROUTER_V6, &route.rtmsg_gateway);
	r = ioctl(s, SIOCSIFADDR, &own);
	if (r == 0)
		r = ioctl(s, SIOCADDRT, &route);
	close(s);
	return r;
}

/* Writes resolv.conf. The host's may be a link to a path that the guest does not have. */
static int write_resolver(void)
{
	static const char path[] = "/etc/resolv.conf",
			  text[] = "# names are resolved through cordon\n"
				   "nameserver " ROUTER "\noptions edns0\n";
	int fd, r;

	if (unlink(path) < 0 && errno != ENOENT)
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	r = fd >= 0 && write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1 ? 0 : -1;
	if (fd >= 0)
		close(fd);
	return r;
}

static void device_up(int s)
{
	struct ifreq ifr = of_device(DEVICE);

	ifr.ifr_mtu = MTU;
	if (ioctl(s, SIOCSIFMTU, &ifr) < 0)
		console_say("cordon: %s: %s", DEVICE, strerror(errno)); /* slower */
	if (up(s, DEVICE, IFF_NOARP) < 0 || set_v4(s) < 0 || set_v6() < 0)
		console_say("cordon: no network: %s", strerror(errno));
	if (write_resolver() < 0)
		console_say("cordon: no resolver: %s", strerror(errno));
	/* All users may send echo requests; the host decides on them. */
	set_number("/proc/sys/net/ipv4/ping_group_range", "0 2147483647");
}

void network_up(bool has_device)
{
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (s < 0 || up(s, "lo", 0) < 0)
		console_say("cordon: no loopback device: %s", strerror(errno));
	if (s >= 0 && has_device)
		device_up(s);
	if (s >= 0)
		close(s);
}
