/* editor - opens a file in the user's editor; its changes are external edits. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/external.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/console_priv.h"

/* Returns whether the editor takes "+LINE" before the file. */
static bool takes_line(const char *command)
{
	static const char *const names[] = {"vi",    "vim",	    "nvim", "nano", "emacs", "pico",
					    "micro", "emacsclient", "kak",  "joe",  "jed",   "ne"};
	AUTO_FREE char *first = xstrndup(command, strcspn(command, " "));

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(path_base(first), names[i]))
			return true;
	return false;
}

static const char *editor_command(void)
{
	static const char *const names[] = {"VISUAL", "EDITOR"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return value;
	}
	return "vi";
}

/* Checks the file: the agent may have replaced it by a link or a pipe to mislead the user. */
static int look_at(const char *path)
{
	AUTO_FREE char *real = realpath(path, NULL);
	struct stat st;

	if (!real || lstat(path, &st) < 0)
		return -errno;
	if (!str_eq(real, path))
		return -ELOOP;
	return S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

static bool did_not_start(int status)
{
	return status == 127 || status == 126;
}

/* A tmux pane closes with its program, and hides the program's last words. */
static const char wait_if_none[] =
	"s=$?; case $s in 126|127) echo 'cordon: your editor does not start: set $EDITOR (Enter)'; "
	"read -r s;; esac";

/* path is absolute: no editor takes it for an option. */
int console_edit(void *data, const char *path, int line, struct err *err)
{
	struct console *c = data;
	const char *command = editor_command();
	AUTO_FREE char *script = xasprintf("%s \"$@\"", command), *beside = NULL;
	char where[24], sh[] = "/bin/sh", option[] = "-c", name[] = "sh";
	char *argv[] = {sh, option, script, name, where, (char *)(uintptr_t)path, NULL};
	static const struct borrower editor = {.name = "your editor",
					       .broken = did_not_start,
					       .words = "Your editor does not start: set $EDITOR."};
	char safe[256];
	int r;

	text_escape_into(safe, sizeof(safe), path, strlen(path));
	r = look_at(path);
	if (r == -ELOOP || r == -EINVAL)
		return err_say(err, r, "%s is no plain file, or lies behind a link", safe);
	if (r < 0)
		return err_say(err, r, "%s is not there now", safe);
	r = external_check("$EDITOR", command, err);
	if (r < 0)
		return r;
	snprintf(where, sizeof(where), "+%d", line);
	if (line <= 0 || !takes_line(command)) {
		argv[4] = argv[5];
		argv[5] = NULL;
	}
	if (console_can_split(c)) {
		argv[2] = beside = xasprintf("%s\n%s", script, wait_if_none);
		console_split_program(c, (const char *const *)argv, argv[5] ? 6 : 5);
		return 0;
	}
	return console_lend(c, &editor, argv, err);
}
