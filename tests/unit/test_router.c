/* test_router - no packet between an agent and its router is lost while the router starts. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/in.h>

#include "backends/linux/net/net_priv.h"
#include "backends/linux/net/netlink.h"
#include "core/base/io.h"
#include "core/base/util.h"
#include "core/net/packet.h"
#include "tests/support/check.h"

enum {
	ROUNDS = 16,
	PORT = 5000,
	IN_FLIGHT = 30, /* descriptors: more than FEW, fewer than would disturb other tests */
	FEW = 24,
	TRIES = 600,
	LATE_MS = 2000 /* to wait for a packet that was dropped */
};

/* A process inside, in namespaces of its own. */
struct agent {
	pid_t pid;
	int say;   /* one byte for each command */
	int early; /* the keeper's copy */
	struct relay_spec spec;
};

static bool bind_inside(int fd)
{
	const struct net_addr inside = net_addr_v4(NET_INSIDE);
	struct sockaddr_storage sa;
	socklen_t len = net_addr_to_sock(&inside, PORT, &sa);

	return bind(fd, (struct sockaddr *)&sa, len) == 0;
}

/* Sends numbered datagrams, at least one, until a byte comes. Answers with their number. */
static void send_many(int sock, int udp)
{
	const struct net_addr far = net_addr_v4(0xcb007107u); /* 203.0.113.7 */
	struct pollfd p = {.fd = sock, .events = POLLIN};
	const struct timespec pause = {.tv_nsec = 50000};
	struct sockaddr_storage sa;
	socklen_t len = net_addr_to_sock(&far, 7, &sa);
	uint32_t n = 0;

	for (; n == 0 || poll(&p, 1, 0) == 0; nanosleep(&pause, NULL))
		if (sendto(udp, &n, sizeof(n), 0, (struct sockaddr *)&sa, len) > 0)
			n++;
	(void)!write(sock, &n, sizeof(n));
}

/* Reports whether a datagram comes. */
static void hear_one(int sock, int udp)
{
	struct pollfd p = {.fd = udp, .events = POLLIN};
	uint32_t got = poll(&p, 1, LATE_MS) == 1;

	(void)!write(sock, &got, sizeof(got));
}

static NORETURN void be_agent(int sock)
{
	int inside[INSIDE_SOCKETS], nl, udp;
	char what;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		_exit(77);
	nl = netlink_open();
	if (nl < 0 || netlink_up(nl, netlink_index(nl, "lo")) < 0)
		_exit(1);
	router_prepare_inside(inside);
	udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (inside[EARLY_SOCKET] < 0 || !bind_inside(udp) ||
	    io_send_fd(sock, "+", 1, inside[EARLY_SOCKET]) < 0)
		_exit(1);
	while (read(sock, &what, 1) == 1) {
		if (what == 's')
			send_many(sock, udp);
		else
			hear_one(sock, udp);
	}
	_exit(0);
}

static int namespace_of(pid_t pid, const char *which)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, which);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Skips the test if there are no namespaces. */
static void agent_start(struct agent *a)
{
	int fds[2], status = 0;
	char plus;

	*a = (struct agent){.early = -1, .spec = {.sock = -1, .tls = -1}};
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	a->pid = fork();
	if (a->pid == 0) {
		close(fds[0]);
		be_agent(fds[1]);
	}
	close(fds[1]);
	a->say = fds[0];
	if (io_recv_fd(a->say, &plus, 1, &a->early) != 1) {
		waitpid(a->pid, &status, 0);
		close(a->say);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			skip();
		fail_msg("the agent's side: status %d", status);
	}
	a->spec.user_ns = namespace_of(a->pid, "user");
	a->spec.net_ns = namespace_of(a->pid, "net");
}

static uint32_t answer(const struct agent *a)
{
	uint32_t n = 0;

	assert_int_equal(read(a->say, &n, sizeof(n)), sizeof(n));
	return n;
}

static void agent_end(struct agent *a, struct router *r)
{
	for (size_t i = 0; i < PACKETS; i++)
		util_close_fd(&r->packets[i]);
	util_close_fd(&r->sock);
	util_close_fd(&a->early);
	util_close_fd(&a->spec.user_ns);
	util_close_fd(&a->spec.net_ns);
	util_close_fd(&a->say);
	kill(a->pid, SIGKILL);
	waitpid(a->pid, NULL, 0);
}

static void send_inside(const struct router *r)
{
	static uint8_t out[PACKET_MAX];
	const struct packet p = {.protocol = IPPROTO_UDP,
				 .from = net_addr_v4(0xcb007107u),
				 .to = net_addr_v4(NET_INSIDE),
				 .from_port = 7,
				 .to_port = PORT,
				 .data = (const uint8_t *)"hello",
				 .len = 5};
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETHERTYPE_IP),
				 .sll_ifindex = r->inside.index,
				 .sll_halen = 6};
	size_t len = packet_write(out, &p);

	memcpy(to.sll_addr, r->inside.mac, 6);
	assert_int_equal(
		sendto(r->packets[PACKETS_V4], out, len, 0, (struct sockaddr *)&to, sizeof(to)),
		len);
}

