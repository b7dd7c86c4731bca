/* lock_who_linux - reads from /proc which process waits for a permission event. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/keeper/watch/lock_priv.h"

/* The event does not say how the file is opened. But the thread waits in that very call, so
 * /proc/TID/syscall (proc(5)) has its number and arguments. A program can deceive this, by another
 * thread that rewrites a struct open_how: the lock stops a user's own tools, not an attacker. */
#define ARGS 3

int who_init(struct who *w)
{
	struct stat st;

	if (stat("/proc/self/exe", &st) < 0)
		return -errno;
	*w = (struct who){.dev = st.st_dev, .ino = st.st_ino};
	return 0;
}

bool who_is_own(const struct who *w, int tid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", tid);
	return stat(path, &st) == 0 && st.st_dev == w->dev && st.st_ino == w->ino;
}

/* Returns false if the thread runs, or /proc does not tell. */
static bool current_call(int tid, long *ret_nr, uint64_t args[ARGS])
{
	char path[40], text[256], *p = text, *end;
	AUTO_CLOSE int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : io_read_full(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	*ret_nr = strtol(p, &end, 10);
	for (size_t i = 0; i < ARGS; i++) {
		if (end == p)
			return false;
		p = end;
		args[i] = strtoull(p, &end, 16);
	}
	return end != p;
}

static bool reads(uint64_t flags)
{
	return (flags & O_ACCMODE) == O_RDONLY && !(flags & O_TRUNC);
}

static bool reads_openat2(int tid, uint64_t addr)
{
	struct open_how how;
	struct iovec to = {&how, sizeof(how)}, from = {(void *)(uintptr_t)addr, sizeof(how)};

	return process_vm_readv(tid, &to, 1, &from, 1, 0) == (ssize_t)sizeof(how) &&
	       reads(how.flags);
}

bool who_only_reads(int tid)
{
	uint64_t a[ARGS];
	long nr;

	if (!current_call(tid, &nr, a))
		return false;
	switch (nr) {
#ifdef SYS_open
	case SYS_open:
		return reads(a[1]);
	case SYS_creat:
		return false;
#endif
	case SYS_openat:
		return reads(a[2]);
	case SYS_openat2:
		return reads_openat2(tid, a[2]);
	case SYS_open_by_handle_at:
		return reads(a[2]);
	case SYS_execve:
	case SYS_execveat:
		return true;
	default:
		return false;
	}
}
