/* child - what a new process does before it becomes the program: between fork and exec. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/os/process.h"
#include "core/os/signals.h"

const char *child_stage_words(enum child_stage stage)
{
	static const char *const words[] = {
		[CHILD_TERMINAL] = "take the terminal",
		[CHILD_HUMAN] = "become the user who started this, not root",
		[CHILD_DIRECTORY] = "go to the directory",
		[CHILD_LIMITS] = "set the resource limits",
		[CHILD_HARDENING] = "keep debuggers away",
		[CHILD_SANDBOX] = "enter the sandbox",
		[CHILD_EXEC] = "run",
	};

	return words[stage];
}

static void tell(const struct child_plan *p, enum child_stage stage, int code, const char *why)
{
	struct child_report r = {.stage = stage, .code = code};

	for (size_t i = 0; why && why[i] && i + 1 < sizeof(r.why); i++)
		r.why[i] = why[i];
	(void)!write(p->report, &r, sizeof(r));
}

NORETURN static void fail(const struct child_plan *p, enum child_stage stage, int code,
			  const char *why)
{
	tell(p, stage, code, why);
	_exit(125);
}

/* The three, and the report. Copies first: one of them may have another one's number. */
static int take_descriptors(struct child_plan *p)
{
	int copies[4];

	for (int i = 0; i < 4; i++) {
		copies[i] = fcntl(i < 3 ? p->spec->stdio[i] : p->report, F_DUPFD_CLOEXEC, 10);
		if (copies[i] < 0)
			return -errno;
	}
	p->report = copies[3];
	for (int i = 0; i < 3; i++)
		if (dup2(copies[i], i) < 0)
			return -errno;
	os_close_range(3, (unsigned)p->report - 1); /* which is 10 or more */
	os_close_range((unsigned)p->report + 1, ~0u);
	return 0;
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

/* Its terminal goes with it: what is inside may open that by its name. */
static int become_human(const struct mac_launch_spec *s)
{
	if (!s->human || !s->human->known)
		return 0;
	if (s->tty && fchown(STDIN_FILENO, s->human->uid, (gid_t)-1) < 0)
		return -errno;
	return human_become(s->human);
}

static void prepare(struct child_plan *p)
{
	const struct mac_launch_spec *s = p->spec;
	int r;

	os_signals_usual();
	if (setsid() < 0 || (r = take_descriptors(p)) < 0 ||
	    (s->tty && ioctl(STDIN_FILENO, TIOCSCTTY, 0) < 0))
		fail(p, CHILD_TERMINAL, -errno, NULL);
	if (s->nice)
		(void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + s->nice);
	r = set_limits(&s->limits);
	if (r < 0)
		fail(p, CHILD_LIMITS, r, NULL);
	r = become_human(s);
	if (r < 0)
		fail(p, CHILD_HUMAN, r, NULL);
	if (chdir(s->cwd) < 0)
		fail(p, CHILD_DIRECTORY, -errno, NULL);
	r = s->os->deny_attach(s->os->data);
	if (r < 0 && r != -EINVAL) /* -EINVAL: it is denied already */
		tell(p, CHILD_HARDENING, r, NULL);
}

void child_run(const struct child_plan *given)
{
	struct child_plan p = *given;
	const struct mac_launch_spec *s = p.spec;
	const struct sbpl *profile = &s->profile->sbpl;
	char why[200] = "", go;
	int r;

	do
		r = (int)read(p.go, &go, 1);
	while (r < 0 && errno == EINTR);
	if (r != 1) /* the parent has died, and whoever was to look after this is not told of it */
		_exit(125);
	prepare(&p);
	if (!s->sandbox_exec) {
		r = s->os->apply(s->os->data, profile->text.data,
				 (const char *const *)profile->params, why, sizeof(why));
		if (r < 0)
			fail(&p, CHILD_SANDBOX, r, why);
	}
	(void)execve(p.path, p.argv, p.env);
	fail(&p, CHILD_EXEC, -errno, NULL);
}
