/* split - opens another session, a recording or an editor in a pane of the user's tmux. */
/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/base/external.h"
#include "core/os/file.h"
#include "core/record/ring.h"
#include "tui/console/console_priv.h"

/* A tmux command, until it has opened a pane. */
struct split {
	uv_process_t process;
	struct console *console; /* NULL: it is closed */
};

bool console_can_split(const struct console *c)
{
	return c->terminal.tmux != NULL;
}

/* $TMUX is SOCKET,PID,SESSION: "/tmp/tmux-1000/default,4711,0". */
char *console_tmux(const struct console *c)
{
	const char *tmux = c->terminal.tmux;

	return tmux && *tmux == '/' ? xstrndup(tmux, strcspn(tmux, ",")) : NULL;
}

void console_split_abandon(struct console *c)
{
	if (c->split)
		c->split->console = NULL;
}

static void on_closed(uv_handle_t *handle)
{
	struct split *s = handle->data;

	if (s->console)
		s->console->split = NULL;
	free(s);
}

static void on_split(uv_process_t *process, int64_t status, int signal_number)
{
	struct console *c = ((struct split *)process->data)->console;

	if (c && c->ui && (status || signal_number)) {
		ui_say(c->ui, "x tmux makes no pane for it.");
		console_schedule(c);
	}
	uv_close((uv_handle_t *)process, on_closed);
}

/* Returns "NAME=VALUE" of env; with an empty value, which counts as unset, if it has none. Heap. */
static char *setting(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; *env; env++)
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return xstrdup(*env);
	return xasprintf("%s=", name);
}

#define WORDS_MAX 8

/* Escapes a last ";" of an argument, which tmux takes as the end of its command, as "\;". */
static char *tmux_word(const char *word)
{
	size_t len = strlen(word);

	if (len == 0 || word[len - 1] != ';')
		return xstrdup(word);
	return xasprintf("%.*s\\;", (int)(len - 1), word);
}

/* Builds tmux -S SOCKET split-window -t PANE -c / -e NAME=VALUE ... WORD ...: heap strings in a
 * heap list. */
static char **split_argv(const struct console *c, const char *const *words, size_t n)
{
	static const char *const kept[] = {"HOME", "PATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME"};
	char **env = external_env(), **withheld = external_withheld(), **argv;
	char *socket = console_tmux(c);
	size_t n_withheld = 0, at = 0;

	while (withheld[n_withheld])
		n_withheld++;
	argv = xcalloc(8 + 2 * (ARRAY_LEN(kept) + n_withheld) + n + 1, sizeof(*argv));
	argv[at++] = xstrdup("tmux");
	if (socket) {
		argv[at++] = xstrdup("-S");
		argv[at++] = socket;
	}
	argv[at++] = xstrdup("split-window");
	if (c->terminal.tmux_pane) {
		argv[at++] = xstrdup("-t");
		argv[at++] = xstrdup(c->terminal.tmux_pane);
	}
	argv[at++] = xstrdup("-c");
	argv[at++] = xstrdup("/");
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		argv[at++] = xstrdup("-e");
		argv[at++] = setting(env, kept[i]);
	}
	for (size_t i = 0; i < n_withheld; i++) {
		argv[at++] = xstrdup("-e");
		argv[at++] = xasprintf("%s=", withheld[i]);
	}
	for (size_t i = 0; i < n; i++)
		argv[at++] = tmux_word(words[i]);
	util_free_list(&env);
	util_free_list(&withheld);
	return argv;
}

/* tmux takes several arguments as a program and its own arguments: no shell reads them. The
 * environment of the tmux server may name other places for programs, sessions and settings, and may
 * have variables that external_env() withholds: those are set empty in the pane. */
void console_split_program(struct console *c, const char *const *words, size_t n)
{
	uv_process_options_t opt = {.exit_cb = on_split, .file = "tmux"};
	struct err err = {0};
	char **argv;
	int r;

	if (c->split)
		return;
	assert(n > 1 && n <= WORDS_MAX);
	opt.args = argv = split_argv(c, words, n);
	c->split = xcalloc(1, sizeof(*c->split));
	c->split->console = c;
	c->split->process.data = c->split;
	r = external_uv(c->host->loop, &c->split->process, &opt, &err);
	util_free_list(&argv);
	if (r == 0)
		return;
	uv_close((uv_handle_t *)&c->split->process, on_closed);
	ui_say(c->ui, "x tmux cannot be started: %s.", err.text);
}

static void console_split(struct console *c, const char *const *words, size_t n)
{
	struct err err = {0};
	AUTO_FREE char *self = external_self(&err);
	const char *argv[WORDS_MAX] = {self};

	if (!self) {
		ui_say(c->ui, "x cordon cannot be started: %s.", err.text);
		return;
	}
	n = MIN(n, (size_t)WORDS_MAX - 1);
	for (size_t i = 0; i < n; i++)
		argv[1 + i] = words[i];
	console_split_program(c, argv, 1 + n);
}

/* Attaches in a new pane, or in place of this console. */
void console_attach(void *data, const char *session)
{
	struct console *c = data;

	if (console_can_split(c)) {
		console_split(c, (const char *const[]){"attach", session}, 2);
		return;
	}
	console_end(c, &(struct ending){.detached = true, .next = (char *)(uintptr_t)session});
	c->host->left(c->host, false);
}

static bool failed(int status)
{
	return status == 125 || status == 127;
}

/* Runs cordon in a new pane, else on the console's own terminal. */
int console_cordon(void *data, const char *const *words, size_t n, struct err *err)
{
	static const struct borrower cordon = {
		.name = "cordon", .broken = failed, .words = "cordon could not do it."};
	struct console *c = data;
	AUTO_FREE char *self = NULL;
	const char *argv[WORDS_MAX + 1] = {NULL};

	if (console_can_split(c)) {
		console_split(c, words, n);
		return 0;
	}
	self = external_self(err);
	if (!self)
		return err->code;
	assert(n < WORDS_MAX);
	argv[0] = self;
	for (size_t i = 0; i < n; i++)
		argv[1 + i] = words[i];
	return console_lend(c, &cordon, (char **)(uintptr_t)argv, err);
}

/* Opens the session's own recording: this process chose its name. */
int console_moment(void *data, int64_t wall_us, struct err *err)
{
	struct console *c = data;
	const char *session = c->host->model->session;
	AUTO_FREE char *at = xasprintf("@%lld.%06lld", (long long)(wall_us / 1000000),
				       (long long)(wall_us % 1000000));
	int fd = -1, r = ring_find(c->ui->spec.state_dir, session, &fd, NULL);

	util_close_fd(&fd);
	if (r < 0)
		return err_say(err, r, "this session is not recorded (record.enabled)");
	return console_cordon(c, (const char *const[]){"replay", "--at", at, session}, 4, err);
}
