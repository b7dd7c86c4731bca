/* procs_act - ends processes of the guest, and refreshes the kernel's cache of the host's files. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/shim/shim.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PASSES	    16
#define END_TURNS   400	   /* of 5 ms; a process that waits for the host cannot end */
#define FORCE_SYNC  0x2000 /* from linux/stat.h, which not every libc has */
#define BASIC_STATS 0x07ff

/*
 * Stops all descendants of the first process, pass by pass until there are no new ones: a stopped
 * process does not fork. The first one continues; otherwise its waiting shell would report it as
 * stopped.
 */
static void stop_below(int *list, size_t max, size_t *n)
{
	for (int pass = 0; pass < PASSES; pass++) {
		size_t before = *n;
		DIR *d = opendir("/proc");
		struct dirent *e;

		while (d && (e = readdir(d))) {
			int pid = atoi(e->d_name);
			struct stat_line st;
			bool is_new = true, below = false;

			if (pid <= 1 || !procs_read_stat(pid, &st))
				continue;
			for (size_t i = 0; i < *n; i++) {
				is_new &= list[i] != pid;
				below |= list[i] == st.parent;
			}
			if (!is_new || !below || *n == max)
				continue;
			kill(pid, SIGSTOP);
			list[(*n)++] = pid;
		}
		if (d)
			closedir(d);
		if (*n == before)
			return;
	}
}

void procs_kill(int pid, int sig)
{
	static int list[4096];
	size_t n = 1;

	if (pid <= 1)
		return;
	if (sig != SIGKILL) {
		kill(pid, sig);
		return;
	}
	list[0] = pid;
	stop_below(list, sizeof(list) / sizeof(*list), &n);
	for (size_t i = 0; i < n; i++)
		kill(list[i], SIGKILL);
}

void procs_end_all(void)
{
	kill(-1, SIGKILL);
	for (int turns = 0; turns < END_TURNS; turns++) {
		const struct timespec turn = {.tv_nsec = 5000000};
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			continue;
		if (pid < 0)
			break;
		nanosleep(&turn, NULL);
	}
	procs_read();
}

static void refresh(const char *path)
{
	char statx[256];

	syscall(SYS_statx, AT_FDCWD, path, FORCE_SYNC, BASIC_STATS, statx);
}

static void refresh_below(const char *dir)
{
	char path[PATH_MAX];
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (*e->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		refresh(path);
	}
	if (d)
		closedir(d);
}

/* Visits files that processes have open or mapped, and working directories: the kernel fetches
 * their attributes, and drops cached pages if they have changed. */
void procs_refresh(void)
{
	char path[64];
	DIR *d = opendir("/proc");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		int pid = atoi(e->d_name);

		if (pid <= 1)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/cwd", pid);
		refresh(path);
		snprintf(path, sizeof(path), "/proc/%d/fd", pid);
		refresh_below(path);
		snprintf(path, sizeof(path), "/proc/%d/map_files", pid);
		refresh_below(path);
	}
	if (d)
		closedir(d);
}
