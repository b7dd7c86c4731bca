/* beside - starts the user's programs in the agent's running sandbox. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/beside.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "backends/linux/door/beside_door.h"
#include "core/keeper/keeper.h"
#include "core/keeper/procs.h"

struct beside {
	struct beside *next, **list;
	struct keeper *keeper;
	struct door *door;
	pid_t pid;
	int pidfd, hello; /* hello: -1 once the program has begun */
	void (*ended)(void *data, int status, const char *words);
	void *data;
};

static void beside_free(struct beside *b)
{
	if (b->hello >= 0)
		keeper_unwatch(b->keeper, b->hello);
	if (b->pidfd >= 0)
		keeper_unwatch(b->keeper, b->pidfd);
	util_close_fd(&b->hello);
	util_close_fd(&b->pidfd);
	LL_DELETE(*b->list, b);
	free(b);
}

/* Reports the end, once, and frees b. */
static void tell_end(struct beside *b, int status, const char *words)
{
	void (*ended)(void *data, int status, const char *words) = b->ended;
	void *data = b->data;

	beside_free(b);
	ended(data, status, words);
}

/* Returns whether the program failed to start; note has its message. */
static bool has_failed(const struct beside *b, struct note *note)
{
	int listener = -1;

	while (b->hello >= 0 && child_message_recv(b->hello, note, &listener, 1) > 0) {
		util_close_fd(&listener);
		if (note->kind == NOTE_FAILED)
			return true;
	}
	return false;
}

/* A descendant that traces the program keeps its status; then it is reaped with the sandbox. */
static void on_exit_of(void *data)
{
	struct beside *b = data;
	struct note note;
	int status = SIGKILL;

	if (waitpid(b->pid, &status, WNOHANG) != b->pid)
		status = SIGKILL;
	if (has_failed(b, &note))
		tell_end(b, note.status, note.text);
	else
		tell_end(b, util_exit_code(status), NULL);
}

static void fail(struct beside *b, int status, const char *words)
{
	kill(b->pid, SIGKILL);
	waitpid(b->pid, NULL, 0);
	tell_end(b, status, words);
}

/* Handles the start: receives the listener, sends go, and closes at the end of the stream, which
 * exec causes. */
static void on_hello(void *data)
{
	struct beside *b = data;
	struct note note, go = {.kind = NOTE_GO};
	int listener = -1, r = child_message_recv(b->hello, &note, &listener, 1);

	if (r > 0 && note.kind == NOTE_READY && listener >= 0) {
		r = beside_door_add(b->door, listener);
		if (r < 0)
			fail(b, 125, "too many programs run beside the agent");
		else if (child_message_send(b->hello, &go, NULL, 0) < 0)
			fail(b, 125, "it ended before it began");
		return;
	}
	if (listener >= 0)
		close(listener);
	if (r > 0) {
		fail(b, note.status, note.text);
		return;
	}
	keeper_unwatch(b->keeper, b->hello);
	util_close_fd(&b->hello);
}

/* ---- start ----------------------------------------------------------------------------------- */

/* Joins two environments. Heap, borrowed strings. */
static const char **join_env(const char *const *own, const char *const *more)
{
	size_t n = util_list_len(own), m = util_list_len(more), at = 0;
	const char **env = xcalloc(n + m + 1, sizeof(*env));

	for (size_t i = 0; i < n; i++)
		if (!str_sets_same(own[i], more))
			env[at++] = own[i];
	for (size_t i = 0; i < m; i++)
		env[at++] = more[i];
	return env;
}

static int launch(struct beside *b, const struct ground *g, const struct beside_spec *spec,
		  struct err *err)
{
	AUTO_FREE const char **env = join_env(g->env, spec->env);
	struct spawn_spec own = *g->spec;
	struct launch l = {.spec = &own,
			   .plan = g->plan,
			   .filter = *g->filter,
			   .limits = *g->limits,
			   .env = env,
			   .beside = true,
			   .fence_sock = -1,
			   .keeper = getpid()};
	int fds[2], r = child_message_pair(fds, err);

	if (r < 0)
		return r;
	own.argv = spec->argv;
	own.cwd = spec->cwd;
	own.tty = spec->tty;
	memcpy(own.stdio, spec->stdio, sizeof(own.stdio));
	memcpy(l.ns, g->cell->ns, sizeof(l.ns));
	memcpy(l.cgroups, g->cgroups, sizeof(l.cgroups));
	b->hello = l.ends[0] = fds[0];
	l.ends[1] = g->cell->sock;
	l.agent = fds[1];
	r = launch_agent(&l, err);
	close(fds[1]);
	b->pid = l.pid;
	return r;
}

static int watch(struct beside *b, struct err *err)
{
	int r;

	b->pidfd = (int)syscall(SYS_pidfd_open, b->pid, 0);
	r = b->pidfd < 0 ? -errno : keeper_watch(b->keeper, b->pidfd, on_exit_of, b);
	if (r == 0)
		r = keeper_watch(b->keeper, b->hello, on_hello, b);
	return r < 0 ? err_set(err, r, "watch the program") : 0;
}

int beside_start(struct beside **list, const struct ground *g, const struct beside_spec *spec,
		 struct err *err)
{
	struct beside *b;
	int r;

	if (g->cell->fenced)
		return err_say(err, -EOPNOTSUPP,
			       "without namespaces no program can be started beside the agent");
	if (g->spec->landlock_off)
		return err_say(err, -EOPNOTSUPP,
			       "sandbox.landlock=off: nothing would keep the agent from a program "
			       "beside it");
	b = xcalloc(1, sizeof(*b));
	*b = (struct beside){.list = list,
			     .keeper = g->keeper,
			     .door = g->door,
			     .pidfd = -1,
			     .hello = -1,
			     .ended = spec->ended,
			     .data = spec->data};
	LL_PREPEND(*list, b);
	r = launch(b, g, spec, err);
	if (r == 0)
		r = watch(b, err);
	if (r < 0) {
		if (b->pid > 0) {
			kill(b->pid, SIGKILL);
			waitpid(b->pid, NULL, 0);
		}
		beside_free(b);
		return r;
	}
	/* The cgroup's guard moves the process, unless it began in the cgroup. */
	if (g->guard >= 0 && g->cgroups[0] < 0)
		(void)!send(g->guard, &b->pid, sizeof(b->pid), MSG_NOSIGNAL | MSG_DONTWAIT);
	return b->pid;
}

void beside_drop(struct beside **list)
{
	while (*list)
		beside_free(*list);
}
