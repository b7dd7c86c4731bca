/* fake_keeper - core/keeper reduced to the door's calls: every operation allowed, nothing
 * recorded. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/keeper/flows.h"
#include "core/keeper/procs.h"
#include "core/keeper/folders/folder.h"
#include "core/keeper/folders/tool_dirs.h"
#include "core/keeper/keeper.h"

#define FAKE_PROCS 512
#define FAKE_WATCH 8

struct folder {
	char path[PATH_MAX];
	int fd;
};

struct keeper {
	struct folder folder;
	struct {
		int tid, pid, pidfd;
		mode_t umask;
	} procs[FAKE_PROCS];
	size_t n_procs;
	struct {
		int fd;
		void (*fn)(void *data);
		void *data;
	} watch[FAKE_WATCH];
	int64_t wake_at;
	/* Numbers of the door's reports. */
	unsigned long calls, outside, denied, execs, gone;
	char last_outside[PATH_MAX], last_denied[PATH_MAX], last_exec[PATH_MAX], last_argv[256];
	char last_op[32], last_path[PATH_MAX];
	/* Parks the next change of this name, once. */
	const char *hold;
	uint64_t held;
	bool keep; /* folder_has_inode() */
	/* folder_read(): its answer and its last request. */
	int read_answer;
	unsigned long reads;
	char last_read[PATH_MAX], last_via[PATH_MAX];
	/* flow_judge() asks instead of refusing. */
	bool hold_flows;
	unsigned long flows;
	uint16_t last_port;
};

static bool fake_look(int tid, int *pid, mode_t *mask)
{
	char path[64], text[4096], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	p = strstr(text, "\nTgid:");
	*pid = p != NULL ? atoi(p + 6) : tid;
	p = strstr(text, "\nUmask:");
	*mask = p != NULL ? (mode_t)strtoul(p + 7, NULL, 8) : 022;
	return true;
}

/* Cleared when full; exits are not noticed, because the tests start few processes. */
bool keeper_has_process(const struct keeper *k, int pid)
{
	(void)k;
	return pid > 1;
}

int keeper_caller(struct keeper *k, int tid, struct caller *ret)
{
	size_t i;

	for (i = 0; i < k->n_procs; i++)
		if (k->procs[i].tid == tid)
			break;
	if (i == k->n_procs) {
		if (i == FAKE_PROCS) {
			for (i = 0; i < FAKE_PROCS; i++)
				close(k->procs[i].pidfd);
			k->n_procs = i = 0;
		}
		if (!fake_look(tid, &k->procs[i].pid, &k->procs[i].umask))
			return -ESRCH;
		k->procs[i].tid = tid;
		k->procs[i].pidfd = (int)syscall(SYS_pidfd_open, k->procs[i].pid, 0);
		k->n_procs++;
	}
	*ret = (struct caller){
		.pid = k->procs[i].pid, .tid = tid, .umask = k->procs[i].umask, .proc = NULL};
	return 0;
}

int keeper_getfd(struct keeper *k, const struct caller *c, int fd)
{
	for (size_t i = 0; i < k->n_procs; i++) {
		if (k->procs[i].pid == c->pid) {
			int got = (int)syscall(SYS_pidfd_getfd, k->procs[i].pidfd, fd, 0);

			return got < 0 ? -errno : got;
		}
	}
	return -ESRCH;
}

void keeper_exec(struct keeper *k, const struct caller *c, const char *path, const char *argv,
		 size_t argv_len)
{
	(void)c;
	k->execs++;
	snprintf(k->last_exec, sizeof(k->last_exec), "%s", path);
	memcpy(k->last_argv, argv, MIN(argv_len, sizeof(k->last_argv)));
}

int keeper_step(struct keeper *k, const struct caller *c, const char *request)
{
	(void)k;
	(void)c;
	(void)request;
	return -ENOENT;
}

void keeper_looked(struct keeper *k, const struct caller *c, const char *path)
{
	(void)k, (void)c, (void)path;
}

void keeper_deny(struct keeper *k, const struct caller *c, const char *path, int result,
		 const char *reason)
{
	(void)c;
	(void)result;
	(void)reason;
	k->denied++;
	snprintf(k->last_denied, sizeof(k->last_denied), "%s", path);
}

