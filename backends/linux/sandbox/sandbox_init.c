/* sandbox_init - pid 1 of the sandbox's namespaces, once its tree is built. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"

int sandbox_init_hand_over(int sock, bool private_net, struct err *err)
{
	static const char *const names[NS_COUNT] = {
		[NS_USER] = "/proc/self/ns/user", [NS_MNT] = "/proc/self/ns/mnt",
		[NS_PID] = "/proc/self/ns/pid",	  [NS_IPC] = "/proc/self/ns/ipc",
		[NS_UTS] = "/proc/self/ns/uts",	  [NS_CGROUP] = "/proc/self/ns/cgroup",
		[NS_NET] = "/proc/self/ns/net",
	};
	struct note note = {.kind = NOTE_BUILT};
	size_t n = private_net ? NS_COUNT : NS_NET;
	int fds[NOTE_FDS], r;

	fds[0] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fds[0] < 0)
		return err_set(err, -errno, "open the sandbox's root");
	for (size_t i = 0; i < n; i++) {
		fds[i + 1] = open(names[i], O_RDONLY | O_CLOEXEC);
		if (fds[i + 1] < 0)
			return err_set(err, -errno, "open '%s'", names[i]);
	}
	r = child_message_send(sock, &note, fds, n + 1);
	return r < 0 ? err_set(err, r, "hand the namespaces over") : 0;
}

static void on_child(int sig)
{
	(void)sig;
}

/*
 * How long the keeper may take to end the processes inside after cordon's end. It may be stuck in a
 * file system that does not answer, or with a caller that never runs. Children that end do not
 * prolong this wait: SIGCHLD is blocked here, and the fence ignores it.
 */
#define KEEPER_MS 1000

bool sandbox_init_is_over(struct pollfd p[2])
{
	struct note note;

	if (p[0].revents == 0 && p[1].revents != 0) {
		poll(p, 1, KEEPER_MS);
		return true;
	}
	if (p[0].revents == 0)
		return false;
	return p[1].fd >= 0 || child_message_recv(p[0].fd, &note, &p[1].fd, 1) <= 0 ||
	       note.kind != NOTE_LIFELINE;
}

NORETURN void sandbox_init_reap(int sock)
{
	struct sigaction action = {.sa_handler = on_child};
	struct pollfd p[2] = {{.fd = sock, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
	sigset_t child, none;

	close_range((unsigned)sock + 1, ~0u, 0);
	if (sock > 0)
		close_range(0, (unsigned)sock - 1, 0);
	/* SIGCHLD must interrupt ppoll(), so it needs a handler: pid 1 ignores other signals. */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_SETMASK, &child, NULL);
	sigaction(SIGCHLD, &action, NULL);
	sigemptyset(&none);
	for (;;) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
		if (ppoll(p, 2, NULL, &none) > 0 && sandbox_init_is_over(p))
			_exit(0);
	}
}
