/* agent - the helper's last part before it becomes the agent's program. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/macos/helper/helper.h"

const char *agent_stage_words(enum agent_stage stage)
{
	static const char *const words[] = {
		[AGENT_TERMINAL] = "take the terminal",
		[AGENT_LIMITS] = "set the resource limits",
		[AGENT_HUMAN] = "become the user who started this, not root",
		[AGENT_DIRECTORY] = "go to the directory",
		[AGENT_HARDENING] = "keep debuggers away",
		[AGENT_SANDBOX] = "enter the sandbox",
		[AGENT_EXEC] = "run",
	};

	return words[stage];
}

static void tell(enum agent_stage stage, int code, const char *why)
{
	struct agent_report r = {.stage = stage, .code = code};

	snprintf(r.why, sizeof(r.why), "%s", why ? why : "");
	(void)!write(HELPER_REPORT, &r, sizeof(r));
}

NORETURN static void fail(enum agent_stage stage, int code, const char *why)
{
	tell(stage, code, why);
	_exit(125);
}

static int set_limit(int which, int64_t value)
{
	struct rlimit l = {.rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value};
	struct rlimit now;

	if (getrlimit(which, &now) == 0 && now.rlim_max != RLIM_INFINITY &&
	    l.rlim_max > now.rlim_max)
		l.rlim_cur = l.rlim_max = now.rlim_max;
	return setrlimit(which, &l) < 0 ? -errno : 0;
}

static int set_limits(const struct spawn_limits *l)
{
	int r = set_limit(RLIMIT_CORE, 0);

	if (r == 0 && l->open_files)
		r = set_limit(RLIMIT_NOFILE, l->open_files);
	if (r == 0 && l->memory && l->address_space)
		r = set_limit(RLIMIT_AS, l->memory);
	if (r == 0 && l->cpu_seconds)
		r = set_limit(RLIMIT_CPU, l->cpu_seconds);
	return r;
}

/* Changes to the agent's user, who also gets the terminal: programs inside may open it by name. */
static int become_human(const struct order *o)
{
	if (!o->human.known)
		return 0;
	if (o->tty && fchown(STDIN_FILENO, o->human.uid, (gid_t)-1) < 0)
		return -errno;
	return human_become(&o->human);
}

static void prepare(const struct mac_os *os, const struct order *o)
{
	int r;

	if (o->tty && ioctl(STDIN_FILENO, TIOCSCTTY, 0) < 0)
		fail(AGENT_TERMINAL, -errno, NULL);
	if (o->nice)
		(void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + o->nice);
	r = set_limits(&o->limits);
	if (r < 0)
		fail(AGENT_LIMITS, r, NULL);
	r = become_human(o);
	if (r < 0)
		fail(AGENT_HUMAN, r, NULL);
	if (chdir(o->cwd) < 0)
		fail(AGENT_DIRECTORY, -errno, NULL);
	r = os->deny_attach(os->data);
	if (r < 0 && r != -EINVAL) /* -EINVAL: it is denied already */
		tell(AGENT_HARDENING, r, NULL);
}

static void enter(const struct mac_os *os, const struct order *o)
{
	char why[200] = "";
	int r = *o->profile ? os->apply(os->data, o->profile, (const char *const *)o->params, why,
					sizeof(why))
			    : -EINVAL;

	if (r < 0)
		fail(AGENT_SANDBOX, r, why);
}

void helper_agent(const struct mac_os *os, struct order *o)
{
	if (fcntl(HELPER_REPORT, F_SETFD, FD_CLOEXEC) < 0) /* else the program would inherit it */
		_exit(125);
	prepare(os, o);
	if (!o->by_program)
		enter(os, o);
	(void)execve(o->path, o->argv, o->env);
	fail(AGENT_EXEC, -errno, NULL);
}
