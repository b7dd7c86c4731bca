/* start - forks the host of a console, and runs its first client. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/start.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/os/socket.h"
#include "tui/console/client.h"
#include "tui/console/kept_answers.h"

static bool is_agent(const char *profile)
{
	return profile && !str_eq(profile, "tools") && !str_eq(profile, "none");
}

void console_options_set(struct console_options *o, const struct config *c)
{
	o->settings = c;
	o->theme = config_str(c, "ui.theme");
	o->keymap = config_str(c, "ui.keymap");
	o->prefix = config_str(c, "ui.prefix");
	o->exit_at_end = config_bool(c, "ui.exit");
	o->mouse = config_bool(c, "ui.mouse");
	o->ascii = config_bool(c, "ui.ascii");
	o->still = !config_bool(c, "ui.motion");
	o->agent = is_agent(config_profile(c));
	o->clipboard = config_str(c, "console.clipboard");
	o->copy_command = config_str(c, "console.copy-command");
	o->open = config_str(c, "console.open");
	o->notify = config_str(c, "console.notify");
	o->notify_command = config_str(c, "console.notify-command");
	o->detach = str_eq(config_str(c, "console.on-hangup"), "detach");
}

static void be_host(const struct start *start, int fd, struct terminal *terminal)
{
	struct frames line;

	setsid();
	frames_open(&line, fd);
	start->host(start->data, &line, terminal);
	terminal_done(terminal);
	exit(0);
}

int start_host(const struct start *start, struct ending *ret, struct err *err)
{
	struct terminal terminal;
	sigset_t old;
	int fds[2], r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return err_set(err, -errno, "start the console");
	fflush(NULL);
	terminal_here(&terminal);
	client_block_signals(&old); /* from fork() to the client's loop */
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		sigprocmask(SIG_SETMASK, &old, NULL);
		be_host(start, fds[1], &terminal);
	}
	close(fds[1]);
	terminal_done(&terminal);
	r = -errno;
	if (pid > 0)
		r = client_run(&(struct client_spec){.fd = fds[0], .host = pid}, ret, err);
	else
		close(fds[0]);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (r < 0)
		return pid < 0 ? err_set(err, r, "start the console") : r;
	if (ret->error)
		err_say(err, -EIO, "%s", ret->error);
	if (ret->words)
		fputs(ret->words, stdout);
	return ret->status;
}

/* ---- a run ----------------------------------------------------------------------------------- */

struct run_start {
	const struct session_spec *spec;
	const struct console_options *opt;
	struct kept_answers *kept;
};

static void host_run(void *data, struct frames *line, struct terminal *terminal)
{
	const struct run_start *s = data;
	struct ending end = {0};

	run_host(s->spec, s->opt, s->kept, line, terminal, &end);
	ending_done(&end);
}

int console_run(const struct session_spec *spec, const struct console_options *opt,
		struct ending *ret, struct err *err)
{
	struct run_start s = {.spec = spec, .opt = opt, .kept = kept_answers_open()};
	int r = start_host(&(struct start){.host = host_run, .data = &s}, ret, err);

	if (r >= 0 && ret->kept && spec->kept)
		buf_str(spec->kept, ret->kept);
	if (ret->again)
		kept_answers_leave(s.kept);
	else
		kept_answers_free(s.kept);
	return r < 0 ? 125 : r;
}
