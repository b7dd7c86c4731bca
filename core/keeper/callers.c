/* callers - a cache of the sandbox's processes; a pidfd reports the end of each. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/callers.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/keeper/sources.h"
#include "core/keeper/state.h"
#include "core/os/poller.h"

/*
 * A hit must be cheap: it is on the way of every trapped call. For a process's first thread one
 * hash lookup is enough: its exit is seen (its pidfd is ready, RANK_EXIT) before any request of a
 * process that could have got the same pid. Another thread's id may be used again while its
 * process lives on, so that one costs a tgkill(0) more.
 */

#ifndef PIDFD_THREAD /* Linux 6.9 */
#define PIDFD_THREAD O_EXCL
#endif
#define UMASK_UNKNOWN ((mode_t)-1)
#define THREADS_MAX   4096 /* remembered threads besides leaders; then all of them are forgotten */
#define THREAD_FDS    64   /* nobody tells when a thread ends: then all their pidfds are closed */

bool proc_link(int pid, const char *name, char ret[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/%s", pid, name);
	n = readlink(link, ret, PATH_MAX - 1);
	ret[MAX(n, 0)] = '\0';
	return n >= 0;
}

struct status {
	int tgid, ppid;
	int inner; /* in its own pid namespace; 0: not seen */
	mode_t umask;
};

static const char *field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? at + strlen(name) : NULL;
}

/* The fields that we want are in the first lines; the name in the very first is escaped. */
static int read_status(int tid, struct status *ret)
{
	AUTO_CLOSE int fd = -1;
	char name[32], text[1024];
	const char *umask_at, *tgid, *ppid, *inner;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/status", tid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -ESRCH;
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -ESRCH;
	text[n] = '\0';
	umask_at = field(text, "\nUmask:\t");
	tgid = field(text, "\nTgid:\t");
	ppid = field(text, "\nPPid:\t");
	if (!tgid || !ppid)
		return -ESRCH;
	ret->tgid = (int)strtol(tgid, NULL, 10);
	ret->ppid = (int)strtol(ppid, NULL, 10);
	inner = field(text, "\nNSpid:\t");
	while (inner && inner[strcspn(inner, "\t\n")] == '\t') /* the last is the innermost */
		inner += strcspn(inner, "\t\n") + 1;
	ret->inner = inner ? (int)strtol(inner, NULL, 10) : 0;
	ret->umask = umask_at ? (mode_t)strtoul(umask_at, NULL, 8) & 0777 : 022;
	return 0;
}

int proc_parent(int pid)
{
	struct status st;
	int r = read_status(pid, &st);

	return r < 0 ? r : st.ppid;
}

/* struct pidfd_info and its ioctl of Linux 6.13; exit_code since 6.15. */
struct pid_info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t exit_code;
};
#define PID_INFO_EXIT 8u
#define PID_INFO_GET  _IOWR(0xFF, 11, struct pid_info)

/* A system call where it is known, a walk through /proc (40 times as long) where it is not. */
static int parent_of(int pid, int pidfd)
{
	struct pid_info info = {.mask = 1};
	int r;

	if (ioctl(pidfd, PID_INFO_GET, &info) == 0)
		return (int)info.ppid;
	r = proc_parent(pid);
	/* Still alive, so that what we have read was not of a process that took the pid. */
	if (r >= 0 && syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) < 0 && errno != EPERM)
		return -ESRCH;
	return r;
}

static void forget_thread(struct keeper *k, struct thread *t)
{
	struct thread **at = &t->proc->threads;

	while (*at && *at != t)
		at = &(*at)->next;
	assert(*at && k->threads);
	*at = t->next;
	HASH_DEL(k->threads, t);
	k->n_threads--;
	util_close_fd(&t->pidfd);
	free(t);
}

static void proc_drop(struct keeper *k, struct proc *p)
{
	while (p->threads)
		forget_thread(k, p->threads);
	HASH_DEL(k->threads, &p->self);
	source_remove(k, p->source);
	util_close_fd(&p->pidfd);
	free(p);
}

static void on_exit_of(void *data)
{
	struct proc *p = data;
	struct keeper *k = p->keeper;

	k->hooks->process_left(k, p);
	proc_drop(k, p);
}

/* Its pidfd is open: from here on the pid is this process's, or we hear of its end. */
static struct proc *proc_add(struct keeper *k, int pid, int parent, int *pidfd)
{
	struct proc *p;