void keeper_count_reads(struct keeper *k, uint64_t n)
{
	(void)k;
	(void)n;
}

void keeper_request_gone(struct keeper *k, struct door *d, uint64_t request)
{
	(void)d;
	(void)request;
	k->gone++;
}

/* No tool lacks a directory here. */
int tool_dir_make(struct keeper *k, const char *path)
{
	(void)k, (void)path;
	return 0;
}

void keeper_wake_at(struct keeper *k, int64_t mono_us)
{
	k->wake_at = mono_us;
}

int keeper_watch_write(struct keeper *k, int fd, void (*fn)(void *data), void *data)
{
	for (size_t i = 0; i < FAKE_WATCH; i++) {
		if (k->watch[i].fn != NULL)
			continue;
		k->watch[i].fd = fd;
		k->watch[i].fn = fn;
		k->watch[i].data = data;
		return 0;
	}
	return -ENOSPC;
}

void keeper_unwatch(struct keeper *k, int fd)
{
	for (size_t i = 0; i < FAKE_WATCH; i++)
		if (k->watch[i].fn != NULL && k->watch[i].fd == fd)
			k->watch[i].fn = NULL;
}

void keeper_close_late(struct keeper *k, int fd)
{
	(void)k;
	close(fd);
}

struct folder *folders_find(struct keeper *k, const char *path, const char **below)
{
	*below = path_below(path, k->folder.path);
	return *below != NULL ? &k->folder : NULL;
}

struct folder *folders_at(struct keeper *k, size_t i)
{
	return i == 0 ? &k->folder : NULL;
}

const char *folder_path(const struct folder *f)
{
	return f->path;
}

int folder_fd(const struct folder *f)
{
	return f->fd;
}

uint64_t folder_dir_moves(const struct folder *f)
{
	static uint64_t moves;

	(void)f;
	return moves++; /* may be one each time */
}

int folder_root(const struct folder *f)
{
	(void)f;
	return 0;
}

/* The only folder and the only keeper. */
static struct keeper fake;

void keeper_exec_begins(const struct caller *c)
{
	(void)c;
}

void keeper_set_umask(const struct caller *c, mode_t mask)
{
	for (size_t i = 0; i < fake.n_procs; i++)
		if (fake.procs[i].pid == c->pid)
			fake.procs[i].umask = mask;
}

static int fake_begin(const struct caller *c, const struct at *at)
{
	char text[2 * PATH_MAX];

	fake.calls++;
	snprintf(fake.last_op, sizeof(fake.last_op), "%s", c->op);
	snprintf(text, sizeof(text), "%s%s%s", at->dir, at->dir[0] != '\0' ? "/" : "",
		 at->name[0] == '\0' && at->leaf != NULL ? at->leaf : at->name);
	snprintf(fake.last_path, sizeof(fake.last_path), "%.*s", PATH_MAX - 1, text);
	if (fake.hold != NULL && !c->granted && strcmp(at->name, fake.hold) == 0) {
		fake.held = c->request;
		return -FOLDER_HELD;
	}
	umask(c->umask);
	return 0;
}

static int fake_result(long r)
{
	int code = r < 0 ? -errno : (int)r;

	umask(022);
	return code;
}

#define FAKE(call)                                                                                 \
	do {                                                                                       \
		int held_ = fake_begin(c, at);                                                     \
		(void)f;                                                                           \
		return held_ < 0 ? held_ : fake_result(call);                                      \
	} while (0)

/* Returns the object itself, for calls without AT_EMPTY_PATH. */
static const char *fake_link(const struct at *at, char out[64])
{
	snprintf(out, 64, "/proc/self/fd/%d", at->dirfd);
	return out;
}

static bool fake_bare(const struct at *at)
{
	return at->name[0] == '\0';
}

int folder_open(struct folder *f, const struct caller *c, const struct at *at, int flags,
		mode_t mode)
{
	FAKE(openat(at->dirfd, at->name, flags | O_NOFOLLOW | O_CLOEXEC, mode));
}

