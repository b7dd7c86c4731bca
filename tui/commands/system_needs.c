/* system_needs - finds missing packages and settings of this machine, and adds them. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/system_needs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/builtin.h"
#include "core/base/io.h"
#include "core/base/external.h"
#include "core/base/program.h"
#include "core/os/file.h"
#include "tui/commands/here.h"

/* ---- packages -------------------------------------------------------------------------------- */

static const struct manager {
	const char *program, *arguments; /* "apt-get", "install -y" */
	int column;
} managers[] = {
	{"apt-get", "install -y", 0}, {"dnf", "install -y", 1}, {"pacman", "-S --needed", 2}};

static const struct need {
	const char *programs[2]; /* one of them is enough */
	const char *packages[3]; /* one for each manager */
	const char *why;
} needs[] = {
	{{"bwrap", NULL}, {"bubblewrap", "bubblewrap", "bubblewrap"}, "the backend bwrap"},
	{{"fusermount3", NULL}, {"fuse3", "fuse3", "fuse3"}, "asking before a read, for users"},
	{{"fdfind", "fd"}, {"fd-find", "fd-find", "fd"}, "agents: in place of find"},
	{{"rg", NULL}, {"ripgrep", "ripgrep", "ripgrep"}, "agents: in place of grep"},
};

static bool is_missing(const struct need *n)
{
	return !program_is_installed(n->programs[0]) &&
	       !(n->programs[1] && program_is_installed(n->programs[1]));
}

static const struct manager *find_manager(void)
{
	for (size_t i = 0; i < ARRAY_LEN(managers); i++)
		if (program_is_installed(managers[i].program))
			return &managers[i];
	return NULL;
}

/* Writes "sudo apt-get install -y bubblewrap ripgrep". Returns false if nothing is missing, or no
 * package manager is known. */
static bool command_line(struct buf *out)
{
	const struct manager *m = find_manager();
	bool any = false;

	if (!m)
		return false;
	buf_fmt(out, "%s%s %s", geteuid() == 0 ? "" : "sudo ", m->program, m->arguments);
	for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
		if (!is_missing(&needs[i]))
			continue;
		any = true;
		buf_fmt(out, " %s", needs[i].packages[m->column]);
	}
	return any;
}

size_t system_needs_show(bool is_run)
{
	AUTO_BUF struct buf line = BUF_INIT;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
		if (!is_missing(&needs[i]))
			continue;
		printf("? %s is missing: for %s\n", needs[i].packages[0], needs[i].why);
		n++;
	}
	if (n && command_line(&line))
		printf("    %s%s\n", line.data, is_run ? "" : "   (yours to run; or: --packages)");
	else if (n)
		printf("    install them with your package manager\n");
	return n;
}

static int run(const char *line, struct err *err)
{
	const char *const argv[] = {"sh", "-c", line, NULL};
	int r = here_keep_out(NULL, err);

	if (r == 0)
		r = external_run_here(argv, err);
	return r > 0 ? err_say(err, -EIO, "'%s' has failed: see above", line) : r;
}

int system_needs_install(struct err *err)
{
	AUTO_BUF struct buf line = BUF_INIT;

	return command_line(&line) ? run(line.data, err) : 0;
}

/* ---- AppArmor -------------------------------------------------------------------------------- */

bool system_needs_apparmor(void)
{
	AUTO_FREE char *text = NULL;

	return io_read_file(AT_FDCWD, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 16,
			    &text, NULL) == 0 &&
	       *text == '1' && access(APPARMOR_PROFILE, F_OK) < 0;
}

char *system_apparmor_text(void)
{
	static const char mark[] = "@BINARY@";
	AUTO_FREE char *self = os_self_copy();
	const char *text = builtin_find("apparmor.in");
	const char *at = text ? strstr(text, mark) : NULL;

	if (!at || !self)
		return NULL;
	return xasprintf("%.*s%s%s", (int)(at - text), text, self, at + strlen(mark));
}

int system_apparmor_load(struct err *err)
{
	return run("apparmor_parser -r " APPARMOR_PROFILE, err);
}

int system_apparmor_unload(int fd, struct err *err)
{
	AUTO_FREE char *line = xasprintf("apparmor_parser -R /dev/fd/%d", fd);

	return run(line, err);
}