/* Marks the numbers of the datagrams that this socket has received. */
static void take(int fd, bool *seen, size_t n)
{
	static uint8_t in[PACKET_MAX];
	struct packet p;
	uint32_t number;
	ssize_t len;

	while ((len = recv(fd, in, sizeof(in), MSG_DONTWAIT)) > 0) {
		if (packet_read(&p, in, (size_t)len) < 0 || p.len != sizeof(number))
			continue;
		memcpy(&number, p.data, sizeof(number));
		if (number < n)
			seen[number] = true;
	}
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void the_first_packet_arrives(const struct agent *a, const struct router *r)
{
	send_inside(r);
	assert_int_equal(write(a->say, "h", 1), 1);
	assert_int_equal(answer(a), 1);
}

static void none_was_missed(const struct agent *a, const struct router *r)
{
	static bool seen[1 << 16];
	uint32_t n;

	memset(seen, 0, sizeof(seen));
	assert_int_equal(write(a->say, "e", 1), 1);
	n = answer(a);
	assert_in_range(n, 1, ARRAY_LEN(seen));
	take(a->early, seen, n);
	take(r->packets[PACKETS_V4], seen, n);
	for (uint32_t k = 0; k < n; k++)
		if (!seen[k])
			fail_msg("datagram %u of %u was not seen", k, n);
}

/* Every second agent sends all the time. All end together, as the kernel is slow at ending them. */
TEST(no_packet_is_lost_at_the_start)
{
	struct agent agents[ROUNDS];
	struct router routers[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		agent_start(&agents[i]);
		if (i % 2)
			assert_int_equal(write(agents[i].say, "s", 1), 1);
		assert_int_equal(router_start(&agents[i].spec, &routers[i]), 0);
		if (i % 2)
			none_was_missed(&agents[i], &routers[i]);
		else
			the_first_packet_arrives(&agents[i], &routers[i]);
	}
	for (int i = 0; i < ROUNDS; i++)
		agent_end(&agents[i], &routers[i]);
}

/* Sends descriptors that nobody receives. The socket pair in ret holds them. */
static void hold_in_flight(int ret[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret), 0);
	for (int i = 0; i < IN_FLIGHT; i++)
		assert_int_equal(io_send_fd(ret[0], "+", 1, ret[0]), 0);
}

/* A slow machine may take longer to answer than a relay waits, and other tests may have descriptors
 * in flight. */
static void start_patient(struct agent *a, struct router *r)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	const struct timeval most = {.tv_sec = 60};
	int code = router_start(&a->spec, r);

	for (int i = 0; i < TRIES && code < 0; i++, code = router_start(&a->spec, r))
		nanosleep(&pause, NULL);
	assert_int_equal(code, 0);
	assert_int_equal(setsockopt(r->sock, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most)), 0);
}

/* The user's descriptors in flight are counted together, and compared with the sender's limit. */
TEST(an_answer_that_cannot_be_sent_is_an_error)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	const struct net_addr at = net_addr_v4(0xcb007107u);
	struct rlimit before, few;
	struct router router;
	struct agent agent;
	int held[2], fd;

	if (geteuid() == 0) /* root is not held to that limit */
		skip();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	agent_start(&agent);
	few = (struct rlimit){.rlim_cur = FEW, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	start_patient(&agent, &router);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	hold_in_flight(held);
	assert_int_equal(router_listen(router.sock, &at, PORT, false), -ETOOMANYREFS);
	close(held[0]);
	close(held[1]);
	for (int i = 0; i < TRIES; i++) {
		fd = router_listen(router.sock, &at, PORT, false);
		if (fd != -ETOOMANYREFS)
			break;
		nanosleep(&pause, NULL);
	}
	assert_true(fd >= 0);
	close(fd);
	agent_end(&agent, &router);
}

/* An answer that comes too late is not taken for that to the next request. */
TEST(a_late_answer_is_dropped)
{
	const struct net_addr first = net_addr_v4(0xcb007107u), next = net_addr_v4(0xcb007108u);
	struct sockaddr_in got = {0};
	socklen_t len = sizeof(got);
	struct router router;
	struct agent agent;
	int fd;

	agent_start(&agent);
	start_patient(&agent, &router);
	assert_int_equal(fcntl(router.sock, F_SETFL, O_NONBLOCK), 0);
	while ((fd = router_listen(router.sock, &first, PORT, false)) >= 0)
		close(fd); /* it was faster */
	assert_int_equal(fd, -EPIPE);
	assert_int_equal(fcntl(router.sock, F_SETFL, 0), 0);
	fd = router_listen(router.sock, &next, PORT, false);
	assert_true(fd >= 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&got, &len), 0);
	assert_int_equal(ntohl(got.sin_addr.s_addr), 0xcb007108u);
	close(fd);
	agent_end(&agent, &router);
}

TESTS(NULL, NULL)
