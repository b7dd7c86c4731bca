/* lookup - opens directories and files where the caller cannot change what the path means. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/linux/door/request.h"
#include "backends/linux/door/state.h"
#include "core/base/util.h"

#define BENEATH	   (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)
#define PROC_CACHE 64

struct proc_entry {
	int tid, fd;	  /* O_PATH of /proc/TID; -1: free */
	uint64_t request; /* the request during which it was opened */
};

void lookup_open(struct ldoor *d)
{
	d->self_fd = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	d->procs = xcalloc(PROC_CACHE, sizeof(*d->procs));
	for (size_t i = 0; i < PROC_CACHE; i++)
		d->procs[i].fd = -1;
}

void lookup_close(struct ldoor *d)
{
	for (size_t i = 0; i < PROC_CACHE; i++)
		util_close_fd(&d->procs[i].fd);
	free(take_ptr(&d->procs));
	util_close_fd(&d->self_fd);
}

/* ---- names in a path ------------------------------------------------------------ */

bool is_dots(const char *name, size_t len)
{
	return name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'));
}

bool is_plain(const char *path)
{
	for (;;) {
		size_t n = strcspn(path, "/");

		if (n == 0 || is_dots(path, n))
			return false;
		if (path[n] == '\0')
			return true;
		path += n + 1;
	}
}

/* ---- in the keeper's mounts, and in the sandbox's -------------------------------- */

int open_beneath(int dirfd, const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = BENEATH};
	int fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int open_in_sandbox(const struct ldoor *d, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS};
	int fd = (int)syscall(SYS_openat2, d->root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int fd_text(const struct ldoor *d, int fd, char *out, size_t size)
{
	char link[16];
	ssize_t n;

	snprintf(link, sizeof(link), "%d", fd);
	n = readlinkat(d->self_fd, link, out, size - 1);
	if (n < 0)
		return -errno;
	out[n] = '\0';
	return (int)n;
}

/* ---- directories of the caller -------------------------------------------------- */

int proc_dir(struct ldoor *d, int tid, bool again)
{
	struct proc_entry *e = &d->procs[(unsigned)tid % PROC_CACHE];
	char path[32];

	if (e->fd >= 0 && e->tid == tid && !again)
		return e->fd;
	if (e->fd >= 0)
		close(e->fd);
	snprintf(path, sizeof(path), "/proc/%d", tid);
	e->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	e->tid = tid;
	e->request = d->scratch->now.id;
	return e->fd;
}

int stat_caller_link(struct ldoor *d, struct request *r, const char *link, struct stat *st)
{
	const struct proc_entry *e = &d->procs[(unsigned)r->tid % PROC_CACHE];

	if (fstatat(proc_dir(d, r->tid, false), link, st, 0) < 0 &&
	    fstatat(proc_dir(d, r->tid, true), link, st, 0) < 0)
		return -errno;
	request_proved(r, e->request != r->id);
	return 0;
}

int open_caller_dir(struct request *r, int dirfd)
{
	char link[64];
	int fd;

	r->same_process = false;
	if (dirfd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", r->tid);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", r->tid, dirfd);
	fd = open(link, O_PATH | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	if (errno == EACCES)
		return DOOR_CONTINUE;
	return dirfd == AT_FDCWD ? DOOR_DEAD : -EBADF;
}

int open_caller_root(const struct ldoor *d, struct request *r)
{
	char link[64];
	int fd;

	r->same_process = false;
	if (!d->spec.nesting) {
		fd = fcntl(d->root, F_DUPFD_CLOEXEC, 3);
		return fd < 0 ? -errno : fd;
	}
	snprintf(link, sizeof(link), "/proc/%d/root", r->tid);
	fd = open(link, O_PATH | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return errno == EACCES ? DOOR_CONTINUE : DOOR_DEAD;
}
