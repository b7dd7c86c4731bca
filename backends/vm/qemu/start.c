/* start - finds QEMU, and runs it as a confined child. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/vm/qemu/qemu.h"
#include "core/base/fork.h"
#include "core/base/external.h"
#include "core/os/signals.h"

char *qemu_find(struct err *err)
{
	static const char name[] = "qemu-system-x86_64";
	struct utsname u;
	struct err why = {0};
	AUTO_FREE char *found = NULL;

	uname(&u);
	if (!str_eq(u.machine, "x86_64")) {
		err_say(err, -EOPNOTSUPP,
			"this backend runs on x86-64 hosts only, as of now; this is %s", u.machine);
		return NULL;
	}
	found = external_find(name, &why);
	if (!found && why.code != -ENOENT)
		err_say(err, why.code, "%s", why.text);
	else if (!found)
		err_say(err, -ENOENT,
			"%s is not here: install QEMU (Debian and Ubuntu: qemu-system-x86, Fedora: "
			"qemu-system-x86-core, Arch: qemu-system-x86)",
			name);
	return found ? realpath(found, NULL) : NULL;
}

static void keep(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
}

/* Lets QEMU inherit its descriptors. close_range() is a safety net: all others should have
 * FD_CLOEXEC. */
static void hand_over(const struct qemu_spec *s)
{
	close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
	keep(s->initrd);
	keep(s->control);
	keep(s->tty);
	keep(s->qmp);
	keep(s->console);
	keep(s->net);
	keep(s->disk);
	keep(s->disk < 0 ? -1 : s->disk_read);
	for (size_t i = 0; i < s->n; i++)
		keep(s->shares[i]);
}

static NORETURN void run(const struct qemu_spec *s, pid_t parent)
{
	static const char *const env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char **argv = qemu_argv(s);
	struct err err = {0};
	int r;

	os_signals_usual();
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(125);
	dup2(null, 0);
	dup2(s->words, 1);
	dup2(s->words, 2);
	hand_over(s);
	if (chdir("/") < 0)
		_exit(125);
	r = qemu_confine(s->program, s->kernel, s->kvm, &err);
	/* A change of credentials clears it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (r == 0) {
		execve(s->program, argv, (char **)(uintptr_t)env);
		err_set(&err, -errno, "run '%s'", s->program);
	}
	dprintf(2, "%s\n", err.text);
	_exit(125);
}

pid_t qemu_start(const struct qemu_spec *spec, struct err *err)
{
	pid_t parent = getpid(), pid = fork_bare();

	if (pid == 0)
		run(spec, parent);
	return pid < 0 ? err_set(err, -errno, "fork QEMU") : pid;
}
