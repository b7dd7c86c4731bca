/* launch - starts a program under a profile, and ends it with all its descendants. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/macos/helper/helper.h"
#include "backends/macos/launch/ending.h"
#include "backends/macos/launch/env.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/os/socket.h"

#define LIMIT_US 20000000 /* of ending what is inside */

struct mac_launch {
	const struct mac_os *os;
	char *session, *dir;
	pid_t pid;
	bool ended;
	int status; /* as of wait(2) */
	char unhardened[120];
	size_t (*known)(void *data);
	void *data;
};

struct words {
	char **list;
	size_t n;
};

/* ---- the command ----------------------------------------------------------------------------- */

/* Adds the profile: as an argument, or if it is too long as a file that only its owner may read. */
static int add_profile(struct words *w, const struct mac_launch_spec *s, struct err *err)
{
	const struct buf *text = &s->profile->sbpl.text;
	AUTO_CLOSE int dir = -1;
	int r;

	if (!profile_needs_file(s->profile)) {
		util_list_push(&w->list, &w->n, xstrdup("-p"));
		util_list_push(&w->list, &w->n, xstrdup(text->data));
		return 0;
	}
	dir = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = dir < 0 ? -errno : io_write_file(dir, "profile.sb", 0600, text->data, text->len, false);
	if (r < 0)
		return err_set(err, r, "write the profile to '%s'", s->dir);
	util_list_push(&w->list, &w->n, xstrdup("-f"));
	util_list_push(&w->list, &w->n, path_join(s->dir, "profile.sb"));
	return 0;
}

/* Adds DYLD_* by way of env(1). Apple's programs, sandbox-exec and env among them, drop such
 * variables at their start; env sets them for the program that it runs. */
static void add_loader_env(struct words *w, const char *const *own_env)
{
	bool any = false;

	for (; own_env && *own_env; own_env++) {
		if (!str_starts(*own_env, "DYLD_"))
			continue;
		if (!any)
			util_list_push(&w->list, &w->n, xstrdup("/usr/bin/env"));
		any = true;
		util_list_push(&w->list, &w->n, xstrdup(*own_env));
	}
}

static int make_argv(struct words *w, const struct mac_launch_spec *s, struct err *err)
{
	char *const *param = s->profile->sbpl.params;
	int r;

	if (s->sandbox_exec) {
		util_list_push(&w->list, &w->n, xstrdup("sandbox-exec"));
		for (; param && param[0]; param += 2) {
			util_list_push(&w->list, &w->n, xstrdup("-D"));
			util_list_push(&w->list, &w->n, xasprintf("%s=%s", param[0], param[1]));
		}
		r = add_profile(w, s, err);
		if (r < 0)
			return r;
		util_list_push(&w->list, &w->n, xstrdup("--"));
		add_loader_env(w, s->own_env);
	}
	for (const char *const *a = s->argv; *a; a++)
		util_list_push(&w->list, &w->n, xstrdup(*a));
	return 0;
}

/* Returns the program's path. A name without a slash is searched in the program's PATH. Heap; NULL:
 * not found. */
static char *find_program(const char *name, char *const *env)
{
	const char *at = "/usr/bin:/bin";

	if (strchr(name, '/'))
		return xstrdup(name);
	for (; *env; env++)
		if (str_starts(*env, "PATH="))
			at = *env + 5;
	for (; *at; at += *at == ':') {
		size_t n = strcspn(at, ":");
		AUTO_FREE char *path = xasprintf("%.*s/%s", (int)n, at, name);

		if (*path == '/' && n && access(path, X_OK) == 0)
			return take_ptr(&path);
		at += n;
	}
	return NULL;
}

/* ---- starting -------------------------------------------------------------------------------- */

static int status_of(const struct agent_report *r)
{
	if (r->stage != AGENT_EXEC)
		return 125;
	return r->code == -ENOENT || r->code == -ENOTDIR ? 127 : 126;
}

/* Reads the helper's reports until the program runs, which closes the pipe. */
static int hear(struct mac_launch *l, const struct mac_launch_spec *s, int fd, int *ret_status,
		struct err *err)
{
	struct agent_report r;

	while (io_read_full(fd, &r, sizeof(r)) == (ssize_t)sizeof(r)) {
		r.why[sizeof(r.why) - 1] = '\0';
		if (r.stage == AGENT_HARDENING) {
			snprintf(l->unhardened, sizeof(l->unhardened),
				 "debuggers are not kept away: %s", strerror(-r.code));
			continue;
		}
		*ret_status = status_of(&r);
		if (*r.why)
			return err_say(err, r.code, "%s: %s", agent_stage_words(r.stage), r.why);
		return err_set(err, r.code, "%s '%s'", agent_stage_words(r.stage),
			       r.stage == AGENT_DIRECTORY ? s->cwd : s->argv[0]);
	}
	return 0;
}

