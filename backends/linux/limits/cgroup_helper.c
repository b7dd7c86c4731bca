/* cgroup_helper - the guard process: moves a running tree into its cgroup, removes the cgroup. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/linux/limits/limits.h"
#include "core/base/io.h"

enum {
	MAX_PROCESSES = 32768,
	MEMBERS_MAX = 1u << 20, /* bytes of a cgroup.procs */
};

struct process {
	pid_t pid, parent;
	bool dead; /* a zombie without threads: no cgroup accepts it */
};

/* ---- processes ------------------------------------------------------------------------------- */

/* proc(5), /proc/PID/stat: state, ppid, and num_threads as the 16th field after them. */
static bool read_process(pid_t pid, struct process *ret)
{
	char path[64], text[512], state, *paren;
	AUTO_CLOSE int fd = -1;
	ssize_t got;
	int parent, threads;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (got <= 0)
		return false;
	text[got] = '\0';
	paren = strrchr(text, ')');
	if (!paren ||
	    sscanf(paren, ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d",
		   &state, &parent, &threads) != 3)
		return false;
	/* A process whose first thread has ended may have other threads. */
	*ret = (struct process){pid, parent, (state == 'Z' || state == 'X') && threads <= 1};
	return true;
}

static size_t list_processes(struct process *list, size_t max)
{
	AUTO_DIR DIR *d = opendir("/proc");
	struct dirent *e;
	size_t n = 0;

	while (d && n < max && (e = readdir(d))) {
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
		    read_process(atoi(e->d_name), &list[n]))
			n++;
	}
	return n;
}

static void swap(struct process *a, struct process *b)
{
	struct process p = *a;

	*a = *b;
	*b = p;
}

/* Moves the two roots and their descendants to the front. Returns their number. */
static size_t take_tree(struct process *list, size_t n, const pid_t roots[2])
{
	size_t taken = 0;
	bool grew = true;

	for (size_t i = 0; i < n; i++) {
		if (list[i].pid == roots[0] || list[i].pid == roots[1])
			swap(&list[taken++], &list[i]);
	}
	while (taken && grew) {
		grew = false;
		for (size_t i = taken; i < n; i++) {
			size_t j = 0;

			while (j < taken && list[i].parent != list[j].pid)
				j++;
			if (j == taken)
				continue;
			swap(&list[taken++], &list[i]);
			grew = true;
		}
	}
	return taken;
}

/* ---- moving processes ------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* Lists the processes in dirs[i], sorted. Includes processes whose first thread has ended. */
static size_t list_members(const struct cgroup *g, size_t i, pid_t *list, size_t max)
{
	AUTO_FREE char *text = NULL;
	char path[sizeof(g->dirs[i]) + 16];
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/cgroup.procs", g->dirs[i]);
	if (io_read_file(AT_FDCWD, path, MEMBERS_MAX, &text, NULL) < 0)
		return 0;
	for (char *p = text, *end; n < max; p = end) {
		long pid = strtol(p, &end, 10);

		if (end == p)
			break;
		list[n++] = (pid_t)pid;
	}
	qsort(list, n, sizeof(*list), by_number);
	return n;
}

/* Moves the processes of the tree that are not in dirs[i]. Returns how many there were. */
static size_t place(const struct cgroup *g, size_t i, const struct process *tree, size_t n)
{
	AUTO_FREE pid_t *members = xmalloc(MAX_PROCESSES * sizeof(*members));
	size_t n_members = list_members(g, i, members, MAX_PROCESSES), placed = 0;
	AUTO_CLOSE int fd = cgroup_open(g, i);

	for (size_t j = 0; j < n; j++) {
		if (tree[j].dead ||
		    bsearch(&tree[j].pid, members, n_members, sizeof(*members), by_number))
			continue;
		dprintf(fd, "%d", (int)tree[j].pid);
		placed++;
	}
	return placed;
}

static bool sandbox_ended(int pidfd, int timeout)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	while (poll(&p, 1, timeout) < 0) {
		if (errno != EINTR)
			return true;
	}
	return p.revents != 0;
}

