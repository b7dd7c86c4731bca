/* procs - tells the host which process made a change, and when it executes a program or ends. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/shim/shim.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * The host asks for a thread's process when it sees the thread for the first time. The shim reports
 * the process and each ancestor that the host does not know, and later their execs and exits. It
 * learns these from the kernel's process events. If the kernel has none, or some were lost, it
 * polls /proc.
 */

#define TOLD_MAX  2048
#define DEPTH_MAX 64
#define FORKED	  0x40 /* PF_FORKNOEXEC */

static struct {
	int sock;
	bool look; /* events were lost, or a process has threads that outlive its first one */
	struct {
		int pid;
		unsigned long long started;
	} told[TOLD_MAX];
	size_t n;
} p = {.sock = -1};

/* ---- /proc ----------------------------------------------------------------------------------- */

static ssize_t read_file(int pid, const char *name, void *to, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, to, size);
	if (fd >= 0)
		close(fd);
	return n;
}

bool procs_read_stat(int pid, struct stat_line *ret)
{
	char text[1024], *at;
	ssize_t n = read_file(pid, "stat", text, sizeof(text) - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	at = strrchr(text, ')'); /* a program can put ")" into its name */
	*ret = (struct stat_line){0};
	if (!at || sscanf(at,
			  ") %c %d %d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d "
			  "%*d %llu",
			  &ret->state, &ret->parent, &ret->group, &ret->flags, &ret->threads,
			  &ret->started) != 6)
		return false;
	at = strrchr(text, ' ');
	ret->code = at ? atoi(at) : 0;
	return true;
}

/* Returns the process of a thread; 0 if it has ended. */
static int process_of(int tid)
{
	char text[512];
	ssize_t n = read_file(tid, "status", text, sizeof(text) - 1);
	const char *at;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	at = strstr(text, "\nTgid:\t");
	return at ? atoi(at + 7) : 0;
}

static long long age_us(unsigned long long started)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000 -
	       (long long)started * (1000000 / sysconf(_SC_CLK_TCK));
}

/* ---- reports to the host --------------------------------------------------------------------- */

static bool send_process(const char *type, int pid, const struct stat_line *st)
{
	static struct told t;
	char *out = shim_room(PROCESS_ROOM), link[32];
	ssize_t n;

	if (!out)
		return false;
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, (char *)t.exe, sizeof(t.exe));
	t.exe_len = n > 0 ? (size_t)n : 0;
	n = read_file(pid, "cmdline", t.argv, sizeof(t.argv));
	t.argv_len = n > 0 ? (size_t)n : 0;
	t.pid = pid;
	t.parent = st->parent;
	t.group = st->group;
	t.age_us = age_us(st->started);
	t.execed = !(st->flags & FORKED);
	shim_said(wire_process(out, type, &t));
	return true;
}

static size_t find(int pid)
{
	size_t i = 0;

	while (i < p.n && p.told[i].pid != pid)
		i++;
	return i;
}

static void left(size_t i, int status)
{
	shim_say("{\"type\":\"left\",\"id\":%d,\"exit_code\":%d}\n", p.told[i].pid,
		 WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	p.told[i] = p.told[--p.n];
}

/* Reports processes that have ended without an event. */
static void look(void)
{
	for (size_t i = p.n; i-- > 0;) {
		struct stat_line st;

		if (!procs_read_stat(p.told[i].pid, &st) || st.started != p.told[i].started)
			left(i, 0);
		else if ((st.state == 'Z' || st.state == 'X') && st.threads <= 1)
			left(i, st.code);
	}
}

/* Reports ancestors first: the host files each process under its parent. */
void procs_tell(int pid)
{
	struct stat_line st[DEPTH_MAX];
	int chain[DEPTH_MAX], n = 0;

	while (n < DEPTH_MAX && pid > 1 && find(pid) == p.n && procs_read_stat(pid, &st[n])) {
		chain[n] = pid;
		pid = st[n++].parent;
	}
	while (n-- > 0) {
		if (p.n == TOLD_MAX)
			look();
		if (p.n == TOLD_MAX || !send_process("process", chain[n], &st[n]))
			return;
		p.told[p.n].pid = chain[n];
		p.told[p.n++].started = st[n].started;
	}
}

void procs_who(int tid)
{
	int pid = process_of(tid);

	procs_read();
	if (pid > 0)
		procs_tell(pid);
	shim_say("{\"type\":\"is\",\"id\":%d,\"pid\":%d}\n", tid,
		 pid > 0 && find(pid) < p.n ? pid : 0);
}

/* ---- events of the kernel -------------------------------------------------------------------- */

void procs_open(int *ret_fd)
{
	*ret_fd = p.sock = events_open();
}

static void on_event(const struct event *e)
{
	struct stat_line st;
	size_t i = find(e->pid);

	if (i == p.n)
		return;
	if (e->exec) {
		if (procs_read_stat(e->pid, &st))
			send_process("exec", e->pid, &st);
	} else if (procs_read_stat(e->pid, &st) && st.started == p.told[i].started &&
		   st.threads > 1) {
		p.look = true;
	} else {
		left(i, e->status);
	}
}

void procs_read(void)
{
	struct event e;
	int r;

	while ((r = events_next(p.sock, &e)) != 0) {
		if (r < 0)
			p.look = true;
		else
			on_event(&e);
	}
}

bool procs_want_clock(void)
{
	return p.n > 0 && (p.look || p.sock < 0);
}

void procs_tick(void)
{
	if (!procs_want_clock())
		return;
	p.look = false;
	look();
	for (size_t i = 0; i < p.n && !p.look; i++) {
		struct stat_line st;

		p.look = procs_read_stat(p.told[i].pid, &st) && st.state == 'Z';
	}
}