/* Starts the helper, reports its pid, then sends the order. Without an order the helper ends. */
static int start(struct mac_launch *l, const struct mac_launch_spec *s, const struct order *order,
		 int *ret_status, struct err *err)
{
	struct helper_spec helper = {.program = s->helper, .role = HELPER_AGENT, .stdio = s->stdio};
	int report[2], fd, r;

	if (pipe2(report, O_CLOEXEC) < 0)
		return err_set(err, -errno, "make a pipe");
	helper.fds[0] = report[1];
	helper.fds[1] = -1;
	r = helper_start(&helper, &l->pid, &fd, err);
	(void)close(report[1]);
	if (r == 0) {
		if (s->forked)
			s->forked(s->data, l->pid);
		r = order_send(fd, order);
		(void)close(fd);
		r = r < 0 ? err_set(err, r, "start a process")
			  : hear(l, s, report[0], ret_status, err);
	}
	(void)close(report[0]);
	return r;
}

/* argv, env and path are heap; the rest is borrowed. */
static int make_order(struct order *ret, const struct mac_launch_spec *s, int *ret_status,
		      struct err *err)
{
	const struct sbpl *profile = &s->profile->sbpl;
	char **env = mac_env(s->env, s->dir, s->own_env);
	AUTO_FREE char *path = find_program(s->argv[0], env);
	struct words argv = {0};
	int r;

	*ret = (struct order){.limits = s->limits,
			      .nice = s->nice,
			      .tty = s->tty,
			      .by_program = s->sandbox_exec != NULL,
			      .cwd = (char *)(uintptr_t)s->cwd,
			      .profile = s->sandbox_exec ? NULL : profile->text.data,
			      .params = s->sandbox_exec ? NULL : profile->params,
			      .env = env};
	if (s->human)
		ret->human = *s->human;
	*ret_status = path ? 125 : 127;
	r = path ? make_argv(&argv, s, err)
		 : err_say(err, -ENOENT, "there is no program '%s' in the PATH", s->argv[0]);
	ret->argv = argv.list;
	ret->path = s->sandbox_exec ? xstrdup(s->sandbox_exec) : take_ptr(&path);
	return r;
}

int mac_launch(struct mac_launch **ret, const struct mac_launch_spec *spec, int *ret_status,
	       struct err *err)
{
	struct mac_launch *l = xcalloc(1, sizeof(*l));
	struct order order;
	int r = make_order(&order, spec, ret_status, err);

	l->os = spec->os;
	l->session = xstrdup(spec->session);
	l->dir = xstrdup(spec->dir);
	l->known = spec->known;
	l->data = spec->data;
	if (r == 0 && spec->human) {
		r = human_give(spec->human, spec->dir);
		if (r < 0)
			err_set(err, r, "give '%s' to %s", spec->dir, spec->human->name);
	}
	if (r == 0)
		r = start(l, spec, &order, ret_status, err);
	util_free_list(&order.argv);
	util_free_list(&order.env);
	free(order.path);
	if (r < 0) {
		mac_launch_stop(l);
		return r;
	}
	*ret = l;
	return 0;
}

pid_t mac_launch_pid(const struct mac_launch *l)
{
	return l->pid;
}

const char *mac_launch_unhardened(const struct mac_launch *l)
{
	return *l->unhardened ? l->unhardened : NULL;
}

/* ---- ending ---------------------------------------------------------------------------------- */

static void reap(struct mac_launch *l, int options)
{
	int status;
	pid_t r;

	if (l->ended || l->pid <= 0)
		return;
	do
		r = waitpid(l->pid, &status, options);
	while (r < 0 && errno == EINTR);
	if (r == l->pid)
		l->status = status;
	l->ended = r == l->pid || r < 0;
}

/* Returns the agent's pid, or 0 once it has been reaped, because the number may be reused. */
static pid_t root_of(void *data)
{
	struct mac_launch *l = data;

	reap(l, WNOHANG);
	return l->ended ? 0 : l->pid;
}

static size_t known_of(void *data)
{
	const struct mac_launch *l = data;

	return l->known ? l->known(l->data) : 0;
}

static size_t end_all(struct mac_launch *l)
{
	const struct ending e = {.os = l->os,
				 .session = l->session,
				 .data = l,
				 .root = root_of,
				 .known = known_of,
				 .kill = kill,
				 .round_us = 5000,
				 .patience = 600,
				 .quiet = 3,
				 .limit_us = LIMIT_US};

	if (l->pid <= 0)
		return 0;
	if (!l->ended) {
		(void)kill(-l->pid, SIGKILL);
		(void)kill(l->pid, SIGKILL);
	}
	return end_inside(&e);
}

void mac_launch_signal(struct mac_launch *l, int sig)
{
	if (sig == SIGKILL)
		(void)end_all(l);
	else if (!l->ended && l->pid > 1)
		(void)kill(-l->pid, sig);
}

int mac_launch_wait_status(struct mac_launch *l)
{
	reap(l, 0);
	return l->status;
}

int mac_launch_wait(struct mac_launch *l)
{
	int status = mac_launch_wait_status(l);

	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool mac_launch_has_ended(struct mac_launch *l)
{
	reap(l, WNOHANG);
	return l->ended;
}

size_t mac_launch_stop(struct mac_launch *l)
{
	size_t n;

	if (!l)
		return 0;
	n = end_all(l);
	if (n == 0) /* else a process is stuck, and reap() might block */
		reap(l, 0);
	(void)!io_remove_tree(AT_FDCWD, l->dir);
	free(l->session);
	free(l->dir);
	free(l);
	return n;
}
