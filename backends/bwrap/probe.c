/* probe - checks whether bubblewrap exists and works as the sandbox needs. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/bwrap/bwrap_priv.h"
#include "backends/linux/sandbox/plan_priv.h"
#include "backends/linux/probe/probe_priv.h"
#include "core/base/io.h"
#include "core/base/external.h"

/* In a user namespace without root's id, root's files have this owner. */
static bool is_unmapped(uid_t uid)
{
	enum {
		OVERFLOW_UID = 65534
	};
	AUTO_FREE char *map = NULL;
	unsigned first, outside, n;

	return uid == OVERFLOW_UID &&
	       io_read_file(AT_FDCWD, "/proc/self/uid_map", 4096, &map, NULL) >= 0 &&
	       sscanf(map, "%u %u %u", &first, &outside, &n) == 3 && n <= OVERFLOW_UID;
}

/* Returns whether only root can write the program or replace it. */
static bool is_roots(const char *path, struct stat *st)
{
	return stat(path, st) == 0 && (st->st_uid == 0 || is_unmapped(st->st_uid)) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

const char *bwrap_find(struct err *err)
{
	static const char *const places[][2] = {
		{"/usr/bin", "/usr/bin/bwrap"},
		{"/bin", "/bin/bwrap"},
		{"/usr/local/bin", "/usr/local/bin/bwrap"},
		{"/run/current-system/sw/bin", "/run/current-system/sw/bin/bwrap"},
	};
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		if (access(places[i][1], X_OK) < 0)
			continue;
		if (!is_roots(places[i][0], &st) || !is_roots(places[i][1], &st)) {
			err_say(err, -EACCES, "bubblewrap: '%s' can be written by others than root",
				places[i][1]);
			return NULL;
		}
		if (geteuid() != 0 && st.st_mode & S_ISUID) {
			err_say(err, -EPERM,
				"bubblewrap: '%s' is set-user-id: the namespaces that it makes "
				"belong to root, and cordon cannot join them",
				places[i][1]);
			return NULL;
		}
		return places[i][1];
	}
	err_say(err, -ENOENT, "bubblewrap: not found in /usr/bin, /usr/local/bin or /bin");
	return NULL;
}

static int failed(char *found, size_t size, const struct err *err)
{
	snprintf(found, size, "%.*s", (int)size - 1, err->text);
	return err->code;
}

static int try_program(char *found, size_t size)
{
	struct err err = {0};
	const char *program = bwrap_find(&err);
	bool mute;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	if (!program)
		return failed(found, size, &err);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return probe_failed(found, size, "pipe");
	pid = external_start(
		&(struct external){.argv = (const char *const[]){program, "--version", NULL},
				   .in = EXTERNAL_NULL,
				   .out = fds[1],
				   .err = fds[1]},
		&err);
	close(fds[1]);
	n = io_read_full(fds[0], found, size - 1);
	close(fds[0]);
	found[MAX(n, 0)] = '\0';
	found[strcspn(found, "\n")] = '\0';
	mute = !*found;
	if (mute)
		snprintf(found, size, "it ended without a message");
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status || mute)
		return -EIO;
	snprintf(found + strlen(found), size - strlen(found), " (%s)", program);
	return 0;
}

static void small_plan(struct plan *plan)
{
	static const char *const dirs[] = {"/proc", "/tmp", "/dev"};
	static const char *const trees[] = {"/usr", "/lib", "/lib64", "/nix"};
	struct plan_op *op;
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		plan_add(plan, PLAN_DIR, dirs[i], NULL);
	for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
		if (stat(trees[i], &st) < 0)
			continue;
		op = plan_add(plan, PLAN_BIND, trees[i], trees[i]);
		op->make = true;
	}
	plan_add(plan, PLAN_SEAL, "/", NULL);
	plan_add(plan, PLAN_TMPFS, "/dev", "mode=0755,size=1m");
	plan_add(plan, PLAN_DIR, "/dev/pts", NULL);
	plan_add(plan, PLAN_DEVPTS, "/dev/pts", "newinstance,ptmxmode=0666,mode=620");
	plan_add(plan, PLAN_PROC, "/proc", "hidepid=ptraceable");
}

static int look_inside(const struct namespaces *c, char *found, size_t size)
{
	AUTO_CLOSE int fd = openat(c->root, "usr", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return probe_failed(found, size, "open /usr inside");
	errno = 0;
	if (mkdirat(fd, "cordon-probe", 0700) == 0 || errno != EROFS)
		return probe_failed(found, size, "write below a read-only bind");
	return 0;
}

/* Tries the whole start with a smaller tree: namespaces, id maps, pid 1, finisher. */
static int try_namespaces(char *found, size_t size)
{
	AUTO_PLAN struct plan plan = {0};
	const struct spawn_spec spec = {0};
	struct err err = {0};
	struct namespaces c;
	int status, r;

	namespaces_init(&c);
	small_plan(&plan);
	r = bwrap_builder.start(&c, &plan, &spec, &err);
	if (r == 0)
		r = bwrap_builder.finish(&c, &plan, &status, &err);
	r = r < 0 ? failed(found, size, &err) : look_inside(&c, found, size);
	namespaces_done(&c);
	if (r == 0)
		snprintf(found, size, "made, joined and sealed");
	return r;
}

static const struct trial trials[] = {
	{"bubblewrap", try_program,
	 BACKEND_FILES | BACKEND_HIDE | BACKEND_NET | BACKEND_PIDS | BACKEND_UNDO, true,
	 "install bubblewrap 0.8 or later (sudo apt install bubblewrap), not set-user-id"},
	{"namespaces by bubblewrap", try_namespaces,
	 BACKEND_FILES | BACKEND_HIDE | BACKEND_NET | BACKEND_PIDS, true,
	 "bubblewrap 0.8 or later is needed, and leave to make user namespaces: see native's"},
	{"network gate", probe_network, 0, false, probe_network_remedy},
};

uint32_t bwrap_probe(struct probe_report *report, struct err *err)
{
	uint32_t bits = BACKEND_REQUIRED | BACKEND_LIMITS;

	bits &= ~probe_trials(trials, ARRAY_LEN(trials), report, err);
	probe_add(report, "read gate", false, true, "every open is trapped", "");
	return bits & ~probe_shared(report, err);
}
