/* net - attacks by socket: ways out, host services, rare families. */
/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/escape/attack.h"

static struct sockaddr_in address(const char *ip, const char *port)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};

	inet_pton(AF_INET, ip, &sin.sin_addr);
	return sin;
}

/* IP PORT: tries every way to send something there without a route. */
static void a_out(char **a)
{
	struct sockaddr_in sin = address(a[0], a[1]);
	struct sockaddr_in6 sin6 = {.sin6_family = AF_INET6, .sin6_port = sin.sin_port};
	char leak[] = "leak";
	struct iovec iov = {leak, 4};
	struct msghdr msg = {
		.msg_name = &sin, .msg_namelen = sizeof(sin), .msg_iov = &iov, .msg_iovlen = 1};
	struct mmsghdr mm = {.msg_hdr = msg};
	int tcp = socket(AF_INET, SOCK_STREAM, 0);
	int udp = socket(AF_INET, SOCK_DGRAM, 0);
	int tcp6 = socket(AF_INET6, SOCK_STREAM, 0);
	struct pollfd pfd;

	inet_pton(AF_INET6, "2606:4700:4700::1111", &sin6.sin6_addr);
	said("tcp-connect", connect(tcp, (struct sockaddr *)&sin, sizeof(sin)));
	said("tcp6-connect", connect(tcp6, (struct sockaddr *)&sin6, sizeof(sin6)));
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &sin6.sin6_addr);
	said("tcp6-mapped", connect(tcp6, (struct sockaddr *)&sin6, sizeof(sin6)));
	said("udp-sendto", sendto(udp, "leak", 4, 0, (struct sockaddr *)&sin, sizeof(sin)));
	said("udp-sendmsg", sendmsg(udp, &msg, 0));
	said("udp-sendmmsg", sendmmsg(udp, &mm, 1, 0));
	said("udp-connect", connect(udp, (struct sockaddr *)&sin, sizeof(sin)));
	tcp = socket(AF_INET, SOCK_STREAM, 0);
	said("tcp-fastopen",
	     sendto(tcp, "leak", 4, MSG_FASTOPEN, (struct sockaddr *)&sin, sizeof(sin)));
	tcp = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (connect(tcp, (struct sockaddr *)&sin, sizeof(sin)) < 0 && errno == EINPROGRESS) {
		int e = ETIMEDOUT;
		socklen_t len = sizeof(e);

		pfd = (struct pollfd){tcp, POLLOUT, 0};
		if (poll(&pfd, 1, 2000) > 0)
			getsockopt(tcp, SOL_SOCKET, SO_ERROR, &e, &len);
		errno = e;
		said("tcp-nonblock", e ? -1 : 0);
	} else {
		said("tcp-nonblock", -1);
	}
}

static void a_families(char **a)
{
	static const struct {
		const char *name;
		int family, type, protocol;
	} list[] = {
		{"packet", AF_PACKET, SOCK_RAW, 0x0300},
		{"packet-dgram", AF_PACKET, SOCK_DGRAM, 0x0300},
		{"vsock", AF_VSOCK, SOCK_STREAM, 0},
		{"alg", AF_ALG, SOCK_SEQPACKET, 0},
		{"raw-icmp", AF_INET, SOCK_RAW, IPPROTO_ICMP},
		{"raw6", AF_INET6, SOCK_RAW, IPPROTO_ICMPV6},
		{"sctp", AF_INET, SOCK_STREAM, 132},
		{"dccp", AF_INET, SOCK_STREAM, 33},
		{"mptcp", AF_INET, SOCK_STREAM, 262},
		{"mptcp6", AF_INET6, SOCK_STREAM, 262},
		{"smc-inet", AF_INET, SOCK_STREAM, 256},
		{"l2tp", AF_INET, SOCK_DGRAM, 115},
		{"xdp", 44, SOCK_RAW, 0},
		{"netlink-xfrm", AF_NETLINK, SOCK_RAW, NETLINK_XFRM},
		{"netlink-netfilter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER},
		{"netlink-audit", AF_NETLINK, SOCK_RAW, NETLINK_AUDIT},
		{"netlink-uevent", AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT},
		{"netlink-generic", AF_NETLINK, SOCK_RAW, NETLINK_GENERIC},
		{"bluetooth", AF_BLUETOOTH, SOCK_RAW, 1},
		{"can", AF_CAN, SOCK_RAW, 1},
		{"tipc", 30, SOCK_STREAM, 0},
		{"rxrpc", 33, SOCK_DGRAM, AF_INET},
		{"rds", 21, SOCK_SEQPACKET, 0},
		{"smc", 43, SOCK_STREAM, 0},
		{"kcm", 41, SOCK_SEQPACKET, 0},
		{"key", AF_KEY, SOCK_RAW, 2},
	};
	int pair[2];

	(void)a;
	said("fastopen-connect", setsockopt(socket(AF_INET, SOCK_STREAM, 0), IPPROTO_TCP,
					    TCP_FASTOPEN_CONNECT, &(int){1}, sizeof(int)));
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		char what[64];
		unsigned long family = (unsigned)list[i].family;

		said(list[i].name, socket(list[i].family, list[i].type, list[i].protocol));
		snprintf(what, sizeof(what), "%s-high-bits", list[i].name);
		said(what, syscall(SYS_socket, family | HIGH_BITS, list[i].type, list[i].protocol));
		snprintf(what, sizeof(what), "%s-pair", list[i].name);
		said(what, socketpair(list[i].family, list[i].type, list[i].protocol, pair));
	}
}

