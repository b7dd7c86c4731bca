/* split - another session in a pane of the human's tmux, beside the console that stays. */
/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <unistd.h>

#include "core/os/file.h"
#include "tui/console/console_priv.h"

bool console_can_split(void)
{
	const char *tmux = getenv("TMUX");

	return tmux && *tmux;
}

static void on_closed(uv_handle_t *handle)
{
	((struct console *)handle->data)->splitting = false;
}

static void on_split(uv_process_t *process, int64_t status, int signal_number)
{
	struct console *c = process->data;

	if (c->ui && (status || signal_number)) {
		ui_say(c->ui, "x tmux makes no pane for it: cordon attach shows it in another.");
		console_schedule(c);
	}
	uv_close((uv_handle_t *)process, on_closed);
}

/* "NAME=VALUE"; an empty value is as good as none where sessions are looked for. */
static char *setting(const char *name)
{
	const char *value = getenv(name);

	return xasprintf("%s=%s", name, value ? value : "");
}

/*
 * tmux takes several arguments as a program and its own: no shell reads the name. What its server
 * was started with may name another place for the sessions.
 */
void console_split(void *data, const char *session)
{
	struct console *c = data;
	AUTO_FREE char *home = setting("HOME"), *state = setting("XDG_STATE_HOME");
	char self[PATH_MAX], tmux[] = "tmux", split[] = "split-window", attach[] = "attach";
	char set[] = "-e";
	char *argv[] = {
		tmux, split, set, home, set, state, self, attach, (char *)(uintptr_t)session, NULL};
	uv_process_options_t opt = {.exit_cb = on_split, .file = tmux, .args = argv};
	int r;

	if (c->splitting || os_self_path(self, sizeof(self)) < 0)
		return;
	c->splitting = true;
	c->splitter.data = c;
	r = uv_spawn(&c->loop, &c->splitter, &opt);
	if (r == 0)
		return;
	uv_close((uv_handle_t *)&c->splitter, on_closed);
	ui_say(c->ui, "x tmux cannot be started: %s.", uv_strerror(r));
}
