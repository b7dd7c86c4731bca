/* test_vm_net - the process of frames, between a test in place of QEMU and keeper, and a kernel. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/net/guest_note.h"
#include "backends/vm/net/frames.h"
#include "core/base/io.h"
#include "tests/support/vmframe.h"

#define WAIT_MS 20000

static const char *const outside[] = {"203.0.113.7", "2001:db8:1::7"};

static struct {
	pid_t pid;
	int net, keeper, fds[2 + INSIDE_SOCKETS];
	uint8_t came[4 + FRAME_MAX]; /* the last frame */
	size_t len;
} self;

/* ---- both ends ------------------------------------------------------------------------------- */

static void give(size_t len)
{
	const uint8_t head[4] = {0, (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len};

	assert_int_equal(send(self.net, head, 4, MSG_NOSIGNAL), 4);
	assert_int_equal(send(self.net, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, WAIT_MS) == 1;
}

/* Returns the packet of the next frame to the guest. */
static const uint8_t *take(void)
{
	uint8_t head[4];

	assert_true(is_readable(self.net));
	assert_int_equal(recv(self.net, head, 4, MSG_WAITALL), 4);
	self.len = (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
	assert_true(self.len <= FRAME_MAX);
	assert_int_equal(recv(self.net, self.came, self.len, MSG_WAITALL), (ssize_t)self.len);
	assert_memory_equal(self.came, bytes + 6, 6); /* to the sender of the last one */
	return self.came + FRAME_HEAD;
}

static struct guest_note hear(enum guest_what what)
{
	struct guest_note note;

	do {
		assert_true(is_readable(self.keeper));
		assert_int_equal(recv(self.keeper, &note, sizeof(note), 0), (ssize_t)sizeof(note));
	} while (note.what == GUEST_DROPPED && what != GUEST_DROPPED);
	assert_int_equal(note.what, what);
	return note;
}

static void answer(uint64_t id, enum guest_what what)
{
	const struct guest_note note = {.what = what, .id = id};

	assert_int_equal(send(self.keeper, &note, sizeof(note), MSG_NOSIGNAL),
			 (ssize_t)sizeof(note));
}

static int begin(void **state)
{
	int net[2], keeper[2];
	struct frames_hello hello = {.code = -EPIPE};
	int32_t which;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, net), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, keeper), 0);
	self.pid = fork();
	if (self.pid == 0) {
		const struct frames_spec spec = {.net = net[1], .keeper = keeper[1]};

		frames_run(&spec);
	}
	close(net[1]);
	close(keeper[1]);
	self.net = net[0];
	self.keeper = keeper[0];
	for (size_t i = 0; i < ARRAY_LEN(self.fds); i++)
		self.fds[i] = -1;
	assert_int_equal(io_recv_fd(self.keeper, &hello, sizeof(hello), NULL),
			 (ssize_t)sizeof(hello));
	if (hello.code < 0) {
		print_message("not here: %s\n", strerror(-hello.code));
		waitpid(self.pid, NULL, 0);
		self.pid = 0;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(self.fds); i++)
		assert_int_equal(io_recv_fd(self.keeper, &which, sizeof(which), &self.fds[i]),
				 (ssize_t)sizeof(which));
	return 0;
}

static int end(void **state)
{
	(void)state;
	close(self.net);
	close(self.keeper);
	for (size_t i = 0; i < ARRAY_LEN(self.fds); i++)
		util_close_fd(&self.fds[i]);
	if (self.pid > 0)
		waitpid(self.pid, NULL, 0);
	return 0;
}

/* Skips if no such namespace or device can be made. */
static void need_it(void)
{
	if (!self.pid)
		skip();
}

static void put_sum(size_t len, bool v6)
{
	size_t head = v6 ? 40 : 20, at = IP + head, addr = v6 ? IP + 8 : IP + 12, n = len - addr;
	unsigned sum;

	if (!v6)
		put16(IP + 10, sum_of(bytes + IP, 20, 0));
	put16(at + 16, 0);
	sum = sum_of(bytes + addr, n, (uint32_t)(IPPROTO_TCP + len - at));
	put16(at + 16, sum);
}

/* ---- the tests ------------------------------------------------------------------------------- */