/*
 * Moves the running tree into the group; later children start in it. A pass may miss children of
 * processes that were not moved yet, so passes repeat until one finds nothing, however long a burst
 * of forks takes. Returns false if more processes run than the limit allows.
 */
static bool place_tree(const struct cgroup *g, const pid_t roots[2], size_t most)
{
	AUTO_FREE struct process *list = xmalloc(MAX_PROCESSES * sizeof(*list));
	const int longest = 50; /* ms between two passes */

	for (int pass = 0; !sandbox_ended(0, MIN(pass, longest)); pass++) {
		size_t n = take_tree(list, list_processes(list, MAX_PROCESSES), roots);
		size_t alive = 0, placed = 0;

		for (size_t i = 0; i < n; i++)
			alive += !list[i].dead;
		if (alive > most)
			return false;
		for (size_t i = 0; i < g->n; i++)
			placed += place(g, i, list, n);
		if (placed == 0)
			break;
	}
	return true;
}

/* ---- the process ----------------------------------------------------------------------------- */

/* Moves the locks to the first descriptors after 0 and 1, and closes all others. Moves them to high
 * numbers first, because a lock may have another one's target number. */
static void keep_locks(struct cgroup *g)
{
	for (size_t i = 0; i < g->n; i++)
		g->locks[i] = fcntl(g->locks[i], F_DUPFD_CLOEXEC, 64);
	for (size_t i = 0; i < g->n; i++)
		g->locks[i] = dup2(g->locks[i], 2 + (int)i);
	close_range(2 + (unsigned)g->n, ~0u, 0);
}

/* Moves programs that start beside the agent, whose pids arrive on the socket, until the sandbox
 * ends. Returns false if more processes run than the limit allows. */
static bool place_more(const struct cgroup *g, pid_t first, size_t most)
{
	struct pollfd p[2] = {{.fd = 0, .events = POLLIN}, {.fd = 1, .events = POLLIN}};
	pid_t roots[2] = {first, 0};

	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return true;
		if (p[0].revents)
			return true;
		if (!p[1].revents)
			continue;
		if (io_read_full(1, &roots[1], sizeof(roots[1])) != (ssize_t)sizeof(roots[1]))
			p[1].fd = -1;
		else if (!place_tree(g, roots, most))
			return false;
	}
}

static NORETURN void guard_run(const struct guard *guard)
{
	struct cgroup g = {0};
	struct err err = {0};
	pid_t roots[2] = {guard->first, 0};
	size_t most = guard->limits->processes > 0
			      ? MIN((size_t)guard->limits->processes, (size_t)MAX_PROCESSES)
			      : MAX_PROCESSES;

	prctl(PR_SET_NAME, "cordon-limits");
	setsid();
	/* Keep only these: a copy of another process's pipe would keep it open. */
	if (dup2(guard->pidfd, 0) < 0 || dup2(guard->sock, 1) < 0)
		_exit(1);
	if (guard->made)
		g = *guard->made;
	keep_locks(&g);
	if (!guard->made) {
		if (io_read_full(1, &roots[1], sizeof(roots[1])) != (ssize_t)sizeof(roots[1]))
			_exit(0);
		/* Most commands end before this time and need no cgroup. */
		if (sandbox_ended(0, 20))
			_exit(0);
		if (cgroup_make(&g, guard->session, guard->limits, &err) < 0)
			_exit(0);
		if (!place_tree(&g, roots, most) || !place_more(&g, guard->first, most)) {
			/* Sent first, because the keeper reads it when it sees the sandbox's
			 * end. */
			send(1, "", 1, MSG_NOSIGNAL);
			syscall(SYS_pidfd_send_signal, 0, SIGKILL, NULL, 0);
		}
	}
	sandbox_ended(0, -1);
	cgroup_remove(&g);
	_exit(0);
}

pid_t cgroup_guard(const struct guard *g, struct err *err)
{
	pid_t pid = fork();

	if (pid == 0)
		guard_run(g);
	return pid < 0 ? err_set(err, -errno, "fork the guard of the limits") : pid;
}

bool cgroup_guard_ended_it(int sock)
{
	char c;

	return sock >= 0 && recv(sock, &c, 1, MSG_DONTWAIT) == 1;
}