int folder_tmpfile(struct folder *f, const struct caller *c, const struct at *at, int flags,
		   mode_t mode)
{
	FAKE(openat(at->dirfd, ".", flags | O_CLOEXEC, mode));
}

int folder_read(struct keeper *k, const struct caller *c, enum rule_kind kind, const char *path,
		const char *via)
{
	(void)kind;
	k->reads++;
	snprintf(k->last_read, sizeof(k->last_read), "%s", path);
	snprintf(k->last_via, sizeof(k->last_via), "%s", via != NULL ? via : "");
	if (k->read_answer == -FOLDER_HELD)
		k->held = c->request;
	return k->read_answer;
}

const struct policy *keeper_policy(const struct keeper *k)
{
	(void)k;
	return NULL;
}

/* Doors of system calls have no gateway here: only test_guest_door asks about flows. */
int flow_judge(struct keeper *k, const struct caller *c, const struct flow *f)
{
	k->flows++;
	k->last_port = f->target->port;
	if (!k->hold_flows)
		return -EACCES;
	if (c->granted)
		return 0;
	k->held = c->request;
	return -FOLDER_HELD;
}

void flow_program(int pid, char *out, size_t size)
{
	(void)pid;
	snprintf(out, size, "fake");
}

int flow_judge_address(struct keeper *k, const struct caller *c, const struct flow *f)
{
	return flow_judge(k, c, f);
}

bool flow_may_name(struct keeper *k, const struct caller *c, const struct flow *f,
		   const char *named)
{
	(void)k;
	(void)c;
	(void)f;
	(void)named;
	return true;
}

bool flow_is_of_host(const struct net_addr *addr, uint16_t port)
{
	(void)addr;
	(void)port;
	return false;
}

void flow_deny_local(struct keeper *k, const struct caller *c, const struct net_addr *addr,
		     uint16_t port)
{
	(void)k;
	(void)c;
	(void)addr;
	(void)port;
}

size_t flow_allowed(const struct keeper *k, const struct net_addr *addr, size_t n, uint16_t port,
		    struct net_addr *ret)
{
	(void)k;
	(void)port;
	memcpy(ret, addr, n * sizeof(*addr));
	return n;
}

bool flow_name_of(const struct keeper *k, const struct net_book *book, const struct net_addr *addr,
		  uint16_t port, struct net_host *ret)
{
	(void)k;
	(void)book;
	(void)addr;
	(void)port;
	(void)ret;
	return false;
}

enum policy_verdict flow_judge_name(struct keeper *k, const char *name)
{
	(void)k, (void)name;
	return POLICY_DENY;
}

void flow_deny_name(struct keeper *k, const char *name, bool unasked)
{
	(void)k, (void)name, (void)unasked;
}

int flow_owner(struct keeper *k, bool udp, uint16_t port)
{
	(void)k;
	(void)udp;
	(void)port;
	return 0;
}

int flow_owner_of(struct keeper *k, unsigned long inode)
{
	(void)k;
	(void)inode;
	return 0;
}

size_t flow_listeners(struct keeper *k, struct flow_listener *list, size_t max)
{
	(void)k;
	(void)list;
	(void)max;
	return 0;
}

const char *port_allowed_by(struct keeper *k, uint16_t port)
{
	(void)k;
	(void)port;
	return NULL;
}

void port_tell(struct keeper *k, const struct port_news *n)
{
	(void)k;
	(void)n;
}

bool flow_can_ask(const struct keeper *k)
{
	(void)k;
	return false;
}

void flow_tell(struct keeper *k, const struct flow_news *n)
{
	(void)k, (void)n;
}

void flow_say(struct keeper *k, struct buf *said, const char *words)
{
	(void)k, (void)said, (void)words;
}

void flow_rewritten(struct keeper *k, const struct caller *c, const char *as, const char *from,
		    const char *to)
{
	(void)k, (void)c, (void)as, (void)from, (void)to;
}

int folder_mkdir(struct folder *f, const struct caller *c, const struct at *at, mode_t mode)
{
	FAKE(mkdirat(at->dirfd, at->name, mode));
}

int folder_mknod(struct folder *f, const struct caller *c, const struct at *at, mode_t mode,
		 dev_t dev)
{
	FAKE(mknodat(at->dirfd, at->name, mode, dev));
}