static socklen_t unix_address(struct sockaddr_un *sun, const char *name)
{
	size_t n = strlen(name);

	*sun = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (n >= sizeof(sun->sun_path))
		n = sizeof(sun->sun_path) - 1;
	memcpy(sun->sun_path, name, n);
	if (name[0] == '@')
		sun->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
}

/* PATH or @NAME of a socket that a host process listens on. */
static void a_unix(char **a)
{
	struct sockaddr_un sun;
	socklen_t len = unix_address(&sun, a[0]);
	char leak[] = "leak";
	struct iovec iov = {leak, 4};
	struct msghdr msg = {
		.msg_name = &sun, .msg_namelen = len, .msg_iov = &iov, .msg_iovlen = 1};
	int s = socket(AF_UNIX, SOCK_STREAM, 0), d, q, pair[2];

	said("unix-stream", connect(s, (struct sockaddr *)&sun, len));
	q = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	said("unix-seqpacket", q < 0 ? -1 : connect(q, (struct sockaddr *)&sun, len));
	d = socket(AF_UNIX, SOCK_DGRAM, 0);
	said("unix-dgram-connect", d < 0 ? -1 : connect(d, (struct sockaddr *)&sun, len));
	said("unix-dgram-sendto",
	     d < 0 ? -1 : sendto(d, "leak", 4, 0, (struct sockaddr *)&sun, len));
	said("unix-dgram-sendmsg", d < 0 ? -1 : sendmsg(d, &msg, 0));
	d = socket(AF_UNIX, SOCK_RAW, 0); /* the kernel makes a datagram socket */
	said("unix-raw-sendto", d < 0 ? -1 : sendto(d, "leak", 4, 0, (struct sockaddr *)&sun, len));
	d = (int)syscall(SYS_socket, AF_UNIX | HIGH_BITS, SOCK_DGRAM | HIGH_BITS, 0);
	said("unix-dgram-high-bits",
	     d < 0 ? -1 : sendto(d, "leak", 4, 0, (struct sockaddr *)&sun, len));
	/* One of a pair sends to the other, whatever name it gives. */
	for (int type = SOCK_DGRAM; type <= SOCK_RAW; type++) {
		char got[8];

		if (socketpair(AF_UNIX, type, 0, pair) < 0)
			continue;
		sendto(pair[0], "leak", 4, 0, (struct sockaddr *)&sun, len);
		said_if("unix-pair-sendto", recv(pair[1], got, sizeof(got), MSG_DONTWAIT) == 4,
			"to-itself");
		sendmsg(pair[0], &msg, 0);
		said_if("unix-pair-sendmsg", recv(pair[1], got, sizeof(got), MSG_DONTWAIT) == 4,
			"to-itself");
		said("unix-pair-connect", connect(pair[0], (struct sockaddr *)&sun, len));
	}
}

/* Runs on the host: listens, prints the port, and reports all that arrives. KIND is tcp or udp. */
static void a_listen(char **a)
{
	int type = strcmp(a[0], "udp") == 0 ? SOCK_DGRAM : SOCK_STREAM;
	int fd = socket(AF_INET, type, 0);
	struct sockaddr_in sin = address("0.0.0.0", "0");
	socklen_t len = sizeof(sin);
	struct pollfd pfd = {fd, POLLIN, 0};

	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) < 0)
		perror("bind");
	if (type == SOCK_STREAM)
		listen(fd, 16);
	getsockname(fd, (struct sockaddr *)&sin, &len);
	printf("%d\n", ntohs(sin.sin_port));
	fflush(stdout);
	if (poll(&pfd, 1, -1) > 0)
		printf("ARRIVED\n");
}

/* Runs on the host: the same on a unix socket, both kinds: PATH or @NAME. */
static void a_listen_unix(char **a)
{
	struct sockaddr_un sun;
	socklen_t len = unix_address(&sun, a[0]);
	int type = a[1][0] == 'd' ? SOCK_DGRAM : SOCK_STREAM;
	int fd = socket(AF_UNIX, type, 0);
	struct pollfd pfd = {fd, POLLIN, 0};

	if (bind(fd, (struct sockaddr *)&sun, len) < 0)
		perror("bind");
	if (type == SOCK_STREAM)
		listen(fd, 16);
	printf("ready\n");
	fflush(stdout);
	if (poll(&pfd, 1, -1) > 0)
		printf("ARRIVED\n");
}

static const struct attack list[] = {
	{"out", a_out, 2},	 {"families", a_families, 0},	    {"unix", a_unix, 1},
	{"listen", a_listen, 1}, {"listen-unix", a_listen_unix, 2},
};

int main(int argc, char **argv)
{
	return attack_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
