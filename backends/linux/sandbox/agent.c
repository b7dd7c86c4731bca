/* agent - the last part of the agent's process before exec: confinement, self-check, filter. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/linux/sandbox/landlock.h"
#include "backends/linux/limits/limits.h"
#include "backends/linux/native_priv.h"
#include "backends/linux/net/net_priv.h"
#include "core/os/signals.h"

/* ---- descriptors ----------------------------------------------------------------------------- */

static int set_stdio(const struct launch *l, int *sock, struct err *err)
{
	int fds[3];

	/* First move all to high numbers: they may be 0, 1, 2 in another order. */
	for (int i = 0; i < 3; i++) {
		fds[i] = fcntl(l->spec->stdio[i], F_DUPFD_CLOEXEC, 10);
		if (fds[i] < 0)
			return err_set(err, -errno, "take over descriptor %d", l->spec->stdio[i]);
	}
	*sock = fcntl(l->agent, F_DUPFD_CLOEXEC, 10);
	if (*sock < 0)
		return err_set(err, -errno, "keep the agent's socket");
	for (int i = 0; i < 3; i++) {
		if (dup3(fds[i], i, 0) < 0)
			return err_set(err, -errno, "set descriptor %d", i);
	}
	/* No other descriptor may pass exec. */
	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		return err_set(err, -errno, "close what the agent shall not have");
	if (l->spec->tty && ioctl(0, TIOCSCTTY, 0) < 0)
		return err_set(err, -errno, "take the terminal over");
	return 0;
}

/* ---- Landlock -------------------------------------------------------------------------------- */

static int enter_landlock(const struct launch *l, struct err *err)
{
	static const int stdio[] = {0, 1, 2};
	const struct plan *plan = l->plan;
	struct landlock_spec spec = {.places = {{AT_FDCWD, plan->writable, plan->n_writable},
						{plan->homes, plan->absent_dirs, plan->n_absent}},
				     .stdio = stdio,
				     .agent = true,
				     .truncate = plan->own != NULL,
				     .no_tcp = l->filter.alone && !l->filter.allow_network};

	if (plan->read == READ_TRAP) {
		spec.trees = plan->trees.list;
		spec.n_trees = plan->trees.n;
	}
	return landlock_restrict(&spec, err);
}

/* ---- the program ----------------------------------------------------------------------------- */

static const char *env_get(const char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; env && *env; env++) {
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return *env + len + 1;
	}
	return NULL;
}

/* Returns 0, -ENOENT, or the error of a file that is not a program. */
static int is_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
		return -EACCES;
	return 0;
}

/* Finds the program as execvp(3) does, in the sandbox's view and with the agent's PATH. */
static int find_program(char *path, size_t size, const char *name, const char *const *env)
{
	const char *dirs = env_get(env, "PATH");
	int found = -ENOENT;

	if (strchr(name, '/') || !*name) {
		if ((size_t)snprintf(path, size, "%s", name) >= size)
			return -ENAMETOOLONG;
		return is_program(path);
	}
	if (!dirs)
		dirs = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t len = strcspn(dirs, ":");
		int n = snprintf(path, size, "%.*s%s%s", (int)len, dirs, len ? "/" : "./", name);

		if (n > 0 && (size_t)n < size) {
			int r = is_program(path);

			if (r == 0)
				return 0;
			if (r != -ENOENT && r != -EISDIR)
				found = r;
		}
		if (!dirs[len])
			return found;
		dirs += len + 1;
	}
}

BORROWED_STACK static NORETURN void fail_exec(int sock, const char *name, int r)
{
	struct err err = {0};
	int status = r == -ENOENT ? 127 : 126;

	if (status == 127)
		child_message_not_found(name, &err);
	else
		err_set(&err, r, "'%s' cannot be executed", name);
	child_message_fail(sock, status, &err);
}

static char *const *exec_vector(const char *const *v)
{
	union {
		const char *const *in;
		char *const *out;
	} u = {.in = v};

	return u.out; /* execve(2) changes nothing; its prototype predates const */
}