int folder_symlink(struct folder *f, const struct caller *c, const char *target,
		   const struct at *at)
{
	FAKE(symlinkat(target, at->dirfd, at->name));
}

int folder_link(struct folder *f, const struct caller *c, const struct at *from,
		const struct at *at)
{
	char link[64];

	if (fake_bare(from))
		FAKE(linkat(AT_FDCWD, fake_link(from, link), at->dirfd, at->name,
			    AT_SYMLINK_FOLLOW));
	FAKE(linkat(from->dirfd, from->name, at->dirfd, at->name, 0));
}

int folder_unlink(struct folder *f, const struct caller *c, const struct at *at)
{
	FAKE(unlinkat(at->dirfd, at->name, 0));
}

int folder_rmdir(struct folder *f, const struct caller *c, const struct at *at)
{
	FAKE(unlinkat(at->dirfd, at->name, AT_REMOVEDIR));
}

int folder_rename(struct folder *f, const struct caller *c, const struct at *from,
		  const struct at *at, unsigned flags)
{
	FAKE(renameat2(from->dirfd, from->name, at->dirfd, at->name, flags));
}

int folder_bind(struct folder *f, const struct caller *c, int sock, const struct at *at, int base,
		const char *text)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int r;

	(void)f, (void)base, (void)text;
	r = fake_begin(c, at);
	if (r < 0)
		return r;
	snprintf(un.sun_path, sizeof(un.sun_path), "%.100s", at->name);
	if (fchdir(at->dirfd) < 0)
		return fake_result(-1);
	r = fake_result(bind(sock, (struct sockaddr *)&un, sizeof(un)));
	if (chdir("/") < 0)
		return -errno;
	return r;
}

int folder_truncate(struct folder *f, const struct caller *c, const struct at *at, off_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%.255s", at->dirfd, at->name);
	FAKE(truncate(path, size));
}

int folder_chmod(struct folder *f, const struct caller *c, const struct at *at, mode_t mode)
{
	char link[64];

	if (fake_bare(at))
		FAKE(chmod(fake_link(at, link), mode));
	FAKE(fchmodat(at->dirfd, at->name, mode, 0));
}

int folder_chown(struct folder *f, const struct caller *c, const struct at *at, uid_t uid,
		 gid_t gid)
{
	FAKE(fchownat(at->dirfd, at->name, uid, gid, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH));
}

int folder_utimens(struct folder *f, const struct caller *c, const struct at *at,
		   const struct timespec times[2])
{
	char link[64];

	if (fake_bare(at))
		FAKE(utimensat(AT_FDCWD, fake_link(at, link), times, 0));
	FAKE(utimensat(at->dirfd, at->name, times, AT_SYMLINK_NOFOLLOW));
}

static const char *fake_object(const struct at *at, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "/proc/self/fd/%d%s%.255s", at->dirfd, fake_bare(at) ? "" : "/",
		 at->name);
	return out;
}

int folder_setxattr(struct folder *f, const struct caller *c, const struct at *at, const char *name,
		    const void *value, size_t size, int flags)
{
	char path[PATH_MAX];

	if (fake_bare(at))
		FAKE(setxattr(fake_object(at, path), name, value, size, flags));
	FAKE(lsetxattr(fake_object(at, path), name, value, size, flags));
}

int folder_removexattr(struct folder *f, const struct caller *c, const struct at *at,
		       const char *name)
{
	char path[PATH_MAX];

	if (fake_bare(at))
		FAKE(removexattr(fake_object(at, path), name));
	FAKE(lremovexattr(fake_object(at, path), name));
}

bool folder_has_inode(struct folder *f, const struct caller *c, const struct object *o)
{
	(void)f;
	(void)c;
	(void)o;
	return fake.keep;
}

int folder_outside(struct keeper *k, const struct caller *c, const char *path)
{
	(void)c;
	k->outside++;
	snprintf(k->last_outside, sizeof(k->last_outside), "%s", path);
	return 0;
}

int folder_grant(struct keeper *k, const char *dir, struct folder **ret)
{
	(void)k;
	(void)dir;
	(void)ret;
	return -EACCES;
}
