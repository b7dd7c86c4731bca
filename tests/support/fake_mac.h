/* fake_mac - a kernel that asks Endpoint Security before it performs a call, for keeper tests. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>

#include "backends/macos/endpoint/es_door.h"
#include "core/base/clock.h"
#include "tests/support/fake_agent.h"

/* The agent is a forked child like in fake_agent.h. Each call goes to a thread in the keeper's
 * process, in place of the library's queue: it puts a message, and the answer goes back to the
 * caller, who performs the call itself, in place of the kernel. Performed calls are reported. */
struct mac_call {
	enum es_kind kind;
	int pid, parent, target;
	bool writes, truncates, dir;
	uint64_t dev, ino, dev2, ino2;
	unsigned mode, mode2;
	char path[512], path2[512], argv[256];
	size_t argv_len;
};

static struct mac_kernel {
	const char *folder;	/* base of relative names */
	const char *hurried;	/* calls about this name have a deadline, */
	int64_t deadline_us;	/* of this length; all others a much longer one */
	struct es_queue *queue; /* in the keeper's process */
	struct es_out out;
	int sock;
	pthread_t thread;
	pthread_mutex_t lock;
	struct {
		uint64_t handle;
		int fd;
	} waiting[128];
	uint64_t last;
} mac = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- in the agent ---------------------------------------------------------------------------- */

static void mac_path(char out[512], const char *name)
{
	if (name && *name == '/')
		snprintf(out, 512, "%s", name);
	else if (name)
		snprintf(out, 512, "%s/%s", mac.folder, name);
}

static struct mac_call mac_call_of(enum es_kind kind, const char *name, const char *name2)
{
	struct mac_call call = {.kind = kind, .pid = getpid(), .parent = getppid()};
	struct stat st;

	mac_path(call.path, name);
	mac_path(call.path2, name2);
	if (name && lstat(call.path, &st) == 0) {
		call.dev = st.st_dev;
		call.ino = st.st_ino;
		call.mode = st.st_mode;
	}
	if (name2 && lstat(call.path2, &st) == 0) {
		call.dev2 = st.st_dev;
		call.ino2 = st.st_ino;
		call.mode2 = st.st_mode;
	}
	return call;
}

/* Returns whether the call is allowed, or was only reported. */
static bool mac_send(const struct mac_call *call)
{
	int pair[2];
	char allowed = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		_exit(99);
	if (io_send_fd(agent_sock, call, sizeof(*call), pair[1]) < 0)
		_exit(98);
	close(pair[1]);
	if (read(pair[0], &allowed, 1) != 1)
		allowed = 0;
	close(pair[0]);
	return allowed;
}

static bool mac_ask(enum es_kind kind, const char *name, const char *name2)
{
	const struct mac_call call = mac_call_of(kind, name, name2);

	return mac_send(&call);
}

static int mac_result(int r)
{
	return r < 0 ? -errno : 0;
}

UNUSED static int mac_symlink(const char *target, const char *name)
{
	struct mac_call call = mac_call_of(ES_CREATE, name, NULL);

	call.mode = S_IFLNK | 0755;
	if (!mac_send(&call))
		return -EACCES;
	return mac_result(symlink(target, call.path));
}

/* Makes a file with O_CREAT | O_EXCL, or a directory. Returns the descriptor, or 0 for a
 * directory. */
