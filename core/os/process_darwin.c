/* process_darwin - names, privacy, descriptors, random bytes and scheduling on macOS. */
/* SPDX-License-Identifier: MIT */
#include "core/os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <libproc.h>
#include <limits.h>
#include <malloc/malloc.h>
#include <poll.h>
#include <pthread.h>
#include <pthread/qos.h>
#include <sandbox.h>
#include <signal.h>
#include <sys/event.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <unistd.h>

void os_set_name(const char *name)
{
	pthread_setname_np(name);
}

int os_thread(void)
{
	uint64_t id = 0;

	pthread_threadid_np(NULL, &id);
	return (int)id;
}

int os_process_open(pid_t pid)
{
	struct kevent change;
	int fd = kqueue(), e;

	EV_SET(&change, (uintptr_t)pid, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, NULL);
	if (fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
	    kevent(fd, &change, 1, NULL, 0, NULL) == 0)
		return fd;
	e = errno;
	if (fd >= 0)
		close(fd);
	errno = e;
	return -1;
}

int os_process_signal(int fd, pid_t pid, int sig)
{
	struct pollfd ended = {.fd = fd, .events = POLLIN};

	if (fd < 0 || poll(&ended, 1, 0) != 0) {
		errno = ESRCH;
		return -1;
	}
	return kill(pid, sig);
}

void os_stay_private(void)
{
	struct rlimit none = {0};

	setrlimit(RLIMIT_CORE, &none);
	ptrace(PT_DENY_ATTACH, 0, 0, 0);
}

/* Closes the descriptors of the range that are among the first ones listed by the system. Returns
 * how many were closed. */
static size_t close_listed(unsigned first, unsigned last)
{
	struct proc_fdinfo list[256];
	int size = proc_pidinfo(getpid(), PROC_PIDLISTFDS, 0, list, sizeof(list));
	size_t closed = 0;

	for (size_t i = 0; size > 0 && i < (size_t)size / sizeof(*list); i++) {
		unsigned fd = (unsigned)list[i].proc_fd;

		closed += fd >= first && fd <= last && close((int)fd) == 0;
	}
	return closed;
}

/*
 * Closes the listed descriptors first: the system lists the lowest ones, as many as fit, so after
 * each round it lists the next. Then closes by number, for descriptors behind a long list of others
 * outside the range; the limit does not cover descriptors that were opened before it was lowered.
 * No heap: runs between fork and exec.
 */
void os_close_range(unsigned first, unsigned last)
{
	int most = getdtablesize();

	while (close_listed(first, last))
		continue;
	for (unsigned fd = first; fd <= last && fd < (unsigned)most; fd++)
		close((int)fd);
}

ssize_t getrandom(void *out, size_t size, unsigned flags)
{
	(void)flags;
	return getentropy(out, size) < 0 ? -1 : (ssize_t)size;
}

void os_run_idle(void)
{
	pthread_set_qos_class_self_np(QOS_CLASS_BACKGROUND, 0);
	setiopolicy_np(IOPOL_TYPE_DISK, IOPOL_SCOPE_THREAD, IOPOL_THROTTLE);
}

void os_trim_heap(void)
{
	malloc_zone_pressure_relief(NULL, 0);
}

bool os_is_confined(void)
{
	return sandbox_check(getpid(), NULL, 0) != 0;
}

int os_short_slices(unsigned long long ns)
{
	(void)ns;
	return -pthread_set_qos_class_self_np(QOS_CLASS_USER_INTERACTIVE, 0);
}
