/* guest_net - the keeper's side of a guest's network: starts and ends its processes. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/net/guest_net.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/door/guest_door.h"
#include "backends/linux/net/gateway.h"
#include "backends/vm/net/frames.h"
#include "core/base/fork.h"
#include "core/base/io.h"

#define ANSWER_S    5 /* the process has no other work: a longer wait means it is gone */
#define SEND_BUFFER (1 << 20)

struct guest_net {
	pid_t pid;
};

/* State while the network starts. */
struct setup {
	int net[2], note[2]; /* the second end of each is the process's */
	int fds[2 + INSIDE_SOCKETS];
};

static void close_all(struct setup *s)
{
	for (int i = 0; i < 2; i++) {
		util_close_fd(&s->net[i]);
		util_close_fd(&s->note[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(s->fds); i++)
		util_close_fd(&s->fds[i]);
}

static int fork_frames(struct setup *s, pid_t *ret)
{
	struct frames_spec spec;
	int size = SEND_BUFFER;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s->net) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s->note) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) /* the system may cap it */
		(void)setsockopt(s->net[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	spec = (struct frames_spec){.net = s->net[1], .keeper = s->note[1]};
	*ret = fork_bare();
	if (*ret == 0)
		frames_run(&spec);
	util_close_fd(&s->net[1]);
	util_close_fd(&s->note[1]);
	s->net[1] = s->note[1] = -1;
	return *ret < 0 ? -errno : 0;
}

static int receive(struct setup *s)
{
	const struct timeval most = {.tv_sec = ANSWER_S}, none = {0};
	struct frames_hello hello;
	int32_t which;

	setsockopt(s->note[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	if (io_recv_fd(s->note[0], &hello, sizeof(hello), NULL) != (ssize_t)sizeof(hello))
		return -EPIPE;
	if (hello.code < 0)
		return hello.code;
	for (size_t i = 0; i < ARRAY_LEN(s->fds); i++)
		if (io_recv_fd(s->note[0], &which, sizeof(which), &s->fds[i]) !=
		    (ssize_t)sizeof(which))
			return -EPIPE;
	setsockopt(s->note[0], SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
	return s->fds[0] < 0 || s->fds[1] < 0 ? -EPIPE : 0;
}

static int start(struct setup *s, pid_t *ret)
{
	*s = (struct setup){.net = {-1, -1}, .note = {-1, -1}};
	for (size_t i = 0; i < ARRAY_LEN(s->fds); i++)
		s->fds[i] = -1;
	*ret = 0;
	int r = fork_frames(s, ret);

	return r < 0 ? r : receive(s);
}

static void end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

int guest_net_try(void)
{
	struct setup s;
	pid_t pid;
	int r = start(&s, &pid);

	close_all(&s);
	end(pid);
	return r;
}

int guest_net_start(struct guest_net **ret, struct door **ret_door, struct keeper *k,
		    const struct spawn_spec *spec, int *ret_sock, struct err *err)
{
	struct guest_door_spec door = {
		.k = k, .open = spec->allow_network, .program = spec->argv[0]};
	struct setup s;
	pid_t pid;
	int r = start(&s, &pid);

	if (r < 0) {
		close_all(&s);
		end(pid);
		return err_say(err, r,
			       "the guest has no network: it takes /dev/net/tun and user "
			       "namespaces: %s",
			       strerror(-r));
	}
	door.gateway = gateway_new(k, s.fds[0], s.fds[1], s.fds + 2); /* takes the descriptors */
	gateway_serve_guest(door.gateway);
	door.sock = take_fd(&s.note[0]);
	*ret_door = guest_door_new(&door);
	*ret_sock = take_fd(&s.net[0]);
	for (size_t i = 2; i < ARRAY_LEN(s.fds); i++)
		s.fds[i] = -1;
	close_all(&s);
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->pid = pid;
	return 0;
}

void guest_net_stop(struct guest_net *n)
{
	if (!n)
		return;
	end(n->pid);
	free(n);
}