	if (parent < 0)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->keeper = k;
	p->self.tid = pid;
	p->self.proc = p;
	p->self.pidfd = -1;
	p->parent = parent;
	p->group = getpgid(pid);
	p->umask = UMASK_UNKNOWN;
	p->pidfd = -1;
	if (source_add(k, *pidfd, EPOLLIN, RANK_EXIT, on_exit_of, p, &p->source) < 0) {
		free(p);
		return NULL;
	}
	p->pidfd = take_fd(pidfd);
	HASH_ADD_INT(k->threads, tid, (&p->self));
	k->hooks->process_seen(k, p);
	return p;
}

static struct proc *thread_add(struct keeper *k, int tid, struct proc *p)
{
	struct thread *t, *next;

	if (k->n_threads >= THREADS_MAX) {
		HASH_ITER (hh, k->threads, t, next) {
			if (t != &t->proc->self)
				forget_thread(k, t);
		}
	}
	t = xcalloc(1, sizeof(*t));
	t->tid = tid;
	t->proc = p;
	t->pidfd = -1;
	LL_PREPEND(p->threads, t);
	HASH_ADD_INT(k->threads, tid, t);
	k->n_threads++;
	return p;
}

static struct proc *first_sight(struct keeper *k, int tid)
{
	AUTO_CLOSE int fd = (int)syscall(SYS_pidfd_open, tid, 0);
	struct status st;
	struct proc *p;

	if (fd >= 0)
		return proc_add(k, tid, parent_of(tid, fd), &fd);
	if (errno == ESRCH || errno == EMFILE || errno == ENFILE)
		return NULL;
	/* Not a process's first thread. */
	if (read_status(tid, &st) < 0 || st.tgid == tid)
		return NULL;
	p = proc_get(k, st.tgid);
	return p ? thread_add(k, tid, p) : NULL;
}

static bool still_its_thread(const struct thread *t)
{
	return syscall(SYS_tgkill, t->proc->self.tid, t->tid, 0) == 0 || errno == EPERM;
}

struct proc *proc_known(struct keeper *k, int pid)
{
	struct thread *t;

	HASH_FIND_INT(k->threads, &pid, t);
	return t && t == &t->proc->self ? t->proc : NULL;
}

struct proc *proc_get(struct keeper *k, int tid)
{
	struct thread *t;

	HASH_FIND_INT(k->threads, &tid, t);
	if (t && (t == &t->proc->self || still_its_thread(t)))
		return t->proc;
	if (t)
		forget_thread(k, t);
	return tid > 0 ? first_sight(k, tid) : NULL;
}

/* Landlock lets those in domains of the keeper's be looked into, and nobody else. */
static bool is_ours(int pid)
{
	char path[PATH_MAX];

	return proc_link(pid, "cwd", path);
}

bool proc_adopts(const struct keeper *k, int pid)
{
	if (k->orphans == ORPHANS_OUTSIDE)
		return pid > 0 && !is_ours(pid);
	return k->orphans > 0 && pid == k->orphans;
}

struct proc *proc_get_child(struct keeper *k, int pid, int parent)
{
	AUTO_CLOSE int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0 || parent_of(pid, fd) != parent)
		return NULL;
	/* A parent outside has other children, too. */
	if (k->orphans == ORPHANS_OUTSIDE && !proc_known(k, parent) && !is_ours(pid))
		return NULL;
	return proc_add(k, pid, parent, &fd);
}

/* From the end of the name, which is the program's choice; NULL: it is gone. Free *text. */
static const char *state_of(int pid, char **text)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	return io_read_file(AT_FDCWD, name, 4096, text, NULL) < 0 ? NULL : strrchr(*text, ')');
}

bool proc_is_stopped(int pid)
{
	AUTO_FREE char *text = NULL;
	const char *p = state_of(pid, &text);

	return p && str_starts(p, ") T");
}