TEST(a_connection_is_asked_about)
{
	need_it();
	for (size_t i = 0; i < 2; i++) {
		size_t len = segment(outside[i], 2), head = i ? 40 : 20;
		const struct net_addr to = addr(outside[i]);
		struct guest_note note;
		const uint8_t *p;

		put_sum(len, i);
		give(len);
		note = hear(GUEST_SYN);
		assert_int_equal(note.port, 443);
		assert_true(net_addr_eq(&note.to, &to));
		give(len); /* again: it waits, without another question */
		answer(note.id + 100, GUEST_PASS);
		answer(note.id, GUEST_REFUSE);
		p = take() + head;
		assert_int_equal(p[13], 0x14);
		assert_int_equal(p[2] << 8 | p[3], 40000);
		give(len);
		note = hear(GUEST_SYN);
		answer(note.id, GUEST_PASS);
		if (!i) /* without a listener the kernel sends nothing for such an address */
			continue;
		p = take();
		assert_int_equal(self.len, FRAME_HEAD + head + 20);
		assert_int_equal(p[head + 13], 0x14);
		give(len); /* once allowed, without a question */
		p = take();
		assert_int_equal(p[head + 13], 0x14);
	}
}

TEST(a_kernel_answers)
{
	size_t len;
	const uint8_t *p;

	need_it();
	len = segment("198.18.0.1", 2);
	put16(TCP4 + 2, 53);
	put_sum(len, false);
	give(len); /* to the resolver: without a question */
	p = take();
	assert_int_equal(p[20 + 13], 0x12);
	assert_int_equal(p[20 + 11], 0x79); /* follows ours */
	assert_int_equal(sum_of(p, 20, 0), 0);
	assert_int_equal(sum_of(p + 12, self.len - FRAME_HEAD - 12,
				(uint32_t)(IPPROTO_TCP + self.len - FRAME_HEAD - 20)),
			 0);
}

TEST(names_are_looked_up_at_the_router)
{
	struct sockaddr_in from;
	socklen_t size = sizeof(from);
	char question[64];
	const uint8_t *p;
	size_t len;

	need_it();
	len = datagram("198.18.0.1", 5);
	memcpy(bytes + len - 5, "hello", 5);
	put16(IP + 10, sum_of(bytes + IP, 20, 0));
	give(len);
	assert_true(is_readable(self.fds[2]));
	assert_int_equal(recvfrom(self.fds[2], question, sizeof(question), 0,
				  (struct sockaddr *)&from, &size),
			 5);
	assert_int_equal(ntohl(from.sin_addr.s_addr), NET_INSIDE);
	assert_int_equal(ntohs(from.sin_port), 40000);
	assert_int_equal(sendto(self.fds[2], "there", 5, 0, (struct sockaddr *)&from, size), 5);
	p = take();
	assert_int_equal(self.len, FRAME_HEAD + 20 + 8 + 5);
	assert_memory_equal(p + 28, "there", 5);
}

TEST(the_first_datagram_is_seen)
{
	need_it();
	for (size_t i = 0; i < 2; i++) {
		size_t len = datagram(outside[i], 7), n = len - FRAME_HEAD;
		uint8_t seen[128];

		if (!i)
			put16(IP + 10, sum_of(bytes + IP, 20, 0));
		give(len + 9); /* padding is not forwarded */
		assert_true(is_readable(self.fds[2 + EARLY_SOCKET]));
		assert_int_equal(recv(self.fds[2 + EARLY_SOCKET], seen, sizeof(seen), 0),
				 (ssize_t)n);
		assert_memory_equal(seen, bytes + IP, n);
	}
}

TEST(bytes_come_as_they_like)
{
	size_t len;
	uint8_t stream[256];

	need_it();
	len = segment(outside[0], 2);
	memset(stream, 0, sizeof(stream));
	stream[3] = (uint8_t)len;
	memcpy(stream + 4, bytes, len);
	for (size_t i = 0; i < 4 + len; i++)
		assert_int_equal(send(self.net, stream + i, 1, MSG_NOSIGNAL), 1);
	answer(hear(GUEST_SYN).id, GUEST_REFUSE);
	assert_int_equal(take()[33], 0x14);
	/* Invalid frames are counted. */
	memset(bytes, 0xff, 64);
	for (size_t i = 0; i < 50; i++)
		give(i);
	while (hear(GUEST_DROPPED).n < 50)
		continue;
}

TEST(it_ends_with_the_keeper)
{
	int status;

	need_it();
	close(self.net); /* only QEMU's end */
	segment(outside[0], 2);
	close(self.keeper);
	assert_int_equal(waitpid(self.pid, &status, 0), self.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	self.pid = -1;
	self.net = self.keeper = -1;
}

TEST(a_length_that_no_frame_has_ends_it)
{
	static const uint8_t huge[4] = {0, 2, 0, 0};
	int status;

	need_it();
	assert_int_equal(send(self.net, huge, 4, MSG_NOSIGNAL), 4);
	assert_int_equal(waitpid(self.pid, &status, 0), self.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	self.pid = -1;
}

TESTS(begin, end)
