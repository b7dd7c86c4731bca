/* editor - a file in the human's own editor, on the terminal that the console gives up meanwhile.
 */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/console_priv.h"

/*
 * The editor is the human's program: it runs outside of the sandbox, in cordon's own process group,
 * and what it writes is an edit from outside. The loop goes on while it runs, so the session is
 * served; nothing is drawn and no key is read until it has ended.
 */

/* Those that take "+LINE" before the file. */
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

/* The agent may have put a link or a pipe in its place, which would lead the human elsewhere. */
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

static void on_editor_closed(uv_handle_t *handle)
{
	struct console *c = handle->data;

	c->editing = false;
	if (c->leaving)
		return;
	screen_resume(c->screen);
	console_watch_tty(c, true);
	console_resize(c);
}

static void on_editor_exit(uv_process_t *process, int64_t status, int signal_number)
{
	struct console *c = process->data;

	if (c->ui && (status == 127 || status == 126))
		ui_say(c->ui, "x Your editor does not start: set $EDITOR.");
	(void)signal_number;
	uv_close((uv_handle_t *)process, on_editor_closed);
}

int console_edit(void *data, const char *path, int line, struct err *err)
{
	struct console *c = data;
	const char *command = editor_command();
	AUTO_FREE char *script = xasprintf("%s \"$@\"", command);
	char where[24], sh[] = "/bin/sh", option[] = "-c", name[] = "sh";
	char *argv[] = {sh, option, script, name, where, (char *)(uintptr_t)path, NULL};
	uv_stdio_container_t stdio[3];
	uv_process_options_t opt = {.exit_cb = on_editor_exit, .file = sh, .args = argv};
	char safe[256];
	int r;

	text_escape_into(safe, sizeof(safe), path, strlen(path));
	if (c->editing)
		return err_say(err, -EBUSY, "the editor is open already");
	r = look_at(path);
	if (r == -ELOOP || r == -EINVAL)
		return err_say(err, r, "%s is no plain file, or lies behind a link", safe);
	if (r < 0)
		return err_say(err, r, "%s is not there now", safe);
	snprintf(where, sizeof(where), "+%d", line);
	if (line <= 0 || !takes_line(command)) {
		argv[4] = argv[5];
		argv[5] = NULL;
	}
	for (int i = 0; i < 3; i++)
		stdio[i] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = i};
	opt.stdio = stdio;
	opt.stdio_count = 3;
	console_watch_tty(c, false);
	screen_suspend(c->screen);
	c->editing = true;
	c->editor.data = c;
	r = uv_spawn(&c->loop, &c->editor, &opt);
	if (r == 0)
		return 0;
	uv_close((uv_handle_t *)&c->editor, on_editor_closed);
	return err_say(err, r, "your editor cannot be started: %s", uv_strerror(r));
}

void console_end_editor(struct console *c)
{
	if (c->editing)
		uv_process_kill(&c->editor, SIGHUP);
}