int exit_code(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

static int zombie_status(int pid)
{
	AUTO_FREE char *text = NULL;
	const char *p = state_of(pid, &text);
	int code;

	if (!p || !str_starts(p, ") Z"))
		return -1;
	p = strrchr(p, ' '); /* the last field, 52 */
	code = p ? (int)strtol(p, NULL, 10) : -1;
	return code < 0 ? -1 : exit_code(code);
}

int64_t proc_started_us(const struct proc *p)
{
	AUTO_FREE char *text = NULL;
	const char *at = state_of(p->self.tid, &text);

	for (int i = 2; at && i < 22; i++) /* of the fields, counted from 1 */
		at = strchr(at + 1, ' ');
	return at ? (strtoll(at, NULL, 10) + 1) * (1000000 / sysconf(_SC_CLK_TCK)) : 0;
}

/* The kernel tells through the pidfd once the parent has reaped it; until then it is a zombie. */
int proc_exit_status(const struct proc *p)
{
	for (int i = 0; i < 2; i++) {
		struct pid_info info = {.mask = PID_INFO_EXIT};
		int r;

		if (ioctl(p->pidfd, PID_INFO_GET, &info) == 0 && (info.mask & PID_INFO_EXIT))
			return exit_code(info.exit_code);
		r = zombie_status(p->self.tid);
		if (r >= 0)
			return r;
	}
	return -1;
}

bool proc_has_ended(const struct proc *p)
{
	struct pollfd ended = {.fd = p->pidfd, .events = POLLIN};

	return poll(&ended, 1, 0) > 0;
}

void proc_name(const struct proc *p, char *out, size_t size)
{
	AUTO_FREE char *text = NULL;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/comm", p->self.tid);
	if (io_read_file(AT_FDCWD, name, 64, &text, NULL) < 0)
		text = xstrdup("a process");
	snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
}

int proc_inner_pid(const struct proc *p)
{
	struct status st;

	return read_status(p->self.tid, &st) == 0 && st.inner > 0 ? st.inner : p->self.tid;
}

int keeper_caller(struct keeper *k, int tid, struct caller *ret)
{
	struct proc *known = proc_known(k, tid), *p = known ? known : proc_get(k, tid);

	if (!p)
		return -ESRCH;
	ret->known = known;
	ret->pid = p->self.tid;
	ret->tid = tid;
	ret->proc = p;
	if (k->n_drafts)
		k->hooks->calls(k, ret);
	return 0;
}

/*
 * A thread may have taken a copy of its process's table of descriptors, or of its umask and
 * directories (unshare(2)); kcmp(2) tells. Where the kernel does not have it, threads share them.
 */
static bool shares(const struct caller *c, int what)
{
	return c->tid == c->pid || syscall(SYS_kcmp, c->tid, c->pid, what, 0, 0) <= 0;
}

static int open_thread(struct keeper *k, struct thread *t)
{
	struct thread *other, *next;

	if (k->thread_fds++ == THREAD_FDS) {
		HASH_ITER (hh, k->threads, other, next)
			util_close_fd(&other->pidfd);
		k->thread_fds = 1;
	}
	t->pidfd = (int)syscall(SYS_pidfd_open, t->tid, PIDFD_THREAD);
	return t->pidfd < 0 ? -errno : t->pidfd;
}

static int getfd(int pidfd, int fd)
{
	int got = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);

	return got < 0 ? -errno : got;
}

static int getfd_of_thread(struct keeper *k, const struct caller *c, int fd)
{
	struct thread *t;
	int got;

	HASH_FIND_INT(k->threads, &c->tid, t);
	if (!t)
		return -ESRCH;
	if (t->pidfd >= 0) {
		got = getfd(t->pidfd, fd);
		if (got != -ESRCH)
			return got;
		util_close_fd(&t->pidfd); /* of an earlier thread of this number */
	}
	got = open_thread(k, t);
	if (got == -EINVAL)
		got = shares(c, KCMP_FILES) ? c->proc->pidfd : -EACCES;
	return got < 0 ? got : getfd(got, fd);
}

int keeper_getfd(struct keeper *k, const struct caller *c, int fd)
{
	return c->tid == c->pid ? getfd(c->proc->pidfd, fd) : getfd_of_thread(k, c, fd);
}

mode_t caller_umask(const struct caller *c)
{
	struct proc *p = c->proc;
	struct status st;

	if (!shares(c, KCMP_FS))
		return read_status(c->tid, &st) == 0 ? st.umask : 077;
	/* Most processes never create a file: /proc is read for those that do. */
	if (p->umask == UMASK_UNKNOWN)
		p->umask = read_status(p->self.tid, &st) == 0 ? st.umask : 077;
	return p->umask;
}

void keeper_set_umask(const struct caller *c, mode_t mask)
{
	if (shares(c, KCMP_FS))
		c->proc->umask = mask & 0777;
}

void procs_done(struct keeper *k)
{
	struct thread *t, *next;

	/* In two rounds: dropping a process drops its threads, which uthash would step on. */
	HASH_ITER (hh, k->threads, t, next) {
		if (t != &t->proc->self)
			forget_thread(k, t);
	}
	HASH_ITER (hh, k->threads, t, next) {
		k->hooks->process_left(k, t->proc);
		proc_drop(k, t->proc);
	}
}
