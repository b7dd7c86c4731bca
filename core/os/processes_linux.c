/* processes_linux - facts about other processes, by /proc, pidfds and kcmp(2). */
/* SPDX-License-Identifier: MIT */
#include "core/os/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PIDFD_THREAD /* Linux 6.9 */
#define PIDFD_THREAD O_EXCL
#endif

/* Reads up to size - 1 bytes and adds a NUL. Returns false if the process has ended, or the file is
 * empty. */
static bool read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[48];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static const char *field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? at + strlen(name) : NULL;
}

/* The fields are in the first lines; the name in the very first one is escaped. */
int os_process_look(pid_t tid, struct os_process *ret)
{
	char text[1024];
	const char *umask_at, *tgid, *ppid, *inner;

	if (!read_proc(tid, "status", text, sizeof(text)))
		return -ESRCH;
	umask_at = field(text, "\nUmask:\t");
	tgid = field(text, "\nTgid:\t");
	ppid = field(text, "\nPPid:\t");
	if (!tgid || !ppid)
		return -ESRCH;
	ret->leader = (pid_t)strtol(tgid, NULL, 10);
	ret->parent = (pid_t)strtol(ppid, NULL, 10);
	inner = field(text, "\nNSpid:\t");
	while (inner && inner[strcspn(inner, "\t\n")] == '\t') /* the last one is the innermost */
		inner += strcspn(inner, "\t\n") + 1;
	ret->inner = inner ? (pid_t)strtol(inner, NULL, 10) : 0;
	ret->umask = umask_at ? (mode_t)strtoul(umask_at, NULL, 8) & 0777 : 022;
	return 0;
}

/* struct pidfd_info and its ioctl of Linux 6.13; exit_code since 6.15. */
struct pid_info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t exit_code;
};
#define PID_INFO_EXIT 8u
#define PID_INFO_GET  _IOWR(0xFF, 11, struct pid_info)

/* Uses a system call if the kernel has it, else a walk through /proc, which takes 40 times as
 * long. */
pid_t os_process_parent(pid_t pid, int fd)
{
	struct pid_info info = {.mask = 1};
	struct os_process p;
	int r;

	if (ioctl(fd, PID_INFO_GET, &info) == 0)
		return (pid_t)info.ppid;
	r = os_process_look(pid, &p);
	/* The process is still alive, so the text was not that of a later process with its pid. */
	if (r == 0 && syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) < 0 && errno != EPERM)
		return -ESRCH;
	return r < 0 ? r : p.parent;
}

bool os_process_link(pid_t pid, const char *name, char ret[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/%s", pid, name);
	n = readlink(link, ret, PATH_MAX - 1);
	ret[n > 0 ? n : 0] = '\0';
	return n >= 0;
}

/* Returns the text behind the name, which the program chooses; NULL: the process has ended. */
static const char *state_of(pid_t pid, char *text, size_t size)
{
	return read_proc(pid, "stat", text, size) ? strrchr(text, ')') : NULL;
}

bool os_process_is_stopped(pid_t pid)
{
	char text[4096];
	const char *p = state_of(pid, text, sizeof(text));

	return p && strncmp(p, ") T", 3) == 0;
}

static int zombie_status(pid_t pid)
{
	char text[4096];
	const char *p = state_of(pid, text, sizeof(text));

	if (!p || strncmp(p, ") Z", 3) != 0)
		return -1;
	p = strrchr(p, ' '); /* the last field, 52 */
	return p ? (int)strtol(p, NULL, 10) : -1;
}

/* The kernel reports the status through the pidfd after the parent has reaped the process; until
 * then it is a zombie. */
int os_process_wait_status(pid_t pid, int fd)
{
	for (int i = 0; i < 2; i++) {
		struct pid_info info = {.mask = PID_INFO_EXIT};
		int r;

		if (ioctl(fd, PID_INFO_GET, &info) == 0 && (info.mask & PID_INFO_EXIT))
			return info.exit_code;
		r = zombie_status(pid);
		if (r >= 0)
			return r;
	}
	return -1;
}

int64_t os_process_started_us(pid_t pid)
{
	char text[4096];
	const char *at = state_of(pid, text, sizeof(text));

	for (int i = 2; at && i < 22; i++) /* fields are counted from 1 */
		at = strchr(at + 1, ' ');
	return at ? (strtoll(at, NULL, 10) + 1) * (1000000 / sysconf(_SC_CLK_TCK)) : 0;
}

bool os_process_name(pid_t pid, char *out, size_t size)
{
	char text[64];
	bool known = read_proc(pid, "comm", text, sizeof(text));

	if (!known)
		strcpy(text, "a process");
	snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
	return known;
}

int os_thread_alive(pid_t pid, pid_t tid)
{
	return (int)syscall(SYS_tgkill, pid, tid, 0);
}

/* Returns whether the threads share it. On a kernel without kcmp(2) they count as sharing. */
static bool shares(pid_t pid, pid_t tid, int what)
{
	return syscall(SYS_kcmp, tid, pid, what, 0, 0) <= 0;
}

bool os_thread_shares_files(pid_t pid, pid_t tid)
{
	return shares(pid, tid, KCMP_FILES);
}

bool os_thread_shares_fs(pid_t pid, pid_t tid)
{
	return shares(pid, tid, KCMP_FS);
}

int os_thread_open(pid_t tid)
{
	int fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD);

	return fd < 0 ? -errno : fd;
}

int os_process_getfd(int fd, int n)
{
	int got = (int)syscall(SYS_pidfd_getfd, fd, n, 0);

	return got < 0 ? -errno : got;
}
