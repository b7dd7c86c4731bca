/* split - another session, or a recording, in a pane of the human's tmux, beside the console. */
/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <unistd.h>

#include "core/os/file.h"
#include "core/record/ring.h"
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
		ui_say(c->ui, "x tmux makes no pane for it: cordon shows it in another terminal.");
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

#define WORDS_MAX 8

/*
 * tmux takes several arguments as a program and its own: no shell reads the name. What its server
 * was started with may name another place for the sessions, and for the settings.
 */
void console_split(struct console *c, const char *const *words, size_t n)
{
	AUTO_FREE char *home = setting("HOME"), *state = setting("XDG_STATE_HOME");
	AUTO_FREE char *config = setting("XDG_CONFIG_HOME");
	char self[PATH_MAX], tmux[] = "tmux", split[] = "split-window";
	char set[] = "-e";
	char *argv[9 + WORDS_MAX + 1] = {tmux, split, set, home, set, state, set, config, self};
	uv_process_options_t opt = {.exit_cb = on_split, .file = tmux, .args = argv};
	int r;

	if (c->splitting || os_self_path(self, sizeof(self)) < 0)
		return;
	for (size_t i = 0; i < MIN(n, (size_t)WORDS_MAX); i++)
		argv[9 + i] = (char *)(uintptr_t)words[i];
	c->splitting = true;
	c->splitter.data = c;
	r = uv_spawn(&c->loop, &c->splitter, &opt);
	if (r == 0)
		return;
	uv_close((uv_handle_t *)&c->splitter, on_closed);
	ui_say(c->ui, "x tmux cannot be started: %s.", uv_strerror(r));
}

void console_attach_beside(void *data, const char *session)
{
	console_split(data, (const char *const[]){"attach", session}, 2);
}

static bool failed(int64_t status)
{
	return status == 125 || status == 127;
}

/* The session was started by us, and its name is ours. */
int console_moment(void *data, int64_t wall_us, struct err *err)
{
	static const struct borrower replay = {
		.name = "cordon replay",
		.broken = failed,
		.words = "The recording cannot be shown: cordon replay says why."};
	struct console *c = data;
	const char *session = c->model->session;
	AUTO_FREE char *at = xasprintf("@%lld.%06lld", (long long)(wall_us / 1000000),
				       (long long)(wall_us % 1000000));
	char self[PATH_MAX];
	const char *argv[] = {self, "replay", "--at", at, session, NULL};
	int fd = -1, r = ring_find(c->ui->spec.state_dir, session, &fd, NULL);

	util_close_fd(&fd);
	if (r < 0)
		return err_say(err, r, "this session is not recorded (record.enabled)");
	r = os_self_path(self, sizeof(self));
	if (r < 0)
		return err_set(err, r, "find cordon");
	if (!console_can_split())
		return console_lend(c, &replay, (char **)(uintptr_t)argv, err);
	console_split(c, argv + 1, 4);
	return 0;
}