BORROWED_STACK static NORETURN void exec_program(int sock, const char *path, const struct launch *l)
{
	const struct spawn_spec *spec = l->spec;
	int r;

	execve(path, exec_vector(spec->argv), exec_vector(l->env));
	r = -errno;
	if (r == -ENOEXEC) {
		/* A script without an interpreter line: run it by sh, as shells and execvp(3)
		 * do. */
		enum {
			MAX_ARGS = 1024
		};
		const char *argv[MAX_ARGS + 3] = {"/bin/sh", path};
		size_t n = 1;

		for (; n < MAX_ARGS && spec->argv[n]; n++)
			argv[n + 1] = spec->argv[n];
		argv[n + 1] = NULL;
		if (!spec->argv[n])
			execve("/bin/sh", exec_vector(argv), exec_vector(l->env));
	}
	/* The file exists, so its interpreter is missing. */
	if (r == -ENOENT && access(path, F_OK) == 0) {
		struct err err = {0};

		err_say(&err, r, "'%s' cannot be executed: its interpreter does not exist", path);
		child_message_fail(sock, 126, &err);
	}
	fail_exec(sock, spec->argv[0], r);
}

/* ---- the whole start ------------------------------------------------------------------------- */

static int confine(const struct launch *l, int *sock, struct err *err)
{
	int r;

	r = confine_drop_all(err);
	if (r < 0)
		return r;
	/* After the change of credentials, which would clear it. Normally pid 1 ends this
	 * process. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setsid() < 0)
		return err_set(err, -errno, "begin a session");
	r = set_stdio(l, sock, err);
	if (r < 0)
		return r;
	if (chdir(l->spec->cwd) < 0)
		return err_set(err, -errno, "enter '%s' inside the sandbox", l->spec->cwd);
	r = limits_apply(&l->limits, err);
	if (r == 0 && !l->spec->landlock_off)
		r = enter_landlock(l, err);
	return r;
}

static int hand_listener(const struct launch *l, int sock, const int *inside, struct err *err)
{
	struct note note = {.kind = NOTE_READY};
	int listener = -1, r, fds[1 + INSIDE_SOCKETS];
	size_t n = 1;

	r = filter_install(&l->filter, &listener);
	if (r < 0)
		return err_set(err, r, "install the system-call filter");
	r = selfcheck_filter(l, err);
	if (r < 0)
		return r;
	fds[0] = listener;
	for (size_t i = 0; i < INSIDE_SOCKETS && inside[i] >= 0; i++)
		fds[n++] = inside[i];
	r = child_message_send(sock, &note, fds, n);
	while (n > 0)
		close(fds[--n]);
	return r < 0 ? err_set(err, r, "hand the system-call door over") : 0;
}

NORETURN void agent_run(const struct launch *l)
{
	char path[4096];
	struct err err = {0};
	struct note note;
	int sock = l->agent, inside[INSIDE_SOCKETS] = {-1, -1, -1, -1, -1}, r;

	os_signals_usual();
	/* Close the keeper's ends: copies would keep these sockets open after the keeper's
	 * death. */
	for (size_t i = 0; i < ARRAY_LEN(l->ends); i++)
		if (l->ends[i] >= 0)
			close(l->ends[i]);
	if (l->spec->ask_network && !l->filter.alone && !l->beside)
		router_prepare_inside(inside);
	if (confine(l, &sock, &err) < 0 || (!l->beside && selfcheck_run(l, &err) < 0))
		child_message_fail(sock, 125, &err);
	r = find_program(path, sizeof(path), l->spec->argv[0], l->env);
	if (r < 0)
		fail_exec(sock, l->spec->argv[0], r);
	/*
	 * The keeper reads the arguments of the following execve() from this memory. Without
	 * privileges over the namespace it may do so only while the process is dumpable. No other
	 * process is inside yet, or Landlock keeps them out.
	 */
	prctl(PR_SET_DUMPABLE, 1);
	if (hand_listener(l, sock, inside, &err) < 0)
		child_message_fail(sock, 125, &err);
	if (child_message_recv(sock, &note, NULL, 0) <= 0 || note.kind != NOTE_GO)
		_exit(125);
	exec_program(sock, path, l);
}