static int mac_make(const char *name, bool dir)
{
	struct mac_call call = mac_call_of(ES_CREATE, name, NULL);
	int fd;

	call.dir = dir;
	call.mode = dir ? S_IFDIR : S_IFREG;
	if (!mac_send(&call))
		return -EACCES;
	fd = dir ? mkdir(call.path, 0777)
		 : open(call.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	call = mac_call_of(ES_CREATED, name, NULL);
	mac_send(&call);
	return fd;
}

static int mac_open(const char *name, bool truncates)
{
	struct mac_call call = mac_call_of(ES_OPEN, name, NULL);
	int fd;

	call.writes = true;
	call.truncates = truncates;
	if (!call.ino)
		return mac_make(name, false);
	if (!mac_send(&call))
		return -EACCES;
	fd = open(call.path, O_WRONLY | O_CLOEXEC | (truncates ? O_TRUNC : 0));
	return fd < 0 ? -errno : fd;
}

/* Performs open(2) for writing with O_CREAT, write(2) of text, if any, and close(2). */
UNUSED static int mac_write(const char *name, const char *text, bool truncates)
{
	int fd = mac_open(name, truncates), r = 0;

	if (fd < 0)
		return fd;
	if (text && write(fd, text, strlen(text)) < 0)
		r = -errno;
	close(fd);
	return r;
}

UNUSED static int mac_read(const char *name)
{
	return mac_ask(ES_OPEN, name, NULL) ? 0 : -EACCES;
}

UNUSED static int mac_remove(const char *name)
{
	struct mac_call call = mac_call_of(ES_UNLINK, name, NULL);
	struct stat st;

	if (lstat(call.path, &st) < 0)
		return -errno; /* found by the kernel before it asks */
	if (!mac_send(&call))
		return -EACCES;
	return mac_result(S_ISDIR(st.st_mode) ? rmdir(call.path) : unlink(call.path));
}

UNUSED static int mac_rename(const char *name, const char *name2)
{
	struct mac_call call = mac_call_of(ES_RENAME, name, name2);
	int r;

	if (!call.ino)
		return -ENOENT;
	if (!mac_send(&call))
		return -EACCES;
	r = mac_result(rename(call.path, call.path2));
	call.kind = ES_RENAMED;
	if (r == 0)
		mac_send(&call);
	return r;
}

/* RENAME_SWAP is reported as a rename of the first onto the second. */
UNUSED static int mac_swap(const char *name, const char *name2)
{
	struct mac_call call = mac_call_of(ES_RENAME, name, name2);
	int r;

	if (!call.ino || !call.ino2)
		return -ENOENT;
	if (!mac_send(&call))
		return -EACCES;
	r = mac_result(renameat2(AT_FDCWD, call.path, AT_FDCWD, call.path2, RENAME_EXCHANGE));
	call.kind = ES_RENAMED;
	if (r == 0)
		mac_send(&call);
	return r;
}

UNUSED static int mac_link(const char *name, const char *name2)
{
	const struct mac_call call = mac_call_of(ES_LINK, name, name2);

	return mac_send(&call) ? mac_result(link(call.path, call.path2)) : -EACCES;
}

UNUSED static int mac_truncate(const char *name)
{
	const struct mac_call call = mac_call_of(ES_TRUNCATE, name, NULL);

	return mac_send(&call) ? mac_result(truncate(call.path, 1)) : -EACCES;
}

UNUSED static int mac_chmod(const char *name, mode_t mode)
{
	const struct mac_call call = mac_call_of(ES_META, name, NULL);

	return mac_send(&call) ? mac_result(chmod(call.path, mode)) : -EACCES;
}

/* '|' represents NUL, as in agent_exec(). */
UNUSED static int mac_exec(const char *text)
{
	struct mac_call call = mac_call_of(ES_EXEC, "/bin/sh", NULL);

	call.argv_len = strlen(text) + 1;
	memcpy(call.argv, text, call.argv_len);
	for (size_t i = 0; i < call.argv_len; i++)
		call.argv[i] = call.argv[i] == '|' ? '\0' : call.argv[i];
	return mac_send(&call) ? 0 : -EACCES;
}

UNUSED static void mac_run(void (*fn)(void))
{
	pid_t pid = fork();
	struct mac_call call = mac_call_of(ES_FORK, NULL, NULL);

	if (pid == 0) {
		call.pid = getppid();
		call.target = getpid();
		mac_send(&call);
		fn();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* ---- the library's queue, a thread of the keeper's process ----------------------------------- */

static int64_t mac_now(void *data)
{
	(void)data;
	return clock_mono_us();
}

static void mac_respond(void *data, uint64_t handle, enum es_kind kind, bool allow)
{
	const char c = allow;

	(void)data, (void)kind;
	pthread_mutex_lock(&mac.lock);
	for (size_t i = 0; i < ARRAY_LEN(mac.waiting); i++) {
		if (mac.waiting[i].handle != handle)
			continue;
		mac.waiting[i].handle = 0;
		(void)!write(mac.waiting[i].fd, &c, 1);
		close(mac.waiting[i].fd);
	}
	pthread_mutex_unlock(&mac.lock);
}

static uint64_t mac_wait(int fd)
{
	uint64_t handle = 0;

	pthread_mutex_lock(&mac.lock);
	for (size_t i = 0; i < ARRAY_LEN(mac.waiting) && !handle; i++)
		if (!mac.waiting[i].handle) {
			mac.waiting[i].handle = handle = ++mac.last;
			mac.waiting[i].fd = fd;
		}
	pthread_mutex_unlock(&mac.lock);
	return handle;
}

static void mac_take(const struct mac_call *call, int fd)
{
	struct es_message m = {.kind = call->kind,
			       .seq = ++mac.last,
			       .process = {.pid = call->pid, .version = 1},
			       .parent = {.pid = call->parent, .version = 1},
			       .target = {.pid = call->target, .version = 1},
			       .path = *call->path ? call->path : NULL,
			       .path2 = *call->path2 ? call->path2 : NULL,
			       .argv = call->argv_len ? call->argv : NULL,
			       .argv_len = call->argv_len,
			       .dev = call->dev,
			       .mode = call->mode,
			       .dev2 = call->dev2,
			       .ino2 = call->ino2,
			       .mode2 = call->mode2,
			       .ino = call->kind == ES_CREATE ? 0 : call->ino,
			       .writes = call->writes,
			       .truncates = call->truncates,
			       .dir = call->dir};

	if (es_kind_asks(call->kind)) {
		m.handle = mac_wait(fd);
		m.deadline_us = clock_mono_us() + 60000000;
		if (mac.hurried && strstr(call->path, mac.hurried))
			m.deadline_us = clock_mono_us() + mac.deadline_us;
		m.seq = mac.last;
	}
	es_queue_put(mac.queue, &m);
	if (!m.handle) {
		(void)!write(fd, "\1", 1);
		close(fd);
	}
}

static void *mac_main(void *data)
{
	struct mac_call call;
	struct pollfd p = {.fd = mac.sock, .events = POLLIN};
	int fd;

	(void)data;
	for (;;) {
		es_queue_backstop(mac.queue);
		if (poll(&p, 1, 50) <= 0)
			continue;
		if (io_recv_fd(mac.sock, &call, sizeof(call), &fd) != (ssize_t)sizeof(call))
			return NULL;
		mac_take(&call, fd);
	}
}

/* ---- the backend ----------------------------------------------------------------------------- */

static int mac_launch_fake(struct sandbox **ret, struct door **ret_door,
			   const struct spawn_spec *spec, struct keeper *k, int *ret_status,
			   struct err *err)
{
	struct sandbox *sb = xcalloc(1, sizeof(*sb));
	int pair[2], go[2];

	(void)ret_status;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 || pipe(go) < 0)
		return err_set(err, -errno, "sockets");
	sb->k = k;
	sb->pid = fork();
	if (sb->pid == 0) {
		close(pair[0]);
		close(go[1]);
		fake_agent_main(pair[1], go[0]);
	}
	close(pair[1]);
	close(go[0]);
	mac.sock = pair[0];
	mac.out = (struct es_out){.respond = mac_respond, .now = mac_now};
	mac.queue = es_queue_new(&mac.out);
	es_queue_add(mac.queue, (struct es_id){.pid = sb->pid, .version = 1});
	*ret_door = es_door_new(&(struct es_door_spec){.k = k,
						       .queue = mac.queue,
						       .agent = {.pid = sb->pid, .version = 1},
						       .dynamic = spec->dynamic});
	sb->pidfd = (int)syscall(SYS_pidfd_open, sb->pid, 0);
	keeper_set_agent(k, sb->pid, ORPHANS_UNKNOWN);
	keeper_watch(k, sb->pidfd, fake_exited, sb);
	if (pthread_create(&mac.thread, NULL, mac_main, NULL) != 0 || write(go[1], "", 1) < 0)
		return err_set(err, -EIO, "start");
	close(go[1]);
	*ret = sb;
	return 0;
}

/* As es_system.h requires: no further message, and all are answered. */
static void mac_stop_fake(struct sandbox *sb)
{
	es_queue_shut(mac.queue);
	shutdown(mac.sock, SHUT_RDWR);
	pthread_join(mac.thread, NULL);
	close(mac.sock);
	fake_stop(sb);
}

UNUSED static const struct backend mac_backend = {
	.name = "fake-mac",
	.summary = "no sandbox",
	.launch = mac_launch_fake,
	.signal = fake_signal,
	.stop = mac_stop_fake,
};
