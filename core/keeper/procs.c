/* procs - a cache of the sandbox's processes; a pidfd reports the end of each. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/procs.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/keeper/guest_facts.h"
#include "core/keeper/sources.h"
#include "core/keeper/state.h"
#include "core/os/poller.h"
#include "core/os/process.h"
#include "core/os/processes.h"

/*
 * A cache hit must be cheap, because every trapped call needs one. For a process's first thread one
 * hash lookup is enough: its exit is seen (its pidfd is ready, RANK_EXIT) before any request of a
 * process that may have got the same pid. Another thread's id may be reused while its process
 * lives, so that thread costs a tgkill(0) more.
 */

#define UMASK_UNKNOWN	((mode_t)-1)
#define THREADS_MAX	4096 /* cached threads besides leaders; when full, all are dropped */
#define GENERATIONS_MAX 64
#define THREAD_FDS	64 /* the end of a thread is not reported: when full, all are closed */

bool proc_link(int pid, const char *name, char ret[PATH_MAX])
{
	return os_process_link(pid, name, ret);
}

static int read_parent(int pid)
{
	struct os_process p;
	int r = os_process_look(pid, &p);

	return r < 0 ? r : p.parent;
}

int proc_parent(const struct keeper *k, int pid)
{
	const struct proc *p = is_guest_pid(pid) ? proc_known(k, pid) : NULL;

	if (is_guest_pid(pid))
		return p ? p->parent : -ESRCH;
	return read_parent(pid);
}

int proc_group(const struct keeper *k, int pid)
{
	const struct proc *p = is_guest_pid(pid) ? proc_known(k, pid) : NULL;

	if (is_guest_pid(pid))
		return p ? p->group : -1;
	return getpgid(pid);
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
	k->n_guests -= p->guest != NULL;
	guest_facts_free(p->guest);
	free(p);
}

void proc_gone(struct keeper *k, struct proc *p)
{
	k->hooks->process_left(k, p);
	proc_drop(k, p);
}

static void on_exit_of(void *data)
{
	struct proc *p = data;

	proc_gone(p->keeper, p);
}

/* Adds a process. Because its pidfd is open, either the pid is this process's, or its end is
 * reported. */
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

struct proc *proc_add_guest(struct keeper *k, int pid, int parent, int group)
{
	struct proc *p = xcalloc(1, sizeof(*p));

	p->keeper = k;
	p->self.tid = pid;
	p->self.proc = p;
	p->self.pidfd = p->pidfd = -1;
	p->parent = parent;
	p->group = group;
	p->umask = UMASK_UNKNOWN;
	p->guest = xcalloc(1, sizeof(*p->guest));
	HASH_ADD_INT(k->threads, tid, (&p->self));
	k->n_guests++;
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
	AUTO_CLOSE int fd = os_process_open(tid);
	struct os_process st;
	struct proc *p;

	if (fd >= 0)
		return proc_add(k, tid, os_process_parent(tid, fd), &fd);
	if (errno == ESRCH || errno == EMFILE || errno == ENFILE)
		return NULL;
	/* The thread is not its process's first one. */
	if (os_process_look(tid, &st) < 0 || st.leader == tid)
		return NULL;
	p = proc_get(k, st.leader);
	return p ? thread_add(k, tid, p) : NULL;
}

static bool still_its_thread(const struct thread *t)
{
	return os_thread_alive(t->proc->self.tid, t->tid) == 0 || errno == EPERM;
}

struct proc *proc_known(const struct keeper *k, int pid)
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

/* Returns whether the process is inside. Landlock lets the keeper inspect only processes in domains
 * below its own. */
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
	AUTO_CLOSE int fd = os_process_open(pid);

	if (fd < 0 || os_process_parent(pid, fd) != parent)
		return NULL;
	/* A parent outside has children that are not inside. */
	if (k->orphans == ORPHANS_OUTSIDE && !proc_known(k, parent) && !is_ours(pid))
		return NULL;
	return proc_add(k, pid, parent, &fd);
}

bool proc_is_stopped(int pid)
{
	return os_process_is_stopped(pid);
}

int64_t proc_started_us(const struct proc *p)
{
	return p->guest ? p->guest->started_us : os_process_started_us(p->self.tid);
}

int proc_exit_status(const struct proc *p)
{
	int status = p->guest ? -1 : os_process_wait_status(p->self.tid, p->pidfd);

	if (p->guest)
		return p->guest->exit_status;

	return status < 0 ? -1 : util_exit_code(status);
}

