/* processes_darwin - facts about other processes, by proc_pidinfo(2). */
/* SPDX-License-Identifier: MIT */
#include "core/os/processes.h"

#include <errno.h>
#include <libproc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/proc.h>
#include <sys/proc_info.h>
#include <time.h>

#define EVEN_ZOMBIES 1

static bool look(pid_t pid, struct proc_bsdinfo *ret)
{
	return proc_pidinfo(pid, PROC_PIDTBSDINFO, EVEN_ZOMBIES, ret, sizeof(*ret)) ==
	       (int)sizeof(*ret);
}

int os_process_look(pid_t tid, struct os_process *ret)
{
	struct proc_bsdinfo info;

	if (!look(tid, &info))
		return -ESRCH;
	*ret = (struct os_process){
		.leader = tid, .parent = (pid_t)info.pbi_ppid, .inner = tid, .umask = 077};
	return 0;
}

/* fd only reports the end: a process that is alive has had its number all the time. */
pid_t os_process_parent(pid_t pid, int fd)
{
	struct os_process p;
	int r = os_process_look(pid, &p);

	(void)fd;
	return r < 0 ? r : p.parent;
}

bool os_process_link(pid_t pid, const char *name, char ret[PATH_MAX])
{
	struct proc_vnodepathinfo paths;
	const char *path = NULL;

	ret[0] = '\0';
	if (strcmp(name, "exe") == 0) {
		char exe[PROC_PIDPATHINFO_MAXSIZE];
		int n = proc_pidpath(pid, exe, sizeof(exe));

		if (n <= 0 || n >= PATH_MAX)
			return false;
		memcpy(ret, exe, (size_t)n);
		ret[n] = '\0';
		return true;
	}
	if (proc_pidinfo(pid, PROC_PIDVNODEPATHINFO, 0, &paths, sizeof(paths)) !=
	    (int)sizeof(paths))
		return false;
	if (strcmp(name, "cwd") == 0)
		path = paths.pvi_cdir.vip_path;
	else if (strcmp(name, "root") == 0)
		path = *paths.pvi_rdir.vip_path ? paths.pvi_rdir.vip_path : "/";
	if (!path || !*path)
		return false;
	snprintf(ret, PATH_MAX, "%s", path);
	return true;
}

bool os_process_is_stopped(pid_t pid)
{
	struct proc_bsdinfo info;

	return look(pid, &info) && info.pbi_status == SSTOP;
}

int os_process_wait_status(pid_t pid, int fd)
{
	struct proc_bsdinfo info;

	(void)fd;
	return look(pid, &info) && info.pbi_status == SZOMB ? (int)info.pbi_xstatus : -1;
}

/* The system knows the start by the wall clock, which may have been set later. */
int64_t os_process_started_us(pid_t pid)
{
	struct proc_bsdinfo info;
	int64_t wall = (int64_t)(clock_gettime_nsec_np(CLOCK_REALTIME) / 1000);
	int64_t mono = (int64_t)(clock_gettime_nsec_np(CLOCK_MONOTONIC) / 1000);
	int64_t ago;

	if (!look(pid, &info))
		return 0;
	ago = wall - (int64_t)(info.pbi_start_tvsec * 1000000 + info.pbi_start_tvusec);
	return ago > 0 && ago < mono ? mono - ago : mono;
}

bool os_process_name(pid_t pid, char *out, size_t size)
{
	struct proc_bsdinfo info;
	bool known = look(pid, &info);

	if (!known)
		snprintf(out, size, "a process");
	else if (*info.pbi_name)
		snprintf(out, size, "%.*s", (int)sizeof(info.pbi_name), info.pbi_name);
	else
		snprintf(out, size, "%.*s", (int)sizeof(info.pbi_comm), info.pbi_comm);
	return known;
}

int os_thread_alive(pid_t pid, pid_t tid)
{
	(void)tid;
	return kill(pid, 0);
}

bool os_thread_shares_files(pid_t pid, pid_t tid)
{
	(void)pid, (void)tid;
	return true;
}

bool os_thread_shares_fs(pid_t pid, pid_t tid)
{
	(void)pid, (void)tid;
	return true;
}

int os_thread_open(pid_t tid)
{
	(void)tid;
	return -EINVAL;
}

int os_process_getfd(int fd, int n)
{
	(void)fd, (void)n;
	return -ENOSYS;
}
