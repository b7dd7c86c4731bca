/* helper_darwin - the program cordon-loopback: one ioctl, as root. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/sockio.h>
#include <unistd.h>

#include "backends/macos/alias/alias.h"

static const char device[] = "lo0";

static int put_aside(void *data)
{
	(void)data;
	return setegid(getgid()) < 0 || seteuid(getuid()) < 0 ? -errno : 0;
}

static int take_up(void *data)
{
	(void)data;
	return seteuid(0) < 0 ? -errno : 0;
}

/* Drops root for good: as root, setuid() sets the real, effective and saved user. If root calls
 * this program it stays root. */
static int give_up(void *data)
{
	uid_t uid = getuid();
	gid_t gid = getgid();

	(void)data;
	(void)seteuid(0); /* fails without setuid: there is nothing to drop */
	if (setgid(gid) < 0 || setuid(uid) < 0)
		return -errno;
	if (uid != 0 && (seteuid(0) == 0 || setuid(0) == 0))
		return -EPERM;
	return 0;
}

static int list(void *data, uint32_t *out, size_t max)
{
	struct ifaddrs *all;
	int n = 0;

	(void)data;
	if (getifaddrs(&all) < 0)
		return -errno;
	for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
		struct sockaddr_in at;

		if (strcmp(a->ifa_name, device) != 0 || !a->ifa_addr ||
		    a->ifa_addr->sa_family != AF_INET)
			continue;
		memcpy(&at, a->ifa_addr, sizeof(at));
		if ((size_t)n < max)
			out[n] = ntohl(at.sin_addr.s_addr);
		n++;
	}
	freeifaddrs(all);
	return n;
}

static void fill(struct sockaddr *to, uint32_t address)
{
	const struct sockaddr_in at = {
		.sin_len = sizeof(at), .sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};

	memcpy(to, &at, sizeof(at));
}

/* Adds the address, as `ifconfig lo0 alias 127.0.0.2 netmask 255.255.255.255` does. */
static int add(void *data, uint32_t address)
{
	struct ifaliasreq request = {.ifra_name = "lo0"};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), r;

	(void)data;
	if (fd < 0)
		return -errno;
	fill(&request.ifra_addr, address);
	fill(&request.ifra_mask, 0xffffffffu);
	r = ioctl(fd, SIOCAIFADDR, &request) < 0 ? -errno : 0;
	(void)close(fd);
	return r;
}

static void say(void *data, const char *words, int code)
{
	(void)data;
	(void)fprintf(stderr, "cordon-loopback: %s%s%s\n", words, code ? ": " : "",
		      code ? strerror(-code) : "");
}

int main(int argc, char **argv)
{
	static const struct alias_os os = {.put_aside = put_aside,
					   .take_up = take_up,
					   .give_up = give_up,
					   .list = list,
					   .add = add,
					   .say = say};

	/* If the caller has closed one of these, the socket would get its number, and messages
	 * would go there. */
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			return ALIAS_USAGE;
	return alias_run(&os, argc, argv);
}