static bool ended(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

bool proc_has_ended(const struct proc *p)
{
	if (p->guest)
		return false; /* a process that has ended is not cached */
	return ended(p->pidfd);
}

void proc_name(const struct proc *p, char *out, size_t size)
{
	if (p->guest)
		snprintf(out, size, "%s", path_base(p->guest->exe));
	else
		os_process_name(p->self.tid, out, size);
}

bool proc_program(const struct keeper *k, int pid, char ret[PATH_MAX])
{
	const struct proc *p = is_guest_pid(pid) ? proc_known(k, pid) : NULL;

	if (!is_guest_pid(pid))
		return proc_link(pid, "exe", ret);
	snprintf(ret, PATH_MAX, "%s", p ? p->guest->exe : "");
	return *ret;
}

void proc_signal(const struct proc *p, int sig)
{
	if (p->guest && sig == SIGSTOP)
		return; /* the guest itself stops processes before it kills them */
	if (p->guest)
		guest_signal(p->keeper, p->self.tid, sig);
	else
		os_process_signal(p->pidfd, p->self.tid, sig);
}

int proc_inner_pid(const struct proc *p)
{
	struct os_process st;

	if (p->guest)
		return shown_pid(p->self.tid);
	return os_process_look(p->self.tid, &st) == 0 && st.inner > 0 ? st.inner : p->self.tid;
}

int keeper_caller(struct keeper *k, int tid, struct caller *ret)
{
	struct proc *known = proc_known(k, tid), *p = known ? known : proc_get(k, tid);

	if (!p)
		return -ESRCH;
	ret->known = known && !known->thread_execs;
	ret->pid = p->self.tid;
	ret->tid = tid;
	ret->proc = p;
	if (k->n_drafts)
		k->hooks->calls(k, ret);
	return 0;
}

void keeper_exec_begins(const struct caller *c)
{
	if (c->tid != c->pid)
		c->proc->thread_execs = true;
}

bool keeper_has_process(const struct keeper *k, int pid)
{
	for (int n = 0; n < GENERATIONS_MAX && pid > 1; n++) {
		if (proc_known(k, pid))
			return true;
		pid = proc_parent(k, pid);
	}
	return false;
}

/* Returns whether the thread uses its process's table of descriptors, or its umask and directories.
 * A thread may have a copy of these (unshare(2)). */
static bool shares_files(const struct caller *c)
{
	return c->tid == c->pid || os_thread_shares_files(c->pid, c->tid);
}

static bool shares_fs(const struct caller *c)
{
	return c->tid == c->pid || os_thread_shares_fs(c->pid, c->tid);
}

static int open_thread(struct keeper *k, struct thread *t)
{
	struct thread *other, *next;
	int fd;

	if (k->thread_fds++ == THREAD_FDS) {
		HASH_ITER (hh, k->threads, other, next)
			util_close_fd(&other->pidfd);
		k->thread_fds = 1;
	}
	fd = os_thread_open(t->tid);
	t->pidfd = MAX(fd, -1);
	return fd;
}

static int getfd_of_thread(struct keeper *k, const struct caller *c, int fd)
{
	struct thread *t;
	int got;

	HASH_FIND_INT(k->threads, &c->tid, t);
	if (!t)
		return -ESRCH;
	if (t->pidfd >= 0) {
		got = os_process_getfd(t->pidfd, fd);
		if (got != -ESRCH)
			return got;
		util_close_fd(&t->pidfd); /* it is of an earlier thread with this number */
	}
	got = open_thread(k, t);
	if (got == -EINVAL)
		got = shares_files(c) ? c->proc->pidfd : -EACCES;
	return got < 0 ? got : os_process_getfd(got, fd);
}

int keeper_getfd(struct keeper *k, const struct caller *c, int fd)
{
	return c->tid == c->pid ? os_process_getfd(c->proc->pidfd, fd) : getfd_of_thread(k, c, fd);
}

mode_t caller_umask(const struct caller *c)
{
	struct proc *p = c->proc;
	struct os_process st;

	if (!shares_fs(c))
		return os_process_look(c->tid, &st) == 0 ? st.umask : 077;
	/* Most processes never create a file, so /proc is read on demand. */
	if (p->umask == UMASK_UNKNOWN)
		p->umask = os_process_look(p->self.tid, &st) == 0 ? st.umask : 077;
	return p->umask;
}

void keeper_set_umask(const struct caller *c, mode_t mask)
{
	if (shares_fs(c))
		c->proc->umask = mask & 0777;
}

void procs_done(struct keeper *k)
{
	struct thread *t, *next;

	/* In two passes: dropping a process drops its threads, which would break the iteration. */
	HASH_ITER (hh, k->threads, t, next) {
		if (t != &t->proc->self)
			forget_thread(k, t);
	}
	HASH_ITER (hh, k->threads, t, next) {
		k->hooks->process_left(k, t->proc);
		proc_drop(k, t->proc);
	}
}
